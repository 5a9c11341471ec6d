// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not FFN,MatMulSwiGlu,MatMulGeGlu,MatMulBiasAddResidual --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @ffn(
// CHECK:         ge.fusion "FFN"({{.*}}) rule "FFN"
func.func @ffn(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.relu %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.matmul %4, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.relu' is returned as well.
// CHECK-LABEL: func.func @ffn_c1(
// CHECK-NOT:     rule "FFN"
// CHECK:         func.return
// REMARK: ge-fuse-rules: FFN: {{.*}}the result of
func.func @ffn_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.relu %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.matmul %4, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @mat_mul_swi_glu(
// CHECK:         ge.fusion "MatMulSwiGlu"({{.*}}) rule "MatMulSwiGlu"
func.func @mat_mul_swi_glu(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.silu %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.matmul %0, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = ge.mul %4, %5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %6 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.silu' is returned as well.
// CHECK-LABEL: func.func @mat_mul_swi_glu_c1(
// CHECK-NOT:     rule "MatMulSwiGlu"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatMulSwiGlu: {{.*}}the result of
func.func @mat_mul_swi_glu_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.silu %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.matmul %0, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = ge.mul %4, %5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %6, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @mat_mul_ge_glu(
// CHECK:         ge.fusion "MatMulGeGluV2"({{.*}}) rule "MatMulGeGlu"
func.func @mat_mul_ge_glu(%x: tensor<4x4xf32>, %g: tensor<4x4xf32>, %u: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = ge.matmul %x, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = ge.gelu %a approximate "none" : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = ge.matmul %x, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.mul %b, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.gelu' is returned as well.
// CHECK-LABEL: func.func @mat_mul_ge_glu_c1(
// CHECK-NOT:     rule "MatMulGeGlu"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatMulGeGlu: {{.*}}the result of
func.func @mat_mul_ge_glu_c1(%x: tensor<4x4xf32>, %g: tensor<4x4xf32>, %u: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = ge.matmul %x, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = ge.gelu %a approximate "none" : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = ge.matmul %x, %u : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.mul %b, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @mat_mul_bias_add_residual(
// CHECK:         ge.fusion "MatMulBiasAddElemwise"({{.*}}) rule "MatMulBiasAddResidual"
func.func @mat_mul_bias_add_residual(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %5 = ge.add %3, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = ge.add %5, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %6 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.add' is returned as well.
// CHECK-LABEL: func.func @mat_mul_bias_add_residual_c1(
// CHECK-NOT:     rule "MatMulBiasAddResidual"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatMulBiasAddResidual: {{.*}}the result of
func.func @mat_mul_bias_add_residual_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %3 = ge.matmul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %5 = ge.add %3, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = ge.add %5, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %6, %5 : tensor<4x4xf32>, tensor<4x4xf32>
}
