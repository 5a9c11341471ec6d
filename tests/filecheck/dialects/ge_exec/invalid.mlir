// RUN: GE_INVALID

// CHECK: expected 'engine' to be one of cube, vector, dma, host, got gpu
ge_exec.kernel @kernel_c1 "Relu" engine "gpu" flops 4 {
^bb0(%a: tensor<4xf32>):
  ge.yield %a : tensor<4xf32>
}

// -----

// CHECK: expected one block that ends with 'ge.yield'
ge_exec.kernel @kernel_c2 "Relu" engine "vector" flops 4 {
^bb0(%a: tensor<4xf32>):
  "test.termop"(%a) : (tensor<4xf32>) -> ()
}

// -----

// CHECK: expected 'size' >= 0, got -1
ge_exec.plan @arena_c1 {
  %a = ge_exec.arena "work" tier <hbm> size -1 lower_bound 0
}

// -----

// CHECK: expected a memref in one of {{.*}}hbm{{.*}}, got memref<4xf32>
ge_exec.plan @buffer_without_tier {
  %b = ge_exec.buffer : memref<4xf32>
}

// -----

// CHECK: expected a memref in one of {{.*}}, got memref<4xf32, "l9">
ge_exec.plan @buffer_in_unknown_tier {
  %b = ge_exec.buffer : memref<4xf32, "l9">
}

// -----

// CHECK: expected a static shape, got memref<?xf32, "hbm">
ge_exec.plan @buffer_dynamic {
  %b = ge_exec.buffer : memref<?xf32, "hbm">
}

// -----

// CHECK: expected 'offset' >= 0, got -512
ge_exec.plan @buffer_offset {
  %a = ge_exec.arena "work" tier <hbm> size 512 lower_bound 0
  %b = ge_exec.buffer in %a offset -512 : memref<4xf32, "hbm">
}

// -----

// CHECK: expected 'arena' and 'offset' together
ge_exec.plan @input_offset_alone {
  %x = "ge_exec.input"() <{io_name = "x", offset = 0 : i64}> : () -> memref<4xf32, "hbm">
}

// -----

// CHECK: expected a weight of 16 bytes, got 12
ge_exec.plan @weight_c1 {
  %w = ge_exec.weight <"w", "m.onnx", 64, 12> : memref<4xf32, "hbm">
}

// -----

// CHECK: expected a view inside 16 bytes, got bytes 8 to 24
ge_exec.plan @view_c1 {
  %b = ge_exec.buffer : memref<4xf32, "hbm">
  %v = ge_exec.view %b offset 8 : memref<4xf32, "hbm"> -> memref<4xf32, "hbm">
}

// -----

// CHECK: expected a view inside 16 bytes, got bytes -4 to 12
ge_exec.plan @view_c1_negative {
  %b = ge_exec.buffer : memref<4xf32, "hbm">
  %v = ge_exec.view %b offset -4 : memref<4xf32, "hbm"> -> memref<4xf32, "hbm">
}

// -----

// CHECK: expected tasks, got 'ge_exec.buffer'
ge_exec.plan @stream_c1 {
  ge_exec.stream 0 {
    %b = ge_exec.buffer : memref<4xf32, "hbm">
  }
}

// -----

// CHECK: expected distinct stream ids, got [1, 1]
ge_exec.plan @plan_c1 {
  ge_exec.stream 1 {
    ge_exec.record 0
  }
  ge_exec.stream 1 {
    ge_exec.wait 0
  }
}

// -----

// CHECK: expected distinct input names, got ['x', 'x']
ge_exec.plan @plan_c2_inputs {
  %a = ge_exec.input "x" : memref<4xf32, "hbm">
  %b = ge_exec.input "x" : memref<4xf32, "hbm">
}

// -----

// CHECK: expected distinct output names, got ['y', 'y']
ge_exec.plan @plan_c2_outputs {
  %a = ge_exec.buffer : memref<4xf32, "hbm">
  ge_exec.output "y" %a : memref<4xf32, "hbm">
  ge_exec.output "y" %a : memref<4xf32, "hbm">
}

// -----

// CHECK: expected buffers of one size, got 16 and 12 bytes
ge_exec.plan @copy_c1 {
  %a = ge_exec.buffer : memref<4xf32, "hbm">
  %b = ge_exec.buffer : memref<3xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.copy 0 %a to %b : memref<4xf32, "hbm"> to memref<3xf32, "hbm">
  }
}

// -----

// CHECK: expected slices of memref<3x4xf32, "hbm">, got memref<5xf32, "hbm">
ge_exec.plan @store_c1 {
  %a = ge_exec.buffer : memref<5xf32, "hbm">
  %b = ge_exec.buffer : memref<3x4xf32, "hbm">
  %i = ge_exec.buffer : memref<i64, "hbm">
  ge_exec.stream 0 {
    ge_exec.store 0 %a to %b at %i : memref<5xf32, "hbm"> to memref<3x4xf32, "hbm"> at memref<i64, "hbm">
  }
}

// -----

// CHECK: expected tasks in 'ge_exec.branch', got 'ge_exec.record'
ge_exec.plan @branch_c1 {
  %c = ge_exec.buffer : memref<i1, "hbm">
  ge_exec.stream 0 {
    ge_exec.branch 0 %c : memref<i1, "hbm"> then {
      ge_exec.record 0
    } else {
    ^bb0:
    }
  }
}

// -----

// CHECK: expected tasks in 'ge_exec.loop', got 'ge_exec.wait'
ge_exec.plan @loop_c1 {
  %c = ge_exec.buffer : memref<i1, "hbm">
  %i = ge_exec.buffer : memref<i64, "hbm">
  ge_exec.stream 0 {
    ge_exec.loop 0 %i below %i while %c : memref<i64, "hbm">, memref<i64, "hbm">, memref<i1, "hbm"> {
      ge_exec.wait 0
    }
  }
}

// -----

// CHECK: expected an object without 'arena' and 'offset'
ge_exec.plan @input_object_with_place {
  %a = ge_exec.arena "work" tier <hbm> size 512 lower_bound 0
  %x = ge_exec.input "x" in %a offset 0 : !ge_exec.object<tensor<?xf32>>
}

// -----

// CHECK: expected numbers, since texts are objects, got memref<4x!ge.string, "hbm">
ge_exec.plan @buffer_of_texts {
  %b = ge_exec.buffer : memref<4x!ge.string, "hbm">
}
