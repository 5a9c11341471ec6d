// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-canonicalize,ge-constant-fold,ge-dce --split-input-file | filecheck %s --check-prefix=FOLD

// A truth value is 1, never -1, whatever it is cast to.
// CHECK-LABEL: func.func @equal
// CHECK-NEXT:    %e = ge.constant dense<true> : tensor<2x3xi1>
// CHECK-NEXT:    ge.cast %e
// FOLD-LABEL:  func.func @equal
// FOLD-NEXT:     %i = ge.constant dense<1> : tensor<2x3xi8>
// FOLD-NEXT:     %f = ge.constant dense<1.000000e+00> : tensor<2x3xf32>
// FOLD-NEXT:     func.return %i, %f
func.func @equal(%x: tensor<2x3xi32>) -> (tensor<2x3xi8>, tensor<2x3xf32>) {
  %e = ge.equal %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %i = ge.cast %e : (tensor<2x3xi1>) -> tensor<2x3xi8>
  %f = ge.cast %e : (tensor<2x3xi1>) -> tensor<2x3xf32>
  func.return %i, %f : tensor<2x3xi8>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @integers
// CHECK-DAG:     %a = ge.constant dense<true> : tensor<4xi1>
// CHECK-DAG:     %b = ge.constant dense<true> : tensor<4xi1>
// CHECK-DAG:     %c = ge.constant dense<false> : tensor<4xi1>
// CHECK-DAG:     %d = ge.constant dense<false> : tensor<4xi1>
// CHECK-DAG:     %e = ge.constant dense<0> : tensor<4xui8>
// CHECK-DAG:     %f = ge.constant dense<0> : tensor<4xui8>
// CHECK:         func.return %a, %b, %c, %d, %e, %f
func.func @integers(%x: tensor<4xui8>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xui8>, tensor<4xui8>) {
  %a = ge.less_equal %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %b = ge.greater_equal %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %c = ge.less %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %d = ge.xor %a, %a : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %e = ge.sub %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %f = ge.bitwise_xor %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %a, %b, %c, %d, %e, %f : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xui8>, tensor<4xui8>
}

// -----

// Negative: NaN is not equal to itself, and inf - inf is NaN. But nothing is less than itself.
// CHECK-LABEL: func.func @floats
// CHECK-NEXT:    ge.equal
// CHECK-NEXT:    ge.less_equal
// CHECK-NEXT:    ge.sub
// CHECK-NEXT:    %d = ge.constant dense<false> : tensor<4xi1>
func.func @floats(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xi1>) {
  %a = ge.equal %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %b = ge.less_equal %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %c = ge.sub %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = ge.greater %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %a, %b, %c, %d : tensor<4xi1>, tensor<4xi1>, tensor<4xf32>, tensor<4xi1>
}

// -----

// Negative: other operands, a size that is not known, and one that is too large.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: ge.equal
func.func @stays(%x: tensor<?xi32>, %y: tensor<?xi32>, %z: tensor<65537xi32>) -> (tensor<?xi1>, tensor<?xi1>, tensor<65537xi1>) {
  %a = ge.equal %x, %y : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  %b = ge.equal %x, %x : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  %c = ge.equal %z, %z : (tensor<65537xi32>, tensor<65537xi32>) -> tensor<65537xi1>
  func.return %a, %b, %c : tensor<?xi1>, tensor<?xi1>, tensor<65537xi1>
}
