// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s

// A mask of ones, of a size that is a symbol, takes nothing away.
// CHECK-LABEL: func.func @ones
// CHECK-NEXT:    ge.broadcast_to %m : (tensor<1x1x?x?xi1, #ge.dims<"S", "S">>) -> tensor<?x1x?x?xi1, #ge.dims<"B", "S", "S">>
// CHECK-NEXT:    func.return
func.func @ones(%m: tensor<1x1x?x?xi1, #ge.dims<"S", "S">>) -> tensor<?x1x?x?xi1, #ge.dims<"B", "S", "S">> {
  %one = ge.constant dense<1> : tensor<i64>
  %b = ge.broadcast_to %one : (tensor<i64>) -> tensor<?x?xi64, #ge.dims<"B", "S">>
  %c = ge.cast %b : (tensor<?x?xi64, #ge.dims<"B", "S">>) -> tensor<?x?xi1, #ge.dims<"B", "S">>
  %r = ge.reshape %c : (tensor<?x?xi1, #ge.dims<"B", "S">>) -> tensor<?x1x1x?xi1, #ge.dims<"B", "S">>
  %y = ge.and %r, %m : (tensor<?x1x1x?xi1, #ge.dims<"B", "S">>, tensor<1x1x?x?xi1, #ge.dims<"S", "S">>) -> tensor<?x1x?x?xi1, #ge.dims<"B", "S", "S">>
  func.return %y : tensor<?x1x?x?xi1, #ge.dims<"B", "S", "S">>
}

// -----

// What absorbs is all that is left.
// CHECK-LABEL: func.func @or_true
// CHECK-NEXT:    %[[T:.*]] = ge.constant dense<true> : tensor<i1>
// CHECK-NEXT:    %[[B:.*]] = ge.broadcast_to %[[T]] : (tensor<i1>) -> tensor<?xi1, #ge.dims<"S">>
// CHECK-NEXT:    func.return %[[B]]
func.func @or_true(%m: tensor<?xi1, #ge.dims<"S">>) -> tensor<?xi1, #ge.dims<"S">> {
  %true = ge.constant dense<true> : tensor<i1>
  %b = ge.broadcast_to %true : (tensor<i1>) -> tensor<?xi1, #ge.dims<"S">>
  %y = ge.or %b, %m : (tensor<?xi1, #ge.dims<"S">>, tensor<?xi1, #ge.dims<"S">>) -> tensor<?xi1, #ge.dims<"S">>
  func.return %y : tensor<?xi1, #ge.dims<"S">>
}

// -----

// A choice that is the same everywhere.
// CHECK-LABEL: func.func @choice
// CHECK-NEXT:    func.return %x
func.func @choice(%x: tensor<?xf32, #ge.dims<"S">>, %z: tensor<?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"S">> {
  %one = ge.constant dense<1.0> : tensor<f32>
  %two = ge.constant dense<2.0> : tensor<f32>
  %a = ge.broadcast_to %one : (tensor<f32>) -> tensor<?xf32, #ge.dims<"S">>
  %c = ge.less %a, %two : (tensor<?xf32, #ge.dims<"S">>, tensor<f32>) -> tensor<?xi1, #ge.dims<"S">>
  %y = ge.select %c, %x, %z : (tensor<?xi1, #ge.dims<"S">>, tensor<?xf32, #ge.dims<"S">>, tensor<?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"S">>
  func.return %y : tensor<?xf32, #ge.dims<"S">>
}

// -----

// Near miss: a row of two values.
// CHECK-LABEL: func.func @two_values
// CHECK:         ge.and
func.func @two_values(%m: tensor<?x2xi1, #ge.dims<"S">>) -> tensor<?x2xi1, #ge.dims<"S">> {
  %c = ge.constant dense<[true, false]> : tensor<2xi1>
  %b = ge.broadcast_to %c : (tensor<2xi1>) -> tensor<?x2xi1, #ge.dims<"S">>
  %y = ge.and %m, %b : (tensor<?x2xi1, #ge.dims<"S">>, tensor<?x2xi1, #ge.dims<"S">>) -> tensor<?x2xi1, #ge.dims<"S">>
  func.return %y : tensor<?x2xi1, #ge.dims<"S">>
}

// -----

// Near miss: of static sizes, constant folding decides what becomes a constant.
// CHECK-LABEL: func.func @static
// CHECK:         ge.broadcast_to
// CHECK:         ge.cast
func.func @static() -> tensor<4xi1> {
  %one = ge.constant dense<1> : tensor<i64>
  %b = ge.broadcast_to %one : (tensor<i64>) -> tensor<4xi64>
  %c = ge.cast %b : (tensor<4xi64>) -> tensor<4xi1>
  func.return %c : tensor<4xi1>
}
