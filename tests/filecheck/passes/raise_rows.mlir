// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The maximum is of the same rows in another shape.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[X:.*]] = ge.reshape %x
// CHECK-NEXT: %[[S:.*]] = ge.softmax %[[X]] axis 2
// CHECK-NEXT: func.return %[[S]]
func.func @softmax(%x: tensor<2x3x1x5xf32>) -> tensor<1x6x5xf32> {
  %m = ge.reduce_max %x axes [3] keepdims false : (tensor<2x3x1x5xf32>) -> tensor<2x3x1xf32>
  %n = ge.reshape %m : (tensor<2x3x1xf32>) -> tensor<1x6x1xf32>
  %y = ge.reshape %x : (tensor<2x3x1x5xf32>) -> tensor<1x6x5xf32>
  %d = ge.sub %y, %n : (tensor<1x6x5xf32>, tensor<1x6x1xf32>) -> tensor<1x6x5xf32>
  %e = ge.exp %d : (tensor<1x6x5xf32>) -> tensor<1x6x5xf32>
  %s = ge.reduce_sum %e axes [2] keepdims true : (tensor<1x6x5xf32>) -> tensor<1x6x1xf32>
  %r = ge.div %e, %s : (tensor<1x6x5xf32>, tensor<1x6x1xf32>) -> tensor<1x6x5xf32>
  func.return %r : tensor<1x6x5xf32>
}

// Negative: rows are cut at other places.
// CHECK-LABEL: func.func @other_rows
// CHECK-NOT: ge.softmax
func.func @other_rows(%x: tensor<5x4xf32>) -> tensor<4x5xf32> {
  %m = ge.reduce_max %x axes [0] keepdims false : (tensor<5x4xf32>) -> tensor<4xf32>
  %n = ge.reshape %m : (tensor<4xf32>) -> tensor<4x1xf32>
  %y = ge.reshape %x : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %d = ge.sub %y, %n : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  %e = ge.exp %d : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %s = ge.reduce_sum %e axes [1] keepdims true : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %r = ge.div %e, %s : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  func.return %r : tensor<4x5xf32>
}

