// RUN: ge-opt %s -p ge-fuse-auto --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-auto --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// A norm of an input: its sums stay, its elements are computed again for each tile of the product.
// CHECK-LABEL: func.func @norm
// CHECK-NEXT:    %y = ge.fusion "FusedRmsNormMatMulV2"(%x, %w)
func.func @norm(%x: tensor<1024x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<1024x4096xf16> {
  %n = ge.rms_norm %x axis -1 epsilon 1.0e-05 : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %y = ge.matmul %n, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  func.return %y : tensor<1024x4096xf16>
}

// -----

// Near miss: a softmax, whose sums need the exponentials; 128 rows of it are too many.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT:    ge.softmax
// CHECK-NEXT:    ge.matmul
// REMARK: ge-fuse-auto: JoinKernels: ge.matmul: not with ge.softmax
// REMARK-SAME: the computed operands of 'ge.matmul' does not fit on chip with a tile of 128 rows
func.func @softmax(%x: tensor<1024x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<1024x4096xf16> {
  %n = ge.softmax %x axis -1 : (tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %y = ge.matmul %n, %w : (tensor<1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1024x4096xf16>
  func.return %y : tensor<1024x4096xf16>
}

// -----

// Columns of a projection are heads: queries, keys and values of a head never leave the chip.
// CHECK-LABEL: func.func @heads
// CHECK-NEXT:    %o = ge.fusion "FusedBatchMatMulV2FlashAttentionScore"(%x, %w, %c)
// CHECK:         func.return %o
func.func @heads(%x: tensor<1x1024x4096xf16>, %w: tensor<4096x4096xf16>, %c: tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> {
  %p = ge.matmul %x, %w : (tensor<1x1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x1024x4096xf16>
  %h = ge.reshape %p : (tensor<1x1024x4096xf16>) -> tensor<1x1024x32x128xf16>
  %k = ge.transpose %h perm [0, 2, 1, 3] : (tensor<1x1024x32x128xf16>) -> tensor<1x32x1024x128xf16>
  %o = ge.flash_attention %c, %k, %k scale 1.0 : (tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16>
  func.return %o : tensor<1x32x1024x128xf16>
}

// -----

// Near miss: the keys of a head are more than a core's share of half of L2.
// CHECK-LABEL: func.func @long
// CHECK:         ge.matmul
// CHECK:         ge.flash_attention
// REMARK: the keys and values of a head of 'ge.flash_attention' does not fit on chip with a tile of 1 head
// REMARK-SAME: (found 8388608 bytes, wanted at most 4194304 bytes of L2) [COST]
func.func @long(%x: tensor<1x32768x4096xf16>, %w: tensor<4096x4096xf16>, %c: tensor<1x32x32768x128xf16>) -> tensor<1x32x32768x128xf16> {
  %p = ge.matmul %x, %w : (tensor<1x32768x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x32768x4096xf16>
  %h = ge.reshape %p : (tensor<1x32768x4096xf16>) -> tensor<1x32768x32x128xf16>
  %k = ge.transpose %h perm [0, 2, 1, 3] : (tensor<1x32768x32x128xf16>) -> tensor<1x32x32768x128xf16>
  %o = ge.flash_attention %c, %k, %c scale 1.0 : (tensor<1x32x32768x128xf16>, tensor<1x32x32768x128xf16>, tensor<1x32x32768x128xf16>) -> tensor<1x32x32768x128xf16>
  func.return %o : tensor<1x32x32768x128xf16>
}

// -----

// Near miss: heads take turns in the columns.
// CHECK-LABEL: func.func @turns
// CHECK:         ge.matmul
// CHECK:         ge.flash_attention
// REMARK: ge-fuse-auto: JoinKernels: ge.flash_attention: not with ge.transpose
// REMARK-SAME: [COST]
func.func @turns(%x: tensor<1x1024x4096xf16>, %w: tensor<4096x4096xf16>, %c: tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> {
  %p = ge.matmul %x, %w : (tensor<1x1024x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x1024x4096xf16>
  %h = ge.reshape %p : (tensor<1x1024x4096xf16>) -> tensor<1x1024x128x32xf16>
  %k = ge.transpose %h perm [0, 3, 1, 2] : (tensor<1x1024x128x32xf16>) -> tensor<1x32x1024x128xf16>
  %o = ge.flash_attention %c, %k, %k scale 1.0 : (tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16>
  func.return %o : tensor<1x32x1024x128xf16>
}

// -----

// Near miss: 512 tiles of rows are 22 rounds, each of which reads 128 MiB of weights anew.
// CHECK-LABEL: func.func @rounds
// CHECK-NEXT:    ge.matmul
// CHECK-NEXT:    ge.matmul
// REMARK: tiles would read operands from HBM again (found 2818572288 bytes more
func.func @rounds(%x: tensor<65536x131072xf16>, %v: tensor<131072x256xf16>, %w: tensor<256x131072xf16>) -> tensor<65536x131072xf16> {
  %a = ge.matmul %x, %v : (tensor<65536x131072xf16>, tensor<131072x256xf16>) -> tensor<65536x256xf16>
  %y = ge.matmul %a, %w : (tensor<65536x256xf16>, tensor<256x131072xf16>) -> tensor<65536x131072xf16>
  func.return %y : tensor<65536x131072xf16>
}

// -----

// A recurrence takes what moves its input and its output along.
// CHECK-LABEL: func.func @recurrence
// CHECK-NEXT:    %y = ge.fusion "FusedCommonGRU"(%x, %w, %r)
func.func @recurrence(%x: tensor<2x7x16xf32>, %w: tensor<1x48x16xf32>, %r: tensor<1x48x16xf32>) -> tensor<2x1x7x16xf32> {
  %t = ge.transpose %x perm [1, 0, 2] : (tensor<2x7x16xf32>) -> tensor<7x2x16xf32>
  %g, %h = ge.gru %t, %w, %r direction "forward" : tensor<7x2x16xf32>, tensor<1x48x16xf32>, tensor<1x48x16xf32> -> tensor<7x1x2x16xf32>, tensor<1x2x16xf32>
  %y = ge.transpose %g perm [2, 1, 0, 3] : (tensor<7x1x2x16xf32>) -> tensor<2x1x7x16xf32>
  func.return %y : tensor<2x1x7x16xf32>
}
