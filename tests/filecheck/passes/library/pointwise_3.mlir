// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not TbeEltwise,MulAddN,AddN,ReshapeTranspose --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @tbe_eltwise(
// CHECK:         ge.fusion "EltwiseRelu"({{.*}}) rule "TbeEltwise"
func.func @tbe_eltwise(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.add' is returned as well.
// CHECK-LABEL: func.func @tbe_eltwise_c1(
// CHECK-NOT:     rule "TbeEltwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeEltwise: {{.*}}the result of
func.func @tbe_eltwise_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @mul_add_n(
// CHECK:         ge.fusion "FusedMulAdd"({{.*}}) rule "MulAddN"
func.func @mul_add_n(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %3 = ge.mul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.mul' is returned as well.
// CHECK-LABEL: func.func @mul_add_n_c1(
// CHECK-NOT:     rule "MulAddN"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MulAddN: {{.*}}the result of
func.func @mul_add_n_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %3 = ge.mul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @add_n(
// CHECK:         ge.fusion "AddN"({{.*}}) rule "AddN"
func.func @add_n(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %3 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.add' is returned as well.
// CHECK-LABEL: func.func @add_n_c1(
// CHECK-NOT:     rule "AddN"
// CHECK:         func.return
// REMARK: ge-fuse-rules: AddN: {{.*}}the result of
func.func @add_n_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %3 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_transpose(
// CHECK:         ge.fusion "ConfusionTransposeD"({{.*}}) rule "ReshapeTranspose"
func.func @reshape_transpose(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %t = ge.transpose %x perm [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %r = ge.reshape %t : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  %y = ge.transpose %r perm [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// -----

// Negative: the result of 'ge.reshape' is returned as well.
// CHECK-LABEL: func.func @reshape_transpose_c1(
// CHECK-NOT:     rule "ReshapeTranspose"
// CHECK:         func.return
// REMARK: ge-fuse-rules: ReshapeTranspose: {{.*}}the result of
func.func @reshape_transpose_c1(%x: tensor<2x3x4xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %t = ge.transpose %x perm [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %r = ge.reshape %t : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  %y = ge.transpose %r perm [1, 0] : (tensor<6x4xf32>) -> tensor<4x6xf32>
  func.return %y, %r : tensor<4x6xf32>, tensor<6x4xf32>
}
