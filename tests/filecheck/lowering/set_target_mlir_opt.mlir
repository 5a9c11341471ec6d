// REQUIRES: mlir-opt
// RUN: ge-opt %s -p ge-set-target --print-op-generic | %mlir_opt --allow-unregistered-dialect --mlir-print-op-generic | ge-opt | filecheck %s

// CHECK: builtin.module attributes {ge.target = #ge.target<#dlti.target_system_spec<"NPU" = #dlti.target_device_spec<"name" = "Ascend910B1",
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
