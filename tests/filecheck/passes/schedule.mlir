// RUN: ge-opt %s -p ge-schedule --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-schedule --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s -p ge-schedule{policy=throughput} --split-input-file | filecheck %s --check-prefix=TIES

// Each sum follows its operand, so that one big value is alive at a time.
// CHECK-LABEL: func.func @sums
// CHECK-NEXT:    %a = ge.exp %x
// CHECK-NEXT:    %s = ge.reduce_sum %a
// CHECK-NEXT:    %b = ge.neg %x
// CHECK-NEXT:    %t = ge.reduce_sum %b
// CHECK-NEXT:    ge.add %s, %t
// REMARK: remark: [passed] ge-schedule: reorder: ge.reduce_sum: peak 8192 -> 4608 bytes: 2 of 5 ops moved, this one from place 2 to 1
// TIES-LABEL: func.func @sums
// TIES-NEXT:     ge.exp
// TIES-NEXT:     ge.neg
func.func @sums(%x: tensor<1024xf32>) -> tensor<f32> {
  %a = ge.exp %x : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = ge.neg %x : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = ge.reduce_sum %a axes [0] keepdims false : (tensor<1024xf32>) -> tensor<f32>
  %t = ge.reduce_sum %b axes [0] keepdims false : (tensor<1024xf32>) -> tensor<f32>
  %y = ge.add %s, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// Negative: no order needs less, so that nothing moves.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    ge.exp
// CHECK-NEXT:    ge.matmul
// REMARK: remark: [analysis] ge-schedule: peak: ge.{{.*}}: peak 512 bytes: no order was found that needs less
func.func @chain(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = ge.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = ge.matmul %a, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %b : tensor<4x4xf32>
}

// -----

// Random numbers are drawn in the order of the program; the constant goes with its reader.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    %a = ge.host_call "ai.onnx::RandomNormalLike"
// CHECK:         %b = ge.host_call "ai.onnx::RandomNormalLike"
func.func @effects(%x: tensor<1024xf32>) -> tensor<f32> {
  %a = ge.host_call "ai.onnx::RandomNormalLike" version 1(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = ge.host_call "ai.onnx::RandomNormalLike" version 1(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %t = ge.reduce_sum %b axes [0] keepdims false : (tensor<1024xf32>) -> tensor<f32>
  %s = ge.reduce_sum %a axes [0] keepdims false : (tensor<1024xf32>) -> tensor<f32>
  %c = ge.constant dense<2.0> : tensor<f32>
  %u = ge.mul %s, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = ge.add %u, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// Inside of a branch as well.
// CHECK-LABEL: func.func @branch
// CHECK:           ge.exp
// CHECK-NEXT:      ge.reduce_sum
// CHECK-NEXT:      ge.neg
// CHECK-NEXT:      ge.reduce_sum
func.func @branch(%c: tensor<i1>, %x: tensor<1024xf32>, %z: tensor<f32>) -> tensor<f32> {
  %y = ge.if %c : tensor<i1> -> tensor<f32> then {
    %a = ge.exp %x : (tensor<1024xf32>) -> tensor<1024xf32>
    %b = ge.neg %x : (tensor<1024xf32>) -> tensor<1024xf32>
    %s = ge.reduce_sum %a axes [0] keepdims false : (tensor<1024xf32>) -> tensor<f32>
    %t = ge.reduce_sum %b axes [0] keepdims false : (tensor<1024xf32>) -> tensor<f32>
    %u = ge.add %s, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ge.yield %u : tensor<f32>
  } else {
    ge.yield %z : tensor<f32>
  }
  func.return %y : tensor<f32>
}

// -----

// Negative: ops of another dialect may do anything.
// CHECK-LABEL: func.func @foreign
// CHECK-NEXT:    ge.exp
// CHECK-NEXT:    ge.neg
// CHECK-NEXT:    ge.reduce_sum
// REMARK: remark: [missed] ge-schedule: reorder: func.call: 'func.call' may have any effect, so all ops stay in order
func.func @foreign(%x: tensor<1024xf32>) -> tensor<f32> {
  %a = ge.exp %x : (tensor<1024xf32>) -> tensor<1024xf32>
  %b = ge.neg %x : (tensor<1024xf32>) -> tensor<1024xf32>
  %s = ge.reduce_sum %a axes [0] keepdims false : (tensor<1024xf32>) -> tensor<f32>
  %t = func.call @f(%b) : (tensor<1024xf32>) -> tensor<f32>
  %y = ge.add %s, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}
func.func private @f(tensor<1024xf32>) -> tensor<f32>
