// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not QuantBatchMatmulQuant,QuantConv,QuantBatchMatmul,WeightQuantBatchMatmul --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @quant_batch_matmul_quant(
// CHECK:         ge.fusion "QuantBatchMatmulV3Requant"({{.*}}) rule "QuantBatchMatmulQuant"
func.func @quant_batch_matmul_quant(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x4xi8> {
  %d = ge.dequantize_linear %x, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>
  %m = ge.matmul %d, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %y = ge.quantize_linear %m, %s zero_point %p axis 1 block_size 0 : (tensor<4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>
  func.return %y : tensor<4x4xi8>
}

// -----

// Negative: the result of 'ge.matmul' is returned as well.
// CHECK-LABEL: func.func @quant_batch_matmul_quant_c1(
// CHECK-NOT:     rule "QuantBatchMatmulQuant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: QuantBatchMatmulQuant: {{.*}}the result of
func.func @quant_batch_matmul_quant_c1(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x4xi8>, tensor<4x4xf32>) {
  %d = ge.dequantize_linear %x, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>
  %m = ge.matmul %d, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %y = ge.quantize_linear %m, %s zero_point %p axis 1 block_size 0 : (tensor<4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>
  func.return %y, %m : tensor<4x4xi8>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @quant_conv(
// CHECK:         ge.fusion "QuantConv2D"({{.*}}) rule "QuantConv"
func.func @quant_conv(%x: tensor<1x2x4x4xi8>, %w: tensor<2x2x1x1xi8>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<1x2x4x4xi8> {
  %d = ge.dequantize_linear %x, %s zero_point %p axis 1 block_size 0 : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %c = ge.conv %d, %e strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = ge.quantize_linear %c, %s zero_point %p axis 1 block_size 0 : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  func.return %y : tensor<1x2x4x4xi8>
}

// -----

// Negative: the result of 'ge.conv' is returned as well.
// CHECK-LABEL: func.func @quant_conv_c1(
// CHECK-NOT:     rule "QuantConv"
// CHECK:         func.return
// REMARK: ge-fuse-rules: QuantConv: {{.*}}the result of
func.func @quant_conv_c1(%x: tensor<1x2x4x4xi8>, %w: tensor<2x2x1x1xi8>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<1x2x4x4xi8>, tensor<1x2x4x4xf32>) {
  %d = ge.dequantize_linear %x, %s zero_point %p axis 1 block_size 0 : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %c = ge.conv %d, %e strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = ge.quantize_linear %c, %s zero_point %p axis 1 block_size 0 : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  func.return %y, %c : tensor<1x2x4x4xi8>, tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @quant_batch_matmul(
// CHECK:         ge.fusion "QuantBatchMatmulV3"({{.*}}) rule "QuantBatchMatmul"
func.func @quant_batch_matmul(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x4xf32> {
  %d = ge.dequantize_linear %x, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>
  %y = ge.matmul %d, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.dequantize_linear' is returned as well.
// CHECK-LABEL: func.func @quant_batch_matmul_c1(
// CHECK-NOT:     rule "QuantBatchMatmul"
// CHECK:         rule "WeightQuantBatchMatmul"
// Another rule takes the rest.
func.func @quant_batch_matmul_c1(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x4xf32>, tensor<4x8xf32>) {
  %d = ge.dequantize_linear %x, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>
  %y = ge.matmul %d, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return %y, %d : tensor<4x4xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @weight_quant_batch_matmul(
// CHECK:         ge.fusion "WeightQuantBatchMatmulV2"({{.*}}) rule "WeightQuantBatchMatmul"
func.func @weight_quant_batch_matmul(%x: tensor<4x8xf32>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x4xf32> {
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>
  %y = ge.matmul %x, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.dequantize_linear' is returned as well.
// CHECK-LABEL: func.func @weight_quant_batch_matmul_c1(
// CHECK-NOT:     rule "WeightQuantBatchMatmul"
// CHECK:         func.return
// REMARK: ge-fuse-rules: WeightQuantBatchMatmul: {{.*}}the result of
func.func @weight_quant_batch_matmul_c1(%x: tensor<4x8xf32>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %e = ge.dequantize_linear %w, %s zero_point %p axis 1 block_size 0 : (tensor<8x4xi8>, tensor<f32>, tensor<i8>) -> tensor<8x4xf32>
  %y = ge.matmul %x, %e : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return %y, %e : tensor<4x4xf32>, tensor<8x4xf32>
}
