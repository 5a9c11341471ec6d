// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks analysis 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The variance is the mean of squares less the square of the mean, with a floor of 0, as Flax
// writes it.
// CHECK-LABEL: func.func @flax
// CHECK: ge.layer_norm %x bias %b : tensor<8xf32> axis 1
// CHECK-SAME: epsilon 1.000000e-06 : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return
// REMARK: [analysis] ge-raise: RaiseLayerNorm: ge.div: the variance is that of differences
func.func @flax(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %zero = ge.constant dense<0.0> : tensor<f32>
  %m = ge.reduce_mean %x axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mm = ge.mul %m, %m : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v = ge.sub %s, %mm : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %f = ge.maximum %v, %zero : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %e = ge.add %f, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %r = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %d, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %y = ge.add %n, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// No floor, powers, and a product with the inverse root.
// CHECK-LABEL: func.func @powers
// CHECK: ge.layer_norm %x axis 1 epsilon 1.000000e-06
// CHECK-NEXT: func.return
func.func @powers(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %two = ge.constant dense<2.0> : tensor<f32>
  %m = ge.reduce_mean %x axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %q = ge.pow %x, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %s = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mm = ge.pow %m, %two : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %v = ge.sub %s, %mm : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %r = ge.rsqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.mul %r, %d : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// Near miss: squares of f16 overflow where differences do not.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: ge.layer_norm
// CHECK: func.return
func.func @narrow(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %eps = ge.constant dense<1.0e-03> : tensor<f16>
  %m = ge.reduce_mean %x axes [1] keepdims true : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %d = ge.sub %x, %m : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  %q = ge.mul %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %s = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %mm = ge.mul %m, %m : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  %v = ge.sub %s, %mm : (tensor<4x1xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
  %e = ge.add %v, %eps : (tensor<4x1xf16>, tensor<f16>) -> tensor<4x1xf16>
  %r = ge.sqrt %e : (tensor<4x1xf16>) -> tensor<4x1xf16>
  %n = ge.div %d, %r : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  func.return %n : tensor<4x8xf16>
}

// Near miss: the floor is not 0, and the squared mean is that of something else.
// CHECK-LABEL: func.func @others
// CHECK-NOT: ge.layer_norm
// CHECK: func.return
func.func @others(%x: tensor<4x8xf32>, %z: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %m = ge.reduce_mean %x axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mm = ge.mul %m, %m : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v = ge.sub %s, %mm : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %f = ge.maximum %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %e = ge.add %f, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %r = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %d, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %zz = ge.mul %z, %z : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %w = ge.sub %s, %zz : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %g = ge.add %w, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %t = ge.sqrt %g : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %o = ge.div %d, %t : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n, %o : tensor<4x8xf32>, tensor<4x8xf32>
}
