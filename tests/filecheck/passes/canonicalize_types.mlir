// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s

// Negative: the function returns the type that it declares, though the value has a better one.
// CHECK-LABEL: func.func @returned
// CHECK-NEXT:    %y = ge.transpose %x perm [0, 1] : (tensor<3x2xi32>) -> tensor<?x?xi32>
// CHECK-NEXT:    func.return %y
func.func @returned(%x: tensor<3x2xi32>) -> tensor<?x?xi32> {
  %y = ge.transpose %x perm [0, 1] : (tensor<3x2xi32>) -> tensor<?x?xi32>
  func.return %y : tensor<?x?xi32>
}

// -----

// Ops of ge take a better type.
// CHECK-LABEL: func.func @used
// CHECK-NEXT:    ge.neg %x : (tensor<3x2xi32>) -> tensor<?x?xi32>
func.func @used(%x: tensor<3x2xi32>) -> tensor<?x?xi32> {
  %y = ge.transpose %x perm [0, 1] : (tensor<3x2xi32>) -> tensor<?x?xi32>
  %z = ge.neg %y : (tensor<?x?xi32>) -> tensor<?x?xi32>
  func.return %z : tensor<?x?xi32>
}

// -----

// What is new takes the type of what it replaces.
// CHECK-LABEL: func.func @merged
// CHECK-NEXT:    ge.transpose %x perm [2, 0, 1] : (tensor<3x2x4xi32>) -> tensor<?x?x?xi32>
func.func @merged(%x: tensor<3x2x4xi32>) -> tensor<?x?x?xi32> {
  %y = ge.transpose %x perm [1, 2, 0] : (tensor<3x2x4xi32>) -> tensor<?x?x?xi32>
  %z = ge.transpose %y perm [1, 2, 0] : (tensor<?x?x?xi32>) -> tensor<?x?x?xi32>
  func.return %z : tensor<?x?x?xi32>
}

// -----

// Negative: pieces of a tensor that are all of it, yielded and returned.
// CHECK-LABEL: func.func @pieces
// CHECK:           ge.tile
// CHECK:           ge.pad
// CHECK:           ge.concat
func.func @pieces(%p: tensor<i1>, %x: tensor<3x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %y = ge.if %p : tensor<i1> -> tensor<?x2xf32> then {
    %a = ge.tile %x repeats [1, 1] : (tensor<3x2xf32>) -> tensor<?x2xf32>
    ge.yield %a : tensor<?x2xf32>
  } else {
    %b = ge.pad %x pads [0, 0, 0, 0] mode "constant" : (tensor<3x2xf32>) -> tensor<?x2xf32>
    ge.yield %b : tensor<?x2xf32>
  }
  %c = ge.concat %x axis 0 : (tensor<3x2xf32>) -> tensor<?x2xf32>
  func.return %y, %c : tensor<?x2xf32>, tensor<?x2xf32>
}
