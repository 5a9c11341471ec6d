// RUN: ge-opt %s -p ge-set-target,ge-bufferize,ge-tile-kernels --split-input-file | filecheck %s
// RUN: ge-opt %s -p "ge-set-target,ge-bufferize,ge-tile-kernels{ub-limit=8192 l0c-limit=4096 l1-limit=16384}" --split-input-file | filecheck %s --check-prefix=SMALL
// RUN: ge-opt %s -p "ge-set-target,ge-bufferize,ge-tile-kernels{ub-limit=8192 l0c-limit=4096 l1-limit=16384}" --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// One tile on the whole chip, in places that do not overlap; parts of the result where there is less.
// CHECK:       ge_exec.kernel @MatMulRelu_0 "MatMulRelu" engine "cube" flops {{[0-9]+}} tiles <[],
// CHECK-SAME:    "in0" l1[0, 8192] (-, -), "in1" l1[8192, 8192] (-, -),
// CHECK-SAME:    "matmul0" l0c[0, 16384] (-, -), "relu1" ub[0, 16384] (-, -)]> {
// SMALL:       ge_exec.kernel @MatMulRelu_0 "MatMulRelu" engine "cube" flops {{[0-9]+}} tiles <[64 by 32, 64 by 32],
// SMALL-SAME:    "in0" l1[0, 4096 x 2] (0, -), "in1" l1[8192, 4096 x 2] (-, 1),
// SMALL-SAME:    "matmul0" l0c[0, 4096] (0, 1), "relu1" ub[0, 4096 x 2] (0, 1)]> {
func.func @rows(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = ge.fusion "MatMulRelu" (%x, %w) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %m = ge.matmul %a, %b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %r = ge.relu %m : (tensor<64x64xf16>) -> tensor<64x64xf16>
    ge.yield %r : tensor<64x64xf16>
  }
  func.return %y : tensor<64x64xf16>
}

// -----

// Scores and weights of an attention are in no arena; keys are passed over in blocks.
// CHECK:       ge_exec.kernel @FlashAttentionScore_0 {{.*}} tiles <[],
// CHECK-SAME:    "flash_attention0.scores" l0c[0, 16384] (-, -, -, -), "flash_attention0.weights" l1[0, 16384] (-, -, -, -)]>
// SMALL:       ge_exec.kernel @FlashAttentionScore_0 {{.*}} tiles <[2 by 1, 32 by 8],
// SMALL-SAME:    "in0" l1[{{[0-9]+}}, 256 x 2] (-, 0, 1, -)
// SMALL-SAME:    "flash_attention0.scores" l0c[{{[0-9]+}}, 2048] (-, 0, 1, -)
// SMALL:       ge_exec.plan @attention
// SMALL-NOT:     ge_exec.buffer : memref<1x2x32x64x
func.func @attention(%q: tensor<1x2x32x16xf16>, %k: tensor<1x2x64x16xf16>) -> tensor<1x2x32x16xf16> {
  %y = ge.flash_attention %q, %k, %k scale 2.500000e-01 causal
    : (tensor<1x2x32x16xf16>, tensor<1x2x64x16xf16>, tensor<1x2x64x16xf16>) -> tensor<1x2x32x16xf16>
  func.return %y : tensor<1x2x32x16xf16>
}

// -----

// Rows of a norm of what is cheap to make again are longer than the memory: they pass in blocks.
// SMALL:       ge_exec.kernel @AddNorm_0 "AddNorm" engine "vector" flops {{[0-9]+}} tiles <[],
// SMALL-SAME:    "in0" ub[0, 2688] (-, -), "add0" ub[2688, 2688] (-, -), "rms_norm1" ub[5376, 2688]
func.func @long_rows(%x: tensor<2x2048xf32>) -> tensor<2x2048xf32> {
  %y = ge.fusion "AddNorm" (%x) : (tensor<2x2048xf32>) -> tensor<2x2048xf32> {
  ^bb0(%a: tensor<2x2048xf32>):
    %s = ge.add %a, %a : (tensor<2x2048xf32>, tensor<2x2048xf32>) -> tensor<2x2048xf32>
    %n = ge.rms_norm %s axis -1 epsilon 1.000000e-05 : (tensor<2x2048xf32>) -> tensor<2x2048xf32>
    ge.yield %n : tensor<2x2048xf32>
  }
  func.return %y : tensor<2x2048xf32>
}

// -----

