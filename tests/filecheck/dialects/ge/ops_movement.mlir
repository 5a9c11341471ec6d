// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x6xf16>, %s: tensor<?x4xf32, #ge.dims<"S">>) {
  // CHECK: ge.reshape %x : (tensor<2x6xf16>) -> tensor<3x4xf16>
  %r0 = ge.reshape %x : (tensor<2x6xf16>) -> tensor<3x4xf16>
  // CHECK: ge.reshape %s : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<?x2xf32, #ge.dims<"2*S">>
  %r1 = ge.reshape %s : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<?x2xf32, #ge.dims<"2*S">>
  // CHECK: ge.transpose %x perm [1, 0] : (tensor<2x6xf16>) -> tensor<6x2xf16>
  %r2 = ge.transpose %x perm [1, 0] : (tensor<2x6xf16>) -> tensor<6x2xf16>
  // CHECK: ge.broadcast_to %x : (tensor<2x6xf16>) -> tensor<5x2x6xf16>
  %r3 = ge.broadcast_to %x : (tensor<2x6xf16>) -> tensor<5x2x6xf16>
  // CHECK: ge.tile %x repeats [2, 0] : (tensor<2x6xf16>) -> tensor<4x0xf16>
  %r4 = ge.tile %x repeats [2, 0] : (tensor<2x6xf16>) -> tensor<4x0xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @pieces
func.func @pieces(%x: tensor<2x6xf16>, %f: tensor<f16>, %s: tensor<?x6xf16, #ge.dims<"S">>) {
  // CHECK: ge.concat %x, %s, %x axis -2 : (tensor<2x6xf16>, tensor<?x6xf16, #ge.dims<"S">>, tensor<2x6xf16>) -> tensor<?x6xf16, #ge.dims<"S + 4">>
  %r0 = ge.concat %x, %s, %x axis -2 : (tensor<2x6xf16>, tensor<?x6xf16, #ge.dims<"S">>, tensor<2x6xf16>) -> tensor<?x6xf16, #ge.dims<"S + 4">>
  // CHECK: ge.split %x axis 1 sizes [2, 4] : (tensor<2x6xf16>) -> (tensor<2x2xf16>, tensor<2x4xf16>)
  %a, %b = ge.split %x axis 1 sizes [2, 4] : (tensor<2x6xf16>) -> (tensor<2x2xf16>, tensor<2x4xf16>)
  // CHECK: ge.slice %x starts [1, -1] ends [9223372036854775807, -9223372036854775808] axes [0, 1] steps [1, -2] : (tensor<2x6xf16>) -> tensor<1x3xf16>
  %r2 = ge.slice %x starts [1, -1] ends [9223372036854775807, -9223372036854775808] axes [0, 1] steps [1, -2] : (tensor<2x6xf16>) -> tensor<1x3xf16>
  // CHECK: ge.slice %s starts [0] ends [-1] axes [0] steps [1] : (tensor<?x6xf16, #ge.dims<"S">>) -> tensor<?x6xf16, #ge.dims<"max(S - 1, 0)">>
  %r3 = ge.slice %s starts [0] ends [-1] axes [0] steps [1] : (tensor<?x6xf16, #ge.dims<"S">>) -> tensor<?x6xf16, #ge.dims<"max(S - 1, 0)">>
  // CHECK: ge.pad %x pads [0, 1, 0, -1] mode "edge" : (tensor<2x6xf16>) -> tensor<2x6xf16>
  %r4 = ge.pad %x pads [0, 1, 0, -1] mode "edge" : (tensor<2x6xf16>) -> tensor<2x6xf16>
  // CHECK: ge.pad %x value %f pads [1, 0, 0, 0] mode "constant" : (tensor<2x6xf16>, tensor<f16>) -> tensor<3x6xf16>
  %r5 = ge.pad %x value %f pads [1, 0, 0, 0] mode "constant" : (tensor<2x6xf16>, tensor<f16>) -> tensor<3x6xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @patterns
func.func @patterns(%x: tensor<1x4x4x6xf32>, %n: tensor<4xi64>) {
  // CHECK: ge.trilu %x k -1 upper : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  %r0 = ge.trilu %x k -1 upper : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  // CHECK: ge.trilu %x k 0 : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  %r1 = ge.trilu %x k 0 : (tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  // CHECK: ge.depth_to_space %x blocksize 2 mode "CRD" : (tensor<1x4x4x6xf32>) -> tensor<1x1x8x12xf32>
  %r2 = ge.depth_to_space %x blocksize 2 mode "CRD" : (tensor<1x4x4x6xf32>) -> tensor<1x1x8x12xf32>
  // CHECK: ge.space_to_depth %x blocksize 2 : (tensor<1x4x4x6xf32>) -> tensor<1x16x2x3xf32>
  %r3 = ge.space_to_depth %x blocksize 2 : (tensor<1x4x4x6xf32>) -> tensor<1x16x2x3xf32>
  // CHECK: ge.reverse_sequence %x, %n time_axis 0 batch_axis 1 : (tensor<1x4x4x6xf32>, tensor<4xi64>) -> tensor<1x4x4x6xf32>
  %r4 = ge.reverse_sequence %x, %n time_axis 0 batch_axis 1 : (tensor<1x4x4x6xf32>, tensor<4xi64>) -> tensor<1x4x4x6xf32>
  // CHECK: ge.range start 0 : i64 delta -2 : i64 : tensor<8xi32>
  %r5 = ge.range start 0 : i64 delta -2 : i64 : tensor<8xi32>
  // CHECK: ge.range start 5.000000e-01 : f64 delta 1.000000e+00 : f64 : tensor<8xbf16>
  %r6 = ge.range start 5.000000e-01 : f64 delta 1.000000e+00 : f64 : tensor<8xbf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<1x3x4x4xf32>) {
  // CHECK: ge.resize %x sizes [1, 3, 8, 8] mode "nearest" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.500000e-01 : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  %r0 = ge.resize %x sizes [1, 3, 8, 8] mode "nearest" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.500000e-01 : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  // CHECK: ge.resize %x scales [1.000000e+00, 1.000000e+00, 2.500000e+00, 5.000000e-01] mode "cubic" coordinates "tf_crop_and_resize" nearest "round_prefer_floor" cubic_coeff_a -5.000000e-01 exclude_outside extrapolation_value 1.000000e+01 roi [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 5.000000e-01] : (tensor<1x3x4x4xf32>) -> tensor<1x3x10x2xf32>
  %r1 = ge.resize %x scales [1.000000e+00, 1.000000e+00, 2.500000e+00, 5.000000e-01] mode "cubic" coordinates "tf_crop_and_resize" nearest "round_prefer_floor" cubic_coeff_a -5.000000e-01 exclude_outside extrapolation_value 1.000000e+01 roi [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 5.000000e-01] : (tensor<1x3x4x4xf32>) -> tensor<1x3x10x2xf32>
  func.return
}
