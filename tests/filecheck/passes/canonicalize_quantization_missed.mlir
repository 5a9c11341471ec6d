// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-canonicalize --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Negative: one bit of the scale.
// CHECK-LABEL: func.func @other_scale
// CHECK:         ge.dequantize_linear
// CHECK-NEXT:    ge.quantize_linear
// REMARK: ge.quantize_linear: the scales are not known to be equal [CONST]
func.func @other_scale(%q: tensor<4xi8>) -> tensor<4xi8> {
  %s = ge.constant dense<0.1> : tensor<f32>
  %z = ge.constant dense<0> : tensor<i8>
  %t = ge.constant dense<0.10000002> : tensor<f32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %t zero_point %z axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @other_zero_point
// CHECK:         ge.quantize_linear
// REMARK: ge.quantize_linear: the zero points are not known to be equal [CONST]
func.func @other_zero_point(%q: tensor<4xi8>) -> tensor<4xi8> {
  %s = ge.constant dense<0.1> : tensor<f32>
  %z = ge.constant dense<1> : tensor<i8>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %s zero_point %z axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  func.return %y : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @other_axis
// CHECK:         ge.quantize_linear
// REMARK: ge.quantize_linear: the scales belong to other places [CONST]
func.func @other_axis(%q: tensor<2x2xui8>) -> tensor<2x2xui8> {
  %s = ge.constant dense<[0.1, 0.2]> : tensor<2xf32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<2x2xui8>, tensor<2xf32>) -> tensor<2x2xf32>
  %y = ge.quantize_linear %x, %s axis 1 block_size 0 : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xui8>
  func.return %y : tensor<2x2xui8>
}

// -----

// CHECK-LABEL: func.func @not_constant
// CHECK:         ge.quantize_linear
// REMARK: ge.quantize_linear: the scale is no constant of at most 1048576 elements [CONST]
func.func @not_constant(%q: tensor<4xui8>, %s: tensor<f32>) -> tensor<4xui8> {
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %s axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// -----

// CHECK-LABEL: func.func @narrow_scale
// CHECK:         ge.quantize_linear
// REMARK: ge.quantize_linear: bf16 is too narrow to tell 256 levels apart [CONST]
func.func @narrow_scale(%q: tensor<4xui8>) -> tensor<4xui8> {
  %s = ge.constant dense<0.1> : tensor<bf16>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xui8>, tensor<bf16>) -> tensor<4xbf16>
  %y = ge.quantize_linear %x, %s axis 0 block_size 0 : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// -----

// CHECK-LABEL: func.func @several_types
// CHECK:         ge.quantize_linear
// REMARK: ge.quantize_linear: scale, product and quotient are of several types [CONST]
func.func @several_types(%q: tensor<4xui8>) -> tensor<4xui8> {
  %s = ge.constant dense<0.1> : tensor<f32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %s axis 0 block_size 0 precision bf16 : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// -----

// CHECK-LABEL: func.func @negative_scale
// CHECK:         ge.quantize_linear
// REMARK: ge.quantize_linear: a scale is not positive, or not a normal number [CONST]
func.func @negative_scale(%q: tensor<4xui8>) -> tensor<4xui8> {
  %s = ge.constant dense<0.0> : tensor<f32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %s axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}

// -----

// CHECK-LABEL: func.func @overflow
// CHECK:         ge.quantize_linear
// REMARK: ge.quantize_linear: a scale is so large that levels overflow [CONST]
func.func @overflow(%q: tensor<4xui8>) -> tensor<4xui8> {
  %s = ge.constant dense<2.0e36> : tensor<f32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %s axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}
