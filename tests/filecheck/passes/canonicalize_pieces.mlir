// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @whole_slice
// CHECK-NEXT: func.return %x
func.func @whole_slice(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = ge.slice %x starts [0] ends [9223372036854775807] axes [1] steps [1]
    : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @reversal_stays
// CHECK-NEXT: ge.slice
func.func @reversal_stays(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = ge.slice %x starts [-1] ends [-9223372036854775807] axes [1] steps [-1]
    : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @concat_of_one
// CHECK-NEXT: func.return %x
func.func @concat_of_one(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = ge.concat %x axis 0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @concat_of_two
// CHECK-NEXT: ge.concat
func.func @concat_of_two(%x: tensor<2x4xf32>, %e: tensor<0x4xf32>) -> tensor<2x4xf32> {
  %y = ge.concat %x, %e axis 0 : (tensor<2x4xf32>, tensor<0x4xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @split_in_one
// CHECK-NEXT: func.return %x
func.func @split_in_one(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %y = ge.split %x axis 0 sizes [6] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @empty_pad
// CHECK-NEXT: func.return %x
func.func @empty_pad(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = ge.pad %x pads [0, 0, 0, 0] mode "constant" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Cutting off in front and adding at the end keeps the shape only.
// CHECK-LABEL: func.func @shifting_pad
// CHECK-NEXT: ge.pad
func.func @shifting_pad(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = ge.pad %x pads [0, -1, 0, 1] mode "constant" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @single_tile
// CHECK-NEXT: func.return %x
func.func @single_tile(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = ge.tile %x repeats [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @tile_of_unit_dim
// CHECK-NEXT: ge.broadcast_to %x : (tensor<2x1x3xf32>) -> tensor<2x4x3xf32>
func.func @tile_of_unit_dim(%x: tensor<2x1x3xf32>) -> tensor<2x4x3xf32> {
  %y = ge.tile %x repeats [1, 4, 1] : (tensor<2x1x3xf32>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @tile
// CHECK-NEXT: ge.tile
func.func @tile(%x: tensor<2x1x3xf32>) -> tensor<4x4x3xf32> {
  %y = ge.tile %x repeats [2, 4, 1] : (tensor<2x1x3xf32>) -> tensor<4x4x3xf32>
  func.return %y : tensor<4x4x3xf32>
}

// CHECK-LABEL: func.func @broadcast_identity
// CHECK-NEXT: func.return %x
func.func @broadcast_identity(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = ge.broadcast_to %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @broadcast_twice
// CHECK-NEXT: ge.broadcast_to %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: func.return
func.func @broadcast_twice(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %y = ge.broadcast_to %x : (tensor<3x1xf32>) -> tensor<3x4xf32>
  %z = ge.broadcast_to %y : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  func.return %z : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @broadcast_operand
// CHECK-NEXT: ge.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
func.func @broadcast_operand(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %z = ge.broadcast_to %y : (tensor<3xf32>) -> tensor<2x3xf32>
  %r = ge.add %x, %z : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// The broadcast makes the result larger, so that it is needed.
// CHECK-LABEL: func.func @broadcast_needed
// CHECK-NEXT: ge.broadcast_to
func.func @broadcast_needed(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %z = ge.broadcast_to %y : (tensor<3xf32>) -> tensor<2x3xf32>
  %r = ge.add %x, %z : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}
