// RUN: ge-opt %s -p ge-insert-events,ge-plan-memory,ge-verify-plan --split-input-file | filecheck %s

// A diamond over two streams, and a branch from its first task: A -> {B, C} -> D, A -> E -> F,
// F and D joined. Each edge that crosses has an event, or a path that implies it.
// CHECK-LABEL: ge_exec.plan @diamond
// CHECK:         ge_exec.stream 0 {
// CHECK-NEXT:      ge_exec.launch 0 @Neg
// CHECK-NEXT:      ge_exec.record 0
// CHECK-NEXT:      ge_exec.launch 1 @Neg
// CHECK-NEXT:      ge_exec.wait 1 why "RAW on %c"
// CHECK-NEXT:      ge_exec.launch 3 @Add
// CHECK-NEXT:      ge_exec.wait [[F:[0-9]+]] why "RAW on %f"
// CHECK-NEXT:      ge_exec.launch 6 @Add
// CHECK-NEXT:    }
// CHECK-NEXT:    ge_exec.stream 1 {
// CHECK-NEXT:      ge_exec.wait 0 why "RAW on %a"
// CHECK-NEXT:      ge_exec.launch 2 @Neg
// CHECK-NEXT:      ge_exec.record 1
// CHECK-NEXT:      ge_exec.launch 4 @Neg
// CHECK-NEXT:      ge_exec.launch 5 @Neg
// CHECK-NEXT:      ge_exec.record [[F]]
// CHECK-NEXT:    }
ge_exec.kernel @Neg "Neg" engine "vector" flops 4 {
^bb0(%v: tensor<4xf32>):
  %r = ge.neg %v : (tensor<4xf32>) -> tensor<4xf32>
  ge.yield %r : tensor<4xf32>
}
ge_exec.kernel @Add "Add" engine "vector" flops 4 {
^bb0(%v: tensor<4xf32>, %w: tensor<4xf32>):
  %r = ge.add %v, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  ge.yield %r : tensor<4xf32>
}
ge_exec.plan @diamond {
  %x = ge_exec.input "x" : memref<4xf32, "hbm">
  %a = ge_exec.buffer : memref<4xf32, "hbm">
  %b = ge_exec.buffer : memref<4xf32, "hbm">
  %c = ge_exec.buffer : memref<4xf32, "hbm">
  %d = ge_exec.buffer : memref<4xf32, "hbm">
  %e = ge_exec.buffer : memref<4xf32, "hbm">
  %f = ge_exec.buffer : memref<4xf32, "hbm">
  %y = ge_exec.buffer : memref<4xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.launch 0 @Neg ins(%x : memref<4xf32, "hbm">) outs(%a : memref<4xf32, "hbm">)
    ge_exec.launch 1 @Neg ins(%a : memref<4xf32, "hbm">) outs(%b : memref<4xf32, "hbm">)
    ge_exec.launch 3 @Add ins(%b, %c : memref<4xf32, "hbm">, memref<4xf32, "hbm">) outs(%d : memref<4xf32, "hbm">)
    ge_exec.launch 6 @Add ins(%d, %f : memref<4xf32, "hbm">, memref<4xf32, "hbm">) outs(%y : memref<4xf32, "hbm">)
  }
  ge_exec.stream 1 {
    ge_exec.launch 2 @Neg ins(%a : memref<4xf32, "hbm">) outs(%c : memref<4xf32, "hbm">)
    ge_exec.launch 4 @Neg ins(%a : memref<4xf32, "hbm">) outs(%e : memref<4xf32, "hbm">)
    ge_exec.launch 5 @Neg ins(%e : memref<4xf32, "hbm">) outs(%f : memref<4xf32, "hbm">)
  }
  ge_exec.output "y" %y : memref<4xf32, "hbm">
}

// -----

// One stream needs none, and old ones go.
// CHECK-LABEL: ge_exec.plan @one
// CHECK-NOT:     ge_exec.record
// CHECK-NOT:     ge_exec.wait
// CHECK:         ge_exec.output
ge_exec.plan @one {
  %x = ge_exec.input "x" : memref<4xf32, "hbm">
  %a = ge_exec.buffer : memref<4xf32, "hbm">
  %b = ge_exec.buffer : memref<4xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.copy 0 %x to %a : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
    ge_exec.record 0
    ge_exec.wait 0
    ge_exec.copy 1 %a to %b : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
  }
  ge_exec.output "y" %b : memref<4xf32, "hbm">
}

// -----

// A write after a read on another stream.
// CHECK-LABEL: ge_exec.plan @write_after_read
// CHECK:         ge_exec.wait {{[0-9]+}} why "RAW on %a"
// CHECK:         ge_exec.wait {{[0-9]+}} why "WAR on %a"
ge_exec.plan @write_after_read {
  %x = ge_exec.input "x" : memref<4xf32, "hbm">
  %a = ge_exec.buffer : memref<4xf32, "hbm">
  %b = ge_exec.buffer : memref<4xf32, "hbm">
  ge_exec.stream 1 {
    ge_exec.copy 1 %a to %b : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
  }
  ge_exec.stream 0 {
    ge_exec.copy 0 %x to %a : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
    ge_exec.copy 2 %x to %a : memref<4xf32, "hbm"> to memref<4xf32, "hbm">
  }
  ge_exec.output "a" %a : memref<4xf32, "hbm">
  ge_exec.output "b" %b : memref<4xf32, "hbm">
}
