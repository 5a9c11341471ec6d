// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The loop runs, so that what reads nothing of it runs once, before it; random numbers stay.
// CHECK-LABEL: func.func @hoists
// CHECK:         %m = ge.matmul %x, %x
// CHECK-NEXT:    %e = ge.exp %m
// CHECK-NEXT:    ge.loop
// CHECK:           ge.host_call "ai.onnx::RandomNormalLike"
// CHECK-NEXT:      ge.add %v, %e
// REMARK: [passed] ge-simplify-control-flow: HoistInvariant: ge.matmul: moved in front of its loop
func.func @hoists(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %n = ge.constant dense<100> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %a = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4x4xf32>):
    %m = ge.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = ge.exp %m : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = ge.host_call "ai.onnx::RandomNormalLike" version 1 (%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = ge.add %v, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %t = ge.add %s, %r : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    ge.yield %go, %t : tensor<i1>, tensor<4x4xf32>
  }
  func.return %a : tensor<4x4xf32>
}

// -----

// Negative: the loop may not run. Only what is cheap and can not fail is computed before it.
// CHECK-LABEL: func.func @may_not_run
// CHECK-NEXT:    %e = ge.exp %x
// CHECK-NEXT:    ge.loop
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %m = ge.matmul %e, %x
// CHECK-NEXT:      %d = ge.div %k, %k
// CHECK-NEXT:      %b = ge.broadcast_to
// REMARK-DAG: HoistInvariant: ge.matmul: not hoisted: it may fail or be costly, and the loop may not run [COST]
// REMARK-DAG: HoistInvariant: ge.div: not hoisted: it may divide by zero, and the loop may not run [COST]
// REMARK-DAG: HoistInvariant: ge.broadcast_to: not hoisted: it has more than 1024 elements, and the loop may not run [COST]
// REMARK-DAG: HoistInvariant: ge.neg: not hoisted: its size is not known, and the loop may not run [COST]
func.func @may_not_run(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4x4xf32>, %k: tensor<i64>, %y: tensor<?xf32>) -> (tensor<4x4xf32>, tensor<?xi64>, tensor<?x1024x4x4xf32>, tensor<?x?xf32>) {
  %a, %f, %g, %h = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<?xi64>, tensor<?x1024x4x4xf32>, tensor<?x?xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4x4xf32>):
    %e = ge.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %m = ge.matmul %e, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = ge.div %k, %k : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %b = ge.broadcast_to %x : (tensor<4x4xf32>) -> tensor<1024x4x4xf32>
    %o = ge.neg %y : (tensor<?xf32>) -> tensor<?xf32>
    %s = ge.add %v, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    ge.yield %go, %s, %d, %b, %o : tensor<i1>, tensor<4x4xf32>, tensor<i64>, tensor<1024x4x4xf32>, tensor<?xf32>
  }
  func.return %a, %f, %g, %h : tensor<4x4xf32>, tensor<?xi64>, tensor<?x1024x4x4xf32>, tensor<?x?xf32>
}
