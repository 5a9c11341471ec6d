// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s

// Positions 0 .. P are not greater than P.
// CHECK-LABEL: func.func @last_query
// CHECK-NOT:     ge.range
// CHECK:         %[[T:.*]] = ge.constant dense<true> : tensor<i1>
// CHECK-NEXT:    ge.broadcast_to %[[T]] : (tensor<i1>) -> tensor<1x?xi1, #ge.dims<"P + 1">>
func.func @last_query(%past: tensor<?x8xf32, #ge.dims<"P">>) -> tensor<1x?xi1, #ge.dims<"P + 1">> {
  %n = ge.shape %past start 0 end 1 : (tensor<?x8xf32, #ge.dims<"P">>) -> tensor<1xi64>
  %keys = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"P + 1">>
  %row = ge.reshape %keys : (tensor<?xi64, #ge.dims<"P + 1">>) -> tensor<1x?xi64, #ge.dims<"P + 1">>
  %y = ge.less_equal %row, %n : (tensor<1x?xi64, #ge.dims<"P + 1">>, tensor<1xi64>) -> tensor<1x?xi1, #ge.dims<"P + 1">>
  func.return %y : tensor<1x?xi1, #ge.dims<"P + 1">>
}

// -----

// Near miss: the last position is P.
// CHECK-LABEL: func.func @not_all
// CHECK:         ge.less
func.func @not_all(%past: tensor<?x8xf32, #ge.dims<"P">>) -> tensor<?xi1, #ge.dims<"P + 1">> {
  %n = ge.shape %past start 0 end 1 : (tensor<?x8xf32, #ge.dims<"P">>) -> tensor<1xi64>
  %keys = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"P + 1">>
  %y = ge.less %keys, %n : (tensor<?xi64, #ge.dims<"P + 1">>, tensor<1xi64>) -> tensor<?xi1, #ge.dims<"P + 1">>
  func.return %y : tensor<?xi1, #ge.dims<"P + 1">>
}

// -----

// What the range of a symbol decides: no position is as far as 16.
// CHECK-LABEL: func.func @window
// CHECK:         %[[F:.*]] = ge.constant dense<false> : tensor<i1>
// CHECK-NEXT:    ge.broadcast_to %[[F]]
func.func @window() -> tensor<?xi1, #ge.dims<"S">> attributes {ge.symbols = {S = #ge.symbol<1, 16, 1, "dim 0 of input 'x'">}} {
  %width = ge.constant dense<16> : tensor<i64>
  %i = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %y = ge.greater_equal %i, %width : (tensor<?xi64, #ge.dims<"S">>, tensor<i64>) -> tensor<?xi1, #ge.dims<"S">>
  func.return %y : tensor<?xi1, #ge.dims<"S">>
}

// -----

// Near miss: numbers so great that a sum could wrap.
// CHECK-LABEL: func.func @wraps
// CHECK:         ge.less_equal
func.func @wraps() -> tensor<?xi1, #ge.dims<"S">> {
  %far = ge.constant dense<9223372036854775807> : tensor<i64>
  %i = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %j = ge.add %i, %far : (tensor<?xi64, #ge.dims<"S">>, tensor<i64>) -> tensor<?xi64, #ge.dims<"S">>
  %y = ge.less_equal %i, %j : (tensor<?xi64, #ge.dims<"S">>, tensor<?xi64, #ge.dims<"S">>) -> tensor<?xi1, #ge.dims<"S">>
  func.return %y : tensor<?xi1, #ge.dims<"S">>
}
