// RUN: ge-opt %s -p ge-bufferize --split-input-file | filecheck %s

// What a side computes goes straight to the result of the branch.
// CHECK:       ge_exec.plan @sides {
// CHECK:         ge_exec.branch 0 %c : memref<i1, "hbm"> then {
// CHECK-NEXT:      ge_exec.launch 1 @Neg_0 ins(%x : {{.*}}) outs(%y :
// CHECK-NEXT:    } else {
// CHECK-NEXT:      ge_exec.launch 2 @Abs_0 ins(%x : {{.*}}) outs(%y :
// CHECK-NEXT:    }
func.func @sides(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.if %c : tensor<i1> -> tensor<4xf32> then {
    %a = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %a : tensor<4xf32>
  } else {
    %b = ge.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// The input is copied once; the body updates the carried value where it lies. `%c` never changes.
// CHECK:       ge_exec.plan @carried {
// CHECK:         ge_exec.copy 0 %x to %x_1 :
// CHECK-NEXT:    ge_exec.loop 1 %{{.*}} below %n while %c : {{.*}} {
// CHECK-NEXT:      ge_exec.launch 2 @Neg_0 ins(%x_1 : {{.*}}) outs(%x_1 :
// CHECK-NEXT:    }
// CHECK:         ge_exec.output "result0" %x_1
func.func @carried(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    %w = ge.neg %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %go, %w : tensor<i1>, tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// Two values change places: one is set aside.
// CHECK:       ge_exec.plan @swap {
// CHECK:         ge_exec.loop 2
// CHECK-NEXT:      ge_exec.copy 3 %[[A:.*]] to %[[ASIDE:.*]] :
// CHECK-NEXT:      ge_exec.copy 4 %[[B:.*]] to %[[A]] :
// CHECK-NEXT:      ge_exec.copy 5 %[[ASIDE]] to %[[B]] :
// CHECK-NEXT:    }
func.func @swap(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %p, %q = ge.loop %n, %c carried (%x, %y)
      : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>, %w: tensor<4xf32>):
    ge.yield %go, %w, %v : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %p, %q : tensor<4xf32>, tensor<4xf32>
}

// -----

// Slices of known number go into a buffer, others into an object that starts empty.
// CHECK:       ge_exec.kernel @Fill_0 "Fill"
// CHECK-NEXT:    ge.constant dense<> : tensor<0x4xf32>
// CHECK:       ge_exec.plan @scans {
// CHECK:         ge_exec.launch 0 @Fill_0 outs(%t : !ge_exec.object<tensor<?x4xf32>>)
// CHECK-NEXT:    ge_exec.loop 1 %[[I:.*]] below %{{.*}} while %{{.*}} trips 2
// CHECK-NEXT:      ge_exec.store 2 %x to %s at %[[I]] :
// CHECK-NEXT:      ge_exec.store 3 %x to %t at %[[I]] :
// CHECK-NEXT:    }
func.func @scans(%x: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<?x4xf32>) {
  %n = ge.constant dense<2> : tensor<i64>
  %c = ge.constant dense<true> : tensor<i1>
  %s, %t = ge.loop %n, %c carried () : (tensor<i64>, tensor<i1>) -> (tensor<2x4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>):
    ge.yield %go, %x, %x : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %s, %t : tensor<2x4xf32>, tensor<?x4xf32>
}

// -----

// Bytes that nobody knows before the run: an object. What has a size again is a buffer.
// CHECK:       ge_exec.plan @data {
// CHECK:         %i = ge_exec.object : !ge_exec.object<tensor<1x?xi64>>
// CHECK-NEXT:    %n = ge_exec.buffer : memref<i64, "hbm">
// CHECK:           ge_exec.launch 0 @NonZero_0 ins(%x : memref<4xf32, "hbm">) outs(%i : !ge_exec.object
func.func @data(%x: tensor<4xf32>) -> tensor<i64> {
  %i = ge.host_call "ai.onnx::NonZero" version 21 (%x) : (tensor<4xf32>) -> tensor<1x?xi64>
  %n = ge.host_call "ai.onnx::Size" version 21 (%i) : (tensor<1x?xi64>) -> tensor<i64>
  func.return %n : tensor<i64>
}
