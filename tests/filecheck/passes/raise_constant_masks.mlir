// RUN: ge-opt %s -p ge-raise | filecheck %s

!t = tensor<1x2x3x4xf32>

// CHECK-LABEL: func.func @triangle
// CHECK-NOT: mask
// CHECK: ge.flash_attention %q, %q, %q scale 1.000000e+00 causal :
func.func @triangle(%q: !t) -> !t {
  %m = ge.constant dense<[[0.0, -3.4028235e38, -3.4028235e38], [0.0, 0.0, -3.4028235e38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 nan_guard : (!t, !t, !t, tensor<3x3xf32>) -> !t
  func.return %o : !t
}

// Queries that come after one key.
// CHECK-LABEL: func.func @offset
// CHECK: ge.flash_attention %q, %k, %k scale 1.000000e+00 causal causal_offset 1 :
func.func @offset(%q: tensor<1x1x2x4xf32>, %k: tensor<1x1x3x4xf32>) -> tensor<1x1x2x4xf32> {
  %m = ge.constant dense<[[[[true, true, false], [true, true, true]]]]> : tensor<1x1x2x3xi1>
  %o = ge.flash_attention %q, %k, %k mask %m scale 1.0
    : (tensor<1x1x2x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x2x3xi1>) -> tensor<1x1x2x4xf32>
  func.return %o : tensor<1x1x2x4xf32>
}

// CHECK-LABEL: func.func @empty
// CHECK: ge.flash_attention %q, %q, %q scale 1.000000e+00 :
func.func @empty(%q: !t) -> !t {
  %m = ge.constant dense<0.0> : tensor<1x1x3x3xf32>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 : (!t, !t, !t, tensor<1x1x3x3xf32>) -> !t
  func.return %o : !t
}

// A bias that is the same for all heads and queries stays a bias, once.
// CHECK-LABEL: func.func @bias
// CHECK-NEXT: %[[M:.*]] = ge.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00]]> : tensor<1x3xf32>
// CHECK-NEXT: ge.flash_attention %q, %q, %q mask %[[M]] scale 1.000000e+00 :
func.func @bias(%q: !t) -> !t {
  %m = ge.constant dense<[[[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]]]> : tensor<1x2x3x3xf32>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 nan_guard : (!t, !t, !t, tensor<1x2x3x3xf32>) -> !t
  func.return %o : !t
}

// The first query keeps no key: the mean of all values with large numbers, so they stay.
// CHECK-LABEL: func.func @no_key_finite
// CHECK: ge.flash_attention %q, %q, %q mask %{{.*}} scale 1.000000e+00 :
// CHECK-SAME: tensor<3x3xf32>
func.func @no_key_finite(%q: !t) -> !t {
  %m = ge.constant dense<[[-3.4028235e38, -3.4028235e38, -3.4028235e38], [0.0, 0.0, -3.4028235e38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 : (!t, !t, !t, tensor<3x3xf32>) -> !t
  func.return %o : !t
}

// With minus infinity that query gives NaN, or 0: truth values say the same, and the guard stays.
// CHECK-LABEL: func.func @no_key_infinite
// CHECK: ge.flash_attention %q, %q, %q mask %{{.*}} scale 1.000000e+00 nan_guard :
// CHECK-SAME: tensor<3x3xi1>
func.func @no_key_infinite(%q: !t) -> !t {
  %m = ge.constant dense<"0x000080FF000080FF000080FF0000000000000000000080FF000000000000000000000000"> : tensor<3x3xf32>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 nan_guard : (!t, !t, !t, tensor<3x3xf32>) -> !t
  func.return %o : !t
}

// CHECK-LABEL: func.func @guard_of_finite_mask
// CHECK: ge.flash_attention %q, %q, %q mask %{{.*}} scale 1.000000e+00 :
func.func @guard_of_finite_mask(%q: !t, %c: tensor<3x3xi1>) -> !t {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %low = ge.constant dense<-3.4028235e38> : tensor<f32>
  %m = ge.select %c, %zero, %low : (tensor<3x3xi1>, tensor<f32>, tensor<f32>) -> tensor<3x3xf32>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 nan_guard : (!t, !t, !t, tensor<3x3xf32>) -> !t
  func.return %o : !t
}

// CHECK-LABEL: func.func @guard_of_unknown_mask
// CHECK: ge.flash_attention %q, %q, %q mask %m scale 1.000000e+00 nan_guard :
func.func @guard_of_unknown_mask(%q: !t, %m: tensor<3x3xf32>) -> !t {
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 nan_guard : (!t, !t, !t, tensor<3x3xf32>) -> !t
  func.return %o : !t
}
