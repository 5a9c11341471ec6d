// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @from_front
// CHECK-NEXT: ge.concat %x, %y axis 1
// CHECK-NEXT: ge.split %{{.*}} axis 1 sizes [4, 12]
func.func @from_front(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x12xf32>) {
  %a = ge.concat %x, %y axis -1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x16xf32>
  %b, %c = ge.split %a axis -1 sizes [4, 12] : (tensor<2x16xf32>) -> (tensor<2x4xf32>, tensor<2x12xf32>)
  func.return %b, %c : tensor<2x4xf32>, tensor<2x12xf32>
}

// CHECK-LABEL: func.func @from_back
// CHECK-NEXT: ge.rms_norm %x axis -1
// CHECK-NEXT: ge.softmax %{{.*}} axis -2
func.func @from_back(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %a = ge.rms_norm %x axis 2 epsilon 1.0e-06 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %b = ge.softmax %a axis 1 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return %b : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @reduced
// CHECK-NEXT: ge.reduce_mean %x axes [1, 2] keepdims true
func.func @reduced(%x: tensor<2x4x8xf32>) -> tensor<2x1x1xf32> {
  %a = ge.reduce_mean %x axes [-1, 1] keepdims true : (tensor<2x4x8xf32>) -> tensor<2x1x1xf32>
  func.return %a : tensor<2x1x1xf32>
}

// CHECK-LABEL: func.func @bounds
// CHECK-NEXT: ge.slice %x starts [4] ends [8] axes [1] steps [1]
func.func @bounds(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %a = ge.slice %x starts [-4, 0] ends [9223372036854775807, 2] axes [-1, 0] steps [1, 1]
    : (tensor<2x8xf32>) -> tensor<2x4xf32>
  func.return %a : tensor<2x4xf32>
}

// Bounds of other steps mean something else, and those of unknown sizes are not known.
// CHECK-LABEL: func.func @other_bounds
// CHECK-NEXT: ge.slice %x starts [-1] ends [-9] axes [1] steps [-2]
// CHECK-NEXT: ge.slice %y starts [1] ends [9223372036854775807] axes [0] steps [1]
func.func @other_bounds(%x: tensor<2x8xf32>, %y: tensor<?xf32>) -> (tensor<2x4xf32>, tensor<?xf32>) {
  %a = ge.slice %x starts [-1] ends [-9] axes [1] steps [-2] : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %b = ge.slice %y starts [1] ends [9223372036854775807] axes [0] steps [1] : (tensor<?xf32>) -> tensor<?xf32>
  func.return %a, %b : tensor<2x4xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @plain_rotary
// CHECK-NEXT: ge.rotary_embedding %x, %c, %c num_heads 0 rotary_dim 0
// CHECK-NEXT: ge.rotary_embedding %{{.*}}, %c, %c num_heads 0 rotary_dim 8
func.func @plain_rotary(%x: tensor<1x2x3x8xf32>, %z: tensor<1x2x3x16xf32>, %c: tensor<1x3x4xf32>)
    -> (tensor<1x2x3x8xf32>, tensor<1x2x3x16xf32>) {
  %y = ge.rotary_embedding %x, %c, %c num_heads 2 rotary_dim 8
    : (tensor<1x2x3x8xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x2x3x8xf32>
  %w = ge.rotary_embedding %z, %c, %c num_heads 0 rotary_dim 8
    : (tensor<1x2x3x16xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) -> tensor<1x2x3x16xf32>
  func.return %y, %w : tensor<1x2x3x8xf32>, tensor<1x2x3x16xf32>
}
