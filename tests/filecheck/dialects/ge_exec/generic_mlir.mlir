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

// CHECK:       ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
// CHECK-NEXT:  ^bb0(%{{.*}}: tensor<4xf32>):
// CHECK-NEXT:    %{{.*}} = ge.relu %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    ge.yield %{{.*}} : tensor<4xf32>
// CHECK-NEXT:  }
// CHECK:       ge_exec.plan @plan {
// CHECK-NEXT:    %[[W:.*]] = ge_exec.arena "work" tier <hbm> size 1536 lower_bound 1536
// CHECK-NEXT:    %[[X:.*]] = ge_exec.input "x" in %[[W]] offset 0 : memref<4xf32, "hbm">
// CHECK-NEXT:    %{{.*}} = ge_exec.weight <"w", "m.onnx", 64, 16> : memref<4xf32, "hbm">
// CHECK-NEXT:    %[[B:.*]] = ge_exec.buffer in %[[W]] offset 512 : memref<4xf32, "hbm">
// CHECK-NEXT:    %[[V:.*]] = ge_exec.view %[[B]] offset 0 : memref<4xf32, "hbm"> -> memref<2x2xf32, "hbm">
// CHECK-NEXT:    %[[C:.*]] = ge_exec.buffer in %[[W]] offset 1024 : memref<2x2xf32, "hbm">
// CHECK-NEXT:    ge_exec.stream 0 {
// CHECK-NEXT:      ge_exec.launch 0 @Relu_0 ins(%[[X]] : memref<4xf32, "hbm">) outs(%[[B]] : memref<4xf32, "hbm">)
// CHECK-NEXT:      ge_exec.record 0
// CHECK-NEXT:    }
// CHECK-NEXT:    ge_exec.stream 1 {
// CHECK-NEXT:      ge_exec.wait 0 why "RAW on %b"
// CHECK-NEXT:      ge_exec.copy 1 %[[V]] to %[[C]]
// CHECK-NEXT:    }
// CHECK-NEXT:    ge_exec.output "y" %[[C]]
ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
^bb0(%a: tensor<4xf32>):
  %r = ge.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  ge.yield %r : tensor<4xf32>
}
ge_exec.plan @plan {
  %work = ge_exec.arena "work" tier <hbm> size 1536 lower_bound 1536
  %x = ge_exec.input "x" in %work offset 0 : memref<4xf32, "hbm">
  %w = ge_exec.weight <"w", "m.onnx", 64, 16> : memref<4xf32, "hbm">
  %b = ge_exec.buffer in %work offset 512 : memref<4xf32, "hbm">
  %v = ge_exec.view %b offset 0 : memref<4xf32, "hbm"> -> memref<2x2xf32, "hbm">
  %c = ge_exec.buffer in %work offset 1024 : memref<2x2xf32, "hbm">
  ge_exec.stream 0 {
    ge_exec.launch 0 @Relu_0 ins(%x : memref<4xf32, "hbm">) outs(%b : memref<4xf32, "hbm">)
    ge_exec.record 0
  }
  ge_exec.stream 1 {
    ge_exec.wait 0 why "RAW on %b"
    ge_exec.copy 1 %v to %c : memref<2x2xf32, "hbm"> to memref<2x2xf32, "hbm">
  }
  ge_exec.output "y" %c : memref<2x2xf32, "hbm">
}
