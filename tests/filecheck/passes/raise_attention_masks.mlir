// RUN: ge-opt %s -p ge-raise | filecheck %s

// CHECK-LABEL: func.func @added
// CHECK: ge.flash_attention %q, {{.*}}, %v mask %m scale 1.76025391e-01
func.func @added(%q: tensor<4x2x16x32xf16>, %k: tensor<4x2x32x16xf16>, %v: tensor<4x2x16x32xf16>,
    %m: tensor<1x1x1x16xf16>) -> tensor<4x2x16x32xf16> {
  %c = ge.constant dense<0.176> : tensor<f16>
  %a = ge.matmul %q, %k : (tensor<4x2x16x32xf16>, tensor<4x2x32x16xf16>) -> tensor<4x2x16x16xf16>
  %b = ge.mul %a, %c : (tensor<4x2x16x16xf16>, tensor<f16>) -> tensor<4x2x16x16xf16>
  %s = ge.add %b, %m : (tensor<4x2x16x16xf16>, tensor<1x1x1x16xf16>) -> tensor<4x2x16x16xf16>
  %p = ge.softmax %s axis -1 : (tensor<4x2x16x16xf16>) -> tensor<4x2x16x16xf16>
  %o = ge.matmul %p, %v : (tensor<4x2x16x16xf16>, tensor<4x2x16x32xf16>) -> tensor<4x2x16x32xf16>
  func.return %o : tensor<4x2x16x32xf16>
}

