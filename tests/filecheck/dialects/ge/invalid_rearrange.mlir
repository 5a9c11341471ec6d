// RUN: GE_INVALID

// CHECK: expected 'input' of rank 2 or more, got [3]
func.func @trilu_c1(%x: tensor<3xf32>) {
  %y = ge.trilu %x k 0 : (tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: expected 'input' of rank 4, got [3]
func.func @depth_to_space_c1(%x: tensor<3xf32>) {
  %y = ge.depth_to_space %x blocksize 2 mode "DCR" : (tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: expected channels to be a multiple of 4, got 6
func.func @depth_to_space_c2(%x: tensor<1x6x2x2xf32>) {
  %y = ge.depth_to_space %x blocksize 2 mode "DCR" : (tensor<1x6x2x2xf32>) -> tensor<1x1x4x4xf32>
  func.return
}

// -----

// CHECK: expected 'blocksize' > 0, got 0
func.func @depth_to_space_c2_zero(%x: tensor<1x4x2x2xf32>) {
  %y = ge.depth_to_space %x blocksize 0 mode "DCR" : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32>
  func.return
}

// -----

// CHECK: expected 'mode' to be DCR or CRD, got CDR
func.func @depth_to_space_c3(%x: tensor<1x4x2x2xf32>) {
  %y = ge.depth_to_space %x blocksize 2 mode "CDR" : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32>
  func.return
}

// -----

// CHECK: expected 'input' of rank 4, got [3]
func.func @space_to_depth_c1(%x: tensor<3xf32>) {
  %y = ge.space_to_depth %x blocksize 2 : (tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: expected width to be a multiple of 2, got 3
func.func @space_to_depth_c2(%x: tensor<1x1x2x3xf32>) {
  %y = ge.space_to_depth %x blocksize 2 : (tensor<1x1x2x3xf32>) -> tensor<1x4x1x1xf32>
  func.return
}

// -----

// CHECK: expected 'sequence_lens' of integers, got f32
func.func @reverse_sequence_c1(%x: tensor<4x2xf32>, %n: tensor<2xf32>) {
  %y = ge.reverse_sequence %x, %n time_axis 0 batch_axis 1 : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return
}

// -----

// CHECK: expected 'time_axis' and 'batch_axis' to be 0 and 1, got [0, 2]
func.func @reverse_sequence_c2(%x: tensor<4x2x3xf32>, %n: tensor<3xi64>) {
  %y = ge.reverse_sequence %x, %n time_axis 0 batch_axis 2 : (tensor<4x2x3xf32>, tensor<3xi64>) -> tensor<4x2x3xf32>
  func.return
}

// -----

// CHECK: expected 'sequence_lens' of 2, got 4
func.func @reverse_sequence_c3(%x: tensor<4x2xf32>, %n: tensor<4xi64>) {
  %y = ge.reverse_sequence %x, %n time_axis 0 batch_axis 1 : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  func.return
}

// -----

// CHECK: expected 'result' of rank 1 and known size, got tensor<?xi64>
func.func @range_c1() {
  %y = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64>
  func.return
}

// -----

// CHECK: expected 'start' and 'delta' of the kind of 'result', got 0 : i64 and 1 : i64 for f32
func.func @range_c2() {
  %y = ge.range start 0 : i64 delta 1 : i64 : tensor<4xf32>
  func.return
}
