// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<2x3x4xf16>) {
  // CHECK: ge.reduce_sum %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  %sum = ge.reduce_sum %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  // CHECK: ge.reduce_mean %x axes [-1, 0] keepdims false : (tensor<2x3x4xf16>) -> tensor<3xf16>
  %mean = ge.reduce_mean %x axes [-1, 0] keepdims false : (tensor<2x3x4xf16>) -> tensor<3xf16>
  // CHECK: ge.reduce_max %x axes [] keepdims false : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
  %max = ge.reduce_max %x axes [] keepdims false : (tensor<2x3x4xf16>) -> tensor<2x3x4xf16>
  // CHECK: ge.reduce_min %x axes [0, 1, 2] keepdims false : (tensor<2x3x4xf16>) -> tensor<f16>
  %min = ge.reduce_min %x axes [0, 1, 2] keepdims false : (tensor<2x3x4xf16>) -> tensor<f16>
  // CHECK: ge.reduce_prod
  %prod = ge.reduce_prod %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  // CHECK: ge.reduce_l1
  %l1 = ge.reduce_l1 %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  // CHECK: ge.reduce_l2
  %l2 = ge.reduce_l2 %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  // CHECK: ge.reduce_sum_square
  %square = ge.reduce_sum_square %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  // CHECK: ge.reduce_log_sum
  %log = ge.reduce_log_sum %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  // CHECK: ge.reduce_log_sum_exp
  %exp = ge.reduce_log_sum_exp %x axes [1] keepdims true : (tensor<2x3x4xf16>) -> tensor<2x1x4xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x?xf32, #ge.dims<"S">>) {
  // CHECK: ge.softmax %x axis -1 : (tensor<4x?xf32, #ge.dims<"S">>) -> tensor<4x?xf32, #ge.dims<"S">>
  %soft = ge.softmax %x axis -1 : (tensor<4x?xf32, #ge.dims<"S">>) -> tensor<4x?xf32, #ge.dims<"S">>
  // CHECK: ge.log_softmax %x axis 0
  %logs = ge.log_softmax %x axis 0 : (tensor<4x?xf32, #ge.dims<"S">>) -> tensor<4x?xf32, #ge.dims<"S">>
  // CHECK: ge.reduce_sum %x axes [0] keepdims false : (tensor<4x?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"S">>
  %sum = ge.reduce_sum %x axes [0] keepdims false : (tensor<4x?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"S">>
  func.return
}

// -----

// CHECK-LABEL: func.func @select
func.func @select(%x: tensor<4x8xf32>) {
  // CHECK: ge.arg_max %x axis 1 keepdims false : (tensor<4x8xf32>) -> tensor<4xi64>
  %most = ge.arg_max %x axis 1 keepdims false : (tensor<4x8xf32>) -> tensor<4xi64>
  // CHECK: ge.arg_min %x axis -2 keepdims true select_last_index : (tensor<4x8xf32>) -> tensor<1x8xi64>
  %least = ge.arg_min %x axis -2 keepdims true select_last_index : (tensor<4x8xf32>) -> tensor<1x8xi64>
  // CHECK: ge.cumsum %x axis 1 exclusive reverse : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sums = ge.cumsum %x axis 1 exclusive reverse : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: ge.cumsum %x axis 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %plain = ge.cumsum %x axis 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: ge.top_k %x k 3 axis -1 largest sorted : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  %v, %i = ge.top_k %x k 3 axis -1 largest sorted : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  // CHECK: ge.top_k %x k 0 axis 0 : (tensor<4x8xf32>) -> (tensor<0x8xf32>, tensor<0x8xi64>)
  %w, %j = ge.top_k %x k 0 axis 0 : (tensor<4x8xf32>) -> (tensor<0x8xf32>, tensor<0x8xi64>)
  func.return
}
