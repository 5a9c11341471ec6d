// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// Halves.
// CHECK-LABEL: func.func @outer
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = ge.split %x axis 1 sizes [4, 4]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @outer(%x: tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %w = ge.reshape %x : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
  %a, %b = ge.split %w axis 1 sizes [1, 1] : (tensor<3x2x4xf32>) -> (tensor<3x1x4xf32>, tensor<3x1x4xf32>)
  %c = ge.reshape %a : (tensor<3x1x4xf32>) -> tensor<3x4xf32>
  %d = ge.reshape %b : (tensor<3x1x4xf32>) -> tensor<3x4xf32>
  func.return %c, %d : tensor<3x4xf32>, tensor<3x4xf32>
}

// Neighbours.
// CHECK-LABEL: func.func @inner
// CHECK-NEXT: %[[A:.*]] = ge.slice %x starts [0] ends [9223372036854775807] axes [1] steps [2]
// CHECK-NEXT: %[[B:.*]] = ge.slice %x starts [1] ends [9223372036854775807] axes [1] steps [2]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @inner(%x: tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %w = ge.reshape %x : (tensor<3x8xf32>) -> tensor<3x4x2xf32>
  %a, %b = ge.split %w axis 2 sizes [1, 1] : (tensor<3x4x2xf32>) -> (tensor<3x4x1xf32>, tensor<3x4x1xf32>)
  %c = ge.reshape %a : (tensor<3x4x1xf32>) -> tensor<3x4xf32>
  %d = ge.reshape %b : (tensor<3x4x1xf32>) -> tensor<3x4xf32>
  func.return %c, %d : tensor<3x4xf32>, tensor<3x4xf32>
}

// Pieces of several elements, of a dimension that was there before, and of three that were one.
// CHECK-LABEL: func.func @several
// CHECK: ge.split %{{.*}} axis 2 sizes [2, 2]
func.func @several(%x: tensor<3x8xf32>) -> (tensor<3x2x2xf32>, tensor<3x2x2xf32>) {
  %w = ge.reshape %x : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
  %a, %b = ge.split %w axis 2 sizes [2, 2] : (tensor<3x2x4xf32>) -> (tensor<3x2x2xf32>, tensor<3x2x2xf32>)
  func.return %a, %b : tensor<3x2x2xf32>, tensor<3x2x2xf32>
}

// CHECK-LABEL: func.func @before
// CHECK: ge.split %{{.*}} axis 0 sizes [1, 2]
func.func @before(%x: tensor<3x8xf32>) -> (tensor<1x2x4xf32>, tensor<2x2x4xf32>) {
  %w = ge.reshape %x : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
  %a, %b = ge.split %w axis 0 sizes [1, 2] : (tensor<3x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<2x2x4xf32>)
  func.return %a, %b : tensor<1x2x4xf32>, tensor<2x2x4xf32>
}

// CHECK-LABEL: func.func @three
// CHECK: ge.split %{{.*}} axis 1 sizes [1, 1]
func.func @three(%x: tensor<3x8xf32>) -> (tensor<3x1x2x2xf32>, tensor<3x1x2x2xf32>) {
  %w = ge.reshape %x : (tensor<3x8xf32>) -> tensor<3x2x2x2xf32>
  %a, %b = ge.split %w axis 1 sizes [1, 1] : (tensor<3x2x2x2xf32>) -> (tensor<3x1x2x2xf32>, tensor<3x1x2x2xf32>)
  func.return %a, %b : tensor<3x1x2x2xf32>, tensor<3x1x2x2xf32>
}
