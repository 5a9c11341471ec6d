// RUN: GE_INVALID

// CHECK: expected 'result' of f16, got tensor<4xf32>
func.func @reshape_c1(%x: tensor<2x2xf16>) {
  %y = ge.reshape %x : (tensor<2x2xf16>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'result' of 6 elements, got 8
func.func @reshape_c2(%x: tensor<2x3xf32>) {
  %y = ge.reshape %x : (tensor<2x3xf32>) -> tensor<8xf32>
  func.return
}

// -----

// CHECK: expected 'result' of 6 elements, got [?, 4]
func.func @reshape_c2_unknown(%x: tensor<2x3xf32>) {
  %y = ge.reshape %x : (tensor<2x3xf32>) -> tensor<?x4xf32>
  func.return
}

// -----

// CHECK: expected 'perm' to be a permutation of 2 dimensions, got [0, 0]
func.func @transpose_c1(%x: tensor<2x3xf32>) {
  %y = ge.transpose %x perm [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// CHECK: expected 'result' of type tensor<3x2xf32>, got tensor<2x3xf32>
func.func @transpose_result(%x: tensor<2x3xf32>) {
  %y = ge.transpose %x perm [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected 'result' of f32, got tensor<2x3xf16>
func.func @broadcast_to_c1(%x: tensor<3xf32>) {
  %y = ge.broadcast_to %x : (tensor<3xf32>) -> tensor<2x3xf16>
  func.return
}

// -----

// CHECK: expected 'result' of rank 2 or more, got [3]
func.func @broadcast_to_c2(%x: tensor<1x3xf32>) {
  %y = ge.broadcast_to %x : (tensor<1x3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: expected dimension 1 of 'result' to agree, got 4 and 3
func.func @broadcast_to_c3(%x: tensor<3xf32>) {
  %y = ge.broadcast_to %x : (tensor<3xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: expected 'repeats' of 2 numbers, none negative, got [1]
func.func @tile_c1(%x: tensor<2x3xf32>) {
  %y = ge.tile %x repeats [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected 'repeats' of 2 numbers, none negative, got [1, -1]
func.func @tile_c1_negative(%x: tensor<2x3xf32>) {
  %y = ge.tile %x repeats [1, -1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
