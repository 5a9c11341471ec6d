// RUN: GE_INVALID

// CHECK: expected operands of one element type, got f32, f16
func.func @scatter_nd_c1(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf16>) {
  %y = ge.scatter_nd %x, %i, %u reduction "none" : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf16>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'reduction' to be one of none, add, mul, min, max, got sum
func.func @scatter_nd_c2(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  %y = ge.scatter_nd %x, %i, %u reduction "sum" : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected the last dimension of 'indices' in [1, 1], got [2]
func.func @scatter_nd_c3(%x: tensor<4xf32>, %i: tensor<2x2xi64>, %u: tensor<2xf32>) {
  %y = ge.scatter_nd %x, %i, %u reduction "none" : (tensor<4xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected dimension 0 of 'updates' of 2, got 3
func.func @scatter_nd_c4(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<3xf32>) {
  %y = ge.scatter_nd %x, %i, %u reduction "none" : (tensor<4xf32>, tensor<2x1xi64>, tensor<3xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'axis' in [-1, 1), got 3
func.func @scatter_elements_c3(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  %y = ge.scatter_elements %x, %i, %u axis 3 reduction "none" : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected dimension 1 of 'indices' of at most 4, got 5
func.func @scatter_elements_c4(%x: tensor<3x4xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5xf32>) {
  %y = ge.scatter_elements %x, %i, %u axis 0 reduction "none" : (tensor<3x4xf32>, tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

// CHECK: expected 'updates' of [2], got [2, 1]
func.func @scatter_elements_c5(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2x1xf32>) {
  %y = ge.scatter_elements %x, %i, %u axis 0 reduction "none" : (tensor<4xf32>, tensor<2xi64>, tensor<2x1xf32>) -> tensor<4xf32>
  func.return
}