// Near miss, a row that does not fit: the kernel is split into its ops, in the order of its body.
// CHECK:       ge_exec.kernel @SoftmaxNorm_0
// CHECK:         ge_exec.launch 0 @SoftmaxNorm_0
// SMALL-NOT:   ge_exec.kernel @SoftmaxNorm_0
// SMALL:       ge_exec.kernel @SoftmaxV2_0 {{.*}} tiles <[], ["in0" ub[0, 4096] (-, -), "softmax0" ub[4096, 4096] (-, -)]>
// SMALL:       ge_exec.launch 0 @SoftmaxV2_0
// SMALL-NEXT:  ge_exec.launch 1 @RmsNorm_0
// REMARK:      remark: [missed] ge-tile-kernels: tile: ge_exec.kernel: 'SoftmaxNorm_0' does not fit on the chip: its smallest tile needs
// REMARK-SAME: [COST]
func.func @two_passes(%x: tensor<2x2048xf32>) -> tensor<2x2048xf32> {
  %y = ge.fusion "SoftmaxNorm" (%x) : (tensor<2x2048xf32>) -> tensor<2x2048xf32> {
  ^bb0(%a: tensor<2x2048xf32>):
    %s = ge.softmax %a axis -1 : (tensor<2x2048xf32>) -> tensor<2x2048xf32>
    %n = ge.rms_norm %s axis -1 epsilon 1.000000e-05 : (tensor<2x2048xf32>) -> tensor<2x2048xf32>
    ge.yield %n : tensor<2x2048xf32>
  }
  func.return %y : tensor<2x2048xf32>
}

// -----

// A window slides over rows of an image: tiles of the operand have one row more on each side.
// SMALL:       ge_exec.kernel @ConvRelu_0 "ConvRelu" engine "cube" flops {{[0-9]+}} tiles <[16 by 8, 32 by 8, 32 by 16],
// SMALL-SAME:    "in0" l1[{{.*}}] (-, -, 1 halo 1 1, 2 halo 1 1), "in1" l1[{{.*}}] (0, -, -, -),
// SMALL-SAME:    "conv0" l0c[{{.*}}] (-, 0, 1, 2), "relu1" ub[{{.*}}] (-, 0, 1, 2)]> {
func.func @rows_of_images(%x: tensor<1x16x32x32xf16>, %f: tensor<16x16x3x3xf16>) -> tensor<1x16x32x32xf16> {
  %y = ge.fusion "ConvRelu" (%x, %f) : (tensor<1x16x32x32xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x32x32xf16> {
  ^bb0(%a: tensor<1x16x32x32xf16>, %b: tensor<16x16x3x3xf16>):
    %c = ge.conv %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] group 1
      : (tensor<1x16x32x32xf16>, tensor<16x16x3x3xf16>) -> tensor<1x16x32x32xf16>
    %r = ge.relu %c : (tensor<1x16x32x32xf16>) -> tensor<1x16x32x32xf16>
    ge.yield %r : tensor<1x16x32x32xf16>
  }
  func.return %y : tensor<1x16x32x32xf16>
}

// -----

// Keys and values that are computed are taken head by head: those of a head lie in L2.
// SMALL:       ge_exec.kernel @Heads_0 "Heads" engine "cube" flops {{[0-9]+}} tiles <[4 by 1, 64 by 8],
// SMALL-SAME:    "matmul0" l0c[{{.*}}] (-, 0*16)
// SMALL-SAME:    "transpose2" l2[0, 2048] (0, -, -)
func.func @heads(%q: tensor<1x4x64x16xf16>, %x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<1x4x64x16xf16> {
  %y = ge.fusion "Heads" (%q, %x, %w) : (tensor<1x4x64x16xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<1x4x64x16xf16> {
  ^bb0(%a: tensor<1x4x64x16xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>):
    %p = ge.matmul %b, %c : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %r = ge.reshape %p : (tensor<64x64xf16>) -> tensor<64x4x16xf16>
    %t = ge.transpose %r perm [1, 0, 2] : (tensor<64x4x16xf16>) -> tensor<4x64x16xf16>
    %k = ge.reshape %t : (tensor<4x64x16xf16>) -> tensor<1x4x64x16xf16>
    %o = ge.flash_attention %a, %k, %k scale 2.500000e-01
      : (tensor<1x4x64x16xf16>, tensor<1x4x64x16xf16>, tensor<1x4x64x16xf16>) -> tensor<1x4x64x16xf16>
    ge.yield %o : tensor<1x4x64x16xf16>
  }
  func.return %y : tensor<1x4x64x16xf16>
}

// -----

// Near miss: one op that keeps nothing on the chip is not tiled.
// CHECK-LABEL: ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
