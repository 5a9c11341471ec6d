// RUN: ge-opt %s -p ge-fold-norm,ge-dce | filecheck %s
// RUN: ge-opt %s -p ge-fold-norm --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s -p ge-fold-norm{exact=true} | filecheck %s --check-prefix=EXACT

// CHECK-LABEL: func.func @conv
// CHECK-NEXT: %[[W:.*]] = ge.constant dense<[[[4.000000e+00]], [[1.500000e+00]]]> : tensor<2x1x1xf32>
// CHECK-NEXT: %[[B:.*]] = ge.constant dense<[-1.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: ge.conv %x, %[[W]] bias %[[B]] strides [1] pads [0, 0] dilations [1] group 1
// CHECK-NEXT: func.return
// EXACT-LABEL: func.func @conv
// EXACT: ge.batch_norm
func.func @conv(%x: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> {
  %w = ge.constant dense<[[[2.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %s = ge.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %b = ge.constant dense<[1.0, 5.0]> : tensor<2xf32>
  %m = ge.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %v = ge.constant dense<[4.0, 4.0]> : tensor<2xf32>
  %c = ge.conv %x, %w strides [1] pads [0, 0] dilations [1] group 1 : (tensor<1x1x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4xf32>
  %y = ge.batch_norm %c, %s, %b, %m, %v epsilon 0.0 : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  func.return %y : tensor<1x2x4xf32>
}

// Powers of two are folded in every mode.
// CHECK-LABEL: func.func @scale
// CHECK-NEXT: %[[W:.*]] = ge.constant dense<[[2.000000e+00, 8.000000e+00]]> : tensor<1x2xf32>
// CHECK-NEXT: ge.matmul %x, %[[W]]
// EXACT-LABEL: func.func @scale
// EXACT-NOT: ge.mul
func.func @scale(%x: tensor<3x1xf32>) -> tensor<3x2xf32> {
  %w = ge.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %s = ge.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %c = ge.matmul %x, %w : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %y = ge.mul %c, %s : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK-NEXT: ge.flash_attention %q, %q, %q scale 1.250000e-01
// EXACT-LABEL: func.func @attention
func.func @attention(%q: tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32> {
  %s = ge.constant dense<0.25> : tensor<f32>
  %p = ge.mul %q, %s : (tensor<1x1x2x4xf32>, tensor<f32>) -> tensor<1x1x2x4xf32>
  %y = ge.flash_attention %p, %q, %q scale 0.5 : (tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x1x2x4xf32>
  func.return %y : tensor<1x1x2x4xf32>
}

// Negative: others read the product.
// CHECK-LABEL: func.func @two_uses
// CHECK: ge.mul
// REMARK: ge.mul: the result of 'ge.matmul' has other users (found 2 uses, wanted 1 use) [USE]
func.func @two_uses(%x: tensor<3x1xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = ge.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %s = ge.constant dense<2.0> : tensor<f32>
  %c = ge.matmul %x, %w : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %y = ge.mul %c, %s : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  func.return %y, %c : tensor<3x2xf32>, tensor<3x2xf32>
}

// Negative: the weight is an argument.
// CHECK-LABEL: func.func @computed_weight
// CHECK: ge.mul
// REMARK: ge.mul: the weight is not a constant (found a value, wanted a constant) [CONST]
func.func @computed_weight(%x: tensor<3x1xf32>, %w: tensor<1x2xf32>) -> tensor<3x2xf32> {
  %s = ge.constant dense<2.0> : tensor<f32>
  %c = ge.matmul %x, %w : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %y = ge.mul %c, %s : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Negative: a number for each row.
// CHECK-LABEL: func.func @rows
// CHECK: ge.mul
// REMARK: ge.mul: the constant has not one number for each output (found [3, 1], wanted 2 numbers along dimension 1) [SHAPE]
func.func @rows(%x: tensor<3x1xf32>) -> tensor<3x2xf32> {
  %w = ge.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %s = ge.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %c = ge.matmul %x, %w : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %y = ge.mul %c, %s : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
