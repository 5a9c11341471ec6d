// RUN: ge-opt %s -p ge-bufferize --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-zero-copy,ge-bufferize,ge-assign-streams,ge-plan-memory,ge-insert-events,ge-verify-plan --split-input-file | filecheck %s --check-prefix=PROVED

// Marks become views: each producer writes to its part, the argument is copied to its own.
// CHECK-LABEL: ge_exec.plan @joined
// CHECK:         %d = ge_exec.buffer : memref<24xf32, "hbm">
// CHECK-NEXT:    %a = ge_exec.view %d offset 32 : memref<24xf32, "hbm"> -> memref<8xf32, "hbm">
// CHECK-NEXT:    %b = ge_exec.view %d offset 64 : memref<24xf32, "hbm"> -> memref<8xf32, "hbm">
// CHECK-NEXT:    %[[X:.*]] = ge_exec.view %d offset 0 : memref<24xf32, "hbm"> -> memref<8xf32, "hbm">
// CHECK:           ge_exec.launch 0 @Exp_0 ins(%x : {{.*}}) outs(%a :
// CHECK-NEXT:      ge_exec.launch 1 @Neg_0 ins(%x : {{.*}}) outs(%b :
// CHECK-NEXT:      ge_exec.copy 2 %x to %[[X]]
// CHECK:         ge_exec.output "result0" %d
// PROVED-LABEL: ge_exec.plan @joined
func.func @joined(%x: tensor<8xf32>) -> tensor<24xf32> {
  %a = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = ge.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.concat %x, %a, %b axis 0 {ge.zero_copy = array<i64: 1, 2>} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<24xf32>
  func.return %d : tensor<24xf32>
}

// -----

// Pieces of an input are read where they are.
// CHECK-LABEL: ge_exec.plan @cut
// CHECK:         %a = ge_exec.view %x offset 0 : memref<2x8xf32, "hbm"> -> memref<1x8xf32, "hbm">
// CHECK-NEXT:    %b = ge_exec.view %x offset 32 : memref<2x8xf32, "hbm"> -> memref<1x8xf32, "hbm">
// CHECK:           ge_exec.launch 0 @Sub_0 ins(%a, %b :
// PROVED-LABEL: ge_exec.plan @cut
func.func @cut(%x: tensor<2x8xf32>) -> tensor<1x8xf32> {
  %a, %b = ge.split %x axis 0 sizes [1, 1] {ge.zero_copy} : (tensor<2x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>)
  %d = ge.sub %a, %b : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %d : tensor<1x8xf32>
}

// -----

// A mark that cannot be true is no mark.
// CHECK-LABEL: ge_exec.plan @stale
// CHECK-NOT:     ge_exec.view
// CHECK:           ge_exec.launch 0 @SplitVD_0
func.func @stale(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %a, %b = ge.split %x axis 1 sizes [4, 4] {ge.zero_copy} : (tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %d = ge.sub %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %d : tensor<2x4xf32>
}

// -----

// A donated input may be written over once nobody reads it any more; else it stays.
// CHECK-LABEL: ge_exec.plan @donated
// CHECK:         %x = ge_exec.input "arg0" donated : memref<8xf32, "hbm">
// CHECK-NEXT:    %y = ge_exec.input "arg1" donated : memref<8xf32, "hbm">
// CHECK:           ge_exec.launch 0 @Neg_0 ins(%x : {{.*}}) outs(%x :
// CHECK-NEXT:      ge_exec.launch 1 @Exp_0 ins(%y : {{.*}}) outs(%b :
// CHECK:         ge_exec.output "result0" %x
// PROVED-LABEL: ge_exec.plan @donated
func.func @donated(%x: tensor<8xf32> {ge.donated}, %y: tensor<8xf32> {ge.donated}) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = ge.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = ge.exp %y : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.sub %b, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %a, %c : tensor<8xf32>, tensor<8xf32>
}
