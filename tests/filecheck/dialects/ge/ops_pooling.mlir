// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<1x3x8x8xf32>, %y: tensor<1x3x?xf32, #ge.dims<"L">>) {
  // CHECK: ge.max_pool %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %a = ge.max_pool %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  // CHECK: ge.max_pool %x kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] ceil_mode : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %b = ge.max_pool %x kernel [3, 3] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] ceil_mode : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  // CHECK: ge.max_pool_with_indices %y kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<1x3x?xf32, #ge.dims<"L">>) -> (tensor<1x3x?xf32, #ge.dims<"L floordiv 2">>, tensor<1x3x?xi64, #ge.dims<"L floordiv 2">>)
  %c, %i = ge.max_pool_with_indices %y kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<1x3x?xf32, #ge.dims<"L">>) -> (tensor<1x3x?xf32, #ge.dims<"L floordiv 2">>, tensor<1x3x?xi64, #ge.dims<"L floordiv 2">>)
  // CHECK: ge.average_pool %y kernel [2] strides [2] pads [0, 0] dilations [1] ceil_mode count_include_pad : (tensor<1x3x?xf32, #ge.dims<"L">>) -> tensor<1x3x?xf32, #ge.dims<"(L + 1) floordiv 2">>
  %d = ge.average_pool %y kernel [2] strides [2] pads [0, 0] dilations [1] ceil_mode count_include_pad : (tensor<1x3x?xf32, #ge.dims<"L">>) -> tensor<1x3x?xf32, #ge.dims<"(L + 1) floordiv 2">>
  // CHECK: ge.average_pool %x kernel [8, 8] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
  %e = ge.average_pool %x kernel [8, 8] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
  // CHECK: ge.lp_pool %x p 2 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %f = ge.lp_pool %x p 2 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  func.return
}
