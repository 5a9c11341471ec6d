// RUN: ge-opt %s -p ge-raise | filecheck %s

!t = tensor<1x2x3x8xf32>

// CHECK-LABEL: func.func @scaled_query
// CHECK: ge.flash_attention %q, %k, %k scale 2.500000e-01 :
func.func @scaled_query(%q: !t, %k: !t) -> !t {
  %c = ge.constant dense<0.5> : tensor<f32>
  %s = ge.mul %q, %c : (!t, tensor<f32>) -> !t
  %o = ge.flash_attention %s, %k, %k scale 0.5 : (!t, !t, !t) -> !t
  func.return %o : !t
}

// The square of the rounded root of 1 / sqrt(8) is 0.353553355, its root's number 0.353553385.
// CHECK-LABEL: func.func @split_scale
// CHECK: ge.flash_attention %q, %{{.*}}, %q scale {{0.353553385|3.53553385e-01}} :
func.func @split_scale(%q: !t, %k: tensor<1x2x8x3xf32>) -> !t {
  %c = ge.constant dense<0.594603539> : tensor<f32>
  %a = ge.mul %q, %c : (!t, tensor<f32>) -> !t
  %b = ge.mul %k, %c : (tensor<1x2x8x3xf32>, tensor<f32>) -> tensor<1x2x8x3xf32>
  %m = ge.matmul %a, %b : (!t, tensor<1x2x8x3xf32>) -> tensor<1x2x3x3xf32>
  %p = ge.softmax %m axis -1 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %o = ge.matmul %p, %q : (tensor<1x2x3x3xf32>, !t) -> !t
  func.return %o : !t
}

// One query a head; those of a group stand in rows.
// CHECK-LABEL: func.func @grouped_rows
// CHECK-NEXT: %[[O:.*]] = ge.flash_attention %q, %k, %k mask %m scale 1.000000e+00 nan_guard :
// CHECK-SAME: -> tensor<2x4x1x8xf32>
// CHECK-NEXT: ge.reshape %[[O]] : (tensor<2x4x1x8xf32>) -> tensor<2x2x2x8xf32>
func.func @grouped_rows(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x5x8xf32>, %m: tensor<2x1x1x5xi1>) -> tensor<2x2x2x8xf32> {
  %r = ge.reshape %q : (tensor<2x4x1x8xf32>) -> tensor<2x2x2x8xf32>
  %o = ge.flash_attention %r, %k, %k mask %m scale 1.0 nan_guard
    : (tensor<2x2x2x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x1x1x5xi1>) -> tensor<2x2x2x8xf32>
  func.return %o : tensor<2x2x2x8xf32>
}

// The rows differ in their mask.
// CHECK-LABEL: func.func @rows_with_masks
// CHECK-NEXT: ge.reshape %q
// CHECK-NEXT: ge.flash_attention
func.func @rows_with_masks(%q: tensor<2x4x1x8xf32>, %k: tensor<2x2x5x8xf32>, %m: tensor<2x1x2x5xi1>) -> tensor<2x2x2x8xf32> {
  %r = ge.reshape %q : (tensor<2x4x1x8xf32>) -> tensor<2x2x2x8xf32>
  %o = ge.flash_attention %r, %k, %k mask %m scale 1.0
    : (tensor<2x2x2x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x1x2x5xi1>) -> tensor<2x2x2x8xf32>
  func.return %o : tensor<2x2x2x8xf32>
}
