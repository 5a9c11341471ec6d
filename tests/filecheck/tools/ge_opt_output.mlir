// RUN: ge-opt %s -p ge-dce --stats --pass-timing --print-after ge-dce 2>&1 >/dev/null | filecheck %s --check-prefix=ERR
// RUN: ge-opt %s -p "builtin.module(ge-dce,ge-cse)" --print-between-passes --remarks=all --stats 2>/dev/null | filecheck %s
// RUN: ge-opt - -p ge-optimize,ge-lower --verify-roundtrip < %s | filecheck %s --check-prefix=PLAN
// RUN: ge-opt --print-pipeline -p "ge-lower{streams=2}" | filecheck %s --check-prefix=PIPELINE
// RUN: ge-opt --explain ge0520 | filecheck %s --check-prefix=EXPLAIN

// What is not the result goes to stderr, and nothing else.
// ERR:      // IR after ge-dce
// ERR-NEXT: builtin.module {
// ERR:      1 ge-dce: dropped
// ERR:      {{[0-9.]+}} s  ge-dce

// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @main
// CHECK-NEXT:     ge.relu
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NOT:  {{.}}

// PLAN: ge_exec.plan @main

// PIPELINE: ge-bufferize
// PIPELINE-SAME: ge-assign-streams{streams=2},ge-plan-memory,ge-plan-l2{limit=0},ge-insert-events,ge-verify-plan

// EXPLAIN: GE0520: inputs without sizes
// EXPLAIN: --input_shape
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
