// RUN: GE_INVALID

// CHECK: expected 'input' of floats, got i32
func.func @layer_norm_c1(%x: tensor<4x8xi32>) {
  %y = ge.layer_norm %x axis -1 epsilon 1.0e-05 : tensor<4x8xi32> -> tensor<4x8xi32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f16, f32
func.func @layer_norm_c1_scale(%x: tensor<4x8xf16>, %s: tensor<8xf32>) {
  %y = ge.layer_norm %x scale %s : tensor<8xf32> axis -1 epsilon 1.0e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected 'axis' in [-2, 2), got 2
func.func @layer_norm_c2(%x: tensor<4x8xf16>) {
  %y = ge.layer_norm %x axis 2 epsilon 1.0e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected 'epsilon' of 0 or more, got -1.0
func.func @layer_norm_c3(%x: tensor<4x8xf16>) {
  %y = ge.layer_norm %x axis 1 epsilon -1.0 : tensor<4x8xf16> -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected 'bias' to broadcast to [4, 8], got [4]
func.func @layer_norm_c4(%x: tensor<4x8xf16>, %b: tensor<4xf16>) {
  %y = ge.layer_norm %x bias %b : tensor<4xf16> axis 1 epsilon 1.0e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected 'epsilon' of 0 or more, got nan
func.func @rms_norm_c3(%x: tensor<4x8xf16>) {
  %y = "ge.rms_norm"(%x) <{axis = 1 : i64, epsilon = 0x7FC00000 : f32}> : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected 'scale' to broadcast to [1, 8], got [4, 8]
func.func @rms_norm_c4(%x: tensor<1x8xf16>, %s: tensor<4x8xf16>) {
  %y = ge.rms_norm %x scale %s axis 1 epsilon 1.0e-05 : (tensor<1x8xf16>, tensor<4x8xf16>) -> tensor<1x8xf16>
  func.return
}

// -----

// CHECK: expected 'bias' of 4, got 3
func.func @group_norm_c2(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>, %b: tensor<3xf32>) {
  %y = ge.group_norm %x, %s, %b num_groups 2 epsilon 1.0e-05 : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'num_groups' to divide 4, got 3
func.func @group_norm_c3(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>) {
  %y = ge.group_norm %x, %s, %s num_groups 3 epsilon 1.0e-05 : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'input' of rank 3 or more, got [1, 4]
func.func @instance_norm_c2(%x: tensor<1x4xf32>, %s: tensor<4xf32>) {
  %y = ge.instance_norm %x, %s, %s epsilon 1.0e-05 : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  func.return
}

// -----

// CHECK: expected 'variance' of 4, got 8
func.func @batch_norm_c2(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>, %v: tensor<8xf32>) {
  %y = ge.batch_norm %x, %s, %s, %s, %v epsilon 1.0e-05 : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'p' to be 1 or 2, got 3
func.func @lp_norm_c3(%x: tensor<4x8xf16>) {
  %y = ge.lp_norm %x axis 1 p 3 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f16, f32
func.func @rms_norm_c1(%x: tensor<4x8xf16>, %s: tensor<8xf32>) {
  %y = ge.rms_norm %x scale %s axis 1 epsilon 1.0e-05 : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected 'axis' in [-2, 2), got -3
func.func @rms_norm_c2(%x: tensor<4x8xf16>) {
  %y = ge.rms_norm %x axis -3 epsilon 1.0e-05 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: expected 'input' of floats, got i8
func.func @lp_norm_c1(%x: tensor<4x8xi8>) {
  %y = ge.lp_norm %x axis 1 p 2 : (tensor<4x8xi8>) -> tensor<4x8xi8>
  func.return
}

// -----

// CHECK: expected 'axis' in [-2, 2), got 2
func.func @lp_norm_c2(%x: tensor<4x8xf16>) {
  %y = ge.lp_norm %x axis 2 p 1 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}
