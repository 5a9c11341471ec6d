// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not MaskedSoftmaxWithRelPosBias,ScaledMaskedSoftmax,MaskedSoftmax,ScaledSoftmax --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @masked_softmax_with_rel_pos_bias(
// CHECK:         ge.fusion "MaskedSoftmaxWithRelPosBias"({{.*}}) rule "MaskedSoftmaxWithRelPosBias"
func.func @masked_softmax_with_rel_pos_bias(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %3 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.softmax %4 axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.add' is returned as well.
// CHECK-LABEL: func.func @masked_softmax_with_rel_pos_bias_c1(
// CHECK-NOT:     rule "MaskedSoftmaxWithRelPosBias"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MaskedSoftmaxWithRelPosBias: {{.*}}the result of
func.func @masked_softmax_with_rel_pos_bias_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>, %2: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %3 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = ge.softmax %4 axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @scaled_masked_softmax(
// CHECK:         ge.fusion "ScaledMaskedSoftmaxV2"({{.*}}) rule "ScaledMaskedSoftmax"
func.func @scaled_masked_softmax(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.softmax %2 axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.add' is returned as well.
// CHECK-LABEL: func.func @scaled_masked_softmax_c1(
// CHECK-NOT:     rule "ScaledMaskedSoftmax"
// CHECK:         func.return
// REMARK: ge-fuse-rules: ScaledMaskedSoftmax: {{.*}}the result of
func.func @scaled_masked_softmax_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.softmax %2 axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @masked_softmax(
// CHECK:         ge.fusion "MaskedSoftmax"({{.*}}) rule "MaskedSoftmax"
func.func @masked_softmax(%m: tensor<4x4xi1>, %x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = ge.select %m, %x, %z : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.softmax %s axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.select' is returned as well.
// CHECK-LABEL: func.func @masked_softmax_c1(
// CHECK-NOT:     rule "MaskedSoftmax"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MaskedSoftmax: {{.*}}the result of
func.func @masked_softmax_c1(%m: tensor<4x4xi1>, %x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %s = ge.select %m, %x, %z : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.softmax %s axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y, %s : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @scaled_softmax(
// CHECK:         ge.fusion "ScaledSoftmax"({{.*}}) rule "ScaledSoftmax"
func.func @scaled_softmax(%0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %1 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %2 = ge.mul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.softmax %2 axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.mul' is returned as well.
// CHECK-LABEL: func.func @scaled_softmax_c1(
// CHECK-NOT:     rule "ScaledSoftmax"
// CHECK:         func.return
// REMARK: ge-fuse-rules: ScaledSoftmax: {{.*}}the result of
func.func @scaled_softmax_c1(%0: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %1 = ge.constant dense<5.000000e-01> : tensor<4x4xf32>
  %2 = ge.mul %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.softmax %2 axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
