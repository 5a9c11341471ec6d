// RUN: GE_INVALID

// CHECK: expected 'input' of rank 3 or more, got [3, 8]
func.func @max_pool_c1(%x: tensor<3x8xf32>) {
  %y = ge.max_pool %x kernel [] strides [] pads [] dilations [] : (tensor<3x8xf32>) -> tensor<3x8xf32>
  func.return
}

// -----

// CHECK: expected 'kernel' of 1 numbers of 1 or more, got [0]
func.func @max_pool_c2_kernel(%x: tensor<1x3x8xf32>) {
  %y = ge.max_pool %x kernel [0] strides [1] pads [0, 0] dilations [1] : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  func.return
}

// -----

// CHECK: expected 'strides' of 1 numbers of 1 or more, got [1, 1]
func.func @max_pool_c2_strides(%x: tensor<1x3x8xf32>) {
  %y = ge.max_pool %x kernel [2] strides [1, 1] pads [0, 0] dilations [1] : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  func.return
}

// -----

// CHECK: expected a window of at most 8, the padded input, got 9
func.func @max_pool_c3(%x: tensor<1x3x8xf32>) {
  %y = ge.max_pool %x kernel [9] strides [1] pads [0, 0] dilations [1] : (tensor<1x3x8xf32>) -> tensor<1x3x0xf32>
  func.return
}

// -----

// CHECK: expected 'input' of floats, got i8
func.func @average_pool_c4(%x: tensor<1x3x8xi8>) {
  %y = ge.average_pool %x kernel [2] strides [1] pads [0, 0] dilations [1] : (tensor<1x3x8xi8>) -> tensor<1x3x7xi8>
  func.return
}

// -----

// CHECK: expected 'p' of 1 or more, got 0
func.func @lp_pool_c5(%x: tensor<1x3x8xf32>) {
  %y = ge.lp_pool %x p 0 kernel [2] strides [1] pads [0, 0] dilations [1] : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
  func.return
}

// -----

// CHECK: expected 'input' of floats, got i8
func.func @lp_pool_c4(%x: tensor<1x3x8xi8>) {
  %y = ge.lp_pool %x p 2 kernel [2] strides [1] pads [0, 0] dilations [1] : (tensor<1x3x8xi8>) -> tensor<1x3x7xi8>
  func.return
}
