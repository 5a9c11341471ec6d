// RUN: ge-opt %s -p ge-plan-l2{limit=1024},ge-verify-plan --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-plan-l2{limit=512},ge-verify-plan --split-input-file | filecheck %s --check-prefix=TIGHT
// RUN: ge-opt %s -p ge-plan-l2{limit=1024},ge-plan-l2{limit=0} --split-input-file | filecheck %s --check-prefix=NONE

// Two of three buffers are alive at a time, so that 1024 bytes do for all; the output is the
// caller's and stays where it is. With 512 bytes the one in the middle finds no room.
// CHECK-LABEL: ge_exec.plan @chain
// CHECK:         %a = ge_exec.buffer in %work offset 0 resident [[A:0|512]] :
// CHECK-NEXT:    %b = ge_exec.buffer in %work offset 512 resident {{0|512}} :
// CHECK-NEXT:    %c = ge_exec.buffer in %work offset 0 resident [[A]] :
// CHECK-NEXT:    %y = ge_exec.buffer in %work offset 1536 : memref
// TIGHT-LABEL: ge_exec.plan @chain
// TIGHT:         %a = ge_exec.buffer in %work offset 0 resident 0 :
// TIGHT-NEXT:    %b = ge_exec.buffer in %work offset 512 :
// TIGHT-NEXT:    %c = ge_exec.buffer in %work offset 0 resident 0 :
// NONE-LABEL:  ge_exec.plan @chain
// NONE-NOT:      resident
ge_exec.kernel @Copy "Copy" engine "dma" flops 0 {
^bb0(%v: tensor<128xf32>):
  ge.yield %v : tensor<128xf32>
}
ge_exec.plan @chain {
  %work = ge_exec.arena "work" tier <hbm> size 2048 lower_bound 2048
  %x = ge_exec.input "x" in %work offset 1024 : memref<128xf32, "hbm">
  %a = ge_exec.buffer in %work offset 0 : memref<128xf32, "hbm">
  %b = ge_exec.buffer in %work offset 512 : memref<128xf32, "hbm">
  %c = ge_exec.buffer in %work offset 0 : memref<128xf32, "hbm">
  %y = ge_exec.buffer in %work offset 1536 : memref<128xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.launch 0 @Copy ins(%x : memref<128xf32, "hbm">) outs(%a : memref<128xf32, "hbm">)
    ge_exec.launch 1 @Copy ins(%a : memref<128xf32, "hbm">) outs(%b : memref<128xf32, "hbm">)
    ge_exec.launch 2 @Copy ins(%b : memref<128xf32, "hbm">) outs(%c : memref<128xf32, "hbm">)
    ge_exec.launch 3 @Copy ins(%c : memref<128xf32, "hbm">) outs(%y : memref<128xf32, "hbm">)
  }
  ge_exec.output "y" %y : memref<128xf32, "hbm">
}
