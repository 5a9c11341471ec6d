// RUN: ge-opt %s -p ge-raise,ge-dce | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s -p 'ge-raise{composites=quantized_product},ge-dce' --check-numerics > /dev/null
// RUN: ge-opt %s -p ge-constant-fold,ge-raise,ge-dce | filecheck %s --check-prefix=FOLDED

// The bias is 3 and -5 steps of the scale of the sums; the relu is the lowest level.
// CHECK-LABEL: func.func @conv
// CHECK: %[[S:.*]] = ge.conv_integer %x, %w input_zero_point %{{.*}} : tensor<ui8> strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] group 1
// CHECK: ge.constant dense<[{{\[\[}}3]], {{\[\[}}-5]]]> : tensor<2x1x1xi32>
// CHECK: ge.add %[[S]]
// CHECK: ge.constant dense<1.250000e-01> : tensor<f32>
// CHECK: ge.requantize
// CHECK-NEXT: func.return
// FOLDED-LABEL: func.func @conv
// FOLDED: ge.conv_integer
func.func @conv(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x3x3xui8> {
  %w = ge.constant dense<[[[[1]], [[2]]], [[[-3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %s = ge.constant dense<0.25> : tensor<f32>
  %t = ge.constant dense<0.5> : tensor<f32>
  %u = ge.constant dense<1.0> : tensor<f32>
  %z = ge.constant dense<7> : tensor<ui8>
  %zw = ge.constant dense<0> : tensor<i8>
  %low = ge.constant dense<0> : tensor<ui8>
  %b = ge.constant dense<[0.375, -0.625]> : tensor<2xf32>
  %d = ge.dequantize_linear %x, %s zero_point %z axis 1 block_size 0
    : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %e = ge.dequantize_linear %w, %t zero_point %zw axis 0 block_size 0
    : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %c = ge.conv %d, %e bias %b strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] group 1
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %r = ge.relu %c : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %q = ge.quantize_linear %r, %u zero_point %low axis 1 block_size 0
    : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x3x3xui8>
  func.return %q : tensor<1x2x3x3xui8>
}

// A scale for each column; the relu is above the lowest level, so that it stays, of levels.
// CHECK-LABEL: func.func @matmul
// CHECK: %[[S:.*]] = ge.matmul_integer %x, %w
// CHECK: ge.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: %[[Q:.*]] = ge.requantize %[[S]]
// CHECK: ge.maximum %[[Q]]
// CHECK-NEXT: func.return
func.func @matmul(%x: tensor<3x4xi8>, %w: tensor<4x2xi8>) -> tensor<3x2xi8> {
  %s = ge.constant dense<0.25> : tensor<f32>
  %t = ge.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %u = ge.constant dense<1.0> : tensor<f32>
  %z = ge.constant dense<-4> : tensor<i8>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
  %e = ge.dequantize_linear %w, %t axis 1 block_size 0 : (tensor<4x2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
  %m = ge.matmul %d, %e : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %r = ge.relu %m : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %q = ge.quantize_linear %r, %u zero_point %z axis 1 block_size 0
    : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
  func.return %q : tensor<3x2xi8>
}

// Without a quantisation the sums are scaled, and a bias that is no whole number of steps added.
// CHECK-LABEL: func.func @gemm
// CHECK: %[[S:.*]] = ge.matmul_integer %x, %{{.*}} : (tensor<3x2xi8>, tensor<2x2xi8>) -> tensor<3x2xi32>
// CHECK: ge.cast %[[S]]
// CHECK: ge.mul
// CHECK: ge.add
// CHECK-NEXT: func.return
func.func @gemm(%x: tensor<3x2xi8>) -> tensor<3x2xf32> {
  %w = ge.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %s = ge.constant dense<0.25> : tensor<f32>
  %b = ge.constant dense<[0.3, 0.1]> : tensor<2xf32>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
  %e = ge.dequantize_linear %w, %s axis 1 block_size 0 : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %m = ge.gemm %d, %e bias %b alpha 1.0 beta 1.0 trans_b
    : (tensor<3x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %m : tensor<3x2xf32>
}

// Negative: two computed factors, and nothing that is quantised behind them.
// CHECK-LABEL: func.func @scores
// CHECK: ge.matmul %
func.func @scores(%x: tensor<3x4xi8>, %w: tensor<4x2xi8>) -> tensor<3x2xf32> {
  %s = ge.constant dense<0.25> : tensor<f32>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
  %e = ge.dequantize_linear %w, %s axis 1 block_size 0 : (tensor<4x2xi8>, tensor<f32>) -> tensor<4x2xf32>
  %m = ge.matmul %d, %e : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %m : tensor<3x2xf32>
}

// Negative: a scale for each row of the sums' depth.
// CHECK-LABEL: func.func @rows
// CHECK: ge.matmul %
func.func @rows(%x: tensor<3x2xi8>) -> tensor<3x2xf32> {
  %w = ge.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %s = ge.constant dense<0.25> : tensor<f32>
  %t = ge.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
  %e = ge.dequantize_linear %w, %t axis 0 block_size 0 : (tensor<2x2xi8>, tensor<2xf32>) -> tensor<2x2xf32>
  %m = ge.matmul %d, %e : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %m : tensor<3x2xf32>
}

// Negative: levels of 16 bits.
// CHECK-LABEL: func.func @wide
// CHECK: ge.matmul %
func.func @wide(%x: tensor<3x2xi16>) -> tensor<3x2xf32> {
  %w = ge.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %s = ge.constant dense<0.25> : tensor<f32>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x2xi16>, tensor<f32>) -> tensor<3x2xf32>
  %e = ge.dequantize_linear %w, %s axis 1 block_size 0 : (tensor<2x2xi8>, tensor<f32>) -> tensor<2x2xf32>
  %m = ge.matmul %d, %e : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %m : tensor<3x2xf32>
}

// Negative: more products in a sum than 32 bits hold.
// CHECK-LABEL: func.func @deep
// CHECK: ge.matmul %
// REMARK: RaiseQuantizedProduct: ge.matmul: sums may be too large for 32 bits
func.func @deep(%x: tensor<1x33026xi8>, %w: tensor<33026x2xi8>) -> tensor<1x2xi8> {
  %s = ge.constant dense<0.25> : tensor<f32>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<1x33026xi8>, tensor<f32>) -> tensor<1x33026xf32>
  %e = ge.dequantize_linear %w, %s axis 1 block_size 0 : (tensor<33026x2xi8>, tensor<f32>) -> tensor<33026x2xf32>
  %m = ge.matmul %d, %e : (tensor<1x33026xf32>, tensor<33026x2xf32>) -> tensor<1x2xf32>
  %z = ge.constant dense<0> : tensor<i8>
  %q = ge.quantize_linear %m, %s zero_point %z axis 1 block_size 0
    : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
  func.return %q : tensor<1x2xi8>
}

// A half goes to another level where the zero point is odd.
// CHECK-LABEL: func.func @odd
// CHECK: ge.requantize %{{.*}}, %{{.*}} zero_point %{{.*}} zero_point_last
func.func @odd(%x: tensor<3x4xi8>, %w: tensor<4x2xi8>) -> tensor<3x2xui8> {
  %s = ge.constant dense<0.5> : tensor<f32>
  %z = ge.constant dense<7> : tensor<ui8>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
  %e = ge.dequantize_linear %w, %s axis 1 block_size 0 : (tensor<4x2xi8>, tensor<f32>) -> tensor<4x2xf32>
  %m = ge.matmul %d, %e : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %q = ge.quantize_linear %m, %s zero_point %z axis 1 block_size 0
    : (tensor<3x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x2xui8>
  func.return %q : tensor<3x2xui8>
}

// Level 127 of 0.046875 is below 6, so that the clip does no more than a relu.
// CHECK-LABEL: func.func @clip
// CHECK-NOT: ge.clip
// CHECK: ge.requantize
func.func @clip(%x: tensor<3x4xi8>, %w: tensor<4x2xi8>) -> tensor<3x2xi8> {
  %s = ge.constant dense<0.046875> : tensor<f32>
  %zero = ge.constant dense<0.0> : tensor<f32>
  %six = ge.constant dense<6.0> : tensor<f32>
  %z = ge.constant dense<0> : tensor<i8>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
  %e = ge.dequantize_linear %w, %s axis 1 block_size 0 : (tensor<4x2xi8>, tensor<f32>) -> tensor<4x2xf32>
  %m = ge.matmul %d, %e : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %c = ge.clip %m min %zero : tensor<f32> max %six : tensor<f32> : tensor<3x2xf32> -> tensor<3x2xf32>
  %q = ge.quantize_linear %c, %s zero_point %z axis 1 block_size 0
    : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
  func.return %q : tensor<3x2xi8>
}

// Negative: a clip below the highest level.
// CHECK-LABEL: func.func @lower_clip
// CHECK: ge.clip
// CHECK-NEXT: ge.quantize_linear
func.func @lower_clip(%x: tensor<3x4xi8>, %w: tensor<4x2xi8>) -> tensor<3x2xi8> {
  %s = ge.constant dense<0.046875> : tensor<f32>
  %zero = ge.constant dense<0.0> : tensor<f32>
  %five = ge.constant dense<5.0> : tensor<f32>
  %z = ge.constant dense<0> : tensor<i8>
  %d = ge.dequantize_linear %x, %s axis 1 block_size 0 : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
  %e = ge.dequantize_linear %w, %s axis 1 block_size 0 : (tensor<4x2xi8>, tensor<f32>) -> tensor<4x2xf32>
  %m = ge.matmul %d, %e : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %c = ge.clip %m min %zero : tensor<f32> max %five : tensor<f32> : tensor<3x2xf32> -> tensor<3x2xf32>
  %q = ge.quantize_linear %c, %s zero_point %z axis 1 block_size 0
    : (tensor<3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<3x2xi8>
  func.return %q : tensor<3x2xi8>
}
