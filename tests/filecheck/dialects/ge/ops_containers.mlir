// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @types
// CHECK-SAME:  !ge.optional<!ge.sequence<tensor<*xf32>>>
// CHECK-SAME:  !ge.map<i64, tensor<f32>>
// CHECK-SAME:  !ge.sequence<!ge.map<!ge.string, tensor<2x!ge.string>>>
func.func @types(%o: !ge.optional<!ge.sequence<tensor<*xf32>>>, %m: !ge.map<i64, tensor<f32>>, %s: !ge.sequence<!ge.map<!ge.string, tensor<2x!ge.string>>>) {
  func.return
}

// -----

// CHECK-LABEL: func.func @host_calls
// CHECK:       ge.host_call "ai.onnx::SequenceConstruct" version 18(%x) : (tensor<?xf32, #ge.dims<"S">>) -> !ge.sequence<tensor<?xf32, #ge.dims<"S">>>
// CHECK-NEXT:  ge.host_call "ai.onnx::Optional" version 18(%s) attrs {type = !ge.sequence<tensor<?xf32>>}
func.func @host_calls(%x: tensor<?xf32, #ge.dims<"S">>) -> !ge.optional<!ge.sequence<tensor<?xf32>>> attributes {ge.symbols = {S = #ge.symbol<0, ?, 1, "dim 0 of input 'x'">}} {
  %s = ge.host_call "ai.onnx::SequenceConstruct" version 18 (%x) : (tensor<?xf32, #ge.dims<"S">>) -> !ge.sequence<tensor<?xf32, #ge.dims<"S">>>
  %o = ge.host_call "ai.onnx::Optional" version 18 (%s) attrs {type = !ge.sequence<tensor<?xf32>>} : (!ge.sequence<tensor<?xf32, #ge.dims<"S">>>) -> !ge.optional<!ge.sequence<tensor<?xf32>>>
  func.return %o : !ge.optional<!ge.sequence<tensor<?xf32>>>
}

// -----

// An optional may hold what is none.
// CHECK-LABEL: func.func @branches
// CHECK:       ge.if %c : tensor<i1> -> !ge.optional<tensor<?xf32>> then
// CHECK:       ge.yield %x : tensor<2xf32>
// CHECK:       ge.yield %o : !ge.optional<tensor<?xf32>>
func.func @branches(%c: tensor<i1>, %x: tensor<2xf32>, %o: !ge.optional<tensor<?xf32>>) -> !ge.optional<tensor<?xf32>> {
  %y = ge.if %c : tensor<i1> -> !ge.optional<tensor<?xf32>> then {
    ge.yield %x : tensor<2xf32>
  } else {
    ge.yield %o : !ge.optional<tensor<?xf32>>
  }
  func.return %y : !ge.optional<tensor<?xf32>>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK:       ge.loop %n, %c carried(%s) : (tensor<i64>, tensor<i1>, !ge.sequence<tensor<*xf32>>) -> !ge.sequence<tensor<*xf32>>
func.func @loop(%n: tensor<i64>, %c: tensor<i1>, %s: !ge.sequence<tensor<*xf32>>, %x: tensor<2xf32>) -> !ge.sequence<tensor<*xf32>> {
  %y = ge.loop %n, %c carried(%s) : (tensor<i64>, tensor<i1>, !ge.sequence<tensor<*xf32>>) -> !ge.sequence<tensor<*xf32>> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: !ge.sequence<tensor<*xf32>>):
    %w = ge.host_call "ai.onnx::SequenceInsert" version 18 (%v, %x) : (!ge.sequence<tensor<*xf32>>, tensor<2xf32>) -> !ge.sequence<tensor<*xf32>>
    ge.yield %go, %w : tensor<i1>, !ge.sequence<tensor<*xf32>>
  }
  func.return %y : !ge.sequence<tensor<*xf32>>
}
