// RUN: ge-opt %s -p ge-resolve-symbols --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-resolve-symbols --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Both are 2 or more, so that they have to be equal.
// CHECK-LABEL: func.func @equal(%x: tensor<?x8xf32, #ge.dims<"M + 1">>, %y: tensor<?x8xf32, #ge.dims<"M + 1">>)
// CHECK-SAME: ge.symbols = {M = #ge.symbol<1, 7, 1, "dim 0 of input 'y'">}
// REMARK: [passed] ge-resolve-symbols: equality: ge.add: N is M + 1
func.func @equal(%x: tensor<?x8xf32, #ge.dims<"N">>, %y: tensor<?x8xf32, #ge.dims<"M + 1">>) -> tensor<?x8xf32> attributes {ge.symbols = {M = #ge.symbol<1, 9, 1, "dim 0 of input 'y'">, N = #ge.symbol<2, 8, 1, "dim 0 of input 'x'">}} {
  %z = ge.add %x, %y : (tensor<?x8xf32, #ge.dims<"N">>, tensor<?x8xf32, #ge.dims<"M + 1">>) -> tensor<?x8xf32>
  func.return %z : tensor<?x8xf32>
}

// -----

// Near miss: one may be 1, so that a run has to look.
// CHECK-LABEL: func.func @one_or_equal
// CHECK-SAME: ge.guards = [#ge.guard<"N", broadcast, "4", "'Add' at 'an op without a name' (sizes that broadcast)">]
// REMARK: [analysis] ge-resolve-symbols: guard: ge.add: N = 4, or one of them 1 is checked at run time
func.func @one_or_equal(%x: tensor<?x8xf32, #ge.dims<"N">>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {ge.symbols = {N = #ge.symbol<1, 4, 1, "dim 0 of input 'x'">}} {
  %z = ge.add %x, %y : (tensor<?x8xf32, #ge.dims<"N">>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}

// -----

// A range of one value is a number: nothing is left to check.
// CHECK-LABEL: func.func @secretly_one(%x: tensor<1x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
func.func @secretly_one(%x: tensor<?x8xf32, #ge.dims<"N">>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {ge.symbols = {N = #ge.symbol<1, 1, 1, "dim 0 of input 'x'">}} {
  %z = ge.add %x, %y : (tensor<?x8xf32, #ge.dims<"N">>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %z : tensor<4x8xf32>
}

// -----

// Near miss: nothing is known of the one symbol, and nothing is asked of it.
// CHECK-LABEL: func.func @nothing_asked
// CHECK-NOT: ge.guards
func.func @nothing_asked(%x: tensor<?x8xf32, #ge.dims<"N">>) -> tensor<?x8xf32, #ge.dims<"N">> attributes {ge.symbols = {N = #ge.symbol<0, ?, 1, "dim 0 of input 'x'">}} {
  %z = ge.relu %x : (tensor<?x8xf32, #ge.dims<"N">>) -> tensor<?x8xf32, #ge.dims<"N">>
  func.return %z : tensor<?x8xf32, #ge.dims<"N">>
}

// -----

// What the range decides is not in a type: of at most 32 all are below 64.
// CHECK-LABEL: func.func @limited
// CHECK-SAME:    -> (tensor<?xf32, #ge.dims<"S">>, tensor<?xf32, #ge.dims<"S - 1">>)
// CHECK:         ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
// CHECK:         ge.slice %x starts [1] ends [9223372036854775807] axes [0] steps [1] : (tensor<?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"S - 1">>
func.func @limited(%x: tensor<?xf32, #ge.dims<"S">>, %t: tensor<64xf32>) -> (tensor<?xf32>, tensor<?xf32, #ge.dims<"max(S - 1, 0)">>) attributes {ge.symbols = {S = #ge.symbol<1, 32, 1, "dim 0 of input 'x'">}} {
  %r = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"min(S, 64)">>
  %p = ge.gather %t, %r axis 0 : (tensor<64xf32>, tensor<?xi64, #ge.dims<"min(S, 64)">>) -> tensor<?xf32, #ge.dims<"min(S, 64)">>
  %y = ge.add %x, %p : (tensor<?xf32, #ge.dims<"S">>, tensor<?xf32, #ge.dims<"min(S, 64)">>) -> tensor<?xf32>
  %z = ge.slice %x starts [1] ends [9223372036854775807] axes [0] steps [1] : (tensor<?xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"max(S - 1, 0)">>
  func.return %y, %z : tensor<?xf32>, tensor<?xf32, #ge.dims<"max(S - 1, 0)">>
}
