// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

!u = tensor<2x3xf32>
!v = tensor<1x3xf32>
!x = tensor<3x3xf32>

// CHECK-LABEL: func.func @rows
// CHECK-NEXT: ge.concat %u, %v axis 0
// CHECK-NEXT: func.return
func.func @rows(%x: !x, %u: !u, %v: !v) -> !x {
  %i = ge.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %j = ge.constant dense<[[2]]> : tensor<1x1xi64>
  %a = ge.scatter_nd %x, %j, %v reduction "none" : (!x, tensor<1x1xi64>, !v) -> !x
  %b = ge.scatter_nd %a, %i, %u reduction "none" : (!x, tensor<2x1xi64>, !u) -> !x
  func.return %b : !x
}

// Coordinates of all elements of columns.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: ge.concat %v, %u axis 1
// CHECK-NEXT: func.return
func.func @columns(%x: tensor<2x3xf32>, %u: tensor<2x2xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %i = ge.constant dense<[[[0, 1], [0, 2]], [[1, 1], [1, 2]]]> : tensor<2x2x2xi64>
  %j = ge.constant dense<[[[0, 0]], [[1, 0]]]> : tensor<2x1x2xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "none" : (tensor<2x3xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %b = ge.scatter_nd %a, %j, %v reduction "none" : (tensor<2x3xf32>, tensor<2x1x2xi64>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// The same coordinates, computed.
// CHECK-LABEL: func.func @computed
// CHECK-NEXT: ge.concat %v, %u axis 1
// CHECK-NEXT: func.return
func.func @computed(%x: tensor<2x3xf32>, %u: tensor<2x2xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %r = ge.range start 0 : i64 delta 1 : i64 : tensor<2xi64>
  %c = ge.range start 1 : i64 delta 1 : i64 : tensor<2xi64>
  %r0 = ge.reshape %r : (tensor<2xi64>) -> tensor<2x1x1xi64>
  %r1 = ge.broadcast_to %r0 : (tensor<2x1x1xi64>) -> tensor<2x2x1xi64>
  %c0 = ge.reshape %c : (tensor<2xi64>) -> tensor<1x2x1xi64>
  %c1 = ge.broadcast_to %c0 : (tensor<1x2x1xi64>) -> tensor<2x2x1xi64>
  %i = ge.concat %r1, %c1 axis 2 : (tensor<2x2x1xi64>, tensor<2x2x1xi64>) -> tensor<2x2x2xi64>
  %j = ge.constant dense<[[[0, 0]], [[1, 0]]]> : tensor<2x1x2xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "none" : (tensor<2x3xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %b = ge.scatter_nd %a, %j, %v reduction "none" : (tensor<2x3xf32>, tensor<2x1x2xi64>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @all
// CHECK-NEXT: func.return %u
func.func @all(%x: !x, %u: !x) -> !x {
  %i = ge.constant dense<[[0], [1], [2]]> : tensor<3x1xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "none" : (!x, tensor<3x1xi64>, !x) -> !x
  func.return %a : !x
}

// A row is left, rows are written twice, in another order, or added.
// CHECK-LABEL: func.func @not_all
// CHECK: ge.scatter_nd
func.func @not_all(%x: !x, %u: !u) -> !x {
  %i = ge.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "none" : (!x, tensor<2x1xi64>, !u) -> !x
  func.return %a : !x
}

// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: ge.scatter_nd
func.func @twice(%x: !x, %u: !u, %v: !v) -> !x {
  %i = ge.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %j = ge.constant dense<[[1]]> : tensor<1x1xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "none" : (!x, tensor<2x1xi64>, !u) -> !x
  %b = ge.scatter_nd %a, %j, %v reduction "none" : (!x, tensor<1x1xi64>, !v) -> !x
  func.return %b : !x
}

// CHECK-LABEL: func.func @swapped
// CHECK: ge.scatter_nd
func.func @swapped(%x: !u, %u: !u) -> !u {
  %i = ge.constant dense<[[1], [0]]> : tensor<2x1xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "none" : (!u, tensor<2x1xi64>, !u) -> !u
  func.return %a : !u
}

// CHECK-LABEL: func.func @added
// CHECK: ge.scatter_nd
func.func @added(%x: !u, %u: !u) -> !u {
  %i = ge.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "add" : (!u, tensor<2x1xi64>, !u) -> !u
  func.return %a : !u
}

// Every second row, of parts that are transposed alike.
// CHECK-LABEL: func.func @alternately
// CHECK-NEXT: %[[U:.*]] = ge.reshape %u : (tensor<3x2xf32>) -> tensor<3x2x1xf32>
// CHECK-NEXT: %[[V:.*]] = ge.reshape %v : (tensor<3x2xf32>) -> tensor<3x2x1xf32>
// CHECK-NEXT: %[[J:.*]] = ge.concat %[[U]], %[[V]] axis 2
// CHECK-NEXT: %[[W:.*]] = ge.reshape %[[J]] : (tensor<3x2x2xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: ge.transpose %[[W]] perm [1, 0]
// CHECK-NEXT: func.return
func.func @alternately(%x: tensor<4x3xf32>, %u: tensor<3x2xf32>, %v: tensor<3x2xf32>) -> tensor<4x3xf32> {
  %i = ge.constant dense<[[0], [2]]> : tensor<2x1xi64>
  %j = ge.constant dense<[[1], [3]]> : tensor<2x1xi64>
  %ut = ge.transpose %u perm [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %vt = ge.transpose %v perm [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %a = ge.scatter_nd %x, %i, %ut reduction "none" : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %b = ge.scatter_nd %a, %j, %vt reduction "none" : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return %b : tensor<4x3xf32>
}

// Every second row of one kind only.
// CHECK-LABEL: func.func @half
// CHECK: ge.scatter_nd
func.func @half(%x: tensor<4x3xf32>, %u: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %i = ge.constant dense<[[0], [2]]> : tensor<2x1xi64>
  %a = ge.scatter_nd %x, %i, %u reduction "none" : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return %a : tensor<4x3xf32>
}

// Rows and columns by the index of each element.
// CHECK-LABEL: func.func @elements_of_rows
// CHECK-NEXT: ge.concat %u, %v axis 0
// CHECK-NEXT: func.return
func.func @elements_of_rows(%x: !x, %u: !u, %v: !v) -> !x {
  %i = ge.constant dense<[[0, 0, 0], [1, 1, 1]]> : tensor<2x3xi64>
  %j = ge.constant dense<[[2, 2, 2]]> : tensor<1x3xi64>
  %a = ge.scatter_elements %x, %j, %v axis 0 reduction "none" : (!x, tensor<1x3xi64>, !v) -> !x
  %b = ge.scatter_elements %a, %i, %u axis 0 reduction "none" : (!x, tensor<2x3xi64>, !u) -> !x
  func.return %b : !x
}

// CHECK-LABEL: func.func @elements_of_columns
// CHECK-NEXT: ge.concat %v, %u axis 1
// CHECK-NEXT: func.return
func.func @elements_of_columns(%x: tensor<2x3xf32>, %u: tensor<2x2xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
  %i = ge.constant dense<[[1, 2], [1, 2]]> : tensor<2x2xi64>
  %a = ge.scatter_elements %x, %i, %u axis -1 reduction "none" : (tensor<2x3xf32>, tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %k = ge.constant dense<[[0], [0]]> : tensor<2x1xi64>
  %b = ge.scatter_elements %a, %k, %v axis 1 reduction "none" : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x1xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// Rows that are not whole, indices of one row that differ, and updates that are added.
// CHECK-LABEL: func.func @elements_of_part
// CHECK-COUNT-2: ge.scatter_elements
func.func @elements_of_part(%x: tensor<2x3xf32>, %u: tensor<1x2xf32>, %v: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %i = ge.constant dense<[[0, 0]]> : tensor<1x2xi64>
  %j = ge.constant dense<[[1, 1, 1]]> : tensor<1x3xi64>
  %a = ge.scatter_elements %x, %i, %u axis 0 reduction "none" : (tensor<2x3xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<2x3xf32>
  %b = ge.scatter_elements %a, %j, %v axis 0 reduction "none" : (tensor<2x3xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @elements_crossed
// CHECK: ge.scatter_elements
func.func @elements_crossed(%x: tensor<2x3xf32>, %u: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %i = ge.constant dense<[[0, 1, 0], [1, 0, 1]]> : tensor<2x3xi64>
  %a = ge.scatter_elements %x, %i, %u axis 0 reduction "none" : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @elements_added
// CHECK: ge.scatter_elements
func.func @elements_added(%x: tensor<2x3xf32>, %u: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %i = ge.constant dense<[[0, 0, 0], [1, 1, 1]]> : tensor<2x3xi64>
  %a = ge.scatter_elements %x, %i, %u axis 0 reduction "add" : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}
