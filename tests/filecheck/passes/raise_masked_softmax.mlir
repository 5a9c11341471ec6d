// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks analysis 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// As JAX's dot_product_attention is exported: weights are taken away behind softmax.
// CHECK-LABEL: func.func @jax
// CHECK: ge.flash_attention %q, %{{.*}}, %v mask %m scale 2.500000e-01 masked_fill zero_nan :
// CHECK-NEXT: func.return
// REMARK: [analysis] ge-raise: RaiseMaskedSoftmax: ge.div: scores are taken to be finite
func.func @jax(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<2x1x6x6xi1>) -> tensor<2x4x6x8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %scale = ge.constant dense<0.25> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.mul %a, %scale : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %f = ge.cast %m : (tensor<2x1x6x6xi1>) -> tensor<2x1x6x6xf32>
  %w = ge.mul %p, %f : (tensor<2x4x6x6xf32>, tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %t = ge.reduce_sum %w axes [3] keepdims true : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x1xf32>
  %g = ge.greater %t, %zero : (tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6x1xi1>
  %d = ge.select %g, %t, %one : (tensor<2x4x6x1xi1>, tensor<2x4x6x1xf32>, tensor<f32>) -> tensor<2x4x6x1xf32>
  %n = ge.div %w, %d : (tensor<2x4x6x6xf32>, tensor<2x4x6x1xf32>) -> tensor<2x4x6x6xf32>
  %z = ge.select %g, %n, %zero : (tensor<2x4x6x1xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %z, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A constant mask of zeros and ones, the sum as it is: rows without weights are NaN.
// CHECK-LABEL: func.func @constant
// CHECK: [[M:%[a-z0-9_]+]] = ge.constant dense<[true, false, true]> : tensor<3xi1>
// CHECK: [[S:%[a-z0-9_]+]] = ge.select [[M]], %x, %{{.*}} : (tensor<3xi1>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
// CHECK-NEXT: [[P:%[a-z0-9_]+]] = ge.softmax [[S]] axis -1
// CHECK-NEXT: func.return [[P]]
func.func @constant(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %m = ge.constant dense<[1.0, 0.0, 1.0]> : tensor<3xf32>
  %p = ge.softmax %x axis -1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %w = ge.mul %m, %p : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %t = ge.reduce_sum %w axes [1] keepdims true : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %n = ge.div %w, %t : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  func.return %n : tensor<4x3xf32>
}

// Near miss: a number that is neither 0 nor 1.
// CHECK-LABEL: func.func @weighted
// CHECK: ge.div
func.func @weighted(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %m = ge.constant dense<[1.0, 0.5, 1.0]> : tensor<3xf32>
  %p = ge.softmax %x axis -1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %w = ge.mul %m, %p : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %t = ge.reduce_sum %w axes [1] keepdims true : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %n = ge.div %w, %t : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  func.return %n : tensor<4x3xf32>
}

// Near miss: the sum is over another dimension.
// CHECK-LABEL: func.func @columns
// CHECK: ge.div
func.func @columns(%x: tensor<4x3xf32>, %m: tensor<4x3xi1>) -> tensor<4x3xf32> {
  %f = ge.cast %m : (tensor<4x3xi1>) -> tensor<4x3xf32>
  %p = ge.softmax %x axis -1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %w = ge.mul %p, %f : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %t = ge.reduce_sum %w axes [0] keepdims true : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %n = ge.div %w, %t : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  func.return %n : tensor<4x3xf32>
}

// Near miss: in f16 what is left may be 0 where the one op still has weights.
// CHECK-LABEL: func.func @narrow
// CHECK: ge.div
func.func @narrow(%x: tensor<4x3xf16>, %m: tensor<4x3xi1>) -> tensor<4x3xf16> {
  %f = ge.cast %m : (tensor<4x3xi1>) -> tensor<4x3xf16>
  %p = ge.softmax %x axis -1 : (tensor<4x3xf16>) -> tensor<4x3xf16>
  %w = ge.mul %p, %f : (tensor<4x3xf16>, tensor<4x3xf16>) -> tensor<4x3xf16>
  %t = ge.reduce_sum %w axes [1] keepdims true : (tensor<4x3xf16>) -> tensor<4x1xf16>
  %n = ge.div %w, %t : (tensor<4x3xf16>, tensor<4x1xf16>) -> tensor<4x3xf16>
  func.return %n : tensor<4x3xf16>
}
