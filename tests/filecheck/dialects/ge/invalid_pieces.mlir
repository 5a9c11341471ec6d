// RUN: GE_INVALID

// CHECK: expected 'inputs' of one operand or more, got none
func.func @concat_c1() {
  %y = "ge.concat"() <{axis = 0 : i64}> : () -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16
func.func @concat_c1_types(%x: tensor<2xf32>, %z: tensor<2xf16>) {
  %y = ge.concat %x, %z axis 0 : (tensor<2xf32>, tensor<2xf16>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'inputs' of one rank, got [2], [2, 1]
func.func @concat_c1_ranks(%x: tensor<2xf32>, %z: tensor<2x1xf32>) {
  %y = ge.concat %x, %z axis 0 : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'axis' in [-1, 1), got 1
func.func @concat_c2(%x: tensor<2xf32>) {
  %y = ge.concat %x, %x axis 1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected dimension 1 of 'inputs' to agree, got 3 and 4
func.func @concat_c3(%x: tensor<2x3xf32>, %z: tensor<2x4xf32>) {
  %y = ge.concat %x, %z axis 0 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

// CHECK: expected 'axis' in [-1, 1), got -2
func.func @split_c1(%x: tensor<4xf32>) {
  %y = ge.split %x axis -2 sizes [4] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'sizes' of 1 numbers, none negative, got [2, 2]
func.func @split_c2(%x: tensor<4xf32>) {
  %y = ge.split %x axis 0 sizes [2, 2] : (tensor<4xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected dimension 0 of 'input' of 3, got 4
func.func @split_c3(%x: tensor<4xf32>) {
  %y, %z = ge.split %x axis 0 sizes [2, 1] : (tensor<4xf32>) -> (tensor<2xf32>, tensor<1xf32>)
  func.return
}

// -----

// CHECK: expected 'starts', 'ends', 'axes' and 'steps' of one length, got [1, 2, 1, 1]
func.func @slice_c1(%x: tensor<4xf32>) {
  %y = ge.slice %x starts [0] ends [1, 2] axes [0] steps [1] : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: expected 'axes' without repetition, got [0, 0]
func.func @slice_c2(%x: tensor<4xf32>) {
  %y = ge.slice %x starts [0, 0] ends [1, 1] axes [0, -1] steps [1, 1] : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: expected 'steps' other than 0, got 0
func.func @slice_c3(%x: tensor<4xf32>) {
  %y = ge.slice %x starts [0] ends [1] axes [0] steps [0] : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: expected 'pads' of 2 numbers, got 3
func.func @pad_c1(%x: tensor<4xf32>) {
  %y = ge.pad %x pads [1, 1, 1] mode "edge" : (tensor<4xf32>) -> tensor<6xf32>
  func.return
}

// -----

// CHECK: expected 'mode' to be one of constant, reflect, edge, wrap, got mirror
func.func @pad_c2(%x: tensor<4xf32>) {
  %y = ge.pad %x pads [1, 1] mode "mirror" : (tensor<4xf32>) -> tensor<6xf32>
  func.return
}

// -----

// CHECK: expected 'value' to be a scalar for mode constant, got tensor<f32> for mode edge
func.func @pad_c3(%x: tensor<4xf32>, %v: tensor<f32>) {
  %y = ge.pad %x value %v pads [1, 1] mode "edge" : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16
func.func @pad_c3_type(%x: tensor<4xf32>, %v: tensor<f16>) {
  %y = ge.pad %x value %v pads [1, 1] mode "constant" : (tensor<4xf32>, tensor<f16>) -> tensor<6xf32>
  func.return
}

// -----

// CHECK: expected 'pads' that dimension 0 of 4 can take, got [-3, -2]
func.func @pad_c4(%x: tensor<4xf32>) {
  %y = ge.pad %x pads [-3, -2] mode "constant" : (tensor<4xf32>) -> tensor<0xf32>
  func.return
}

// -----

// CHECK: expected 'pads' that dimension 0 of 0 can take, got [1, 0]
func.func @pad_c4_empty(%x: tensor<0xf32>) {
  %y = ge.pad %x pads [1, 0] mode "reflect" : (tensor<0xf32>) -> tensor<1xf32>
  func.return
}
