// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @pieces
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = ge.split %x axis 1 sizes [3, 5]
// CHECK-NEXT: func.return %[[B]], %[[A]]
func.func @pieces(%x: tensor<2x8xf32>) -> (tensor<2x5xf32>, tensor<2x3xf32>) {
  %b = ge.slice %x starts [3] ends [8] axes [1] steps [1] : (tensor<2x8xf32>) -> tensor<2x5xf32>
  %a = ge.slice %x starts [0] ends [3] axes [1] steps [1] : (tensor<2x8xf32>) -> tensor<2x3xf32>
  func.return %b, %a : tensor<2x5xf32>, tensor<2x3xf32>
}

// One element is in neither.
// CHECK-LABEL: func.func @gap
// CHECK-COUNT-2: ge.slice
func.func @gap(%x: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>) {
  %b = ge.slice %x starts [4] ends [8] axes [1] steps [1] : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %a = ge.slice %x starts [0] ends [3] axes [1] steps [1] : (tensor<2x8xf32>) -> tensor<2x3xf32>
  func.return %b, %a : tensor<2x4xf32>, tensor<2x3xf32>
}

// One element is in both.
// CHECK-LABEL: func.func @overlap
// CHECK-COUNT-2: ge.slice
func.func @overlap(%x: tensor<2x8xf32>) -> (tensor<2x6xf32>, tensor<2x3xf32>) {
  %b = ge.slice %x starts [2] ends [8] axes [1] steps [1] : (tensor<2x8xf32>) -> tensor<2x6xf32>
  %a = ge.slice %x starts [0] ends [3] axes [1] steps [1] : (tensor<2x8xf32>) -> tensor<2x3xf32>
  func.return %b, %a : tensor<2x6xf32>, tensor<2x3xf32>
}

// Along different dimensions.
// CHECK-LABEL: func.func @axes
// CHECK-COUNT-2: ge.slice
func.func @axes(%x: tensor<8x8xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  %b = ge.slice %x starts [4] ends [8] axes [1] steps [1] : (tensor<8x8xf32>) -> tensor<8x4xf32>
  %a = ge.slice %x starts [0] ends [4] axes [0] steps [1] : (tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return %b, %a : tensor<8x4xf32>, tensor<4x8xf32>
}
