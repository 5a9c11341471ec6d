// RUN: not ge-opt %s -p ge-cse 2>&1 | filecheck %s

// An op comes after what it reads, in every region that runs from its first op to its last.
// CHECK:     ge-opt: error: GE0311: 'ge.neg' (%a) in @later: reads %b before it is there
// CHECK-NOT: {{.}}
func.func @later(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = ge.neg %b : (tensor<4xf32>) -> tensor<4xf32>
  %b = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
