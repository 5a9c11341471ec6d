// RUN: ge-opt %s -p ge-infer-types --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-infer-types{fold-shapes=false} --split-input-file | filecheck %s --check-prefix=KEEP

// Types flow from operands to results, and out of the function.
// CHECK-LABEL: func.func @refines(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
// CHECK-NEXT:    %y = ge.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %z = ge.transpose %y perm [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    func.return %z : tensor<3x2xf32>
func.func @refines(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %y = ge.relu %x : (tensor<2x3xf32>) -> tensor<?x?xf32>
  %z = ge.transpose %y perm [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %z : tensor<?x?xf32>
}

// -----

// Symbols are kept, and expressions over them made.
// CHECK-LABEL: func.func @symbols
// CHECK:         %y = ge.concat %x, %x axis 0 : (tensor<?x3xf32, #ge.dims<"S">>, tensor<?x3xf32, #ge.dims<"S">>) -> tensor<?x3xf32, #ge.dims<"2*S">>
func.func @symbols(%x: tensor<?x3xf32, #ge.dims<"S">>) -> tensor<?x3xf32> {
  %y = ge.concat %x, %x axis 0 : (tensor<?x3xf32, #ge.dims<"S">>, tensor<?x3xf32, #ge.dims<"S">>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// -----

// A shape that is computed becomes a number in a type: the host call is a reshape after all.
// CHECK-LABEL: func.func @shape_chain(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
// CHECK-NOT:     ge.host_call
// CHECK:         %[[R:.*]] = ge.reshape %x : (tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK:         func.return %[[R]] : tensor<4x3xf32>
// KEEP-LABEL:  func.func @shape_chain
// KEEP:          ge.mul
// KEEP:          ge.host_call
func.func @shape_chain(%x: tensor<2x6xf32>) -> tensor<?x?xf32> {
  %two = ge.constant dense<2> : tensor<1xi64>
  %four = ge.mul %two, %two : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %rest = ge.constant dense<-1> : tensor<1xi64>
  %shape = ge.concat %four, %rest axis 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = ge.host_call "ai.onnx::Reshape" version 14 (%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// A host call that is no op at all leaves its operand behind.
// CHECK-LABEL: func.func @identity(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:    func.return %x
func.func @identity(%x: tensor<2x6xf32>) -> tensor<?x?xf32> {
  %y = ge.host_call "ai.onnx::Identity" version 14 (%x) : (tensor<2x6xf32>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// Negative: the shape is an argument, so the host has to compute it.
// CHECK-LABEL: func.func @host_stays
// CHECK-NEXT:    %y = ge.host_call "ai.onnx::Reshape" version 14(%x, %shape)
// CHECK-SAME:    -> tensor<?x?xf32>
func.func @host_stays(%x: tensor<2x6xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = ge.host_call "ai.onnx::Reshape" version 14 (%x, %shape) : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// -----

// Negative: a host call of an op that `ge` does not have; its declared type stands.
// CHECK-LABEL: func.func @unknown_op
// CHECK-NEXT:    ge.host_call "com.example::Foo"
func.func @unknown_op(%x: tensor<2xf32>) -> tensor<3xf32> {
  %y = ge.host_call "com.example::Foo" version 1 (%x) : (tensor<2xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// Negative: large constants are data, not shapes.
// CHECK-LABEL: func.func @data
// CHECK:         ge.add
func.func @data() -> tensor<1024xf32> {
  %c = ge.constant dense<1.0> : tensor<1024xf32>
  %y = ge.add %c, %c : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  func.return %y : tensor<1024xf32>
}

// -----

// Regions are inferred with what surrounds them.
// CHECK-LABEL: func.func @region
// CHECK:           %n = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
func.func @region(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<?xf32> {
  %y = ge.if %c : tensor<i1> -> tensor<?xf32> then {
    ge.yield %x : tensor<4xf32>
  } else {
    %n = ge.neg %x : (tensor<4xf32>) -> tensor<?xf32>
    ge.yield %n : tensor<?xf32>
  }
  func.return %y : tensor<?xf32>
}

// -----

// A symbol that a host call told is what took its place knows, everywhere.
// CHECK-LABEL: func.func @told
// CHECK:         ge.reshape %x : (tensor<?x6xf32, #ge.dims<"N">>) -> tensor<?x3xf32, #ge.dims<"2*N">>
// CHECK:         ge.host_call "com.example::Foo" version 1(%s) : (tensor<2xi64>) -> tensor<?x3xf32, #ge.dims<"min(2*N, 2)">>
func.func @told(%x: tensor<?x6xf32, #ge.dims<"N">>, %s: tensor<2xi64>) -> (tensor<?x3xf32, #ge.dims<"u0">>, tensor<?x3xf32, #ge.dims<"min(u0, 2)">>) attributes {ge.symbols = {N = #ge.symbol<1, 8, 1, "dim 0 of input 'x'">}, ge.data_symbols = {u0 = #ge.symbol<0, 16, 1, "what 'Reshape' finds">}} {
  %shape = ge.constant dense<[-1, 3]> : tensor<2xi64>
  %y = ge.host_call "ai.onnx::Reshape" version 14 (%x, %shape) : (tensor<?x6xf32, #ge.dims<"N">>, tensor<2xi64>) -> tensor<?x3xf32, #ge.dims<"u0">>
  %z = ge.host_call "com.example::Foo" version 1 (%s) : (tensor<2xi64>) -> tensor<?x3xf32, #ge.dims<"min(u0, 2)">>
  func.return %y, %z : tensor<?x3xf32, #ge.dims<"u0">>, tensor<?x3xf32, #ge.dims<"min(u0, 2)">>
}
