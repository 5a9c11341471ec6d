// RUN: ge-opt %s -p ge-optimize --why-not FlashAttentionLayerNorm 2>&1 >/dev/null | filecheck %s

// A rule that wants attention says which pattern stopped before it was made, why, and at which node.
// CHECK: [missed] ge-fuse-rules: FlashAttentionLayerNorm: ge.matmul: waits on 'RaiseAttention' of ge-raise, which stopped: the result of 'ge.add' has 2 uses, 1 outside: func.return at "attention" (found 1, wanted 0) [ORDER]
func.func @mask_has_two_uses(%q: tensor<1x2x4x8xf32>, %k: tensor<1x2x8x4xf32>, %v: tensor<1x2x4x8xf32>, %m: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x8xf32>, tensor<1x2x4x4xf32>) {
  %s = ge.matmul %q, %k : (tensor<1x2x4x8xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x4x4xf32>
  %a = ge.add %s, %m : (tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> loc("mask")
  %p = ge.softmax %a axis -1 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %o = ge.matmul %p, %v : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("attention")
  %n = ge.layer_norm %o axis -1 epsilon 1.0e-05 : tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
  func.return %n, %a : tensor<1x2x4x8xf32>, tensor<1x2x4x4xf32>
}
