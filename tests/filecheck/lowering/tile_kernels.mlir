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

// A row that does not fit: the kernel is split into its ops, in the order of its body.
// CHECK:       ge_exec.kernel @AddNorm_0
// CHECK:         ge_exec.launch 0 @AddNorm_0
// SMALL-NOT:   ge_exec.kernel @AddNorm_0
// SMALL:       ge_exec.launch 0 @Add_0
// SMALL-NEXT:  ge_exec.launch 1 @RmsNorm_0
// REMARK:      remark: [missed] ge-tile-kernels: tile: ge_exec.kernel: 'AddNorm_0' does not fit on the chip: its smallest tile needs
// REMARK-SAME: [COST]
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

// Near miss: one op that keeps nothing on the chip is not tiled.
// CHECK-LABEL: ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
