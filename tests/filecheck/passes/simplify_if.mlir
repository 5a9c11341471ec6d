// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --allow-unregistered-dialect | filecheck %s
// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --allow-unregistered-dialect --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @constant_condition
// CHECK-NEXT:    %a = ge.relu %x
// CHECK-NEXT:    %n = ge.neg %a
// CHECK-NEXT:    func.return %n
// REMARK: [passed] ge-simplify-control-flow: InlineDecidedIf: ge.if: condition is true: its branch takes the place
func.func @constant_condition(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = ge.constant dense<true> : tensor<1xi1>
  %a = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.if %p : tensor<1xi1> -> tensor<4xf32> then {
    %n = ge.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %n : tensor<4xf32>
  } else {
    ge.yield %a : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// Types that become narrower do so down to the result of the function.
// CHECK-LABEL: func.func @narrower_types
// CHECK-SAME:    -> tensor<2x4xf32>
// CHECK-NEXT:    %r = ge.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @narrower_types(%x: tensor<2x4xf32>, %z: tensor<3x4xf32>) -> tensor<?x4xf32> {
  %p = ge.constant dense<true> : tensor<i1>
  %y = ge.if %p : tensor<i1> -> tensor<?x4xf32> then {
    ge.yield %x : tensor<2x4xf32>
  } else {
    ge.yield %z : tensor<3x4xf32>
  }
  %r = ge.relu %y : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %r : tensor<?x4xf32>
}

// -----

// Negative: an op of another dialect wants the type that it has.
// CHECK-LABEL: func.func @foreign_user
// CHECK:         ge.if
// REMARK: [missed] ge-simplify-control-flow: InlineDecidedIf: ge.if: a result of type tensor<?x4xf32> can not become one of tensor<2x4xf32> [SHAPE]
func.func @foreign_user(%x: tensor<2x4xf32>, %z: tensor<3x4xf32>) {
  %p = ge.constant dense<true> : tensor<i1>
  %y = ge.if %p : tensor<i1> -> tensor<?x4xf32> then {
    ge.yield %x : tensor<2x4xf32>
  } else {
    ge.yield %z : tensor<3x4xf32>
  }
  "foo.bar"(%y) : (tensor<?x4xf32>) -> ()
  func.return
}

// -----

// CHECK-LABEL: func.func @equal_branches
// CHECK-NEXT:    %n = ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    func.return %n
// REMARK: InlineDecidedIf: ge.if: both branches are the same
func.func @equal_branches(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf16> {
  %y = ge.if %p : tensor<i1> -> tensor<4xf16> then {
    %n = ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
    ge.yield %n : tensor<4xf16>
  } else {
    %m = ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
    ge.yield %m : tensor<4xf16>
  }
  func.return %y : tensor<4xf16>
}

// -----

// Negative: only the types of the results tell the branches apart.
// CHECK-LABEL: func.func @other_types
// CHECK:         ge.if
// REMARK: [missed] ge-simplify-control-flow: InlineDecidedIf: ge.if: condition is not constant [CONST]
func.func @other_types(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    %n = ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
    %o = ge.cast %n : (tensor<4xf16>) -> tensor<4xf32>
    ge.yield %o : tensor<4xf32>
  } else {
    %m = ge.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
    %q = ge.cast %m : (tensor<4xbf16>) -> tensor<4xf32>
    ge.yield %q : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// In a branch of `p` the inner branches on `p`, and on its negation, are decided.
// CHECK-LABEL: func.func @same_condition
// CHECK:         ge.if %p
// CHECK-NEXT:      %m = ge.neg %x
// CHECK-NEXT:      ge.yield %m
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %r = ge.relu %x
// CHECK-NEXT:      ge.yield %r
// CHECK-NEXT:    }
// REMARK: ReplaceKnownCondition: ge.if: condition is known in the branches that use it
func.func @same_condition(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %q = ge.logical_not %p : (tensor<i1>) -> tensor<i1>
  %y = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    %a = ge.if %p : tensor<i1> -> tensor<4xf32> then {
      %m = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
      ge.yield %m : tensor<4xf32>
    } else {
      ge.yield %x : tensor<4xf32>
    }
    ge.yield %a : tensor<4xf32>
  } else {
    %b = ge.if %q : tensor<i1> -> tensor<4xf32> then {
      %r = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      ge.yield %r : tensor<4xf32>
    } else {
      ge.yield %x : tensor<4xf32>
    }
    ge.yield %b : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// Negative: another condition; and a random op stays even where nobody reads it.
// CHECK-LABEL: func.func @other_condition
// CHECK:         ge.if %p
// CHECK:           ge.if %q
// CHECK:             ge.host_call
func.func @other_condition(%p: tensor<i1>, %q: tensor<i1>, %x: tensor<4xf32>) {
  %y = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    %a = ge.if %q : tensor<i1> -> tensor<4xf32> then {
      %r = ge.host_call "ai.onnx::RandomNormalLike" version 1 (%x) : (tensor<4xf32>) -> tensor<4xf32>
      ge.yield %r : tensor<4xf32>
    } else {
      ge.yield %x : tensor<4xf32>
    }
    ge.yield %a : tensor<4xf32>
  } else {
    ge.yield %x : tensor<4xf32>
  }
  func.return
}
