// RUN: ge-opt %s -p ge-dce --split-input-file --allow-unregistered-dialect | filecheck %s

// Users go before producers, so that whole chains go.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    func.return %x
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.constant dense<1.0> : tensor<4xf32>
  %a = ge.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = ge.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}

// -----

// Negative: one of two results is used.
// CHECK-LABEL: func.func @one_result
// CHECK-NEXT:    ge.top_k
func.func @one_result(%x: tensor<4xf32>) -> tensor<2xi64> {
  %k = ge.constant dense<2> : tensor<1xi64>
  %v, %i = ge.top_k %x k 2 axis 0 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  func.return %i : tensor<2xi64>
}

// -----

// A dead op goes with its regions, and what only they read goes as well.
// CHECK-LABEL: func.func @regions
// CHECK-NEXT:    func.return
func.func @regions(%p: tensor<i1>, %x: tensor<4xf32>) {
  %a = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    ge.yield %a : tensor<4xf32>
  } else {
    %n = ge.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %n : tensor<4xf32>
  }
  func.return
}

// -----

// A dead op inside a live region.
// CHECK-LABEL: func.func @inside
// CHECK-NEXT:    ge.if
// CHECK-NEXT:      ge.yield %x
func.func @inside(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    %n = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %x : tensor<4xf32>
  } else {
    ge.yield %x : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// Negative: random numbers have an effect, ops of other dialects may have any, a region with
// an effect keeps its op.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT:    ge.host_call "ai.onnx::RandomNormalLike"
// CHECK-NEXT:    "foo.bar"
// CHECK-NEXT:    ge.if
func.func @effects(%p: tensor<i1>, %x: tensor<4xf32>) {
  %y = ge.host_call "ai.onnx::RandomNormalLike" version 1 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = "foo.bar"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %w = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    %r = ge.host_call "ai.onnx::RandomNormalLike" version 1 (%x) : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %r : tensor<4xf32>
  } else {
    ge.yield %x : tensor<4xf32>
  }
  func.return
}

// -----

// A host call of anything else has none.
// CHECK-LABEL: func.func @host_call
// CHECK-NEXT:    func.return
func.func @host_call(%x: tensor<3x3xf32>) {
  %y = ge.host_call "ai.onnx::Det" version 11 (%x) : (tensor<3x3xf32>) -> tensor<f32>
  func.return
}
