// RUN: GE_INVALID

// CHECK: expected block arguments of the types of the operands
func.func @fusion_c1(%x: tensor<4xf32>) {
  %r = ge.fusion "Fused" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    ge.yield %a : tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: expected 'ge.yield' of 1 values
func.func @fusion_c2(%x: tensor<4xf32>) {
  %r = ge.fusion "Fused" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    ge.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: expected 'callee' as domain::OpType, got Det
func.func @host_call_c1(%x: tensor<3x3xf32>) {
  %y = ge.host_call "Det" version 22 (%x) : (tensor<3x3xf32>) -> tensor<f32>
  func.return
}

// -----

// CHECK: expected 'condition' of one i1, got tensor<2xi1>
func.func @if_c1(%c: tensor<2xi1>, %x: tensor<4xf32>) {
  %y = ge.if %c : tensor<2xi1> -> tensor<4xf32> then {
    ge.yield %x : tensor<4xf32>
  } else {
    ge.yield %x : tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: expected 'ge.yield' of the result types, got tensor<3xf32>
func.func @if_c2(%c: tensor<i1>, %x: tensor<4xf32>, %z: tensor<3xf32>) {
  %y = ge.if %c : tensor<i1> -> tensor<4xf32> then {
    ge.yield %x : tensor<4xf32>
  } else {
    ge.yield %z : tensor<3xf32>
  }
  func.return
}

// -----

// CHECK: expected a body of 3 arguments that yields 2 values, got 3 and 1
func.func @loop_c1(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>) {
  %y = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    ge.yield %v : tensor<4xf32>
  }
  func.return
}

// -----

// CHECK: expected a static type, got tensor<?xf32>
func.func @constant_c1() {
  %y = ge.constant #ge.weight<"w", "model.onnx", 0, 16> : tensor<?xf32>
  func.return
}

// -----

// CHECK: expected a weight of 16 bytes, got 12
func.func @constant_c2() {
  %y = ge.constant #ge.weight<"w", "model.onnx", 0, 12> : tensor<4xf32>
  func.return
}
