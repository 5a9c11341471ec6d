// RUN: ge-opt %s -p ge-lower -t om -o %t.om
// RUN: ge-opt %t.om -p ge-verify-plan | filecheck %s
// RUN: ge-opt %t.om -p ge-plan-memory,ge-verify-plan -t om -o %t.again.om
// RUN: cmp %t.om %t.again.om
// RUN: ge-compile %s -o %t.compiled.om | filecheck %s --check-prefix=SUMMARY
// RUN: ge-run %t.compiled.om --print-inputs | filecheck %s --check-prefix=PORTS

// CHECK:      ge_exec.kernel @Relu_0
// CHECK:      ge_exec.plan @main
// CHECK:        ge_exec.weight <"w", "{{.*}}.om", {{[0-9]+}}, 1200> in %weights offset 0
// CHECK:        ge_exec.launch 1 @Add_0
// SUMMARY:    for Ascend910B1: 2 -> 1 nodes
// PORTS:      input{{.*}}x{{.*}}float32[300]
// PORTS-NEXT: output{{.*}}y{{.*}}float32[300]
func.func @main(%x: tensor<300xf32> {ge.name = "x"}) -> (tensor<300xf32> {ge.name = "y"}) {
  %w = ge.constant dense<2.5> : tensor<300xf32> loc("w")
  %a = ge.relu %x : (tensor<300xf32>) -> tensor<300xf32>
  %y = ge.add %a, %w : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xf32>
  func.return %y : tensor<300xf32>
}
