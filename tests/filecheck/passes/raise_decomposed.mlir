// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: ge.softmax %x axis 1
// CHECK-NEXT: func.return
func.func @softmax(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %m = ge.reduce_max %x axes [1] keepdims true : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %d = ge.sub %x, %m : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %e = ge.exp %d : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %s = ge.reduce_sum %e axes [-1] keepdims true : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %y = ge.div %e, %s : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @softmax_without_maximum
// CHECK-NOT: ge.softmax
// REMARK: RaiseSoftmax: ge.div: the exponential is of no difference from the maximum: it may overflow [CONST]
func.func @softmax_without_maximum(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = ge.exp %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %s = ge.reduce_sum %e axes [1] keepdims true : (tensor<2x8xf32>) -> tensor<2x1xf32>
  %y = ge.div %e, %s : (tensor<2x8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func.func @softmax_axes
// CHECK-NOT: ge.softmax
// REMARK: RaiseSoftmax: ge.div: maximum and sum are not over the same one dimension (found (0,), wanted (1,)) [ATTR]
func.func @softmax_axes(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %m = ge.reduce_max %x axes [0] keepdims true : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %d = ge.sub %x, %m : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %e = ge.exp %d : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = ge.reduce_sum %e axes [1] keepdims true : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %y = ge.div %e, %s : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  func.return %y : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @hard_swish
// CHECK: ge.hard_swish %x
// CHECK-NEXT: func.return
func.func @hard_swish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %three = ge.constant dense<3.0> : tensor<f32>
  %six = ge.constant dense<6.0> : tensor<f32>
  %a = ge.add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %c = ge.clip %a min %zero : tensor<f32> max %six : tensor<f32> : tensor<8xf32> -> tensor<8xf32>
  %m = ge.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.div %m, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @hard_swish_f16
// CHECK-NOT: ge.hard_swish
// REMARK: RaiseHardSwish: ge.div: the product overflows where a hard swish does not (found f16, wanted f32) [DTYPE]
func.func @hard_swish_f16(%x: tensor<8xf16>) -> tensor<8xf16> {
  %zero = ge.constant dense<0.0> : tensor<f16>
  %three = ge.constant dense<3.0> : tensor<f16>
  %six = ge.constant dense<6.0> : tensor<f16>
  %a = ge.add %x, %three : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %c = ge.clip %a min %zero : tensor<f16> max %six : tensor<f16> : tensor<8xf16> -> tensor<8xf16>
  %m = ge.mul %x, %c : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %y = ge.div %m, %six : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}

// CHECK-LABEL: func.func @hard_sigmoid
// CHECK: ge.hard_sigmoid %x alpha {{[0-9.e-]+}} beta 5.000000e-01
// CHECK-NEXT: func.return
func.func @hard_sigmoid(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %three = ge.constant dense<3.0> : tensor<f32>
  %six = ge.constant dense<6.0> : tensor<f32>
  %a = ge.add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %c = ge.clip %a min %zero : tensor<f32> max %six : tensor<f32> : tensor<8xf32> -> tensor<8xf32>
  %y = ge.div %c, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// A clip to other bounds has another slope.
// CHECK-LABEL: func.func @other_ramp
// CHECK-NOT: ge.hard
func.func @other_ramp(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %three = ge.constant dense<3.0> : tensor<f32>
  %five = ge.constant dense<5.0> : tensor<f32>
  %six = ge.constant dense<6.0> : tensor<f32>
  %a = ge.add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %c = ge.clip %a min %zero : tensor<f32> max %five : tensor<f32> : tensor<8xf32> -> tensor<8xf32>
  %y = ge.div %c, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @softplus
// CHECK: ge.softplus %x
// CHECK-NEXT: func.return
func.func @softplus(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = ge.constant dense<20.0> : tensor<f32>
  %s = ge.softplus %x : (tensor<8xf32>) -> tensor<8xf32>
  %g = ge.greater %x, %t : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %y = ge.select %g, %x, %s : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @softplus_low
// CHECK: ge.select
// REMARK: RaiseSoftplus: ge.select: the threshold may be below where softplus is its argument (found 2.0, wanted 16.0) [CONST]
func.func @softplus_low(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = ge.constant dense<2.0> : tensor<f32>
  %s = ge.softplus %x : (tensor<8xf32>) -> tensor<8xf32>
  %g = ge.greater %x, %t : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %y = ge.select %g, %x, %s : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @gemm
// CHECK: %[[W:.*]] = ge.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]>
// CHECK-NEXT: ge.matmul %x, %[[W]]
func.func @gemm(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = ge.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = ge.gemm %x, %w alpha 1.0 beta 1.0 trans_b : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @gemm_of_values
// CHECK-NEXT: ge.gemm %x, %w
func.func @gemm_of_values(%x: tensor<3x2xf32>, %w: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %y = ge.gemm %x, %w alpha 1.0 beta 1.0 trans_b : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
