// RUN: xdsl-opt %s -p "ge-optimize,ge-lower{streams=1}" | filecheck %s
// RUN: xdsl-opt %s -p canonicalize,ge-infer-types,ge-cse,ge-dce | filecheck %s --check-prefix=GRAPH

// Plain xdsl-opt finds dialects, passes and pipelines through the entry point.
// CHECK:       ge_exec.kernel @AddRelu
// CHECK-NOT:   func.func
// CHECK:       ge_exec.plan @main
// CHECK:         ge_exec.arena "work"
// CHECK:           ge_exec.launch 0 @AddRelu
// GRAPH-LABEL: func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
// GRAPH-NEXT:    %f = ge.fusion "AddRelu"(%x)
func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %d = ge.neg %x : (tensor<4xf32>) -> tensor<?xf32>
  %f = ge.fusion "AddRelu"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %s = ge.add %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r = ge.relu %s : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %r : tensor<4xf32>
  }
  %y = ge.reshape %f : (tensor<4xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}
