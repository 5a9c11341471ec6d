// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<4x8xf16>, %s: tensor<8xf16>) {
  // CHECK: ge.layer_norm %x axis -1 epsilon 1.000000e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  %a = ge.layer_norm %x axis -1 epsilon 1.0e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  // CHECK: ge.layer_norm %x scale %s : tensor<8xf16> axis 1 epsilon 0.000000e+00 : tensor<4x8xf16> -> tensor<4x8xf16>
  %b = ge.layer_norm %x scale %s : tensor<8xf16> axis 1 epsilon 0.0 : tensor<4x8xf16> -> tensor<4x8xf16>
  // CHECK: ge.layer_norm %x bias %s : tensor<8xf16> axis 1 epsilon 1.000000e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  %c = ge.layer_norm %x bias %s : tensor<8xf16> axis 1 epsilon 1.0e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  // CHECK: ge.layer_norm %x scale %s : tensor<8xf16> bias %s : tensor<8xf16> axis 1 epsilon 1.000000e-05
  %d = ge.layer_norm %x scale %s : tensor<8xf16> bias %s : tensor<8xf16> axis 1 epsilon 1.0e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  // CHECK: ge.rms_norm %x axis 0 epsilon 1.000000e-05 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %e = ge.rms_norm %x axis 0 epsilon 1.000000e-05 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  // CHECK: ge.rms_norm %x scale %s axis -1 epsilon 1.000000e-06 : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %f = ge.rms_norm %x scale %s axis -1 epsilon 1.0e-06 : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  // CHECK: ge.lp_norm %x axis -1 p 2 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %g = ge.lp_norm %x axis -1 p 2 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @channels
func.func @channels(%x: tensor<?x4x8xf32, #ge.dims<"B">>, %c: tensor<4xf32>) {
  // CHECK: ge.group_norm %x, %c, %c num_groups 2 epsilon 1.000000e-05 : (tensor<?x4x8xf32, #ge.dims<"B">>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x8xf32, #ge.dims<"B">>
  %a = ge.group_norm %x, %c, %c num_groups 2 epsilon 1.0e-05 : (tensor<?x4x8xf32, #ge.dims<"B">>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x8xf32, #ge.dims<"B">>
  // CHECK: ge.instance_norm %x, %c, %c epsilon 1.000000e-05
  %b = ge.instance_norm %x, %c, %c epsilon 1.0e-05 : (tensor<?x4x8xf32, #ge.dims<"B">>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x8xf32, #ge.dims<"B">>
  // CHECK: ge.batch_norm %x, %c, %c, %c, %c epsilon 1.000000e-05
  %d = ge.batch_norm %x, %c, %c, %c, %c epsilon 1.0e-05 : (tensor<?x4x8xf32, #ge.dims<"B">>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x8xf32, #ge.dims<"B">>
  // CHECK: ge.lrn %x size 3 alpha 1.000000e-04 beta 7.500000e-01 bias 1.000000e+00
  %e = ge.lrn %x size 3 alpha 1.0e-04 beta 0.75 bias 1.0 : (tensor<?x4x8xf32, #ge.dims<"B">>) -> tensor<?x4x8xf32, #ge.dims<"B">>
  func.return
}
