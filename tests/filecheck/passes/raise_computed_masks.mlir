// RUN: ge-opt %s -p ge-raise --split-input-file | filecheck %s

!q = tensor<?x2x?x4xf32, #ge.dims<"B", "S">>

// CHECK-LABEL: func.func @triangle
// CHECK: ge.flash_attention %q, %q, %q scale 1.000000e+00 causal zero_nan :
func.func @triangle(%q: !q) -> !q attributes {ge.symbols = {B = #ge.symbol<1, 4, 1, "">, S = #ge.symbol<1, 64, 1, "">}} {
  %i = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %keys = ge.reshape %i : (tensor<?xi64, #ge.dims<"S">>) -> tensor<1x1x1x?xi64, #ge.dims<"S">>
  %queries = ge.reshape %i : (tensor<?xi64, #ge.dims<"S">>) -> tensor<1x1x?x1xi64, #ge.dims<"S">>
  %c = ge.less_equal %keys, %queries : (tensor<1x1x1x?xi64, #ge.dims<"S">>, tensor<1x1x?x1xi64, #ge.dims<"S">>) -> tensor<1x1x?x?xi1, #ge.dims<"S", "S">>
  %b = ge.broadcast_to %c : (tensor<1x1x?x?xi1, #ge.dims<"S", "S">>) -> tensor<?x1x?x?xi1, #ge.dims<"B", "S", "S">>
  %zero = ge.constant dense<0.0> : tensor<f32>
  %low = ge.constant dense<-3.4028235e38> : tensor<f32>
  %m = ge.select %b, %zero, %low : (tensor<?x1x?x?xi1, #ge.dims<"B", "S", "S">>, tensor<f32>, tensor<f32>) -> tensor<?x1x?x?xf32, #ge.dims<"B", "S", "S">>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 zero_nan : (!q, !q, !q, tensor<?x1x?x?xf32, #ge.dims<"B", "S", "S">>) -> !q
  func.return %o : !q
}

// -----

!q = tensor<1x2x?x4xf32, #ge.dims<"S">>
!k = tensor<1x2x?x4xf32, #ge.dims<"S + 3">>

// Three keys before the first query; written from the side of the queries.
// CHECK-LABEL: func.func @offset
// CHECK: ge.flash_attention %q, %k, %k scale 1.000000e+00 causal causal_offset 3 :
func.func @offset(%q: !q, %k: !k) -> !q attributes {ge.symbols = {S = #ge.symbol<1, 64, 1, "">}} {
  %i = ge.range start 4 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %j = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S + 3">>
  %queries = ge.reshape %i : (tensor<?xi64, #ge.dims<"S">>) -> tensor<?x1xi64, #ge.dims<"S">>
  %c = ge.greater %queries, %j : (tensor<?x1xi64, #ge.dims<"S">>, tensor<?xi64, #ge.dims<"S + 3">>) -> tensor<?x?xi1, #ge.dims<"S", "S + 3">>
  %o = ge.flash_attention %q, %k, %k mask %c scale 1.0 nan_guard : (!q, !k, !k, tensor<?x?xi1, #ge.dims<"S", "S + 3">>) -> !q
  func.return %o : !q
}

// -----

!q = tensor<1x2x?x4xf32, #ge.dims<"S">>

// Near miss: the first query keeps no key.
// CHECK-LABEL: func.func @strictly_before
// CHECK: mask
func.func @strictly_before(%q: !q) -> !q attributes {ge.symbols = {S = #ge.symbol<1, 64, 1, "">}} {
  %i = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %queries = ge.reshape %i : (tensor<?xi64, #ge.dims<"S">>) -> tensor<?x1xi64, #ge.dims<"S">>
  %c = ge.less %i, %queries : (tensor<?xi64, #ge.dims<"S">>, tensor<?x1xi64, #ge.dims<"S">>) -> tensor<?x?xi1, #ge.dims<"S", "S">>
  %o = ge.flash_attention %q, %q, %q mask %c scale 1.0 : (!q, !q, !q, tensor<?x?xi1, #ge.dims<"S", "S">>) -> !q
  func.return %o : !q
}

// -----

!q = tensor<1x2x?x4xf32, #ge.dims<"S">>

// Near miss: there may be no key.
// CHECK-LABEL: func.func @no_key
// CHECK: mask
func.func @no_key(%q: !q) -> !q {
  %i = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %queries = ge.reshape %i : (tensor<?xi64, #ge.dims<"S">>) -> tensor<?x1xi64, #ge.dims<"S">>
  %c = ge.less_equal %i, %queries : (tensor<?xi64, #ge.dims<"S">>, tensor<?x1xi64, #ge.dims<"S">>) -> tensor<?x?xi1, #ge.dims<"S", "S">>
  %o = ge.flash_attention %q, %q, %q mask %c scale 1.0 : (!q, !q, !q, tensor<?x?xi1, #ge.dims<"S", "S">>) -> !q
  func.return %o : !q
}

// -----

!q = tensor<1x2x?x4xf32, #ge.dims<"S">>

// Near miss: a number that scores may come up to.
// CHECK-LABEL: func.func @soft
// CHECK: mask
func.func @soft(%q: !q) -> !q attributes {ge.symbols = {S = #ge.symbol<1, 64, 1, "">}} {
  %i = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %queries = ge.reshape %i : (tensor<?xi64, #ge.dims<"S">>) -> tensor<?x1xi64, #ge.dims<"S">>
  %c = ge.less_equal %i, %queries : (tensor<?xi64, #ge.dims<"S">>, tensor<?x1xi64, #ge.dims<"S">>) -> tensor<?x?xi1, #ge.dims<"S", "S">>
  %zero = ge.constant dense<0.0> : tensor<f32>
  %low = ge.constant dense<-1.0> : tensor<f32>
  %m = ge.select %c, %zero, %low : (tensor<?x?xi1, #ge.dims<"S", "S">>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32, #ge.dims<"S", "S">>
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 : (!q, !q, !q, tensor<?x?xf32, #ge.dims<"S", "S">>) -> !q
  func.return %o : !q
}
