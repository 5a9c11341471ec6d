// RUN: GE_INVALID

// CHECK: expected 'ge.yield' of the result types, got !ge.optional<tensor<2xf32>>
func.func @if_of_an_optional(%c: tensor<i1>, %o: !ge.optional<tensor<2xf32>>) {
  %y = ge.if %c : tensor<i1> -> tensor<2xf32> then {
    ge.yield %o : !ge.optional<tensor<2xf32>>
  } else {
    ge.yield %o : !ge.optional<tensor<2xf32>>
  }
  func.return
}

// -----

// CHECK: expected 'ge.yield' of the result types, got !ge.sequence<tensor<3xf32>>
func.func @if_of_other_items(%c: tensor<i1>, %s: !ge.sequence<tensor<3xf32>>) {
  %y = ge.if %c : tensor<i1> -> !ge.sequence<tensor<2xf32>> then {
    ge.yield %s : !ge.sequence<tensor<3xf32>>
  } else {
    ge.yield %s : !ge.sequence<tensor<3xf32>>
  }
  func.return
}
