// RUN: ge-opt %s -p ge-bound-sizes --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-bound-sizes --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// What is found has a name from then on, and at most as many elements as are looked at.
// CHECK-LABEL: func.func @found
// CHECK-SAME: ge.data_symbols = {u0 = #ge.symbol<0, 32, 1, "what 'NonZero' at 'find' finds">}
// CHECK: ge.neg %{{.*}} : (tensor<2x?xi64, #ge.dims<"u0">>) -> tensor<2x?xi64, #ge.dims<"u0">>
// REMARK: [analysis] ge-bound-sizes: size: ge.host_call: u0 is 0..32, and known in the run at "find"
func.func @found(%x: tensor<4x8xf32>) -> tensor<2x?xi64> {
  %i = ge.host_call "ai.onnx::NonZero" version 21 (%x) : (tensor<4x8xf32>) -> tensor<2x?xi64> loc("find")
  %j = ge.neg %i : (tensor<2x?xi64>) -> tensor<2x?xi64>
  func.return %j : tensor<2x?xi64>
}

// -----

// A reshape to what a run computes keeps the number of elements.
// CHECK-LABEL: func.func @product
// CHECK-SAME: ge.guards = [#ge.guard<"u0*u1", equal, "24", "'Reshape' at 'an op without a name' (the elements of its operand)">]
// CHECK: -> tensor<?x?xui8, #ge.dims<"u0", "u1">>
func.func @product(%x: tensor<2x4x3xui8>, %target: tensor<2xi64>) -> tensor<?x?xui8> {
  %y = ge.host_call "ai.onnx::Reshape" version 21 (%x, %target) : (tensor<2x4x3xui8>, tensor<2xi64>) -> tensor<?x?xui8>
  func.return %y : tensor<?x?xui8>
}

// -----

// What a later op asks of a size is checked in the run.
// CHECK-LABEL: func.func @asked
// CHECK-SAME: ge.guards = [#ge.guard<"u0", broadcast, "4", "'Add' at 'an op without a name' (sizes that broadcast)">]
func.func @asked(%x: tensor<6xf32>, %z: tensor<1x4xi64>) -> tensor<1x4xi64> {
  %i = ge.host_call "ai.onnx::NonZero" version 21 (%x) : (tensor<6xf32>) -> tensor<1x?xi64>
  %y = ge.add %i, %z : (tensor<1x?xi64>, tensor<1x4xi64>) -> tensor<1x4xi64>
  func.return %y : tensor<1x4xi64>
}

// -----

// Results of one op share a size; symbols that the model has keep their names.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: ge.data_symbols = {u1 = #ge.symbol<0, 6, 1, {{.*}}>}
// CHECK: (tensor<6xf32>) -> (tensor<?xf32, #ge.dims<"u1">>, tensor<?xi64, #ge.dims<"u1">>, tensor<6xi64>, tensor<?xi64, #ge.dims<"u1">>)
func.func @shared(%x: tensor<6xf32>, %s: tensor<?xf32, #ge.dims<"u0">>) -> tensor<?xf32> attributes {ge.symbols = {u0 = #ge.symbol<1, 9, 1, "dim 0 of input 's'">}} {
  %y, %first, %back, %counts = ge.host_call "ai.onnx::Unique" version 11 (%x) : (tensor<6xf32>) -> (tensor<?xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
  func.return %y : tensor<?xf32>
}

// -----

// Near miss: nothing says how long a range of computed ends is; it has a name, and no end.
// CHECK-LABEL: func.func @unbounded
// CHECK-SAME: ge.data_symbols = {u0 = #ge.symbol<0, ?, 1, {{.*}}>}
// REMARK: [analysis] ge-bound-sizes: unbounded: ge.host_call: nothing bounds u0, a size of tensor<?xi64>
func.func @unbounded(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>) -> tensor<?xi64> {
  %y = ge.host_call "ai.onnx::Range" version 11 (%a, %b, %c) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  func.return %y : tensor<?xi64>
}

// -----

// Near miss: every size is a number.
// CHECK-LABEL: func.func @static(%x: tensor<3x3xf32>) -> tensor<f32> {
func.func @static(%x: tensor<3x3xf32>) -> tensor<f32> {
  %y = ge.host_call "ai.onnx::Det" version 22 (%x) : (tensor<3x3xf32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// -----

// Near miss: branches of different ranks. The value has no rank that anybody knows, and is no
// scalar.
// CHECK-LABEL: func.func @ranks
// CHECK: = ge.if %{{.*}} : tensor<i1> -> tensor<*xf32> then {
// CHECK: "ai.onnx::Shape" version 21(%{{.*}}) : (tensor<*xf32>) -> tensor<?xi64, #ge.dims<"u0">>
func.func @ranks(%c: tensor<i1>, %x: tensor<6xf32>, %y: tensor<2x3xf32>) -> tensor<?xi64> {
  %r = ge.if %c : tensor<i1> -> tensor<*xf32> then {
    ge.yield %x : tensor<6xf32>
  } else {
    ge.yield %y : tensor<2x3xf32>
  }
  %s = ge.host_call "ai.onnx::Shape" version 21 (%r) : (tensor<*xf32>) -> tensor<?xi64>
  func.return %s : tensor<?xi64>
}
