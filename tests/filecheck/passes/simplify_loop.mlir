// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// A value that no iteration changes, in the body and after the loop; a condition that is true.
// CHECK-LABEL: func.func @invariant_carried
// CHECK-NEXT:    %c = ge.constant dense<true>
// CHECK-NEXT:    %b = ge.loop %n, %c carried(%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %go: tensor<i1>, %w: tensor<4xf32>):
// CHECK-NEXT:      %s = ge.add %x, %w
// CHECK-NEXT:      ge.yield %go, %s
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %x, %b
// REMARK-DAG: ForwardInvariantCarried: ge.loop: carried values that never change
// REMARK-DAG: DropUnusedLoopResult: ge.loop: 1 unused results dropped
// REMARK-DAG: [missed] ge-simplify-control-flow: UnrollLoop: ge.loop: trip count is not constant [CONST]
func.func @invariant_carried(%n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = ge.constant dense<true> : tensor<i1>
  %a, %b = ge.loop %n, %c carried (%x, %x) : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>, %w: tensor<4xf32>):
    %s = ge.add %v, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %v, %s : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Negative: two values that change places change.
// CHECK-LABEL: func.func @swap
// CHECK:         ge.loop %n, %c carried(%x, %z)
// CHECK:           ge.yield %go, %w, %v
func.func @swap(%n: tensor<i64>, %x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.constant dense<true> : tensor<i1>
  %a, %b = ge.loop %n, %c carried (%x, %z) : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>, %w: tensor<4xf32>):
    ge.yield %go, %w, %v : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}

// -----

// Results that nobody reads, carried or stacked, and the ops that only they need.
// CHECK-LABEL: func.func @unused_results
// CHECK-NEXT:    %b = ge.loop %n, %c carried(%x)
// CHECK-NEXT:    ^bb0(%i: tensor<i64>, %go: tensor<i1>, %w: tensor<4xf32>):
// CHECK-NEXT:      %r = ge.relu %w
// CHECK-NEXT:      ge.yield %go, %r : tensor<i1>, tensor<4xf32>
// CHECK-NEXT:    }
func.func @unused_results(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %a, %b, %t = ge.loop %n, %c carried (%x, %x) : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>, %w: tensor<4xf32>):
    %s = ge.add %v, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r = ge.relu %w : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %s, %r, %s : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %b : tensor<4xf32>
}

// -----

// Negative: nobody reads the result, but it says when to stop.
// CHECK-LABEL: func.func @stops
// CHECK:         ge.loop %n, %c carried(%x, %k)
func.func @stops(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>, %k: tensor<i64>) -> tensor<4xf32> {
  %a, %b = ge.loop %n, %c carried (%x, %k) : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<i64>) -> (tensor<4xf32>, tensor<i64>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>, %w: tensor<i64>):
    %s = ge.neg %v : (tensor<4xf32>) -> tensor<4xf32>
    %r = ge.add %w, %w : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %l = ge.less %r, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
    ge.yield %l, %s, %r : tensor<i1>, tensor<4xf32>, tensor<i64>
  }
  func.return %a : tensor<4xf32>
}
