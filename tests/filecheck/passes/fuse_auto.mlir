// RUN: ge-opt %s -p ge-fuse-auto --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-auto --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s -p ge-fuse-auto --split-input-file --remarks=passed 2>&1 >/dev/null | filecheck %s --check-prefix=PASSED

// A chain; the constant is part of the kernel.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %r = ge.fusion "FusedAddMulRelu"(%x, %y)
// CHECK:         func.return %r
// PASSED: ge-fuse-auto: JoinKernels: ge.relu: 3 ops fused into 'FusedAddMulRelu'
func.func @chain(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = ge.constant dense<0.5> : tensor<f32>
  %a = ge.add %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = ge.mul %a, %c : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %r = ge.relu %m : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %r : tensor<64x64xf32>
}

// -----

// An inner value that is read outside becomes a result; a view goes along.
// CHECK-LABEL: func.func @outputs
// CHECK-NEXT:    %a, %r = ge.fusion "FusedAddRelu"(%x, %y)
// CHECK:           ge.reshape
// CHECK:         func.return %a, %r
func.func @outputs(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<4096xf32>) {
  %a = ge.add %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = ge.reshape %a : (tensor<64x64xf32>) -> tensor<4096xf32>
  %r = ge.relu %v : (tensor<4096xf32>) -> tensor<4096xf32>
  func.return %a, %r : tensor<64x64xf32>, tensor<4096xf32>
}

// -----

// Two readers of one value, and a reduction with what is before and behind it.
// CHECK-LABEL: func.func @siblings
// CHECK-NEXT:    %s, %n = ge.fusion "FusedExpSoftmaxV2Neg"(%x)
func.func @siblings(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = ge.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = ge.softmax %e axis -1 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = ge.neg %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %s, %n : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Negative: a host op stands between, so that the kernel would wait for itself.
// CHECK-LABEL: func.func @cycle
// CHECK:         ge.exp
// CHECK-NEXT:    ge.host_call
// CHECK-NEXT:    ge.add
// REMARK: ge-fuse-auto: JoinKernels: ge.add: not with ge.exp, which would save 16384 bytes: a value goes out and comes back [ORDER]
func.func @cycle(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = ge.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = ge.host_call "com.example::Op" version 1 (%e) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = ge.add %e, %h : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// -----

// Negative: a norm over 4096 columns behind a product wants 128 rows in L0C; the sum goes along.
// CHECK-LABEL: func.func @wide
// CHECK:         ge.fusion "FusedMatMulV2Add"
// CHECK:         ge.rms_norm
// REMARK: ge-fuse-auto: JoinKernels: ge.rms_norm: not with
// REMARK-SAME: the result of 'ge.matmul' does not fit on chip with a tile of 128 rows
// REMARK-SAME: (found 2097152 bytes, wanted at most 131072 bytes of L0C) [COST]
func.func @wide(%x: tensor<1024x4096xf16>, %w: tensor<4096x4096xf16>, %r: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %m = ge.matmul %x, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  %a = ge.add %m, %r : (tensor<1024x4096xf16>, tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %y = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  func.return %y : tensor<1024x4096xf16>
}

// -----

// The kernel of a rule that is not built in stays as it is.
// CHECK-LABEL: func.func @named
// CHECK:         ge.fusion "Mine"
// CHECK:         ge.neg
func.func @named(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = ge.fusion "Mine"(%x) rule "TheirRule" : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%b: tensor<64x64xf32>):
    %e = ge.exp %b : (tensor<64x64xf32>) -> tensor<64x64xf32>
    ge.yield %e : tensor<64x64xf32>
  }
  %n = ge.neg %a : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %n : tensor<64x64xf32>
}
