// RUN: not ge-opt %s -p ge-foo 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not ge-opt %s -p "ge-lower{foo=1}" 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not ge-opt %s -p ge-lower 2>&1 | filecheck %s --check-prefix=DYNAMIC
// RUN: not ge-opt %s -o %t.gone/out.mlir 2>&1 | filecheck %s --check-prefix=OUTPUT
// RUN: not ge-compile %t.gone.onnx -o %t.om 2>&1 | filecheck %s --check-prefix=MISSING

// One line each, and the exit code 1.
// PASS:         ge-opt: error: GE0104: in the pipeline 'ge-foo': expected a known pass, got 'ge-foo'{{.*}}
// PASS-NOT:     {{.}}
// OPTION:       ge-opt: error: GE0104: in the pipeline 'ge-lower{foo=1}': 'ge-lower' has no option 'foo'; it has streams, {{.*}}
// OPTION-NOT:   {{.}}
// DYNAMIC:      ge-opt: error: GE0520: 1 dimensions of the inputs of 'main' have neither a size nor a range: dim 0 of input 'arg0'{{.*}}
// DYNAMIC-NOT:  {{.}}
// OUTPUT:       ge-opt: error: GE0103: cannot write '{{.*}}out.mlir': no such file or directory{{.*}}
// OUTPUT-NOT:   {{.}}
// MISSING:      ge-compile: error: GE0{{.*}}gone.onnx{{.*}}
// MISSING-NOT:  {{.}}
func.func @main(%x: tensor<?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"S">> {
  %y = ge.relu %x : (tensor<?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"S">> loc("block/relu")
  func.return %y : tensor<?xf32, #ge.dims<"S">>
}
