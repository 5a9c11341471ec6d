// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>, %c: tensor<3xf32>, %q: tensor<2x?x4xf32, #ge.dims<"S">>, %k: tensor<4x5xf32>) {
  // CHECK: ge.matmul %q, %k : (tensor<2x?x4xf32, #ge.dims<"S">>, tensor<4x5xf32>) -> tensor<2x?x5xf32, #ge.dims<"S">>
  %m = ge.matmul %q, %k : (tensor<2x?x4xf32, #ge.dims<"S">>, tensor<4x5xf32>) -> tensor<2x?x5xf32, #ge.dims<"S">>
  // CHECK: ge.gemm %a, %b bias %c alpha 5.000000e-01 beta 1.000000e+00 trans_b : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %g = ge.gemm %a, %b bias %c alpha 0.5 beta 1.0 trans_b : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: ge.gemm %a, %a alpha 1.000000e+00 beta 1.000000e+00 trans_a : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %h = ge.gemm %a, %a alpha 1.0 beta 1.0 trans_a : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  // CHECK: ge.einsum "ij,kj->ik"(%a, %b) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %e = ge.einsum "ij,kj->ik"(%a, %b) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: tensor<1x4x8x8xf16>, %w: tensor<6x2x3x3xf16>, %b: tensor<6xf16>, %t: tensor<4x3x2x2xf16>, %s: tensor<1x4x?x8xf16, #ge.dims<"H">>) {
  // CHECK: ge.conv %x, %w bias %b strides [2, 1] pads [1, 1, 1, 1] dilations [1, 1] group 2 : (tensor<1x4x8x8xf16>, tensor<6x2x3x3xf16>, tensor<6xf16>) -> tensor<1x6x4x8xf16>
  %c = ge.conv %x, %w bias %b strides [2, 1] pads [1, 1, 1, 1] dilations [1, 1] group 2 : (tensor<1x4x8x8xf16>, tensor<6x2x3x3xf16>, tensor<6xf16>) -> tensor<1x6x4x8xf16>
  // CHECK: ge.conv %s, %w strides [2, 1] {{.*}} -> tensor<1x6x?x8xf16, #ge.dims<"(H + 1) floordiv 2">>
  %d = ge.conv %s, %w strides [2, 1] pads [1, 1, 1, 1] dilations [1, 1] group 2 : (tensor<1x4x?x8xf16, #ge.dims<"H">>, tensor<6x2x3x3xf16>) -> tensor<1x6x?x8xf16, #ge.dims<"(H + 1) floordiv 2">>
  // CHECK: ge.conv_transpose %x, %t strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] output_padding [1, 0] group 1 : (tensor<1x4x8x8xf16>, tensor<4x3x2x2xf16>) -> tensor<1x3x17x16xf16>
  %e = ge.conv_transpose %x, %t strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] output_padding [1, 0] group 1 : (tensor<1x4x8x8xf16>, tensor<4x3x2x2xf16>) -> tensor<1x3x17x16xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @bytes
func.func @bytes(%a: tensor<2x3xi8>, %b: tensor<3x4xui8>, %z: tensor<i8>, %y: tensor<4xui8>, %x: tensor<1x3x8xui8>, %w: tensor<4x3x3xi8>) {
  // CHECK: ge.matmul_integer %a, %b : (tensor<2x3xi8>, tensor<3x4xui8>) -> tensor<2x4xi32>
  %m = ge.matmul_integer %a, %b : (tensor<2x3xi8>, tensor<3x4xui8>) -> tensor<2x4xi32>
  // CHECK: ge.matmul_integer %a, %b lhs_zero_point %z : tensor<i8> rhs_zero_point %y : tensor<4xui8> : (tensor<2x3xi8>, tensor<3x4xui8>) -> tensor<2x4xi32>
  %n = ge.matmul_integer %a, %b lhs_zero_point %z : tensor<i8> rhs_zero_point %y : tensor<4xui8> : (tensor<2x3xi8>, tensor<3x4xui8>) -> tensor<2x4xi32>
  // CHECK: ge.conv_integer %x, %w filter_zero_point %z : tensor<i8> strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x3x8xui8>, tensor<4x3x3xi8>) -> tensor<1x4x6xi32>
  %c = ge.conv_integer %x, %w filter_zero_point %z : tensor<i8> strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x3x8xui8>, tensor<4x3x3xi8>) -> tensor<1x4x6xi32>
  func.return
}
