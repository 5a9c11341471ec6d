// RUN: GE_INVALID

// CHECK: expected 'input' of floats, got i32
func.func @exp_floats(%x: tensor<4xi32>) {
  %y = ge.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

// CHECK: expected 'result' of type tensor<4xf32>, got tensor<3xf32>
func.func @neg_result(%x: tensor<4xf32>) {
  %y = ge.neg %x : (tensor<4xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: expected 'result' of type tensor<4xi1>, got tensor<4xf32>
func.func @is_nan_result(%x: tensor<4xf32>) {
  %y = ge.is_nan %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16
func.func @add_types(%x: tensor<4xf32>, %z: tensor<4xf16>) {
  %y = ge.add %x, %z : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected shapes that broadcast, got [4] and [3]
func.func @add_shapes(%x: tensor<4xf32>, %z: tensor<3xf32>) {
  %y = ge.add %x, %z : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'rhs' of i1, got i8
func.func @and_types(%x: tensor<4xi1>, %z: tensor<4xi8>) {
  %y = ge.and %x, %z : (tensor<4xi1>, tensor<4xi8>) -> tensor<4xi1>
  func.return
}

// -----

// CHECK: expected 'condition' of i1, got f32
func.func @select_condition(%x: tensor<4xf32>) {
  %y = ge.select %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'min' to be a scalar, got tensor<4xf32>
func.func @clip_limits(%x: tensor<4xf32>) {
  %y = ge.clip %x min %x : tensor<4xf32> : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'result' of type tensor<4xf16>, got tensor<2xf16>
func.func @cast_shape(%x: tensor<4xf32>) {
  %y = ge.cast %x : (tensor<4xf32>) -> tensor<2xf16>
  func.return
}

// -----

// CHECK: expected 'approximate' to be none or tanh, got erf
func.func @gelu_c1(%x: tensor<4xf32>) {
  %y = ge.gelu %x approximate "erf" : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}
