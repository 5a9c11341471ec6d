// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @decided
// CHECK-NEXT: func.return %a, %b
func.func @decided(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %true = ge.constant dense<true> : tensor<4xi1>
  %false = ge.constant dense<false> : tensor<i1>
  %x = ge.select %true, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = ge.select %false, %a, %b : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %x, %y : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @undecided
// CHECK: ge.select
func.func @undecided(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %c = ge.constant dense<[true, false]> : tensor<2xi1>
  %x = ge.select %c, %a, %b : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %x : tensor<2xf32>
}

// CHECK-LABEL: func.func @decided_and_broadcast
// CHECK-NEXT: ge.broadcast_to %a : (tensor<f32>) -> tensor<4xf32>
func.func @decided_and_broadcast(%a: tensor<f32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %true = ge.constant dense<true> : tensor<i1>
  %x = ge.select %true, %a, %b : (tensor<i1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_choice
// CHECK-NEXT: func.return %a
func.func @no_choice(%c: tensor<4xi1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %x = ge.select %c, %a, %a : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @negated
// CHECK-NEXT: ge.select %c, %b, %a
func.func @negated(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %n = ge.logical_not %c : (tensor<4xi1>) -> tensor<4xi1>
  %x = ge.select %n, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}
