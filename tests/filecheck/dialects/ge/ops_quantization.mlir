// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %z: tensor<8xi8>, %t: tensor<f16>, %b: tensor<4x2xf32>) {
  // CHECK: ge.quantize_linear %x, %s zero_point %z axis 1 block_size 0 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xi8>) -> tensor<4x8xi8>
  %a = ge.quantize_linear %x, %s zero_point %z axis 1 block_size 0 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xi8>) -> tensor<4x8xi8>
  // CHECK: ge.quantize_linear %x, %b axis -1 block_size 4 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x8x!ge.float<f8E4M3FN>>
  %c = ge.quantize_linear %x, %b axis -1 block_size 4 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x8x!ge.float<f8E4M3FN>>
  // CHECK: ge.dequantize_linear %{{.*}}, %t axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f16>) -> tensor<4x8xf16>
  %d = ge.dequantize_linear %a, %t axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f16>) -> tensor<4x8xf16>
  // CHECK: ge.quantize_linear %x, %t axis 1 block_size 0 precision f16 unsaturated : (tensor<4x8xf32>, tensor<f16>) -> tensor<4x8x!ge.float<f8E5M2>>
  %h = ge.quantize_linear %x, %t axis 1 block_size 0 precision f16 unsaturated : (tensor<4x8xf32>, tensor<f16>) -> tensor<4x8x!ge.float<f8E5M2>>
  // CHECK: ge.dequantize_linear %{{.*}}, %t axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f16>) -> tensor<4x8xf32>
  %i = ge.dequantize_linear %a, %t axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f16>) -> tensor<4x8xf32>
  // CHECK: ge.dynamic_quantize_linear %x : (tensor<4x8xf32>) -> (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
  %e, %f, %g = ge.dynamic_quantize_linear %x : (tensor<4x8xf32>) -> (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
  func.return
}
