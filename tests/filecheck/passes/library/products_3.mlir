// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not MatmulConfusiontransposeUb,MatmulReduceSumUb,MatmulCast,BatchMatMulTranspose --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @matmul_confusiontranspose_ub(
// CHECK:         ge.fusion "MatmulConfusionTranspose"({{.*}}) rule "MatmulConfusiontransposeUb"
func.func @matmul_confusiontranspose_ub(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x3x2xf32> {
  %p = ge.matmul %x, %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %r = ge.reshape %p : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  %t = ge.transpose %r perm [1, 0, 2] : (tensor<3x2x2xf32>) -> tensor<2x3x2xf32>
  func.return %t : tensor<2x3x2xf32>
}

// -----

// Negative: the result of 'ge.reshape' is returned as well.
// CHECK-LABEL: func.func @matmul_confusiontranspose_ub_c1(
// CHECK-NOT:     rule "MatmulConfusiontransposeUb"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatmulConfusiontransposeUb: {{.*}}the result of
func.func @matmul_confusiontranspose_ub_c1(%x: tensor<3x4xf32>, %w: tensor<4x4xf32>) -> (tensor<2x3x2xf32>, tensor<3x2x2xf32>) {
  %p = ge.matmul %x, %w : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %r = ge.reshape %p : (tensor<3x4xf32>) -> tensor<3x2x2xf32>
  %t = ge.transpose %r perm [1, 0, 2] : (tensor<3x2x2xf32>) -> tensor<2x3x2xf32>
  func.return %t, %r : tensor<2x3x2xf32>, tensor<3x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_reduce_sum_ub(
// CHECK:         ge.fusion "MatmulReduceSum"({{.*}}) rule "MatmulReduceSumUb"
func.func @matmul_reduce_sum_ub(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x1xf32> {
  %p = ge.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.reduce_sum %p axes [1] keepdims true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}

// -----

// Negative: the result of 'ge.matmul' is returned as well.
// CHECK-LABEL: func.func @matmul_reduce_sum_ub_c1(
// CHECK-NOT:     rule "MatmulReduceSumUb"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatmulReduceSumUb: {{.*}}the result of
func.func @matmul_reduce_sum_ub_c1(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x1xf32>, tensor<4x4xf32>) {
  %p = ge.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.reduce_sum %p axes [1] keepdims true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return %y, %p : tensor<4x1xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_cast(
// CHECK:         ge.fusion "MatmulCast"({{.*}}) rule "MatmulCast"
func.func @matmul_cast(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.cast %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.matmul' is returned as well.
// CHECK-LABEL: func.func @matmul_cast_c1(
// CHECK-NOT:     rule "MatmulCast"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatmulCast: {{.*}}the result of
func.func @matmul_cast_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.cast %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @batch_mat_mul_transpose(
// CHECK:         ge.fusion "TransposeBatchMatMul"({{.*}}) rule "BatchMatMulTranspose"
func.func @batch_mat_mul_transpose(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.transpose %0 perm [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.matmul %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.transpose' is returned as well.
// CHECK-LABEL: func.func @batch_mat_mul_transpose_c1(
// CHECK-NOT:     rule "BatchMatMulTranspose"
// CHECK:         func.return
// REMARK: ge-fuse-rules: BatchMatMulTranspose: {{.*}}the result of
func.func @batch_mat_mul_transpose_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.transpose %0 perm [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.matmul %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
