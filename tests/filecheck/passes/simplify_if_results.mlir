// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --allow-unregistered-dialect | filecheck %s
// RUN: ge-opt %s -p ge-simplify-control-flow --split-input-file --allow-unregistered-dialect --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// What is known without the `if`: a value from outside, a constant, the condition and its negation.
// CHECK-LABEL: func.func @known_results
// CHECK-NEXT:    %{{.*}} = ge.constant dense<7> : tensor<i64>
// CHECK-NEXT:    %[[N:.*]] = ge.logical_not %p
// CHECK-NEXT:    func.return %x, %{{.*}}, %p, %[[N]]
// REMARK: [passed] ge-simplify-control-flow: ForwardIfResult: ge.if: results known without it replaced
func.func @known_results(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>, tensor<i1>, tensor<i1>) {
  %a, %b, %c, %d = ge.if %p : tensor<i1> -> tensor<4xf32>, tensor<i64>, tensor<i1>, tensor<i1> then {
    %t = ge.constant dense<true> : tensor<i1>
    %f = ge.constant dense<false> : tensor<i1>
    %s = ge.constant dense<7> : tensor<i64>
    ge.yield %x, %s, %t, %f : tensor<4xf32>, tensor<i64>, tensor<i1>, tensor<i1>
  } else {
    %t = ge.constant dense<true> : tensor<i1>
    %f = ge.constant dense<false> : tensor<i1>
    %s = ge.constant dense<7> : tensor<i64>
    ge.yield %x, %s, %f, %t : tensor<4xf32>, tensor<i64>, tensor<i1>, tensor<i1>
  }
  func.return %a, %b, %c, %d : tensor<4xf32>, tensor<i64>, tensor<i1>, tensor<i1>
}

// -----

// Negative: zeros of different signs are different values.
// CHECK-LABEL: func.func @signed_zeros
// CHECK:         ge.if
func.func @signed_zeros(%p: tensor<i1>) -> tensor<f32> {
  %y = ge.if %p : tensor<i1> -> tensor<f32> then {
    %z = ge.constant dense<0.0> : tensor<f32>
    ge.yield %z : tensor<f32>
  } else {
    %z = ge.constant dense<-0.0> : tensor<f32>
    ge.yield %z : tensor<f32>
  }
  func.return %y : tensor<f32>
}

// -----

// Unused and repeated results go, with what only they need.
// CHECK-LABEL: func.func @unused_result
// CHECK-NEXT:    %b = ge.if %p : tensor<i1> -> tensor<4xf32> then {
// CHECK-NEXT:      %m = ge.neg %x
// CHECK-NEXT:      ge.yield %m : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      ge.yield %x : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %b, %b
// REMARK: DropUnusedIfResult: ge.if: 2 unused results dropped
func.func @unused_result(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a, %b, %c = ge.if %p : tensor<i1> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32> then {
    %n = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    %m = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %n, %m, %m : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } else {
    ge.yield %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %b, %c : tensor<4xf32>, tensor<4xf32>
}
