// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @fusion
func.func @fusion(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %r = ge.fusion "AddReluFusion"(%x, %x) rule "AddRelu" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
  // CHECK-NEXT:   %s = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT:   ge.yield %s : tensor<4xf32>
  // CHECK-NEXT: }
  %r = ge.fusion "AddReluFusion" (%x, %x) rule "AddRelu" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ge.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @branches
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>) {
  // CHECK-NEXT: %y = ge.if %c : tensor<i1> -> tensor<4xf32> then {
  // CHECK-NEXT:   ge.yield %x : tensor<4xf32>
  // CHECK-NEXT: } else {
  %y = ge.if %c : tensor<i1> -> tensor<4xf32> then {
    ge.yield %x : tensor<4xf32>
  } else {
    %z = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %z : tensor<4xf32>
  }
  // CHECK: %a, %b = ge.if %c : tensor<i1> -> tensor<4xf32>, tensor<4xf32> then {
  %a, %b = ge.if %c : tensor<i1> -> tensor<4xf32>, tensor<4xf32> then {
    ge.yield %x, %y : tensor<4xf32>, tensor<4xf32>
  } else {
    ge.yield %y, %x : tensor<4xf32>, tensor<4xf32>
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @loop
func.func @loop(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>) {
  // CHECK-NEXT: %y, %s = ge.loop %n, %c carried(%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  // CHECK-NEXT: ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
  // CHECK-NEXT:   ge.yield %go, %v, %v : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  %y, %s = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
    ge.yield %go, %v, %v : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  func.return
}

// -----

// CHECK-LABEL: func.func @host_calls
func.func @host_calls(%x: tensor<3x3xf32>) {
  // CHECK-NEXT: %a = ge.host_call "ai.onnx::Det" version 22(%x) : (tensor<3x3xf32>) -> tensor<f32>
  %a = ge.host_call "ai.onnx::Det" version 22 (%x) : (tensor<3x3xf32>) -> tensor<f32>
  // CHECK-NEXT: %b, %c = ge.host_call "com.example::Op" version 1(%x) absent array<i64: 0> attrs {axis = 1 : i64, mode = "fast", ratio = 5.000000e-01 : f32, sizes = array<i64: 1, 2>, table = dense<1.000000e+00> : tensor<2xf32>} : (tensor<3x3xf32>) -> (tensor<f32>, tensor<*xf32>)
  %b, %c = ge.host_call "com.example::Op" version 1 (%x) absent array<i64: 0> attrs {"axis" = 1 : i64, "mode" = "fast", "ratio" = 5.0e-01 : f32, "sizes" = array<i64: 1, 2>, "table" = dense<1.0> : tensor<2xf32>} : (tensor<3x3xf32>) -> (tensor<f32>, tensor<*xf32>)
  // CHECK-NEXT: ge.host_call "com.example::Sink" version 1() : () -> ()
  ge.host_call "com.example::Sink" version 1 () : () -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: %a = ge.constant dense<1.000000e-05> : tensor<f32>
  %a = ge.constant dense<1.0e-05> : tensor<f32>
  // CHECK-NEXT: %b = ge.constant #ge.weight<"w", "model.onnx", 1024, 16> : tensor<4xf32>
  %b = ge.constant #ge.weight<"w", "model.onnx", 1024, 16> : tensor<4xf32>
  // CHECK-NEXT: %c = ge.constant #ge.strings<"a", "b"> : tensor<2x!ge.string>
  %c = ge.constant #ge.strings<"a", "b"> : tensor<2x!ge.string>
  // CHECK-NEXT: %d = ge.constant dense<[true, false]> : tensor<2xi1>
  %d = ge.constant dense<[true, false]> : tensor<2xi1>
  func.return
}
