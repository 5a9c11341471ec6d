// RUN: ge-opt %s -p ge-plan-memory{limit=1536} | filecheck %s --check-prefix=FITS
// RUN: not ge-opt %s -p ge-plan-memory{limit=1535} 2>&1 | filecheck %s
// RUN: not ge-opt %s -p ge-plan-memory{limit=1000} 2>&1 | filecheck %s --check-prefix=PORTS

// The limit counts inputs and outputs; the message names what is alive at the peak.
// FITS:  ge_exec.arena "work" tier <hbm> size 1536 lower_bound 1536
// CHECK: ge-opt: error: GE0502: the work arena is full: 1536 bytes needed, 1535 available, 1 missing
// CHECK-SAME: alive at the peak, when '{{.*}}' begins:{{.*}}'layer/hidden' (512)
// PORTS: ge-opt: error: GE0502: the work arena is full: 1536 bytes needed, 1000 available, 536 missing
ge_exec.plan @limit {
  %x = ge_exec.input "x" : memref<128xf32, "hbm">
  %a = ge_exec.buffer : memref<128xf32, "hbm"> loc("layer/hidden")
  %y = ge_exec.buffer : memref<128xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.copy 0 %x to %a : memref<128xf32, "hbm"> to memref<128xf32, "hbm">
    ge_exec.copy 1 %a to %y : memref<128xf32, "hbm"> to memref<128xf32, "hbm">
  }
  ge_exec.output "y" %y : memref<128xf32, "hbm">
}
