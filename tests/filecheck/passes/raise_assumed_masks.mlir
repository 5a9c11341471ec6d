// RUN: ge-opt %s -p "ge-raise{fast-math=masks},ge-dce" | filecheck %s
// RUN: ge-opt %s -p "ge-raise,ge-dce" | filecheck %s --check-prefix=EXACT

!t = tensor<1x2x3x4xf32>
!m = tensor<1x1x3x3xf32>

// The lowest number, with a guard: truth values without.
// CHECK-LABEL: func.func @lowest
// CHECK-NEXT: ge.flash_attention %q, %q, %q mask %c scale 1.000000e+00 :
// EXACT-LABEL: func.func @lowest
// EXACT: mask %m scale 1.000000e+00 :
func.func @lowest(%q: !t, %c: tensor<1x1x3x3xi1>) -> !t {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %low = ge.constant dense<-3.4028235e38> : tensor<f32>
  %m = ge.select %c, %zero, %low : (tensor<1x1x3x3xi1>, tensor<f32>, tensor<f32>) -> !m
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 nan_guard : (!t, !t, !t, !m) -> !t
  func.return %o : !t
}

// A bias is kept, minus infinity where a key goes.
// CHECK-LABEL: func.func @bias
// CHECK-NEXT: %[[LOW:.*]] = ge.constant dense<"0x000080FF"> : tensor<f32>
// CHECK-NEXT: %[[M:.*]] = ge.select %c, %b, %[[LOW]]
// CHECK-NEXT: ge.flash_attention %q, %q, %q mask %[[M]] scale 1.000000e+00 :
// EXACT-LABEL: func.func @bias
// EXACT: ge.add %b, %m
func.func @bias(%q: !t, %c: tensor<1x1x3x3xi1>, %b: !m) -> !t {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %low = ge.constant dense<-1.0e38> : tensor<f32>
  %m = ge.select %c, %zero, %low : (tensor<1x1x3x3xi1>, tensor<f32>, tensor<f32>) -> !m
  %s = ge.add %b, %m : (!m, !m) -> !m
  %o = ge.flash_attention %q, %q, %q mask %s scale 1.0 : (!t, !t, !t, !m) -> !t
  func.return %o : !t
}

// Two masks, one moved, one as a product.
// CHECK-LABEL: func.func @two
// CHECK-NEXT: %[[D:.*]] = ge.reshape %d : (tensor<3x3xi1>) -> tensor<1x1x3x3xi1>
// CHECK-NEXT: %[[M:.*]] = ge.and %[[D]], %c
// CHECK-NEXT: ge.flash_attention %q, %q, %q mask %[[M]] scale 1.000000e+00 :
// EXACT-LABEL: func.func @two
// EXACT: ge.mul
func.func @two(%q: !t, %c: tensor<1x1x3x3xi1>, %d: tensor<3x3xi1>) -> !t {
  %one = ge.constant dense<1.0> : tensor<f32>
  %zero = ge.constant dense<0.0> : tensor<f32>
  %low = ge.constant dense<-3.4028235e38> : tensor<f32>
  %a = ge.select %d, %zero, %low : (tensor<3x3xi1>, tensor<f32>, tensor<f32>) -> tensor<3x3xf32>
  %b = ge.reshape %a : (tensor<3x3xf32>) -> !m
  %f = ge.cast %c : (tensor<1x1x3x3xi1>) -> !m
  %g = ge.sub %one, %f : (tensor<f32>, !m) -> !m
  %h = ge.mul %g, %low : (!m, tensor<f32>) -> !m
  %s = ge.add %b, %h : (!m, !m) -> !m
  %o = ge.flash_attention %q, %q, %q mask %s scale 1.0 : (!t, !t, !t, !m) -> !t
  func.return %o : !t
}

// Where a query keeps no key, the mean of all values is not kept.
// CHECK-LABEL: func.func @keyless
// CHECK-NEXT: %[[M:.*]] = ge.constant dense<{{.*}}> : tensor<3x3xi1>
// CHECK-NEXT: ge.flash_attention %q, %q, %q mask %[[M]] scale 1.000000e+00 :
// EXACT-LABEL: func.func @keyless
// EXACT-NEXT: ge.constant {{.*}} : tensor<3x3xf32>
func.func @keyless(%q: !t) -> !t {
  %m = ge.constant dense<[[-3.4028235e38, -3.4028235e38, -3.4028235e38], [0.0, -3.4028235e38, 0.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 : (!t, !t, !t, tensor<3x3xf32>) -> !t
  func.return %o : !t
}

// Near miss: a number that leaves something of a score is a bias.
// CHECK-LABEL: func.func @not_low
// CHECK: ge.select %c, %{{.*}}, %{{.*}} : (tensor<1x1x3x3xi1>, tensor<f32>, tensor<f32>) -> tensor<1x1x3x3xf32>
// EXACT-LABEL: func.func @not_low
func.func @not_low(%q: !t, %c: tensor<1x1x3x3xi1>) -> !t {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %low = ge.constant dense<-10000.0> : tensor<f32>
  %m = ge.select %c, %zero, %low : (tensor<1x1x3x3xi1>, tensor<f32>, tensor<f32>) -> !m
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 : (!t, !t, !t, !m) -> !t
  func.return %o : !t
}

// Near miss: integers that are cast may be others than 0 and 1.
// CHECK-LABEL: func.func @not_truth
// CHECK: ge.mul
// EXACT-LABEL: func.func @not_truth
func.func @not_truth(%q: !t, %c: tensor<1x1x3x3xi64>) -> !t {
  %one = ge.constant dense<1.0> : tensor<f32>
  %low = ge.constant dense<-3.4028235e38> : tensor<f32>
  %f = ge.cast %c : (tensor<1x1x3x3xi64>) -> !m
  %g = ge.sub %one, %f : (tensor<f32>, !m) -> !m
  %h = ge.mul %g, %low : (!m, tensor<f32>) -> !m
  %o = ge.flash_attention %q, %q, %q mask %h scale 1.0 : (!t, !t, !t, !m) -> !t
  func.return %o : !t
}
