// RUN: ge-opt %s -p ge-constant-fold,ge-dce --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-constant-fold --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s -p ge-constant-fold{max-growth=16777216},ge-dce --split-input-file | filecheck %s --check-prefix=GROW

// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %z = ge.constant dense<[3.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    func.return %z
func.func @chain() -> tensor<2xf32> {
  %x = ge.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = ge.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %z = ge.add %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %z : tensor<2xf32>
}

// -----

// Negative: 4 GB out of 4 KB; the growth budget keeps it, whatever else is allowed.
// CHECK-LABEL: func.func @tile
// CHECK:         ge.tile %c repeats [1000000]
// GROW-LABEL:  func.func @tile
// GROW:          ge.tile %c repeats [1000000]
// REMARK: remark: [missed] ge-constant-fold: fold: ge.tile: not folded: 4095995904 bytes more than its operands, at most 65536 at "tile/node" [COST]
func.func @tile() -> tensor<1024000000xf32> {
  %c = ge.constant dense<1.5> : tensor<1024xf32>
  %y = ge.tile %c repeats [1000000] : (tensor<1024xf32>) -> tensor<1024000000xf32> loc("tile/node")
  func.return %y : tensor<1024000000xf32>
}

// -----

// Above the default budget, within a larger one.
// CHECK-LABEL: func.func @grows
// CHECK:         ge.tile
// GROW-LABEL:  func.func @grows
// GROW-NEXT:     ge.constant
// GROW-NOT:      ge.tile
// REMARK: ge.tile: not folded: 1044480 bytes more than its operands, at most 65536
func.func @grows() -> tensor<262144xf32> {
  %c = ge.constant dense<1.5> : tensor<1024xf32>
  %y = ge.tile %c repeats [256] : (tensor<1024xf32>) -> tensor<262144xf32>
  func.return %y : tensor<262144xf32>
}

// -----