// Negative: the maximum is of another value.
// CHECK-LABEL: func.func @other_maximum
// CHECK-NOT: ge.softmax
// REMARK: RaiseSoftmax: ge.div: the exponential is of no difference from the maximum
func.func @other_maximum(%x: tensor<4x5xf32>, %z: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %m = ge.reduce_max %z axes [1] keepdims false : (tensor<4x5xf32>) -> tensor<4xf32>
  %n = ge.reshape %m : (tensor<4xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %n : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  %e = ge.exp %d : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %s = ge.reduce_sum %e axes [1] keepdims true : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %r = ge.div %e, %s : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  func.return %r : tensor<4x5xf32>
}

// As JAX's dot_product_attention: scores of five dimensions, and values first in the second product.
// CHECK-LABEL: func.func @attention
// CHECK: ge.flash_attention {{.*}} scale 2.500000e-01
// CHECK-NOT: ge.softmax
func.func @attention(%q: tensor<2x10x4x1x16xf32>, %k: tensor<2x10x4x16xf32>, %v: tensor<2x10x4x16xf32>) -> tensor<2x4x16x1x10xf32> {
  %c = ge.constant dense<0.25> : tensor<f32>
  %p = ge.einsum "zaybc,zdyc->zyabd"(%q, %k) : (tensor<2x10x4x1x16xf32>, tensor<2x10x4x16xf32>) -> tensor<2x4x10x1x10xf32>
  %x = ge.mul %p, %c : (tensor<2x4x10x1x10xf32>, tensor<f32>) -> tensor<2x4x10x1x10xf32>
  %m = ge.reduce_max %x axes [4] keepdims false : (tensor<2x4x10x1x10xf32>) -> tensor<2x4x10x1xf32>
  %n = ge.reshape %m : (tensor<2x4x10x1xf32>) -> tensor<1x2x4x10x1xf32>
  %y = ge.reshape %x : (tensor<2x4x10x1x10xf32>) -> tensor<1x2x4x10x10xf32>
  %d = ge.sub %y, %n : (tensor<1x2x4x10x10xf32>, tensor<1x2x4x10x1xf32>) -> tensor<1x2x4x10x10xf32>
  %e = ge.exp %d : (tensor<1x2x4x10x10xf32>) -> tensor<1x2x4x10x10xf32>
  %s = ge.reduce_sum %e axes [4] keepdims true : (tensor<1x2x4x10x10xf32>) -> tensor<1x2x4x10x1xf32>
  %w = ge.div %e, %s : (tensor<1x2x4x10x10xf32>, tensor<1x2x4x10x1xf32>) -> tensor<1x2x4x10x10xf32>
  %r = ge.einsum "zayb,czyda->zybcd"(%v, %w) : (tensor<2x10x4x16xf32>, tensor<1x2x4x10x10xf32>) -> tensor<2x4x16x1x10xf32>
  func.return %r : tensor<2x4x16x1x10xf32>
}

// Rows and columns stay, and so does the scale.
// CHECK-LABEL: func.func @scale
// CHECK: %[[M:.*]] = ge.matmul %a, %b
// CHECK-NEXT: %[[R:.*]] = ge.reshape %[[M]] : (tensor<2x4x5xf32>) -> tensor<1x2x4x5xf32>
// CHECK-NEXT: ge.div %[[R]]
// CHECK-NEXT: func.return
func.func @scale(%a: tensor<2x4x3xf32>, %b: tensor<2x3x5xf32>) -> tensor<1x2x4x5xf32> {
  %c = ge.constant dense<4.0> : tensor<f32>
  %m = ge.matmul %a, %b : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  %r = ge.reshape %m : (tensor<2x4x5xf32>) -> tensor<2x4x1x5xf32>
  %s = ge.div %r, %c : (tensor<2x4x1x5xf32>, tensor<f32>) -> tensor<2x4x1x5xf32>
  %y = ge.reshape %s : (tensor<2x4x1x5xf32>) -> tensor<1x2x4x5xf32>
  func.return %y : tensor<1x2x4x5xf32>
}

// Negative: the rows are others behind it, it is the divisor, or somebody else reads it.
// CHECK-LABEL: func.func @no_scale
// CHECK-COUNT-3: ge.reshape {{.*}} -> tensor<2x4x1x5xf32>
func.func @no_scale(%a: tensor<2x4x3xf32>, %b: tensor<2x3x5xf32>) -> (tensor<8x5xf32>, tensor<1x2x4x5xf32>, tensor<1x2x4x5xf32>, tensor<2x4x1x5xf32>) {
  %c = ge.constant dense<4.0> : tensor<f32>
  %m = ge.matmul %a, %b : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  %r = ge.reshape %m : (tensor<2x4x5xf32>) -> tensor<2x4x1x5xf32>
  %s = ge.mul %r, %c : (tensor<2x4x1x5xf32>, tensor<f32>) -> tensor<2x4x1x5xf32>
  %y = ge.reshape %s : (tensor<2x4x1x5xf32>) -> tensor<8x5xf32>
  %u = ge.reshape %m : (tensor<2x4x5xf32>) -> tensor<2x4x1x5xf32>
  %t = ge.div %c, %u : (tensor<f32>, tensor<2x4x1x5xf32>) -> tensor<2x4x1x5xf32>
  %z = ge.reshape %t : (tensor<2x4x1x5xf32>) -> tensor<1x2x4x5xf32>
  %v = ge.reshape %m : (tensor<2x4x5xf32>) -> tensor<2x4x1x5xf32>
  %w = ge.mul %v, %c : (tensor<2x4x1x5xf32>, tensor<f32>) -> tensor<2x4x1x5xf32>
  %q = ge.reshape %w : (tensor<2x4x1x5xf32>) -> tensor<1x2x4x5xf32>
  func.return %y, %z, %q, %w : tensor<8x5xf32>, tensor<1x2x4x5xf32>, tensor<1x2x4x5xf32>, tensor<2x4x1x5xf32>
}
