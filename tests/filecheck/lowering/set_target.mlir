// RUN: ge-opt %s -p 'ge-set-target{target=Ascend310P3}' --verify-roundtrip | filecheck %s
// RUN: ge-opt %s -p 'ge-set-target{target=Ascend310P3},ge-set-target' | filecheck %s
// RUN: ge-opt %s -p 'ge-set-target{target=Ascend310P3 standard=true}' | filecheck %s --check-prefix=STANDARD
// RUN: ge-opt %s -p 'ge-set-target{target=Ascend310P3},ge-lower' | filecheck %s --check-prefix=LOWER
// RUN: not ge-opt %s -p 'ge-lower{target=Ascend310P3 streams=1025}' 2>&1 | filecheck %s --check-prefix=STREAMS

// The second line that runs: a target that is there already stays.
// CHECK:      builtin.module attributes {ge.target = #ge.target<#dlti.target_system_spec<
// CHECK-SAME: "NPU" = #dlti.target_device_spec<"name" = "Ascend310P3",
// CHECK-SAME: "split_cores" = false, "cube_cores" = 8 : i64,
// CHECK-SAME: "tiers" = #dlti.map<"hbm" = #dlti.map<"size" = 24000000000 : i64, "per_core" = false,
// CHECK-SAME: "alignment" = 512 : i64>
// CHECK-SAME: "limits" = #dlti.map<"streams" = 1024 : i64, "events" = 1023 : i64>

// STANDARD: builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"NPU" = #dlti.target_device_spec<"name" = "Ascend310P3",

// LOWER: builtin.module attributes {ge.target = {{.*}}"name" = "Ascend310P3",
// LOWER: ge_exec.plan @main

// STREAMS: GE0530: expected 'streams' to be at most the 1024 of Ascend310P3, got 1025
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
