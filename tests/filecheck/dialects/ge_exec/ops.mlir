// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK:       ge_exec.kernel @Add_0 "Add" engine "vector" flops 4 {
// CHECK-NEXT:  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
// CHECK-NEXT:    %s = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    ge.yield %s : tensor<4xf32>
// CHECK-NEXT:  }
ge_exec.kernel @Add_0 "Add" engine "vector" flops 4 {
^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  %s = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  ge.yield %s : tensor<4xf32>
}

// A kernel that neither reads nor writes.
// CHECK:       ge_exec.kernel @Nothing "Nothing" engine "host" flops 0 {
// CHECK-NEXT:    ge.yield
// CHECK-NEXT:  }
ge_exec.kernel @Nothing "Nothing" engine "host" flops 0 {
  ge.yield
}

// CHECK:       ge_exec.plan @planned {
// CHECK-NEXT:    %work = ge_exec.arena "work" tier <hbm> size 2048 lower_bound 1536
// CHECK-NEXT:    %scratch = ge_exec.arena "scratch" tier <l1> size 0 lower_bound 0
// CHECK-NEXT:    %weights = ge_exec.arena "weights" tier <hbm> size 512 lower_bound 512
// CHECK-NEXT:    %x = ge_exec.input "x" in %work offset 512 : memref<4xf32, "hbm">
// CHECK-NEXT:    %w = ge_exec.weight <"w", "m.onnx", 64, 16> in %weights offset 0 : memref<4xf32, "hbm">
// CHECK-NEXT:    %b = ge_exec.buffer in %work offset 0 : memref<4xf32, "hbm">
// CHECK-NEXT:    %v = ge_exec.view %b offset 8 : memref<4xf32, "hbm"> -> memref<2x1xf32, "hbm">
// CHECK-NEXT:    %c = ge_exec.buffer in %work offset 1024 : memref<2x1xf32, "hbm">
// CHECK-NEXT:    ge_exec.stream 0 {
// CHECK-NEXT:      ge_exec.launch 0 @Add_0 ins(%x, %w : memref<4xf32, "hbm">, memref<4xf32, "hbm">) outs(%b : memref<4xf32, "hbm">)
// CHECK-NEXT:      ge_exec.record 0
// CHECK-NEXT:      ge_exec.launch 1 @Nothing
// CHECK-NEXT:    }
// CHECK-NEXT:    ge_exec.stream 1 {
// CHECK-NEXT:      ge_exec.wait 0 why "RAW on %b"
// CHECK-NEXT:      ge_exec.copy 2 %v to %c : memref<2x1xf32, "hbm"> to memref<2x1xf32, "hbm">
// CHECK-NEXT:    }
// CHECK-NEXT:    ge_exec.output "y" %c : memref<2x1xf32, "hbm">
// CHECK-NEXT:  }
ge_exec.plan @planned {
  %work = ge_exec.arena "work" tier <hbm> size 2048 lower_bound 1536
  %scratch = ge_exec.arena "scratch" tier <l1> size 0 lower_bound 0
  %weights = ge_exec.arena "weights" tier <hbm> size 512 lower_bound 512
  %x = ge_exec.input "x" in %work offset 512 : memref<4xf32, "hbm">
  %w = ge_exec.weight <"w", "m.onnx", 64, 16> in %weights offset 0 : memref<4xf32, "hbm">
  %b = ge_exec.buffer in %work offset 0 : memref<4xf32, "hbm">
  %v = ge_exec.view %b offset 8 : memref<4xf32, "hbm"> -> memref<2x1xf32, "hbm">
  %c = ge_exec.buffer in %work offset 1024 : memref<2x1xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.launch 0 @Add_0 ins(%x, %w : memref<4xf32, "hbm">, memref<4xf32, "hbm">) outs(%b : memref<4xf32, "hbm">)
    ge_exec.record 0
    ge_exec.launch 1 @Nothing
  }
  ge_exec.stream 1 {
    ge_exec.wait 0 why "RAW on %b"
    ge_exec.copy 2 %v to %c : memref<2x1xf32, "hbm"> to memref<2x1xf32, "hbm">
  }
  ge_exec.output "y" %c : memref<2x1xf32, "hbm">
}

// Nothing has a place yet; attributes of others are kept.
// CHECK:       ge_exec.plan @unplanned attributes {note = "kept"} {
// CHECK-NEXT:    %x = ge_exec.input "x" : memref<4xf32, "hbm">
// CHECK-NEXT:    %w = ge_exec.weight <"w", "m.onnx", 64, 16> : memref<4xf32, "hbm">
// CHECK-NEXT:    %b = ge_exec.buffer {note = "kept"} : memref<0x4xf32, "hbm">
// CHECK-NEXT:    ge_exec.stream 3 attributes {note = "kept"} {
// CHECK-NEXT:      ge_exec.wait 5
// CHECK-NEXT:    }
// CHECK-NEXT:  }
ge_exec.plan @unplanned attributes {note = "kept"} {
  %x = ge_exec.input "x" : memref<4xf32, "hbm">
  %w = ge_exec.weight <"w", "m.onnx", 64, 16> : memref<4xf32, "hbm">
  %b = ge_exec.buffer {note = "kept"} : memref<0x4xf32, "hbm">
  ge_exec.stream 3 attributes {note = "kept"} {
    ge_exec.wait 5
  }
}

// CHECK:       ge_exec.plan @empty {
// CHECK-NEXT:    ge_exec.stream 0 {
// CHECK-NEXT:    ^bb0:
// CHECK-NEXT:    }
// CHECK-NEXT:  }
ge_exec.plan @empty {
  ge_exec.stream 0 {
  ^bb0:
  }
}

// CHECK:       ge_exec.plan @control {
// CHECK:           ge_exec.branch 0 %c : memref<i1, "hbm"> then {
// CHECK-NEXT:        ge_exec.copy 1 %x to %o : !ge_exec.object<tensor<?xf32>> to !ge_exec.object<tensor<?xf32>>
// CHECK-NEXT:      } else {
// CHECK-NEXT:      ^bb0:
// CHECK-NEXT:      }
// CHECK-NEXT:      ge_exec.loop 2 %i below %n while %c trips 3 : memref<i64, "hbm">, memref<i64, "hbm">, memref<i1, "hbm"> {
// CHECK-NEXT:        ge_exec.store 3 %x to %o at %i : !ge_exec.object<tensor<?xf32>> to !ge_exec.object<tensor<?xf32>> at memref<i64, "hbm">
// CHECK-NEXT:      }
ge_exec.plan @control {
  %x = ge_exec.input "x" : !ge_exec.object<tensor<?xf32>>
  %c = ge_exec.input "c" : memref<i1, "hbm">
  %n = ge_exec.input "n" : memref<i64, "hbm">
  %o = ge_exec.object : !ge_exec.object<tensor<?xf32>>
  %i = ge_exec.buffer : memref<i64, "hbm">
  ge_exec.stream 0 {
    ge_exec.branch 0 %c : memref<i1, "hbm"> then {
      ge_exec.copy 1 %x to %o : !ge_exec.object<tensor<?xf32>> to !ge_exec.object<tensor<?xf32>>
    } else {
    ^bb0:
    }
    ge_exec.loop 2 %i below %n while %c trips 3
      : memref<i64, "hbm">, memref<i64, "hbm">, memref<i1, "hbm"> {
      ge_exec.store 3 %x to %o at %i : !ge_exec.object<tensor<?xf32>>
        to !ge_exec.object<tensor<?xf32>> at memref<i64, "hbm">
    }
  }
  ge_exec.output "y" %o : !ge_exec.object<tensor<?xf32>>
}
