// RUN: ge-opt %s -p ge-raise,ge-fuse-rules --why-not FlashAttentionLayerNorm,FlashAttentionDropout -o /dev/null 2>&1 | filecheck %s
// RUN: not ge-opt %s -p ge-fuse-rules --require-fusion=FlashAttentionLayerNorm:2 2>&1 | filecheck %s --check-prefix=REQUIRED
// RUN: not ge-opt %s -p ge-fuse-rules --why-not Nothing 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: ge-opt --lint-rules | filecheck %s --check-prefix=LINT

// CHECK: FlashAttentionLayerNorm: ge.layer_norm: attribute 'epsilon' of 'ge.layer_norm' does not match at "block/norm" (found 1e-06, wanted 1e-05) [ATTR]; fix: set epsilon to 1e-05 in the model, or register a rule that takes the range you need; verified: with epsilon 1e-05 it fires and saves 512 bytes
// CHECK-NEXT: FlashAttentionDropout: func.func: no 'ge.dropout' to start from [ORDER]

// REQUIRED: ge-opt: error: GE0440: expected 2 fusions by 'FlashAttentionLayerNorm', got 0; nearest: FlashAttentionLayerNorm: ge.layer_norm: attribute 'epsilon'
// UNKNOWN: ge-opt: error: GE0421: expected rules among {{.*}}, got 'Nothing'
// LINT: {{[0-9]+}} rules, 0 errors
func.func @main(%q: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-06 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16> loc("block/norm")
  func.return %n : tensor<1x2x8x8xf16>
}
