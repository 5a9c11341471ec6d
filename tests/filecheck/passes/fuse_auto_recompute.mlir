// RUN: ge-opt %s -p ge-fuse-auto --split-input-file | filecheck %s

// A mask made of a row and a column: both kernels that read it make it themselves. Its constant is
// in the second kernel once, although two ops there read one.
// CHECK-LABEL: func.func @mask
// CHECK-NEXT:    %s = ge.fusion "FusedMatMulV2Add"(%x, %w, %r, %c)
// CHECK:           ge.add
// CHECK-NEXT:      ge.add
// CHECK:         %y = ge.fusion "FusedMatMulV2AddMul"(%s, %w, %r, %c)
// CHECK-NEXT:    ^bb0
// CHECK-COUNT-1:   ge.constant
// CHECK-NOT:       ge.constant
// CHECK:           ge.yield
// CHECK:         func.return %y
func.func @mask(%x: tensor<1024x4096xf16>, %w: tensor<4096x4096xf16>, %r: tensor<1x4096xf16>, %c: tensor<1024x1xf16>) -> tensor<1024x4096xf16> {
  %two = ge.constant dense<2.0> : tensor<f16>
  %m = ge.add %r, %c : (tensor<1x4096xf16>, tensor<1024x1xf16>) -> tensor<1024x4096xf16>
  %a = ge.matmul %x, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  %s = ge.add %a, %m : (tensor<1024x4096xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %b = ge.matmul %s, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  %t = ge.add %b, %m : (tensor<1024x4096xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %u = ge.mul %t, %two : (tensor<1024x4096xf16>, tensor<f16>) -> tensor<1024x4096xf16>
  %y = ge.mul %u, %two : (tensor<1024x4096xf16>, tensor<f16>) -> tensor<1024x4096xf16>
  func.return %y : tensor<1024x4096xf16>
}

// -----

// Near miss: the sum is returned as well, so that it is written anyway.
// CHECK-LABEL: func.func @returned
// CHECK:         %m, %y = ge.fusion "FusedAddMatMulV2Add"(%r, %c, 
// CHECK:         func.return %y, %m
func.func @returned(%x: tensor<1024x4096xf16>, %w: tensor<4096x4096xf16>, %r: tensor<1x4096xf16>, %c: tensor<1024x1xf16>) -> (tensor<1024x4096xf16>, tensor<1024x4096xf16>) {
  %m = ge.add %r, %c : (tensor<1x4096xf16>, tensor<1024x1xf16>) -> tensor<1024x4096xf16>
  %a = ge.matmul %x, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  %s = ge.softmax %a axis -1 : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %t = ge.matmul %s, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  %v = ge.add %a, %m : (tensor<1024x4096xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %q = ge.add %t, %m : (tensor<1024x4096xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %y = ge.add %q, %v : (tensor<1024x4096xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  func.return %y, %m : tensor<1024x4096xf16>, tensor<1024x4096xf16>
}

// -----

// Near miss: what goes in is as large as what comes out.
// CHECK-LABEL: func.func @large
// CHECK:         %m, %s = ge.fusion "FusedExp
// CHECK:         %y = ge.fusion "FusedMatMulV2Add"(%s, %w, %m)
func.func @large(%x: tensor<1024x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<1024x4096xf16> {
  %m = ge.exp %x : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %s = ge.softmax %m axis -1 : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %b = ge.matmul %s, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  %y = ge.add %b, %m : (tensor<1024x4096xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  func.return %y : tensor<1024x4096xf16>
}

// -----

// Near miss: a branch reads the sum as well, so that it has to be there before.
// CHECK-LABEL: func.func @in_a_branch
// CHECK:         %m, %a = ge.fusion "FusedAddMul"(%r, %c, %x)
// CHECK:         ge.if
// CHECK:           ge.exp %m
func.func @in_a_branch(%k: tensor<i1>, %x: tensor<4x8xf32>, %r: tensor<1x8xf32>, %c: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %m = ge.add %r, %c : (tensor<1x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %a = ge.mul %x, %m : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = ge.if %k : tensor<i1> -> tensor<4x8xf32> then {
    %e = ge.exp %m : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ge.yield %e : tensor<4x8xf32>
  } else {
    ge.yield %a : tensor<4x8xf32>
  }
  func.return %a, %y : tensor<4x8xf32>, tensor<4x8xf32>
}
