// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @never_runs
// CHECK-NEXT:    %b = ge.constant dense<> : tensor<0x4xf32>
// CHECK-NEXT:    func.return %x, %b
// REMARK: SkipLoop: ge.loop: it never runs
func.func @never_runs(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  %n = ge.constant dense<0> : tensor<i64>
  %a, %b = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %r = ge.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %r, %r : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a, %b : tensor<4xf32>, tensor<?x4xf32>
}

// -----

// One iteration, since the body stops; scan results get a leading dimension of 1.
// CHECK-LABEL: func.func @runs_once
// CHECK-SAME:    -> (tensor<4xf32>, tensor<1x4xf32>)
// CHECK-NEXT:    %r = ge.relu %x
// CHECK-NEXT:    %b = ge.reshape %r : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    func.return %r, %b
// REMARK: UnrollLoop: ge.loop: unrolled: 1 iteration
func.func @runs_once(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  %n = ge.constant dense<9> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %f = ge.constant dense<false> : tensor<i1>
  %a, %b = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %r = ge.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %f, %r, %r : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a, %b : tensor<4xf32>, tensor<?x4xf32>
}

// -----

// At most one iteration.
// CHECK-LABEL: func.func @runs_at_most_once
// CHECK-NEXT:    %a = ge.if %c : tensor<i1> -> tensor<4xf32> then {
// CHECK-NEXT:      %r = ge.relu %x
// CHECK-NEXT:      ge.yield %r : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      ge.yield %x : tensor<4xf32>
// REMARK: LoopToIf: ge.loop: it runs at most once
func.func @runs_at_most_once(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %n = ge.constant dense<1> : tensor<i64>
  %a = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %r = ge.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %r : tensor<i1>, tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}

// -----

// Three iterations, with shapes that grow; in the first the inner branch is decided.
// CHECK-LABEL: func.func @unrolls
// CHECK-NEXT:    %[[A:.*]] = ge.neg %x
// CHECK-NEXT:    %[[B:.*]] = ge.concat %[[A]], %x axis 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[C:.*]] = ge.concat %[[B]], %x axis 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
// CHECK-NEXT:    %[[D:.*]] = ge.concat %[[C]], %x axis 0 : (tensor<6xf32>, tensor<2xf32>) -> tensor<8xf32>
// CHECK-NEXT:    func.return %[[D]]
// REMARK: UnrollLoop: ge.loop: unrolled: 3 iterations
func.func @unrolls(%x: tensor<2xf32>) -> tensor<?xf32> {
  %n = ge.constant dense<3> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %z = ge.constant dense<0> : tensor<i64>
  %a = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<2xf32>) -> tensor<?xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<?xf32>):
    %p = ge.equal %i, %z : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %u = ge.if %p : tensor<i1> -> tensor<?xf32> then {
      %m = ge.neg %v : (tensor<?xf32>) -> tensor<?xf32>
      ge.yield %m : tensor<?xf32>
    } else {
      ge.yield %v : tensor<?xf32>
    }
    %w = ge.concat %u, %x axis 0 : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    ge.yield %go, %w : tensor<i1>, tensor<?xf32>
  }
  func.return %a : tensor<?xf32>
}

// -----

// The slices of two iterations, stacked; carried values that change places.
// CHECK-LABEL: func.func @scan
// CHECK-NEXT:    %[[A:.*]] = ge.sub %x, %y
// CHECK-NEXT:    %[[B:.*]] = ge.sub %y, %x
// CHECK-NEXT:    %[[C:.*]] = ge.reshape %[[A]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    %[[D:.*]] = ge.reshape %[[B]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:    %[[E:.*]] = ge.concat %[[C]], %[[D]] axis 0
// CHECK-NEXT:    func.return %x, %[[E]]
func.func @scan(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %n = ge.constant dense<2> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %a, %b, %s = ge.loop %n, %c carried (%x, %y) : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>, %w: tensor<4xf32>):
    %r = ge.sub %v, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %w, %v, %r : tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a, %s : tensor<4xf32>, tensor<2x4xf32>
}
