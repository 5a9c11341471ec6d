// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-canonicalize --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @comes_back
// CHECK-NEXT:    func.return %q
func.func @comes_back(%q: tensor<4x2xi8>) -> tensor<4x2xi8> {
  %s = ge.constant dense<[0.1, 3.0e-5]> : tensor<2xf32>
  %z = ge.constant dense<[3, -7]> : tensor<2xi8>
  %t = ge.constant dense<[0.1, 3.0e-5]> : tensor<2xf32>
  %x = ge.dequantize_linear %q, %s zero_point %z axis 1 block_size 0 : (tensor<4x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<4x2xf32>
  %y = ge.quantize_linear %x, %t zero_point %z axis -1 block_size 0 : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xi8>) -> tensor<4x2xi8>
  func.return %y : tensor<4x2xi8>
}

// -----

// The axis means nothing where there is one scale for all; every f8E4M3FN was tried.
// CHECK-LABEL: func.func @narrow_floats
// CHECK-NEXT:    func.return %q
func.func @narrow_floats(%q: tensor<4x2x!ge.float<f8E4M3FN>>) -> tensor<4x2x!ge.float<f8E4M3FN>> {
  %s = ge.constant dense<0.1> : tensor<f32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4x2x!ge.float<f8E4M3FN>>, tensor<f32>) -> tensor<4x2xf32>
  %y = ge.quantize_linear %x, %s axis 1 block_size 0 : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2x!ge.float<f8E4M3FN>>
  func.return %y : tensor<4x2x!ge.float<f8E4M3FN>>
}

// -----

// Negative: an infinity saturates.
// CHECK-LABEL: func.func @infinities
// CHECK:         ge.quantize_linear
// REMARK: ElideRequantization: ge.quantize_linear: a level does not come back as itself [CONST]
func.func @infinities(%q: tensor<4x!ge.float<f8E5M2>>) -> tensor<4x!ge.float<f8E5M2>> {
  %s = ge.constant dense<0.1> : tensor<f32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4x!ge.float<f8E5M2>>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %s axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4x!ge.float<f8E5M2>>
  func.return %y : tensor<4x!ge.float<f8E5M2>>
}

// -----

// Negative: a quantisation rounds. A rewrite to `%x` would undo that.
// CHECK-LABEL: func.func @rounds
// CHECK:         ge.quantize_linear %x
// CHECK-NEXT:    ge.dequantize_linear
func.func @rounds(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = ge.constant dense<0.1> : tensor<f32>
  %q = ge.quantize_linear %x, %s axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  %y = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Negative: to another type.
// CHECK-LABEL: func.func @other_type
// CHECK:         ge.dequantize_linear
// CHECK-NEXT:    ge.quantize_linear
func.func @other_type(%q: tensor<4xi8>) -> tensor<4xui8> {
  %s = ge.constant dense<0.1> : tensor<f32>
  %x = ge.dequantize_linear %q, %s axis 0 block_size 0 : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
  %y = ge.quantize_linear %x, %s axis 0 block_size 0 : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  func.return %y : tensor<4xui8>
}
