// RUN: ge-opt %s -p ge-plan-memory,ge-verify-plan --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-plan-memory{reuse=false},ge-verify-plan --split-input-file | filecheck %s --check-prefix=APART

// Buffers that are never alive together share bytes: four of 512, two at a time. Input and output
// lie behind them.
// CHECK-LABEL: ge_exec.plan @chain
// CHECK-NEXT:    %work = ge_exec.arena "work" tier <hbm> size 2048 lower_bound 2048
// CHECK-NEXT:    %x = ge_exec.input "x" in %work offset 1024
// CHECK-NEXT:    %a = ge_exec.buffer in %work offset [[A:0|512]] :
// CHECK-NEXT:    %b = ge_exec.buffer in %work offset [[B:0|512]] :
// CHECK-NEXT:    %c = ge_exec.buffer in %work offset [[A]] :
// CHECK-NEXT:    %d = ge_exec.buffer in %work offset [[B]] :
// CHECK-NEXT:    %y = ge_exec.buffer in %work offset 1536
// APART-LABEL: ge_exec.plan @chain
// APART-NEXT:    ge_exec.arena "work" tier <hbm> size 3072 lower_bound 3072
ge_exec.kernel @Copy "Copy" engine "dma" flops 0 {
^bb0(%v: tensor<128xf32>):
  ge.yield %v : tensor<128xf32>
}
ge_exec.plan @chain {
  %x = ge_exec.input "x" : memref<128xf32, "hbm">
  %a = ge_exec.buffer : memref<128xf32, "hbm">
  %b = ge_exec.buffer : memref<128xf32, "hbm">
  %c = ge_exec.buffer : memref<128xf32, "hbm">
  %d = ge_exec.buffer : memref<128xf32, "hbm">
  %y = ge_exec.buffer : memref<128xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.launch 0 @Copy ins(%x : memref<128xf32, "hbm">) outs(%a : memref<128xf32, "hbm">)
    ge_exec.launch 1 @Copy ins(%a : memref<128xf32, "hbm">) outs(%b : memref<128xf32, "hbm">)
    ge_exec.launch 2 @Copy ins(%b : memref<128xf32, "hbm">) outs(%c : memref<128xf32, "hbm">)
    ge_exec.launch 3 @Copy ins(%c : memref<128xf32, "hbm">) outs(%d : memref<128xf32, "hbm">)
    ge_exec.launch 4 @Copy ins(%d : memref<128xf32, "hbm">) outs(%y : memref<128xf32, "hbm">)
  }
  ge_exec.output "y" %y : memref<128xf32, "hbm">
}

// -----

// A view keeps what it shows alive; an output that is a view, up to the end.
// CHECK-LABEL: ge_exec.plan @views
// CHECK-NEXT:    %work = ge_exec.arena "work" tier <hbm> size 2560
// CHECK-NEXT:    %x = ge_exec.input "x" in %work offset 1024
// CHECK-NEXT:    %a = ge_exec.buffer in %work offset [[A:0|512]] :
// CHECK-NEXT:    %v = ge_exec.view %a
// CHECK-NEXT:    %b = ge_exec.buffer in %work offset 1536
// CHECK-NEXT:    %w = ge_exec.view %b
// CHECK-NEXT:    %c = ge_exec.buffer in %work offset [[C:0|512]] :
// CHECK-NEXT:    %d = ge_exec.buffer in %work offset 2048
ge_exec.plan @views {
  %x = ge_exec.input "x" : memref<128xf32, "hbm">
  %a = ge_exec.buffer : memref<128xf32, "hbm">
  %v = ge_exec.view %a offset 0 : memref<128xf32, "hbm"> -> memref<64x2xf32, "hbm">
  %b = ge_exec.buffer : memref<128xf32, "hbm">
  %w = ge_exec.view %b offset 0 : memref<128xf32, "hbm"> -> memref<64x2xf32, "hbm">
  %c = ge_exec.buffer : memref<128xf32, "hbm">
  %d = ge_exec.buffer : memref<64x2xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.copy 0 %x to %a : memref<128xf32, "hbm"> to memref<128xf32, "hbm">
    ge_exec.copy 1 %x to %b : memref<128xf32, "hbm"> to memref<128xf32, "hbm">
    ge_exec.copy 2 %x to %c : memref<128xf32, "hbm"> to memref<128xf32, "hbm">
    ge_exec.copy 3 %v to %d : memref<64x2xf32, "hbm"> to memref<64x2xf32, "hbm">
  }
  ge_exec.output "b" %w : memref<64x2xf32, "hbm">
  ge_exec.output "d" %d : memref<64x2xf32, "hbm">
}

// -----

// Equal weights are stored once; sizes are padded to 512. One op has no workspace of its own.
// CHECK-LABEL: ge_exec.plan @weights
// CHECK-NEXT:    %work = ge_exec.arena "work" tier <hbm> size 512 lower_bound 512
// CHECK-NEXT:    %weights = ge_exec.arena "weights" tier <hbm> size 2048 lower_bound 2048
// CHECK-NEXT:    %a = ge_exec.weight <"a", "m.onnx", 64, 516> in %weights offset 0
// CHECK-NEXT:    %b = ge_exec.weight <"b", "m.onnx", 600, 516> in %weights offset 1024
// CHECK-NEXT:    %c = ge_exec.weight <"c", "m.onnx", 64, 516> in %weights offset 0
// CHECK-NEXT:    %y = ge_exec.buffer in %work offset 0
ge_exec.kernel @Sum "Sum" engine "vector" flops 0 {
^bb0(%a: tensor<129xf32>, %b: tensor<129xf32>, %c: tensor<129xf32>):
  %s = ge.add %a, %b : (tensor<129xf32>, tensor<129xf32>) -> tensor<129xf32>
  %r = ge.slice %s starts [0] ends [1] axes [0] steps [1] : (tensor<129xf32>) -> tensor<1xf32>
  ge.yield %r : tensor<1xf32>
}
ge_exec.plan @weights {
  %a = ge_exec.weight <"a", "m.onnx", 64, 516> : memref<129xf32, "hbm">
  %b = ge_exec.weight <"b", "m.onnx", 600, 516> : memref<129xf32, "hbm">
  %c = ge_exec.weight <"c", "m.onnx", 64, 516> : memref<129xf32, "hbm">
  %y = ge_exec.buffer : memref<1xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.launch 0 @Sum ins(%a, %b, %c : memref<129xf32, "hbm">, memref<129xf32, "hbm">, memref<129xf32, "hbm">) outs(%y : memref<1xf32, "hbm">)
  }
  ge_exec.output "y" %y : memref<1xf32, "hbm">
}

// -----

// A plan that was made already is made anew.
// CHECK-LABEL: ge_exec.plan @again
// CHECK-NEXT:    %work = ge_exec.arena "work" tier <hbm> size 1024 lower_bound 1024
// CHECK-NEXT:    %x = ge_exec.input "x" in %work offset 0
// CHECK-NEXT:    %y = ge_exec.buffer in %work offset 512
ge_exec.plan @again {
  %old = ge_exec.arena "work" tier <hbm> size 99 lower_bound 0
  %x = ge_exec.input "x" in %old offset 7 : memref<128xf32, "hbm">
  %y = ge_exec.buffer : memref<128xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.copy 0 %x to %y : memref<128xf32, "hbm"> to memref<128xf32, "hbm">
  }
  ge_exec.output "y" %y : memref<128xf32, "hbm">
}
