// RUN: ge-opt %s -p ge-bufferize --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-bufferize{in-place=false} --split-input-file | filecheck %s --check-prefix=APART

// One op, names of inputs and outputs, nothing has an address.
// CHECK:       ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
// CHECK-NEXT:  ^bb0(%{{.*}}: tensor<4xf32>):
// CHECK-NEXT:    %y = ge.relu %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    ge.yield %y : tensor<4xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  ge_exec.plan @main {
// CHECK-NEXT:    %x = ge_exec.input "image" : memref<4xf32, "hbm">
// CHECK-NEXT:    %y = ge_exec.buffer : memref<4xf32, "hbm">
// CHECK-NEXT:    ge_exec.stream 0 {
// CHECK-NEXT:      ge_exec.launch 0 @Relu_0 ins(%x : memref<4xf32, "hbm">) outs(%y : memref<4xf32, "hbm">)
// CHECK-NEXT:    }
// CHECK-NEXT:    ge_exec.output "label" %y : memref<4xf32, "hbm">
func.func @main(%x: tensor<4xf32> {ge.name = "image"}) -> (tensor<4xf32> {ge.name = "label"}) {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// In place where nobody reads the operand later; the first op may not write over the input.
// CHECK-LABEL: ge_exec.plan @chain
// CHECK:         %a = ge_exec.buffer
// CHECK-NOT:     ge_exec.buffer
// CHECK:           ge_exec.launch 0 @Relu_0 ins(%x : {{.*}}) outs(%a :
// CHECK-NEXT:      ge_exec.launch 1 @Neg_0 ins(%a : {{.*}}) outs(%a :
// CHECK:         ge_exec.output "result0" %a
// APART-LABEL: ge_exec.plan @chain
// APART:           ge_exec.launch 1 @Neg_0 ins(%a : {{.*}}) outs(%b :
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = ge.neg %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

// Softmax reads a row as often as it likes, and a matmul its operands: neither is in place.
// CHECK-LABEL: ge_exec.plan @attention
// CHECK:         %s = ge_exec.buffer
// CHECK-NEXT:    %p = ge_exec.buffer
// CHECK-NEXT:    %o = ge_exec.buffer
// CHECK:           ge_exec.launch 0 @{{.*}} ins(%q, %k : {{.*}}) outs(%s :
// CHECK-NEXT:      ge_exec.launch 1 @{{.*}} ins(%s : {{.*}}) outs(%p :
// CHECK-NEXT:      ge_exec.launch 2 @{{.*}} ins(%p, %v : {{.*}}) outs(%o :
func.func @attention(%q: tensor<4x4xf32>, %k: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = ge.matmul %q, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = ge.softmax %s axis -1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = ge.matmul %p, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %o : tensor<4x4xf32>
}

// -----

// A select takes the bytes of a choice, never those of its condition, though both are i1 here.
// CHECK-LABEL: ge_exec.plan @select
// CHECK:           ge_exec.launch 2 @{{.*}} ins(%c, %a, %x : {{.*}}) outs(%a :
func.func @select(%x: tensor<4xi1>) -> tensor<4xi1> {
  %c = ge.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  %a = ge.xor %x, %c : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r = ge.select %c, %a, %x : (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}

// -----

// Negative: a later reader, an operand read twice, a reader through a view, an operand that is
// broadcast, another type. The last reader through a view (4) may write over all of it.
// CHECK-LABEL: ge_exec.plan @not_in_place
// CHECK:           ge_exec.launch 1 @{{.*}} ins(%a : {{.*}}) outs(%b :
// CHECK-NEXT:      ge_exec.launch 2 @{{.*}} ins(%a : {{.*}}) outs(%c :
// CHECK-NEXT:      ge_exec.launch 3 @{{.*}} ins(%b : {{.*}}) outs(%d :
// CHECK-NEXT:      ge_exec.launch 4 @{{.*}} ins(%v, %d : {{.*}}) outs(%v :
// CHECK-NEXT:      ge_exec.launch 5 @{{.*}} ins(%w : {{.*}}) outs(%f :
func.func @not_in_place(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf16>) {
  %a = ge.relu %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = ge.neg %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = ge.mul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %v = ge.reshape %b : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %d = ge.exp %b : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = ge.add %v, %d : (tensor<1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %w = ge.reshape %e : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
  %f = ge.cast %w : (tensor<2x2xf32>) -> tensor<2x2xf16>
  func.return %c, %f : tensor<2x2xf32>, tensor<2x2xf16>
}

// -----

// Equal ops are one kernel, whatever their names; another shape or attribute is another.
// CHECK:       ge_exec.kernel @Relu_0
// CHECK:       ge_exec.kernel @SoftmaxV2_0
// CHECK:       ge_exec.kernel @SoftmaxV2_1
// CHECK:       ge_exec.kernel @Relu_1
// CHECK-NOT:   ge_exec.kernel
// CHECK:       ge_exec.plan @dedup
// CHECK:           ge_exec.launch 0 @Relu_0
// CHECK-NEXT:      ge_exec.launch 1 @Relu_0
// CHECK-NEXT:      ge_exec.launch 2 @SoftmaxV2_0
// CHECK-NEXT:      ge_exec.launch 3 @SoftmaxV2_1
// CHECK-NEXT:      ge_exec.launch 4 @Relu_1
func.func @dedup(%x: tensor<2x2xf32>, %y: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<4xf32>) {
  %a = ge.relu %x : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("first")
  %b = ge.relu %a : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("second")
  %c = ge.softmax %b axis 0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = ge.softmax %b axis 1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = ge.relu %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c, %d, %e : tensor<2x2xf32>, tensor<2x2xf32>, tensor<4xf32>
}

// -----

// A kernel never takes the name of a function.
// CHECK:       ge_exec.kernel @Relu_1 "Relu"
// CHECK:       ge_exec.plan @Relu_0
// CHECK:           ge_exec.launch 0 @Relu_1
func.func @Relu_0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// A fusion is one kernel on the engine of its heaviest part; a branch is a task made of tasks.
// CHECK:       ge_exec.kernel @MatmulRelu_0 "MatmulRelu" engine "cube"
// CHECK:       ge_exec.plan @regions
// CHECK:           ge_exec.launch 0 @MatmulRelu_0
// CHECK-NEXT:      ge_exec.branch 1 %c : memref<i1, "hbm"> then {
// CHECK-NEXT:        ge_exec.copy 2 %m to %y :
// CHECK-NEXT:      } else {
// CHECK-NEXT:        ge_exec.copy 3 %x to %y :
// CHECK-NEXT:      }
func.func @regions(%c: tensor<i1>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = ge.fusion "MatmulRelu"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %p = ge.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = ge.relu %p : (tensor<4x4xf32>) -> tensor<4x4xf32>
    ge.yield %r : tensor<4x4xf32>
  }
  %y = ge.if %c : tensor<i1> -> tensor<4x4xf32> then {
    ge.yield %m : tensor<4x4xf32>
  } else {
    ge.yield %x : tensor<4x4xf32>
  }
  func.return %y : tensor<4x4xf32>
}
