// RUN: ge-opt %s -p 'ge-outline-repeats{least-repeats=5 least-ops=1}' --split-input-file | filecheck %s

// Every block keeps its own weight; the pair of negations goes in all of them.
// CHECK-LABEL: func.func @blocks
// CHECK-COUNT-6: ge.matmul
// CHECK-NOT: ge.neg
// CHECK: func.return
func.func @blocks(%x: tensor<2x2xf32>, %a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %c: tensor<2x2xf32>, %d: tensor<2x2xf32>, %e: tensor<2x2xf32>, %f: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %a0 = ge.matmul %x, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %a1 = ge.neg %a0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %a2 = ge.neg %a1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b0 = ge.matmul %a2, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b1 = ge.neg %b0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b2 = ge.neg %b1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c0 = ge.matmul %b2, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c1 = ge.neg %c0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c2 = ge.neg %c1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d0 = ge.matmul %c2, %d : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d1 = ge.neg %d0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d2 = ge.neg %d1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e0 = ge.matmul %d2, %e : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e1 = ge.neg %e0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %e2 = ge.neg %e1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %f0 = ge.matmul %e2, %f : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %f1 = ge.neg %f0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %f2 = ge.neg %f1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %f2 : tensor<2x2xf32>
}

// -----

// Too few blocks: nothing happens.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-4: ge.neg
func.func @few(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = ge.neg %x : (tensor<2xf32>) -> tensor<2xf32>
  %b = ge.neg %a : (tensor<2xf32>) -> tensor<2xf32>
  %c = ge.neg %b : (tensor<2xf32>) -> tensor<2xf32>
  %d = ge.neg %c : (tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}
