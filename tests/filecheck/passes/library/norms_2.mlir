// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not GatherAddLayerNorm,AddRmsNorm,AddLayerNorm,GroupNormSilu --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @gather_add_layer_norm(
// CHECK:         ge.fusion "GatherAddLayerNorm"({{.*}}) rule "GatherAddLayerNorm"
func.func @gather_add_layer_norm(%t: tensor<16x8xf32>, %i: tensor<4xi64>, %p: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %g = ge.gather %t, %i axis 0 : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %a = ge.add %g, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.layer_norm %a axis -1 epsilon 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// -----

// Negative: the result of 'ge.gather' is returned as well.
// CHECK-LABEL: func.func @gather_add_layer_norm_c1(
// CHECK-NOT:     rule "GatherAddLayerNorm"
// CHECK:         rule "AddLayerNorm"
// Another rule takes the rest.
func.func @gather_add_layer_norm_c1(%t: tensor<16x8xf32>, %i: tensor<4xi64>, %p: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %g = ge.gather %t, %i axis 0 : (tensor<16x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %a = ge.add %g, %p : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.layer_norm %a axis -1 epsilon 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %n, %g : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @add_rms_norm(
// CHECK:         ge.fusion "AddRmsNorm"({{.*}}) rule "AddRmsNorm"
func.func @add_rms_norm(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.rms_norm %2 axis -1 epsilon 1.000000e-05 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: a summand is spread over the rows.
// CHECK-LABEL: func.func @add_rms_norm_c1(
// CHECK-NOT:     rule "AddRmsNorm"
// CHECK:         func.return
// REMARK: ge-fuse-rules: AddRmsNorm: {{.*}}same shape
func.func @add_rms_norm_c1(%0: tensor<4x4xf32>, %1: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %3 = ge.rms_norm %2 axis -1 epsilon 1.000000e-05 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @add_layer_norm(
// CHECK:         ge.fusion "AddLayerNorm"({{.*}}) rule "AddLayerNorm"
func.func @add_layer_norm(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.layer_norm %2 axis -1 epsilon 1.000000e-05 : tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: a summand is spread over the rows.
// CHECK-LABEL: func.func @add_layer_norm_c1(
// CHECK-NOT:     rule "AddLayerNorm"
// CHECK:         func.return
// REMARK: ge-fuse-rules: AddLayerNorm: {{.*}}same shape
func.func @add_layer_norm_c1(%0: tensor<4x4xf32>, %1: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %3 = ge.layer_norm %2 axis -1 epsilon 1.000000e-05 : tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @group_norm_silu(
// CHECK:         ge.fusion "GroupNormSilu"({{.*}}) rule "GroupNormSilu"
func.func @group_norm_silu(%x: tensor<2x4x3xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %n = ge.group_norm %x, %s, %b num_groups 2 epsilon 1.000000e-05 : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  %y = ge.silu %n : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}

// -----

// Negative: the result of 'ge.group_norm' is returned as well.
// CHECK-LABEL: func.func @group_norm_silu_c1(
// CHECK-NOT:     rule "GroupNormSilu"
// CHECK:         func.return
// REMARK: ge-fuse-rules: GroupNormSilu: {{.*}}the result of
func.func @group_norm_silu_c1(%x: tensor<2x4x3xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x3xf32>) {
  %n = ge.group_norm %x, %s, %b num_groups 2 epsilon 1.000000e-05 : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  %y = ge.silu %n : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  func.return %y, %n : tensor<2x4x3xf32>, tensor<2x4x3xf32>
}