// Negative: an op that nobody can evaluate here, and no failure.
// CHECK-LABEL: func.func @no_evaluator
// CHECK:         ge.host_call "com.example::Foo"
// REMARK: ge.host_call{{.*}}: not folded: it
func.func @no_evaluator() -> tensor<2xf32> {
  %c = ge.constant dense<1.0> : tensor<2xf32>
  %y = ge.host_call "com.example::Foo" version 1 (%c) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

// Negative: the size is not known, so nothing is evaluated.
// CHECK-LABEL: func.func @unknown_size
// CHECK:         ge.host_call
// REMARK: ge.host_call{{.*}}: not folded: its size [?] is not known
func.func @unknown_size() -> tensor<?xi64> {
  %c = ge.constant dense<1> : tensor<2xi64>
  %y = ge.host_call "ai.onnx::Unique" version 11 (%c) : (tensor<2xi64>) -> tensor<?xi64>
  func.return %y : tensor<?xi64>
}

// -----

// Negative: an index out of range. The model may be wrong, the compiler is not.
// CHECK-LABEL: func.func @fails
// CHECK:         ge.gather
// REMARK: ge.gather: not folded: its evaluation failed:
func.func @fails() -> tensor<f32> {
  %x = ge.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = ge.constant dense<7> : tensor<i64>
  %y = ge.gather %x, %i axis 0 : (tensor<2xf32>, tensor<i64>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// A truth value is 1, never -1, whatever it is cast to; NaN is not equal to itself.
// CHECK-LABEL: func.func @bools
// CHECK-NEXT:    %e = ge.constant dense<true> : tensor<2x3xi1>
// CHECK-NEXT:    %i = ge.constant dense<1> : tensor<2x3xi8>
// CHECK-NEXT:    %f = ge.constant dense<1.000000e+00> : tensor<2x3xf32>
// CHECK-NEXT:    %n = ge.constant dense<[true, false]> : tensor<2xi1>
func.func @bools() -> (tensor<2x3xi1>, tensor<2x3xi8>, tensor<2x3xf32>, tensor<2xi1>) {
  %x = ge.constant dense<[[1, 2, 3], [-4, 5, 6]]> : tensor<2x3xi32>
  %e = ge.equal %x, %x : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  %i = ge.cast %e : (tensor<2x3xi1>) -> tensor<2x3xi8>
  %f = ge.cast %e : (tensor<2x3xi1>) -> tensor<2x3xf32>
  %y = ge.constant dense<"0x0000803F0000C07F"> : tensor<2xf32>
  %n = ge.equal %y, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return %e, %i, %f, %n : tensor<2x3xi1>, tensor<2x3xi8>, tensor<2x3xf32>, tensor<2xi1>
}

// -----

// Negative: floats that may be NaN are not known to equal themselves.
// CHECK-LABEL: func.func @equal_floats
// CHECK-NEXT:    ge.equal
func.func @equal_floats(%x: tensor<2xf32>) -> tensor<2xi1> {
  %e = ge.equal %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return %e : tensor<2xi1>
}

// -----

// Inside regions as well; a constant that only a region uses stays for it.
// CHECK-LABEL: func.func @nested
// CHECK-NEXT:    %c = ge.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    ge.if
// CHECK-NEXT:      ge.add %x, %c
// CHECK:           %d = ge.constant dense<4.000000e+00> : tensor<4xf32>
// CHECK-NEXT:      ge.yield %d
func.func @nested(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.constant dense<2.0> : tensor<4xf32>
  %y = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    %s = ge.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ge.yield %s : tensor<4xf32>
  } else {
    %d = ge.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ge.yield %d : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// Negative: the body of a fusion is what the kernel does.
// CHECK-LABEL: func.func @fusion
// CHECK:           ge.add
func.func @fusion() -> tensor<4xf32> {
  %y = ge.fusion "Two"() : () -> tensor<4xf32> {
    %c = ge.constant dense<2.0> : tensor<4xf32>
    %d = ge.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ge.yield %d : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// Nothing comes of them, so they are not computed, whatever they read.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT:    %s = ge.constant dense<> : tensor<0x4xf32>
// CHECK-NEXT:    func.return %s
func.func @empty(%x: tensor<64x4xf32>) -> tensor<0x4xf32> {
  %i = ge.constant dense<> : tensor<0xi64>
  %y = ge.gather %x, %i axis 0 : (tensor<64x4xf32>, tensor<0xi64>) -> tensor<0x4xf32>
  %z = ge.exp %y : (tensor<0x4xf32>) -> tensor<0x4xf32>
  %s = ge.softmax %z axis -1 : (tensor<0x4xf32>) -> tensor<0x4xf32>
  func.return %s : tensor<0x4xf32>
}

// -----

// What is made of nothing: a sum of no elements is 0. Near miss: it is of what is known when it
// runs.
// CHECK-LABEL: func.func @of_nothing
// CHECK:         %s = ge.constant dense<0.000000e+00> : tensor<1xf32>
// CHECK:         ge.reduce_sum %x
func.func @of_nothing(%x: tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
  %y = ge.constant dense<> : tensor<0x1xf32>
  %s = ge.reduce_sum %y axes [0] keepdims false : (tensor<0x1xf32>) -> tensor<1xf32>
  %t = ge.reduce_sum %x axes [0] keepdims false : (tensor<?x1xf32>) -> tensor<1xf32>
  func.return %s, %t : tensor<1xf32>, tensor<1xf32>
}

// -----

// An assignment to a column as exporters write it: the indices are expanded to each element and are
// larger than any budget, the result is no larger than what it is of.
// CHECK-LABEL: func.func @assigned
// CHECK-NEXT:    %y = ge.constant
// CHECK-NEXT:    func.return %y
func.func @assigned() -> tensor<128x128x2xf32> {
  %x = ge.constant dense<0.0> : tensor<128x128x2xf32>
  %u = ge.constant dense<1.0> : tensor<128x128xf32>
  %r = ge.range start 0 : i64 delta 1 : i64 : tensor<128xi64>
  %r3 = ge.reshape %r : (tensor<128xi64>) -> tensor<128x1x1xi64>
  %c3 = ge.reshape %r : (tensor<128xi64>) -> tensor<128x1xi64>
  %one = ge.constant dense<1> : tensor<1xi64>
  %a = ge.broadcast_to %r3 : (tensor<128x1x1xi64>) -> tensor<128x128x1xi64>
  %b = ge.broadcast_to %c3 : (tensor<128x1xi64>) -> tensor<128x128x1xi64>
  %c = ge.broadcast_to %one : (tensor<1xi64>) -> tensor<128x128x1xi64>
  %i = ge.concat %a, %b, %c axis 2 : (tensor<128x128x1xi64>, tensor<128x128x1xi64>, tensor<128x128x1xi64>) -> tensor<128x128x3xi64>
  %y = ge.scatter_nd %x, %i, %u reduction "none" : (tensor<128x128x2xf32>, tensor<128x128x3xi64>, tensor<128x128xf32>) -> tensor<128x128x2xf32>
  func.return %y : tensor<128x128x2xf32>
}

// -----

// Negative: what comes of it is larger as well.
// CHECK-LABEL: func.func @compared
// CHECK:         ge.broadcast_to
// CHECK:         ge.less
func.func @compared() -> tensor<256x512xi1> {
  %r = ge.constant dense<1> : tensor<256x1xi64>
  %c = ge.constant dense<2> : tensor<1x512xi64>
  %a = ge.broadcast_to %r : (tensor<256x1xi64>) -> tensor<256x512xi64>
  %b = ge.broadcast_to %c : (tensor<1x512xi64>) -> tensor<256x512xi64>
  %y = ge.less %a, %b : (tensor<256x512xi64>, tensor<256x512xi64>) -> tensor<256x512xi1>
  func.return %y : tensor<256x512xi1>
}
