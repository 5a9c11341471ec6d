// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @fuses
// CHECK-NEXT:    %n = ge.fusion "FlashAttentionLayerNormFusion"(%q) rule "FlashAttentionLayerNorm"
// CHECK-NEXT:    ^bb0(%[[Q:.*]]: tensor<1x2x8x8xf16>):
// CHECK-NEXT:      %[[A:.*]] = ge.flash_attention %[[Q]], %[[Q]], %[[Q]] scale 3.535530e-01
// CHECK-NEXT:      %[[N:.*]] = ge.layer_norm %[[A]] axis -1 epsilon 1.000000e-05
// CHECK-NEXT:      ge.yield %[[N]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %n
func.func @fuses(%q: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
  func.return %n : tensor<1x2x8x8xf16>
}

// -----

// The heads are merged between attention and norm, as exporters write it.
// CHECK-LABEL: func.func @merged_heads
// CHECK-NEXT:    ge.fusion "FlashAttentionLayerNormFusion"
// CHECK:           ge.transpose
// CHECK-NEXT:      ge.reshape
// CHECK-NEXT:      ge.layer_norm
func.func @merged_heads(%q: tensor<1x2x8x4xf16>) -> tensor<1x8x8xf16> {
  %a = ge.flash_attention %q, %q, %q scale 0.5 : (tensor<1x2x8x4xf16>, tensor<1x2x8x4xf16>, tensor<1x2x8x4xf16>) -> tensor<1x2x8x4xf16>
  %t = ge.transpose %a perm [0, 2, 1, 3] : (tensor<1x2x8x4xf16>) -> tensor<1x8x2x4xf16>
  %r = ge.reshape %t : (tensor<1x8x2x4xf16>) -> tensor<1x8x8xf16>
  %n = ge.layer_norm %r axis -1 epsilon 1.0e-05 : tensor<1x8x8xf16> -> tensor<1x8x8xf16>
  func.return %n : tensor<1x8x8xf16>
}

// -----

// Negative: another epsilon. The miss names attribute, found, wanted and node.
// CHECK-LABEL: func.func @epsilon
// CHECK-NEXT:    ge.flash_attention
// CHECK-NEXT:    ge.layer_norm
// REMARK: remark: [missed] ge-fuse-rules: FlashAttentionLayerNorm: ge.layer_norm: attribute 'epsilon' of 'ge.layer_norm' does not match
// REMARK-SAME: at "block/norm" (found 1e-06, wanted 1e-05)
func.func @epsilon(%q: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-06 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16> loc("block/norm")
  func.return %n : tensor<1x2x8x8xf16>
}

// -----

// Negative: the attention is also returned.
// CHECK-LABEL: func.func @two_uses
// CHECK-NEXT:    ge.flash_attention
// CHECK-NEXT:    ge.layer_norm
// REMARK: FlashAttentionLayerNorm: ge.flash_attention: the result of 'ge.flash_attention' has 2 uses, 1 outside: func.return
func.func @two_uses(%q: tensor<1x2x8x8xf16>) -> (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) {
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
  func.return %n, %a : tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>
}
