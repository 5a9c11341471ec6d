// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not AddRmsNormQuant,QuantizeAddLayerNorm,AddRmsNormCast,RmsNormQuant --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @add_rms_norm_quant(
// CHECK:         ge.fusion "AddRmsNormQuant"({{.*}}) rule "AddRmsNormQuant"
func.func @add_rms_norm_quant(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x8xi8> {
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.rms_norm %a axis -1 epsilon 1.000000e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = ge.quantize_linear %n, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %q : tensor<4x8xi8>
}

// -----

// Negative: the result of 'ge.rms_norm' is returned as well.
// CHECK-LABEL: func.func @add_rms_norm_quant_c1(
// CHECK-NOT:     rule "AddRmsNormQuant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: AddRmsNormQuant: {{.*}}the result of
func.func @add_rms_norm_quant_c1(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x8xi8>, tensor<4x8xf32>) {
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.rms_norm %a axis -1 epsilon 1.000000e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = ge.quantize_linear %n, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %q, %n : tensor<4x8xi8>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @quantize_add_layer_norm(
// CHECK:         ge.fusion "AddLayerNormQuant"({{.*}}) rule "QuantizeAddLayerNorm"
func.func @quantize_add_layer_norm(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x8xi8> {
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.layer_norm %a axis -1 epsilon 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  %q = ge.quantize_linear %n, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %q : tensor<4x8xi8>
}

// -----

// Negative: the result of 'ge.layer_norm' is returned as well.
// CHECK-LABEL: func.func @quantize_add_layer_norm_c1(
// CHECK-NOT:     rule "QuantizeAddLayerNorm"
// CHECK:         func.return
// REMARK: ge-fuse-rules: QuantizeAddLayerNorm: {{.*}}the result of
func.func @quantize_add_layer_norm_c1(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x8xi8>, tensor<4x8xf32>) {
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.layer_norm %a axis -1 epsilon 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  %q = ge.quantize_linear %n, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %q, %n : tensor<4x8xi8>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @add_rms_norm_cast(
// CHECK:         ge.fusion "AddRmsNormCast"({{.*}}) rule "AddRmsNormCast"
func.func @add_rms_norm_cast(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.rms_norm %2 axis -1 epsilon 1.000000e-05 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.cast %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// -----

// Negative: a summand is spread over the rows.
// CHECK-LABEL: func.func @add_rms_norm_cast_c1(
// CHECK-NOT:     rule "AddRmsNormCast"
// CHECK:         func.return
// REMARK: ge-fuse-rules: AddRmsNormCast: {{.*}}same shape
func.func @add_rms_norm_cast_c1(%0: tensor<4x4xf32>, %1: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.add %0, %1 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %3 = ge.rms_norm %2 axis -1 epsilon 1.000000e-05 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = ge.cast %3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @rms_norm_quant(
// CHECK:         ge.fusion "RmsNormQuant"({{.*}}) rule "RmsNormQuant"
func.func @rms_norm_quant(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x8xi8> {
  %n = ge.rms_norm %x axis -1 epsilon 1.000000e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = ge.quantize_linear %n, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %q : tensor<4x8xi8>
}

// -----

// Negative: the result of 'ge.rms_norm' is returned as well.
// CHECK-LABEL: func.func @rms_norm_quant_c1(
// CHECK-NOT:     rule "RmsNormQuant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: RmsNormQuant: {{.*}}the result of
func.func @rms_norm_quant_c1(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x8xi8>, tensor<4x8xf32>) {
  %n = ge.rms_norm %x axis -1 epsilon 1.000000e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("norm")
  %q = ge.quantize_linear %n, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %q, %n : tensor<4x8xi8>, tensor<4x8xf32>
}
