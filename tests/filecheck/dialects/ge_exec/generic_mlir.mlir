// REQUIRES: mlir-opt
// RUN: GE_MLIR_ROUNDTRIP

// MLIR's own parser takes the generic form of both dialects and gives it back unchanged.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %{{.*}} = ge.constant dense<[1.000000e+00, -2.000000e+00, 3.000000e+00, 5.000000e-01]> : tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = ge.fusion "AddRelu"(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
// CHECK:           ge.relu
// CHECK:         ge.softmax %{{.*}} axis -1
// CHECK:         ge.if
func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %w = ge.constant dense<[1.0, -2.0, 3.0, 0.5]> : tensor<4xf32>
  %f = ge.fusion "AddRelu" (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r = ge.relu %s : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %r : tensor<4xf32>
  }
  %p = ge.softmax %f axis -1 : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.if %c : tensor<i1> -> tensor<4xf32> then {
    ge.yield %p : tensor<4xf32>
  } else {
    %n = ge.neg %p : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %n : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// What has no buffers; MLIR takes no memory space of a dialect that it does not know.
// CHECK:       ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
// CHECK-NEXT:  ^bb0(%{{.*}}: tensor<4xf32>):
// CHECK-NEXT:    %{{.*}} = ge.relu %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    ge.yield %{{.*}} : tensor<4xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  ge_exec.kernel @Nothing "Nothing" engine "host" flops 0 {
// CHECK:       ge_exec.plan @plan {
// CHECK-NEXT:    %{{.*}} = ge_exec.arena "work" tier <hbm> size 1024 lower_bound 1024
// CHECK-NEXT:    ge_exec.stream 0 {
// CHECK-NEXT:      ge_exec.launch 0 @Nothing
// CHECK-NEXT:      ge_exec.record 0
// CHECK-NEXT:    }
// CHECK-NEXT:    ge_exec.stream 1 {
// CHECK-NEXT:      ge_exec.wait 0 why "RAW on %b"
ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
^bb0(%a: tensor<4xf32>):
  %r = ge.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  ge.yield %r : tensor<4xf32>
}
ge_exec.kernel @Nothing "Nothing" engine "host" flops 0 {
  ge.yield
}
ge_exec.plan @plan {
  %work = ge_exec.arena "work" tier <hbm> size 1024 lower_bound 1024
  ge_exec.stream 0 {
    ge_exec.launch 0 @Nothing
    ge_exec.record 0
  }
  ge_exec.stream 1 {
    ge_exec.wait 0 why "RAW on %b"
  }
}
