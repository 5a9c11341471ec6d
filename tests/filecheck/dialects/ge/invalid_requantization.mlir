// RUN: GE_INVALID

// CHECK: expected 'input' of i32, got i64
func.func @requantize_c1(%x: tensor<2x3xi64>, %m: tensor<f32>) {
  %y = ge.requantize %x, %m : (tensor<2x3xi64>, tensor<f32>) -> tensor<2x3xui8>
  func.return
}

// -----

// CHECK: expected 'multiplier' of floats, got i32
func.func @requantize_c1_multiplier(%x: tensor<2x3xi32>, %m: tensor<i32>) {
  %y = ge.requantize %x, %m : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xui8>
  func.return
}

// -----

// CHECK: expected 'result' of integers, got f32
func.func @requantize_c1_result(%x: tensor<2x3xi32>, %m: tensor<f32>) {
  %y = ge.requantize %x, %m : (tensor<2x3xi32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected 'result' of type tensor<2x3xi8>, got tensor<2x3xui8>
func.func @requantize_c2(%x: tensor<2x3xi32>, %m: tensor<f32>, %z: tensor<i8>) {
  %y = ge.requantize %x, %m zero_point %z : (tensor<2x3xi32>, tensor<f32>, tensor<i8>) -> tensor<2x3xui8>
  func.return
}

// -----

// CHECK: expected 'multiplier' to broadcast to [2, 3], got [2]
func.func @requantize_c3(%x: tensor<2x3xi32>, %m: tensor<2xf32>) {
  %y = ge.requantize %x, %m : (tensor<2x3xi32>, tensor<2xf32>) -> tensor<2x3xui8>
  func.return
}
