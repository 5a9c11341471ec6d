// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not BatchMatMulDequantElemwise,QuantBatchMatmulDequant,MatmulRequant,GeluQuant --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @batch_mat_mul_dequant_elemwise(
// CHECK:         ge.fusion "QuantBatchMatmulV3Dequant"({{.*}}) rule "BatchMatMulDequantElemwise"
func.func @batch_mat_mul_dequant_elemwise(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x4xf32> {
  %m = ge.matmul_integer %x, %w : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi32>
  %c = ge.cast %m : (tensor<4x4xi32>) -> tensor<4x4xf32>
  %y = ge.mul %c, %s : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.cast' is returned as well.
// CHECK-LABEL: func.func @batch_mat_mul_dequant_elemwise_c1(
// CHECK-NOT:     rule "BatchMatMulDequantElemwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: BatchMatMulDequantElemwise: {{.*}}the result of
func.func @batch_mat_mul_dequant_elemwise_c1(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %m = ge.matmul_integer %x, %w : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi32>
  %c = ge.cast %m : (tensor<4x4xi32>) -> tensor<4x4xf32>
  %y = ge.mul %c, %s : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  func.return %y, %c : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @quant_batch_matmul_dequant(
// CHECK:         ge.fusion "QuantBatchMatmulV3Dequant"({{.*}}) rule "QuantBatchMatmulDequant"
func.func @quant_batch_matmul_dequant(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x4xf32> {
  %m = ge.matmul_integer %x, %w : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi32>
  %y = ge.dequantize_linear %m, %s axis 1 block_size 0 : (tensor<4x4xi32>, tensor<f32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.matmul_integer' is returned as well.
// CHECK-LABEL: func.func @quant_batch_matmul_dequant_c1(
// CHECK-NOT:     rule "QuantBatchMatmulDequant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: QuantBatchMatmulDequant: {{.*}}the result of
func.func @quant_batch_matmul_dequant_c1(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x4xf32>, tensor<4x4xi32>) {
  %m = ge.matmul_integer %x, %w : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi32>
  %y = ge.dequantize_linear %m, %s axis 1 block_size 0 : (tensor<4x4xi32>, tensor<f32>) -> tensor<4x4xf32>
  func.return %y, %m : tensor<4x4xf32>, tensor<4x4xi32>
}

// -----

// CHECK-LABEL: func.func @matmul_requant(
// CHECK:         ge.fusion "MatmulRequant"({{.*}}) rule "MatmulRequant"
func.func @matmul_requant(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x4xi8> {
  %m = ge.matmul_integer %x, %w : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi32>
  %y = ge.requantize %m, %s zero_point %p : (tensor<4x4xi32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>
  func.return %y : tensor<4x4xi8>
}

// -----

// Negative: the result of 'ge.matmul_integer' is returned as well.
// CHECK-LABEL: func.func @matmul_requant_c1(
// CHECK-NOT:     rule "MatmulRequant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: MatmulRequant: {{.*}}the result of
func.func @matmul_requant_c1(%x: tensor<4x8xi8>, %w: tensor<8x4xi8>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x4xi8>, tensor<4x4xi32>) {
  %m = ge.matmul_integer %x, %w : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi32>
  %y = ge.requantize %m, %s zero_point %p : (tensor<4x4xi32>, tensor<f32>, tensor<i8>) -> tensor<4x4xi8>
  func.return %y, %m : tensor<4x4xi8>, tensor<4x4xi32>
}

// -----

// CHECK-LABEL: func.func @gelu_quant(
// CHECK:         ge.fusion "GeluQuant"({{.*}}) rule "GeluQuant"
func.func @gelu_quant(%x: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<4x8xi8> {
  %g = ge.gelu %x approximate "none" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = ge.quantize_linear %g, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %y : tensor<4x8xi8>
}

// -----

// Negative: the result of 'ge.gelu' is returned as well.
// CHECK-LABEL: func.func @gelu_quant_c1(
// CHECK-NOT:     rule "GeluQuant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: GeluQuant: {{.*}}the result of
func.func @gelu_quant_c1(%x: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<4x8xi8>, tensor<4x8xf32>) {
  %g = ge.gelu %x approximate "none" : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = ge.quantize_linear %g, %s zero_point %p axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  func.return %y, %g : tensor<4x8xi8>, tensor<4x8xf32>
}
