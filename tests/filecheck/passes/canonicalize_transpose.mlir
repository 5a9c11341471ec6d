// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @identity
// CHECK-NEXT: func.return %x
func.func @identity(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = ge.transpose %x perm [0, 1] : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @composed
// CHECK-NEXT: ge.transpose %x perm [0, 2, 3, 1] : (tensor<2x5x4x8xf32>) -> tensor<2x4x8x5xf32>
// CHECK-NEXT: func.return
func.func @composed(%x: tensor<2x5x4x8xf32>) -> tensor<2x4x8x5xf32> {
  %y = ge.transpose %x perm [0, 2, 1, 3] : (tensor<2x5x4x8xf32>) -> tensor<2x4x5x8xf32>
  %z = ge.transpose %y perm [0, 1, 3, 2] : (tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32>
  func.return %z : tensor<2x4x8x5xf32>
}

// CHECK-LABEL: func.func @cancelled
// CHECK-NEXT: func.return %x
func.func @cancelled(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = ge.transpose %x perm [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %z = ge.transpose %y perm [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  func.return %z : tensor<2x3x4xf32>
}

// The same permutation twice is no way back.
// CHECK-LABEL: func.func @not_cancelled
// CHECK-NEXT: ge.transpose %x perm [1, 2, 0]
func.func @not_cancelled(%x: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
  %y = ge.transpose %x perm [2, 0, 1] : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  %z = ge.transpose %y perm [2, 0, 1] : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  func.return %z : tensor<4x4x4xf32>
}

// CHECK-LABEL: func.func @unit_dims
// CHECK-NEXT: ge.reshape %x : (tensor<2x1x4x8xf32>) -> tensor<2x4x1x8xf32>
func.func @unit_dims(%x: tensor<2x1x4x8xf32>) -> tensor<2x4x1x8xf32> {
  %y = ge.transpose %x perm [0, 2, 1, 3] : (tensor<2x1x4x8xf32>) -> tensor<2x4x1x8xf32>
  func.return %y : tensor<2x4x1x8xf32>
}

// CHECK-LABEL: func.func @no_unit_dims
// CHECK-NEXT: ge.transpose %x perm [0, 2, 1, 3]
func.func @no_unit_dims(%x: tensor<1x2x4x8xf32>) -> tensor<1x4x2x8xf32> {
  %y = ge.transpose %x perm [0, 2, 1, 3] : (tensor<1x2x4x8xf32>) -> tensor<1x4x2x8xf32>
  func.return %y : tensor<1x4x2x8xf32>
}
