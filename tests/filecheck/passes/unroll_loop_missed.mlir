// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Negative: of what size the slices would be is not known.
// CHECK-LABEL: func.func @unknown_slices
// CHECK:         ge.loop
// REMARK: [missed] ge-simplify-control-flow: SkipLoop: ge.loop: a result can not become its initial value: their types differ [SHAPE]
func.func @unknown_slices(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?x?xf32> {
  %c = ge.constant dense<false> : tensor<i1>
  %b = ge.loop %n, %c carried () : (tensor<i64>, tensor<i1>) -> tensor<?x?xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    ge.yield %go, %x : tensor<i1>, tensor<?xf32>
  }
  func.return %b : tensor<?x?xf32>
}

// -----

// Negative: too many iterations.
// CHECK-LABEL: func.func @many
// CHECK:         ge.loop
// REMARK: [missed] ge-simplify-control-flow: UnrollLoop: ge.loop: 5 iterations, at most 4 [COST]
func.func @many(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = ge.constant dense<5> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %a = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %r = ge.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %r : tensor<i1>, tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}

// -----

// Negative: the body may stop the loop.
// CHECK-LABEL: func.func @may_stop
// CHECK:         ge.loop
// REMARK: [missed] ge-simplify-control-flow: UnrollLoop: ge.loop: the body may stop the loop [CONST]
func.func @may_stop(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %n = ge.constant dense<2> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %a = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %r = ge.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %p, %r : tensor<i1>, tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}

// -----

// Negative: the condition is not known.
// CHECK-LABEL: func.func @may_not_start
// CHECK:         ge.loop
// REMARK: [missed] ge-simplify-control-flow: UnrollLoop: ge.loop: condition is not constant [CONST]
func.func @may_not_start(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %n = ge.constant dense<2> : tensor<i64>
  %a = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %r = ge.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %r : tensor<i1>, tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}

// -----

// Negative: of what size a slice is, is not known.
// CHECK-LABEL: func.func @unknown_size
// CHECK:         ge.loop
// REMARK: [missed] ge-simplify-control-flow: UnrollLoop: ge.loop: the size of a scan result's slices is not known [SHAPE]
func.func @unknown_size(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<2x?xf32>) {
  %n = ge.constant dense<2> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %a, %s = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<?xf32>) -> (tensor<?xf32>, tensor<2x?xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<?xf32>):
    %r = ge.relu %v : (tensor<?xf32>) -> tensor<?xf32>
    %t = ge.neg %r : (tensor<?xf32>) -> tensor<?xf32>
    ge.yield %go, %t, %r : tensor<i1>, tensor<?xf32>, tensor<?xf32>
  }
  func.return %a, %s : tensor<?xf32>, tensor<2x?xf32>
}
