// RUN: ge-opt %s -p ge-raise | filecheck %s

// CHECK-LABEL: func.func @reciprocal
// CHECK: ge.rms_norm %x scale %g axis 1 epsilon 1.000000e-06
// CHECK-NEXT: func.return
func.func @reciprocal(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %s = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %r = ge.reciprocal %s : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.mul %x, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %y = ge.mul %g, %n : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// Half precision: the casts are the op's own, the product with the scale rounds again.
// CHECK-LABEL: func.func @half
// CHECK: ge.rms_norm %x axis 1 epsilon 1.000000e-06 : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT: ge.mul %g
// CHECK-NEXT: func.return
func.func @half(%x: tensor<4x8xf16>, %g: tensor<8xf16>) -> tensor<4x8xf16> {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %c = ge.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %q = ge.mul %c, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %s = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %r = ge.div %one, %s : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.mul %c, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %h = ge.cast %n : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %y = ge.mul %g, %h : (tensor<8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// The root of another value's squares.
// CHECK-LABEL: func.func @other_squares
// CHECK-NOT: ge.rms_norm
func.func @other_squares(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %q = ge.mul %z, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %s = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %x, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// An epsilon that an exporter took for nothing is 0.
// CHECK-LABEL: func.func @no_epsilon
// CHECK-NEXT: ge.rms_norm %x axis 1 epsilon 0.000000e+00
// CHECK-NEXT: func.return
func.func @no_epsilon(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %s = ge.sqrt %v : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %x, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// Roots as powers.
// CHECK-LABEL: func.func @power
// CHECK: ge.rms_norm %x axis 1 epsilon 1.000000e-06
// CHECK-NEXT: func.return
func.func @power(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %half = ge.constant dense<-0.5> : tensor<f32>
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %r = ge.pow %e, %half : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %n = ge.mul %x, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @power_below
// CHECK: ge.rms_norm %x axis 1 epsilon 1.000000e-06
// CHECK-NEXT: func.return
func.func @power_below(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-06> : tensor<f32>
  %half = ge.constant dense<0.5> : tensor<f32>
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %r = ge.pow %e, %half : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %n = ge.div %x, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// Another power.
// CHECK-LABEL: func.func @other_power
// CHECK-NOT: ge.rms_norm
func.func @other_power(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %third = ge.constant dense<-0.25> : tensor<f32>
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %r = ge.pow %v, %third : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %n = ge.mul %x, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}
