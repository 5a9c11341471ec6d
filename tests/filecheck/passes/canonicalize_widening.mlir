// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @narrow
// CHECK-NEXT: %[[C:.*]] = ge.constant dense<95> : tensor<i32>
// CHECK-NEXT: ge.equal %x, %[[C]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
// CHECK-NEXT: func.return
func.func @narrow(%x: tensor<4xi32>) -> tensor<4xi1> {
  %c = ge.constant dense<95> : tensor<i64>
  %w = ge.cast %x : (tensor<4xi32>) -> tensor<4xi64>
  %y = ge.equal %w, %c : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
  func.return %y : tensor<4xi1>
}

// No value of the narrow type; a cast that loses values; a float.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: ge.cast
func.func @others(%x: tensor<4xi8>, %z: tensor<4xi64>, %f: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %c = ge.constant dense<300> : tensor<i64>
  %d = ge.constant dense<3> : tensor<i32>
  %e = ge.constant dense<3> : tensor<i64>
  %w = ge.cast %x : (tensor<4xi8>) -> tensor<4xi64>
  %v = ge.cast %z : (tensor<4xi64>) -> tensor<4xi32>
  %u = ge.cast %f : (tensor<4xf32>) -> tensor<4xi64>
  %p = ge.equal %w, %c : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
  %q = ge.equal %v, %d : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  %r = ge.equal %u, %e : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
  func.return %p, %q, %r : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
