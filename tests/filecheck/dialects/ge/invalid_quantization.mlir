// RUN: GE_INVALID

// CHECK: expected 'input' of floats, got i8
func.func @quantize_linear_c1(%x: tensor<4x8xi8>, %s: tensor<f32>) {
  %y = ge.quantize_linear %x, %s axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f32>) -> tensor<4x8xui8>
  func.return
}

// -----

// CHECK: expected 'result' of integers or narrow floats, got i1
func.func @quantize_linear_c1_result(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  %y = ge.quantize_linear %x, %s axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xi1>
  func.return
}

// -----

// CHECK: expected 'result' of type tensor<4x8xi8>, got tensor<4x8xui8>
func.func @quantize_linear_c2(%x: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<i8>) {
  %y = ge.quantize_linear %x, %s zero_point %z axis 1 block_size 0 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xui8>
  func.return
}

// -----

// CHECK: expected 'zero_point' of shape [8], got []
func.func @quantize_linear_c2_shape(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %z: tensor<ui8>) {
  %y = ge.quantize_linear %x, %s zero_point %z axis 1 block_size 0 : (tensor<4x8xf32>, tensor<8xf32>, tensor<ui8>) -> tensor<4x8xui8>
  func.return
}

// -----

// CHECK: expected 'scale' of 8, got 4
func.func @quantize_linear_c3(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  %y = ge.quantize_linear %x, %s axis 1 block_size 0 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xui8>
  func.return
}

// -----

// CHECK: expected dimension 1 of 'scale' of 3, got 2
func.func @quantize_linear_c3_blocks(%x: tensor<4x8xf32>, %s: tensor<4x2xf32>) {
  %y = ge.quantize_linear %x, %s axis 1 block_size 3 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x8xui8>
  func.return
}

// -----

// CHECK: expected 'scale' of floats, got i32
func.func @dequantize_linear_c1(%x: tensor<4x8xi8>, %s: tensor<i32>) {
  %y = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<4x8xi8>, tensor<i32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expected 'zero_point' of i8, got ui8
func.func @dequantize_linear_c2(%x: tensor<4x8xi8>, %s: tensor<f32>, %z: tensor<ui8>) {
  %y = ge.dequantize_linear %x, %s zero_point %z axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f32>, tensor<ui8>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expected 'input' of f32, got f16
func.func @dynamic_quantize_linear_c1(%x: tensor<4x8xf16>) {
  %y, %s, %z = ge.dynamic_quantize_linear %x : (tensor<4x8xf16>) -> (tensor<4x8xui8>, tensor<f32>, tensor<ui8>)
  func.return
}

// -----

// CHECK: expected 'scale' of 8, got 4
func.func @dequantize_linear_c3(%x: tensor<4x8xi8>, %s: tensor<4xf32>) {
  %y = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<4x8xi8>, tensor<4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expected dimension 1 of 'scale' of 3, got 2
func.func @dequantize_linear_c3_blocks(%x: tensor<4x8xi8>, %s: tensor<4x2xf32>) {
  %y = ge.dequantize_linear %x, %s axis 1 block_size 3 : (tensor<4x8xi8>, tensor<4x2xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expected 'result' of 8-bit floats, got ui8
func.func @quantize_linear_c4(%x: tensor<4x8xf32>, %s: tensor<f32>) {
  %y = ge.quantize_linear %x, %s axis 1 block_size 0 unsaturated : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xui8>
  func.return
}

// -----

// CHECK: expected 'result' of floats, got i32
func.func @dequantize_linear_c1_result(%x: tensor<4x8xi8>, %s: tensor<f32>) {
  %y = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<4x8xi8>, tensor<f32>) -> tensor<4x8xi32>
  func.return
}
