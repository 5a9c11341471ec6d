// RUN: ge-opt %s -p ge-bufferize --split-input-file | filecheck %s

// An output that is a view keeps the bytes it shows.
// CHECK-LABEL: ge_exec.plan @view
// CHECK:         %b = ge_exec.buffer : memref<4xf32, "hbm">
// CHECK-NEXT:    %v = ge_exec.view %b offset 0 : memref<4xf32, "hbm"> -> memref<2x2xf32, "hbm">
// CHECK:           ge_exec.launch 0 @Relu_0 ins(%x : {{.*}}) outs(%b :
// CHECK-NEXT:      ge_exec.launch 1 @Neg_0 ins(%v : {{.*}}) outs(%n :
// CHECK-NEXT:      ge_exec.launch 2 @Exp_0 ins(%n : {{.*}}) outs(%n :
// CHECK:         ge_exec.output "result0" %v : memref<2x2xf32, "hbm">
// CHECK-NEXT:    ge_exec.output "result1" %n
func.func @view(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %b = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %v = ge.reshape %b : (tensor<4xf32>) -> tensor<2x2xf32>
  %n = ge.neg %v : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = ge.exp %n : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %v, %e : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// An input cannot be an output, nor a view of one.
// CHECK-LABEL: ge_exec.plan @inputs
// CHECK:         %v = ge_exec.view %x
// CHECK-NEXT:    %[[A:.*]] = ge_exec.buffer : memref<4xf32
// CHECK-NEXT:    %[[B:.*]] = ge_exec.buffer : memref<2x2xf32
// CHECK-NEXT:    ge_exec.stream 0 {
// CHECK-NEXT:      ge_exec.copy 0 %x to %[[A]]
// CHECK-NEXT:      ge_exec.copy 1 %v to %[[B]]
// CHECK:         ge_exec.output "result0" %[[A]]
// CHECK-NEXT:    ge_exec.output "result1" %[[B]]
func.func @inputs(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %v = ge.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  func.return %x, %v : tensor<4xf32>, tensor<2x2xf32>
}

// -----

// Nor can a constant; a value that is returned twice has bytes for each.
// CHECK-LABEL: ge_exec.plan @constant_and_duplicate
// CHECK:         %c = ge_exec.weight <"constant_
// CHECK-NEXT:    %y = ge_exec.buffer
// CHECK-NEXT:    %[[A:.*]] = ge_exec.buffer
// CHECK-NEXT:    %[[B:.*]] = ge_exec.buffer
// CHECK:           ge_exec.launch 0 @Relu_0 ins(%x : {{.*}}) outs(%y :
// CHECK-NEXT:      ge_exec.copy 1 %c to %[[A]]
// CHECK-NEXT:      ge_exec.copy 2 %y to %[[B]]
// CHECK:         ge_exec.output "result0" %y
// CHECK-NEXT:    ge_exec.output "result1" %[[A]]
// CHECK-NEXT:    ge_exec.output "result2" %[[B]]
func.func @constant_and_duplicate(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c = ge.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %c, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// An output is never written over, though the op that reads it last could.
// CHECK-LABEL: ge_exec.plan @output_is_kept
// CHECK:           ge_exec.launch 0 @Relu_0 ins(%x : {{.*}}) outs(%a :
// CHECK-NEXT:      ge_exec.launch 1 @Neg_0 ins(%a : {{.*}}) outs(%b :
// CHECK:         ge_exec.output "result0" %a
// CHECK-NEXT:    ge_exec.output "result1" %b
func.func @output_is_kept(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = ge.neg %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Small constants are part of the kernel, large ones are weights of the plan.
// CHECK:       ge_exec.kernel @Add_0 "Add"
// CHECK-NEXT:  ^bb0(%[[X:.*]]: tensor<1024xf32>):
// CHECK-NEXT:    %[[C:.*]] = ge.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %{{.*}} = ge.add %[[X]], %[[C]]
// CHECK:       ge_exec.kernel @Add_1 "Add"
// CHECK-NEXT:  ^bb0(%{{.*}}: tensor<1024xf32>, %{{.*}}: tensor<1024xf32>):
// CHECK-NEXT:    ge.add
// CHECK:       ge_exec.plan @constants
// CHECK:         %w = ge_exec.weight <"big",
// CHECK-SAME:    : memref<1024xf32, "hbm">
func.func @constants(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %c = ge.constant dense<1.0> : tensor<f32>
  %a = ge.add %x, %c : (tensor<1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %w = ge.constant dense<2.0> : tensor<1024xf32> loc("big")
  %b = ge.add %a, %w : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  func.return %b : tensor<1024xf32>
}

// -----

// Nothing to do at all.
// CHECK-LABEL: ge_exec.plan @nothing
// CHECK-NEXT:    ge_exec.stream 0 {
func.func @nothing() {
  func.return
}
