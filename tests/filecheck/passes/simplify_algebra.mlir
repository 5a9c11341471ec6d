// RUN: ge-opt %s -p ge-simplify-algebra | filecheck %s

// CHECK-LABEL: func.func @negations
// CHECK-NEXT: %[[S:.*]] = ge.sub %x, %y
// CHECK-NEXT: %[[A:.*]] = ge.add %[[S]], %y
// CHECK-NEXT: ge.mul %[[A]], %x
func.func @negations(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %n = ge.neg %y : (tensor<4xf32>) -> tensor<4xf32>
  %s = ge.add %x, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = ge.sub %s, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %m = ge.neg %a : (tensor<4xf32>) -> tensor<4xf32>
  %o = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = ge.mul %m, %o : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @powers_of_two
// CHECK: %[[Q:.*]] = ge.constant dense<1.250000e-01> : tensor<f16>
// CHECK-NEXT: ge.mul %x, %[[Q]]
func.func @powers_of_two(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c = ge.constant dense<8.0> : tensor<f16>
  %y = ge.div %x, %c : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  func.return %y : tensor<4xf16>
}

// Negative: 1 / 3 is rounded.
// CHECK-LABEL: func.func @third
// CHECK: ge.div
func.func @third(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c = ge.constant dense<3.0> : tensor<f16>
  %y = ge.div %x, %c : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  func.return %y : tensor<4xf16>
}

// CHECK-LABEL: func.func @limits
// CHECK-NEXT: func.return %x
func.func @limits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %low = ge.constant dense<"0x000080FF"> : tensor<f32>
  %y = ge.maximum %low, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %z = ge.clip %y min %low : tensor<f32> : tensor<4xf32> -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK-NEXT: %[[C:.*]] = ge.constant dense<56> : tensor<i8>
// CHECK-NEXT: ge.add %x, %[[C]]
func.func @integers(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %a = ge.constant dense<100> : tensor<i8>
  %b = ge.constant dense<44> : tensor<i8>
  %p = ge.add %x, %a : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  %q = ge.sub %p, %b : (tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
  %r = ge.add %q, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %s = ge.sub %r, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return %s : tensor<4xi8>
}

// CHECK-LABEL: func.func @truths
// CHECK-NEXT: %[[G:.*]] = ge.greater_equal %x, %y
// CHECK-NEXT: func.return %[[G]], %c
func.func @truths(%x: tensor<4xi32>, %y: tensor<4xi32>, %c: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
  %l = ge.less %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %n = ge.logical_not %l : (tensor<4xi1>) -> tensor<4xi1>
  %true = ge.constant dense<true> : tensor<i1>
  %false = ge.constant dense<false> : tensor<i1>
  %s = ge.select %c, %true, %false : (tensor<4xi1>, tensor<i1>, tensor<i1>) -> tensor<4xi1>
  func.return %n, %s : tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @pieces
// CHECK-NEXT: ge.slice %x starts [2] ends [3] axes [0] steps [1]
// CHECK-NEXT: func.return
func.func @pieces(%x: tensor<4x2xf32>) -> tensor<1x2xf32> {
  %a, %b = ge.split %x axis 0 sizes [1, 3] : (tensor<4x2xf32>) -> (tensor<1x2xf32>, tensor<3x2xf32>)
  %c = ge.concat %a, %b axis 0 : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %d = ge.slice %c starts [1] ends [4] axes [0] steps [1] : (tensor<4x2xf32>) -> tensor<3x2xf32>
  %e = ge.slice %d starts [1] ends [2] axes [0] steps [1] : (tensor<3x2xf32>) -> tensor<1x2xf32>
  func.return %e : tensor<1x2xf32>
}

// Negative: another order, and another axis.
// CHECK-LABEL: func.func @other_pieces
// CHECK: ge.concat
// CHECK-NEXT: ge.concat
func.func @other_pieces(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x4xf32>) {
  %a, %b = ge.split %x axis 0 sizes [2, 2] : (tensor<4x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %c = ge.concat %b, %a axis 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %d = ge.concat %a, %b axis 1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  func.return %c, %d : tensor<4x2xf32>, tensor<2x4xf32>
}