// CHECK-LABEL: func.func @added_on_the_left
// CHECK: ge.flash_attention %q, {{.*}}, %v mask %m scale 1.760000e-01
func.func @added_on_the_left(%q: tensor<4x2x16x32xf32>, %k: tensor<4x2x32x16xf32>,
    %v: tensor<4x2x16x32xf32>, %m: tensor<1x1x1x16xf32>) -> tensor<4x2x16x32xf32> {
  %c = ge.constant dense<0.176> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<4x2x16x32xf32>, tensor<4x2x32x16xf32>) -> tensor<4x2x16x16xf32>
  %b = ge.mul %c, %a : (tensor<f32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
  %s = ge.add %m, %b : (tensor<1x1x1x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
  %p = ge.softmax %s axis -1 : (tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
  %o = ge.matmul %p, %v : (tensor<4x2x16x16xf32>, tensor<4x2x16x32xf32>) -> tensor<4x2x16x32xf32>
  func.return %o : tensor<4x2x16x32xf32>
}

// 0 or minus infinity by a truth value is that truth value; the guard keeps dead rows at 0.
// CHECK-LABEL: func.func @truth
// CHECK: ge.flash_attention %q, {{.*}}, %v mask %m scale 1.000000e+00 zero_nan
// CHECK-SAME: tensor<6x6xi1>
// CHECK-NEXT: func.return
func.func @truth(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %inf = ge.constant dense<"0x000080FF"> : tensor<f32>
  %f = ge.select %m, %zero, %inf : (tensor<6x6xi1>, tensor<f32>, tensor<f32>) -> tensor<6x6xf32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.add %a, %f : (tensor<2x4x6x6xf32>, tensor<6x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %n = ge.is_nan %p : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xi1>
  %g = ge.select %n, %zero, %p : (tensor<2x4x6x6xi1>, tensor<f32>, tensor<2x4x6x6xf32>)
    -> tensor<2x4x6x6xf32>
  %o = ge.matmul %g, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// The least number is no infinity: a dead row is an average, so that the mask stays added.
// CHECK-LABEL: func.func @least_number
// CHECK: [[F:%.*]] = ge.select %m
// CHECK: ge.flash_attention %q, {{.*}}, %v mask [[F]] scale 1.000000e+00 : (
func.func @least_number(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %least = ge.constant dense<-3.40282347e+38> : tensor<f32>
  %f = ge.select %m, %zero, %least : (tensor<6x6xi1>, tensor<f32>, tensor<f32>) -> tensor<6x6xf32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.add %a, %f : (tensor<2x4x6x6xf32>, tensor<6x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// Scores themselves selected, with minus infinity where the mask holds.
// CHECK-LABEL: func.func @dropped
// CHECK: [[M:%.*]] = ge.logical_not %m
// CHECK-NEXT: ge.flash_attention %q, {{.*}}, %v mask [[M]]
func.func @dropped(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %inf = ge.constant dense<"0x000080FF"> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.select %m, %inf, %a : (tensor<6x6xi1>, tensor<f32>, tensor<2x4x6x6xf32>)
    -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A bias of heads, then a mask of windows: two in one, in the shape that knows heads.
// CHECK-LABEL: func.func @windows
// CHECK: [[W:%.*]] = ge.reshape %w : (tensor<1x3x1x6x6xf32>) -> tensor<3x1x6x6xf32>
// CHECK: [[M:%.*]] = ge.add %b, [[W]]
// CHECK: ge.flash_attention %q, {{.*}}, %v mask [[M]]
func.func @windows(%q: tensor<3x4x6x8xf32>, %k: tensor<3x4x8x6xf32>, %v: tensor<3x4x6x8xf32>,
    %b: tensor<1x4x6x6xf32>, %w: tensor<1x3x1x6x6xf32>) -> tensor<3x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<3x4x6x8xf32>, tensor<3x4x8x6xf32>) -> tensor<3x4x6x6xf32>
  %c = ge.add %a, %b : (tensor<3x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<3x4x6x6xf32>
  %d = ge.reshape %c : (tensor<3x4x6x6xf32>) -> tensor<1x3x4x6x6xf32>
  %e = ge.add %d, %w : (tensor<1x3x4x6x6xf32>, tensor<1x3x1x6x6xf32>) -> tensor<1x3x4x6x6xf32>
  %s = ge.reshape %e : (tensor<1x3x4x6x6xf32>) -> tensor<3x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<3x4x6x6xf32>) -> tensor<3x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<3x4x6x6xf32>, tensor<3x4x6x8xf32>) -> tensor<3x4x6x8xf32>
  func.return %o : tensor<3x4x6x8xf32>
}

// A floor as low as the mask itself is there for sums that overflow.
// CHECK-LABEL: func.func @floor
// CHECK: ge.select %m
// CHECK: ge.flash_attention {{.*}} mask %c scale
func.func @floor(%q: tensor<8x6x8xf32>, %k: tensor<8x8x6xf32>, %v: tensor<8x6x8xf32>,
    %m: tensor<2x1x6x6xi1>) -> tensor<8x6x8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %min = ge.constant dense<-3.40282347E+38> : tensor<f32>
  %c = ge.select %m, %zero, %min : (tensor<2x1x6x6xi1>, tensor<f32>, tensor<f32>)
    -> tensor<2x1x6x6xf32>
  %a = ge.matmul %q, %k : (tensor<8x6x8xf32>, tensor<8x8x6xf32>) -> tensor<8x6x6xf32>
  %r = ge.reshape %a : (tensor<8x6x6xf32>) -> tensor<2x4x6x6xf32>
  %d = ge.add %r, %c : (tensor<2x4x6x6xf32>, tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %f = ge.maximum %min, %d : (tensor<f32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.reshape %f : (tensor<2x4x6x6xf32>) -> tensor<8x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<8x6x6xf32>, tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
  func.return %o : tensor<8x6x8xf32>
}

// Scores are replaced by a number that they might come up to, in f16 as well.
// CHECK-LABEL: func.func @fill
// CHECK: ge.flash_attention %q, {{.*}}, %v mask %m scale 1.000000e+00 masked_fill fill -6.550400e+04 :
func.func @fill(%q: tensor<2x4x6x8xf16>, %k: tensor<2x4x8x6xf16>, %v: tensor<2x4x6x8xf16>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf16> {
  %c = ge.constant dense<-65504.0> : tensor<f16>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf16>, tensor<2x4x8x6xf16>) -> tensor<2x4x6x6xf16>
  %s = ge.select %m, %a, %c : (tensor<6x6xi1>, tensor<2x4x6x6xf16>, tensor<f16>)
    -> tensor<2x4x6x6xf16>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf16>) -> tensor<2x4x6x6xf16>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf16>, tensor<2x4x6x8xf16>) -> tensor<2x4x6x8xf16>
  func.return %o : tensor<2x4x6x8xf16>
}

// Two masks of the same number, one that drops; a triangle among them is no attribute yet.
// CHECK-LABEL: func.func @fills
// CHECK: [[N:%[a-z0-9_]+]] = ge.logical_not %n
// CHECK: [[M:%[a-z0-9_]+]] = ge.and %m, [[N]]
// CHECK: ge.flash_attention %q, {{.*}}, %v mask [[M]] scale 1.000000e+00 masked_fill fill -1.000000e+09 :
func.func @fills(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>, %n: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %c = ge.constant dense<-1.0e+09> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.select %m, %a, %c : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>)
    -> tensor<2x4x6x6xf32>
  %t = ge.select %n, %c, %s : (tensor<6x6xi1>, tensor<f32>, tensor<2x4x6x6xf32>)
    -> tensor<2x4x6x6xf32>
  %p = ge.softmax %t axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// Near miss: one mask fills with another number than the other.
// CHECK-LABEL: func.func @two_fills
// CHECK-NOT: ge.flash_attention
// CHECK: func.return
func.func @two_fills(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>, %n: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %c = ge.constant dense<-1.0e+09> : tensor<f32>
  %d = ge.constant dense<-1.0e+08> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.select %m, %a, %c : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>)
    -> tensor<2x4x6x6xf32>
  %t = ge.select %n, %d, %s : (tensor<6x6xi1>, tensor<f32>, tensor<2x4x6x6xf32>)
    -> tensor<2x4x6x6xf32>
  %p = ge.softmax %t axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}
