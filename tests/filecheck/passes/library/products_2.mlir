// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not ATbeMatMulElemwise,MatMulBiasAdd,TbeBatchMatmulElementWise,TbeFullyconnectionElemwise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @atbe_mat_mul_elemwise(
// CHECK:         ge.fusion "MatMulElemwise"({{.*}}) rule "ATbeMatMulElemwise"
func.func @atbe_mat_mul_elemwise(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %4 = ge.add %2, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.relu %4 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.add' is returned as well.
// CHECK-LABEL: func.func @atbe_mat_mul_elemwise_c1(
// CHECK-NOT:     rule "ATbeMatMulElemwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: ATbeMatMulElemwise: {{.*}}the result of
func.func @atbe_mat_mul_elemwise_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %4 = ge.add %2, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.relu %4 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @mat_mul_bias_add(
// CHECK:         ge.fusion "MatMulBiasAdd"({{.*}}) rule "MatMulBiasAdd"
func.func @mat_mul_bias_add(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %4 = ge.add %2, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.matmul' is returned as well.
// CHECK-LABEL: func.func @mat_mul_bias_add_c1(
// CHECK-NOT:     rule "MatMulBiasAdd"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatMulBiasAdd: {{.*}}the result of
func.func @mat_mul_bias_add_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %4 = ge.add %2, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @tbe_batch_matmul_element_wise(
// CHECK:         ge.fusion "BatchMatMulElementWise"({{.*}}) rule "TbeBatchMatmulElementWise"
func.func @tbe_batch_matmul_element_wise(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.matmul' is returned as well.
// CHECK-LABEL: func.func @tbe_batch_matmul_element_wise_c1(
// CHECK-NOT:     rule "TbeBatchMatmulElementWise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeBatchMatmulElementWise: {{.*}}the result of
func.func @tbe_batch_matmul_element_wise_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @tbe_fullyconnection_elemwise(
// CHECK:         ge.fusion "FullyConnectionElemwise"({{.*}}) rule "TbeFullyconnectionElemwise"
func.func @tbe_fullyconnection_elemwise(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.gemm %0, %1 alpha 5.000000e-01 beta 5.000000e-01 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.gemm' is returned as well.
// CHECK-LABEL: func.func @tbe_fullyconnection_elemwise_c1(
// CHECK-NOT:     rule "TbeFullyconnectionElemwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeFullyconnectionElemwise: {{.*}}the result of
func.func @tbe_fullyconnection_elemwise_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.gemm %0, %1 alpha 5.000000e-01 beta 5.000000e-01 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
