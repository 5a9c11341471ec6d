// RUN: ge-opt %s -p ge-normalize-order --allow-unregistered-dialect | filecheck %s

// Depth first from the result, operands in order.
// CHECK-LABEL: func.func @branches
// CHECK-NEXT: %a = ge.neg
// CHECK-NEXT: %b = ge.relu %a
// CHECK-NEXT: %c = ge.exp
// CHECK-NEXT: %d = ge.tanh %c
// CHECK-NEXT: %e = ge.sub %b, %d
func.func @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %d = ge.tanh %c : (tensor<4xf32>) -> tensor<4xf32>
  %b = ge.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %e = ge.sub %b, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// Near miss: ops with effects keep their order, and what they need comes before them.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT: %b = ge.relu
// CHECK-NEXT: "other.one"(%b)
// CHECK-NEXT: %a = ge.neg
// CHECK-NEXT: "other.two"(%a)
// CHECK-NEXT: return %a, %b
func.func @effects(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  "other.one"(%b) : (tensor<4xf32>) -> ()
  "other.two"(%a) : (tensor<4xf32>) -> ()
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}
