// RUN: GE_INVALID

// CHECK: expected operands of one element type, got f32, f16
func.func @conv_c1(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf16>) {
  %y = ge.conv %x, %w strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x2x4xf32>, tensor<2x2x1xf16>) -> tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected 'filter' of rank 3, got [2, 2]
func.func @conv_c2(%x: tensor<1x2x4xf32>, %w: tensor<2x2xf32>) {
  %y = ge.conv %x, %w strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x2x4xf32>, tensor<2x2xf32>) -> tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected 'pads' of 2 numbers of 0 or more, got [0, -1]
func.func @conv_c3(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>) {
  %y = ge.conv %x, %w strides [1] pads [0, -1] dilations [1] group 1 : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected channels of 'input' of 4, got 2
func.func @conv_c4(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>) {
  %y = ge.conv %x, %w strides [1] pads [0, 0] dilations [1] group 2 : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected channels of the result in 2 groups, got 3
func.func @conv_c4_groups(%x: tensor<1x2x4xf32>, %w: tensor<3x1x1xf32>) {
  %y = ge.conv %x, %w strides [1] pads [0, 0] dilations [1] group 2 : (tensor<1x2x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4xf32>
  func.return
}

// -----

// CHECK: expected 'bias' of 2, got 3
func.func @conv_c5(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>, %b: tensor<3xf32>) {
  %y = ge.conv %x, %w bias %b strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x2x4xf32>, tensor<2x2x1xf32>, tensor<3xf32>) -> tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected a window of at most 4, the padded input, got 5
func.func @conv_c6(%x: tensor<1x2x4xf32>, %w: tensor<2x2x3xf32>) {
  %y = ge.conv %x, %w strides [1] pads [0, 0] dilations [2] group 1 : (tensor<1x2x4xf32>, tensor<2x2x3xf32>) -> tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected 'output_padding' of 1 numbers of 0 or more, got [0, 0]
func.func @conv_transpose_c3(%x: tensor<1x2x4xf32>, %w: tensor<2x2x3xf32>) {
  %y = ge.conv_transpose %x, %w strides [1] pads [0, 0] dilations [1] output_padding [0, 0] group 1 : (tensor<1x2x4xf32>, tensor<2x2x3xf32>) -> tensor<1x2x6xf32>
  func.return
}

// -----

// CHECK: expected input channels of 'filter' of 2, got 3
func.func @conv_transpose_c4(%x: tensor<1x2x4xf32>, %w: tensor<3x2x3xf32>) {
  %y = ge.conv_transpose %x, %w strides [1] pads [0, 0] dilations [1] output_padding [0] group 1 : (tensor<1x2x4xf32>, tensor<3x2x3xf32>) -> tensor<1x2x6xf32>
  func.return
}

// -----

// CHECK: expected 'rhs' of i8 or ui8, got i16
func.func @matmul_integer_c1(%a: tensor<2x3xi8>, %b: tensor<3x4xi16>) {
  %y = ge.matmul_integer %a, %b : (tensor<2x3xi8>, tensor<3x4xi16>) -> tensor<2x4xi32>
  func.return
}

// -----

// CHECK: expected 'lhs_zero_point' of 1 or 2 elements, got 3
func.func @matmul_integer_c3(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>, %z: tensor<3xi8>) {
  %y = ge.matmul_integer %a, %b lhs_zero_point %z : tensor<3xi8> : (tensor<2x3xi8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  func.return
}

// -----

// CHECK: expected 'input_zero_point' of ui8, got i8
func.func @conv_integer_c1(%x: tensor<1x2x4xui8>, %w: tensor<2x2x1xi8>, %z: tensor<i8>) {
  %y = ge.conv_integer %x, %w input_zero_point %z : tensor<i8> strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x2x4xui8>, tensor<2x2x1xi8>) -> tensor<1x2x4xi32>
  func.return
}

// -----

// CHECK: expected 'filter_zero_point' of 2 elements, got 3
func.func @conv_integer_c2(%x: tensor<1x2x4xui8>, %w: tensor<2x2x1xi8>, %z: tensor<3xi8>) {
  %y = ge.conv_integer %x, %w filter_zero_point %z : tensor<3xi8> strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x2x4xui8>, tensor<2x2x1xi8>) -> tensor<1x2x4xi32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16
func.func @conv_transpose_c1(%x: tensor<1x2x4xf32>, %w: tensor<2x2x3xf16>) {
  %y = ge.conv_transpose %x, %w strides [1] pads [0, 0] dilations [1] output_padding [0] group 1 : (tensor<1x2x4xf32>, tensor<2x2x3xf16>) -> tensor<1x2x6xf32>
  func.return
}

// -----

// CHECK: expected 'input' of rank 3 or more, got [2, 4]
func.func @conv_transpose_c2(%x: tensor<2x4xf32>, %w: tensor<2x4xf32>) {
  %y = ge.conv_transpose %x, %w strides [] pads [] dilations [] output_padding [] group 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

// CHECK: expected 'bias' of 2, got 3
func.func @conv_transpose_c5(%x: tensor<1x2x4xf32>, %w: tensor<2x2x3xf32>, %b: tensor<3xf32>) {
  %y = ge.conv_transpose %x, %w bias %b strides [1] pads [0, 0] dilations [1] output_padding [0] group 1 : (tensor<1x2x4xf32>, tensor<2x2x3xf32>, tensor<3xf32>) -> tensor<1x2x6xf32>
  func.return
}

// -----

// CHECK: expected 'lhs' [2, 3] and 'rhs' [4, 3] in K to agree, got 3 and 4
func.func @matmul_integer_c2(%a: tensor<2x3xi8>, %b: tensor<4x3xi8>) {
  %y = ge.matmul_integer %a, %b : (tensor<2x3xi8>, tensor<4x3xi8>) -> tensor<2x3xi32>
  func.return
}

// -----

// CHECK: expected a window of at most 4, the padded input, got 5
func.func @conv_integer_c3(%x: tensor<1x2x4xui8>, %w: tensor<2x2x5xi8>) {
  %y = ge.conv_integer %x, %w strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x2x4xui8>, tensor<2x2x5xi8>) -> tensor<1x2x0xi32>
  func.return
}
