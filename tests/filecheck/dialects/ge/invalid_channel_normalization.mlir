// RUN: GE_INVALID

// CHECK: expected 'input' of floats, got i32
func.func @group_norm_c1(%x: tensor<1x4x8xi32>, %s: tensor<4xi32>) {
  %y = ge.group_norm %x, %s, %s num_groups 2 epsilon 1.0e-05 : (tensor<1x4x8xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<1x4x8xi32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16, f16
func.func @group_norm_c1_scale(%x: tensor<1x4x8xf32>, %s: tensor<4xf16>) {
  %y = ge.group_norm %x, %s, %s num_groups 2 epsilon 1.0e-05 : (tensor<1x4x8xf32>, tensor<4xf16>, tensor<4xf16>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'epsilon' of 0 or more, got -1.0
func.func @group_norm_c4(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>) {
  %y = ge.group_norm %x, %s, %s num_groups 2 epsilon -1.0 : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'input' of floats, got i32
func.func @instance_norm_c1(%x: tensor<1x4x8xi32>, %s: tensor<4xi32>) {
  %y = ge.instance_norm %x, %s, %s epsilon 1.0e-05 : (tensor<1x4x8xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<1x4x8xi32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16, f16
func.func @instance_norm_c1_scale(%x: tensor<1x4x8xf32>, %s: tensor<4xf16>) {
  %y = ge.instance_norm %x, %s, %s epsilon 1.0e-05 : (tensor<1x4x8xf32>, tensor<4xf16>, tensor<4xf16>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'epsilon' of 0 or more, got -1.0
func.func @instance_norm_c3(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>) {
  %y = ge.instance_norm %x, %s, %s epsilon -1.0 : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'input' of floats, got i32
func.func @batch_norm_c1(%x: tensor<1x4x8xi32>, %s: tensor<4xi32>) {
  %y = ge.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-05 : (tensor<1x4x8xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<1x4x8xi32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16, f16, f16, f16
func.func @batch_norm_c1_scale(%x: tensor<1x4x8xf32>, %s: tensor<4xf16>) {
  %y = ge.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-05 : (tensor<1x4x8xf32>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'epsilon' of 0 or more, got -1.0
func.func @batch_norm_c3(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>) {
  %y = ge.batch_norm %x, %s, %s, %s, %s epsilon -1.0 : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  func.return
}

// -----

// CHECK: expected 'input' of floats, got i32
func.func @lrn_c1(%x: tensor<1x4x8xi32>) {
  %y = ge.lrn %x size 3 alpha 1.0 beta 1.0 bias 1.0 : (tensor<1x4x8xi32>) -> tensor<1x4x8xi32>
  func.return
}

// -----

// CHECK: expected 'input' of rank 2 or more, got [4]
func.func @lrn_c2(%x: tensor<4xf32>) {
  %y = ge.lrn %x size 3 alpha 1.0 beta 1.0 bias 1.0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'size' of 1 or more, got 0
func.func @lrn_c3(%x: tensor<1x4x8xf32>) {
  %y = ge.lrn %x size 0 alpha 1.0 beta 1.0 bias 1.0 : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  func.return
}
