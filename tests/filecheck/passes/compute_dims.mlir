// RUN: ge-opt %s -p ge-compute-dims,ge-dce | filecheck %s
// RUN: ge-opt %s -p ge-compute-dims --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// A chain of shape arithmetic ends in a type, though the first dimension is a symbol.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: -> tensor<?x32xf32, #ge.dims<"B">>
// CHECK-NEXT: ge.reshape %x : (tensor<?x4x8xf32, #ge.dims<"B">>) -> tensor<?x32xf32, #ge.dims<"B">>
func.func @chain(%x: tensor<?x4x8xf32, #ge.dims<"B">>) -> tensor<?x?xf32> {
  %s = ge.shape %x start 0 : (tensor<?x4x8xf32, #ge.dims<"B">>) -> tensor<3xi64>
  %zero = ge.constant dense<[0]> : tensor<1xi64>
  %b = ge.gather %s, %zero axis 0 : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %rest = ge.constant dense<-1> : tensor<1xi64>
  %t = ge.concat %b, %rest axis 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = ge.host_call "ai.onnx::Reshape" version 14 (%x, %t) : (tensor<?x4x8xf32, #ge.dims<"B">>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @numbers
// CHECK-NEXT: ge.constant dense<[3, 4]> : tensor<2xi64>
// CHECK-NEXT: ge.constant dense<12> : tensor<i64>
// CHECK-NEXT: func.return
func.func @numbers(%x: tensor<3x4xf32>) -> (tensor<2xi64>, tensor<i64>) {
  %s = ge.shape %x start 0 : (tensor<3x4xf32>) -> tensor<2xi64>
  %n = ge.size %x : (tensor<3x4xf32>) -> tensor<i64>
  func.return %s, %n : tensor<2xi64>, tensor<i64>
}

// One element is known, the others are not.
// CHECK-LABEL: func.func @one_element
// CHECK-NEXT: %[[S:.*]] = ge.shape %x
// CHECK-NEXT: %[[H:.*]] = ge.constant dense<4> : tensor<i64>
// CHECK-NEXT: func.return %[[H]], %[[S]]
// REMARK: ge.shape: a dimension is no number (found [B, 4], wanted numbers) [SYMBOL]
func.func @one_element(%x: tensor<?x4xf32, #ge.dims<"B">>) -> (tensor<i64>, tensor<2xi64>) {
  %s = ge.shape %x start 0 : (tensor<?x4xf32, #ge.dims<"B">>) -> tensor<2xi64>
  %one = ge.constant dense<1> : tensor<i64>
  %h = ge.gather %s, %one axis 0 : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  func.return %h, %s : tensor<i64>, tensor<2xi64>
}
