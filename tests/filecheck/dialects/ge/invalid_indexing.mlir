// RUN: GE_INVALID

// CHECK: expected 'input' of rank 1 or more, got []
func.func @gather_c1(%x: tensor<f32>, %i: tensor<2xi64>) {
  %y = ge.gather %x, %i axis 0 : (tensor<f32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected 'axis' in [-1, 1), got 1
func.func @gather_c1_axis(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  %y = ge.gather %x, %i axis 1 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected 'indices' of integers, got f32
func.func @gather_c2(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  %y = ge.gather %x, %i axis 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected 'indices' of rank 2, got [2]
func.func @gather_elements_c1(%x: tensor<4x8xf32>, %i: tensor<2xi64>) {
  %y = ge.gather_elements %x, %i axis 0 : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected 'indices' of integers, got i1
func.func @gather_elements_c2(%x: tensor<4xf32>, %i: tensor<2xi1>) {
  %y = ge.gather_elements %x, %i axis 0 : (tensor<4xf32>, tensor<2xi1>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected dimension 0 of 'indices' of at most 4, got 5
func.func @gather_elements_c3(%x: tensor<4x8xf32>, %i: tensor<5x2xi64>) {
  %y = ge.gather_elements %x, %i axis 1 : (tensor<4x8xf32>, tensor<5x2xi64>) -> tensor<5x2xf32>
  func.return
}

// -----

// CHECK: expected the last dimension of 'indices' in [1, 2], got [?]
func.func @gather_nd_c1(%x: tensor<4x8xf32>, %i: tensor<5x?xi64>) {
  %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<4x8xf32>, tensor<5x?xi64>) -> tensor<5xf32>
  func.return
}

// -----

// CHECK: expected 'batch_dims' in [0, 2), got 2
func.func @gather_nd_c2(%x: tensor<4x8xf32>, %i: tensor<4x1xi64>) {
  %y = ge.gather_nd %x, %i batch_dims 2 : (tensor<4x8xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected batch dimension 0 to agree, got 4 and 3
func.func @gather_nd_c2_batch(%x: tensor<4x8xf32>, %i: tensor<3x1xi64>) {
  %y = ge.gather_nd %x, %i batch_dims 1 : (tensor<4x8xf32>, tensor<3x1xi64>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: expected the last dimension of 'indices' in [1, 2], got [3]
func.func @gather_nd_c3(%x: tensor<4x8xf32>, %i: tensor<5x3xi64>) {
  %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<4x8xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  func.return
}

// -----

// CHECK: expected dimension 0 of 'values' of 2, got 3
func.func @one_hot_c1(%i: tensor<4xi64>, %v: tensor<3xf32>) {
  %y = ge.one_hot %i, %v depth 2 axis 0 : (tensor<4xi64>, tensor<3xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: expected 'depth' > 0, got 0
func.func @one_hot_c2(%i: tensor<4xi64>, %v: tensor<2xf32>) {
  %y = ge.one_hot %i, %v depth 0 axis 0 : (tensor<4xi64>, tensor<2xf32>) -> tensor<0x4xf32>
  func.return
}

// -----

// CHECK: expected 'axis' in [-2, 2), got 2
func.func @one_hot_c3(%i: tensor<4xi64>, %v: tensor<2xf32>) {
  %y = ge.one_hot %i, %v depth 3 axis 2 : (tensor<4xi64>, tensor<2xf32>) -> tensor<4x3xf32>
  func.return
}
