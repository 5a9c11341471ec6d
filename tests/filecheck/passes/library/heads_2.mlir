// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not FlashAttentionAdd,FlashAttentionTranspose,RotaryMul2RotaryPositionEmbedding --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @flash_attention_add(
// CHECK:         ge.fusion "FlashAttentionAdd"({{.*}}) rule "FlashAttentionAdd"
func.func @flash_attention_add(%0: tensor<1x2x4x4xf32>, %1: tensor<1x2x4x4xf32>, %2: tensor<1x2x4x4xf32>, %3: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %4 = ge.flash_attention %0, %1, %2 scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = ge.add %4, %3 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return %5 : tensor<1x2x4x4xf32>
}

// -----

// Negative: the result of 'ge.flash_attention' is returned as well.
// CHECK-LABEL: func.func @flash_attention_add_c1(
// CHECK-NOT:     rule "FlashAttentionAdd"
// CHECK:         func.return
// REMARK: ge-fuse-rules: FlashAttentionAdd: {{.*}}the result of
func.func @flash_attention_add_c1(%0: tensor<1x2x4x4xf32>, %1: tensor<1x2x4x4xf32>, %2: tensor<1x2x4x4xf32>, %3: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %4 = ge.flash_attention %0, %1, %2 scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %5 = ge.add %4, %3 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  func.return %5, %4 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @flash_attention_transpose(
// CHECK:         ge.fusion "FlashAttentionScoreBSH"({{.*}}) rule "FlashAttentionTranspose"
func.func @flash_attention_transpose(%q: tensor<1x2x4x4xf32>) -> tensor<1x4x8xf32> {
  %a = ge.flash_attention %q, %q, %q scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %t = ge.transpose %a perm [0, 2, 1, 3] : (tensor<1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
  %m = ge.reshape %t : (tensor<1x4x2x4xf32>) -> tensor<1x4x8xf32>
  func.return %m : tensor<1x4x8xf32>
}

// -----

// Negative: the result of 'ge.transpose' is returned as well.
// CHECK-LABEL: func.func @flash_attention_transpose_c1(
// CHECK-NOT:     rule "FlashAttentionTranspose"
// CHECK:         func.return
// REMARK: ge-fuse-rules: FlashAttentionTranspose: {{.*}}the result of
func.func @flash_attention_transpose_c1(%q: tensor<1x2x4x4xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x2x4xf32>) {
  %a = ge.flash_attention %q, %q, %q scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %t = ge.transpose %a perm [0, 2, 1, 3] : (tensor<1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
  %m = ge.reshape %t : (tensor<1x4x2x4xf32>) -> tensor<1x4x8xf32>
  func.return %m, %t : tensor<1x4x8xf32>, tensor<1x4x2x4xf32>
}

// -----

// CHECK-LABEL: func.func @rotary_mul2_rotary_position_embedding(
// CHECK:         ge.fusion "RotaryPositionEmbeddingBSH"({{.*}}) rule "RotaryMul2RotaryPositionEmbedding"
func.func @rotary_mul2_rotary_position_embedding(%x: tensor<1x4x8xf32>, %c: tensor<1x4x2xf32>, %s: tensor<1x4x2xf32>) -> tensor<1x2x4x4xf32> {
  %r = ge.reshape %x : (tensor<1x4x8xf32>) -> tensor<1x4x2x4xf32>
  %t = ge.transpose %r perm [0, 2, 1, 3] : (tensor<1x4x2x4xf32>) -> tensor<1x2x4x4xf32>
  %y = ge.rotary_embedding %t, %c, %s num_heads 2 rotary_dim 0 : (tensor<1x2x4x4xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// Negative: the result of 'ge.transpose' is returned as well.
// CHECK-LABEL: func.func @rotary_mul2_rotary_position_embedding_c1(
// CHECK-NOT:     rule "RotaryMul2RotaryPositionEmbedding"
// CHECK:         func.return
// REMARK: ge-fuse-rules: RotaryMul2RotaryPositionEmbedding: {{.*}}the result of
func.func @rotary_mul2_rotary_position_embedding_c1(%x: tensor<1x4x8xf32>, %c: tensor<1x4x2xf32>, %s: tensor<1x4x2xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %r = ge.reshape %x : (tensor<1x4x8xf32>) -> tensor<1x4x2x4xf32>
  %t = ge.transpose %r perm [0, 2, 1, 3] : (tensor<1x4x2x4xf32>) -> tensor<1x2x4x4xf32>
  %y = ge.rotary_embedding %t, %c, %s num_heads 2 rotary_dim 0 : (tensor<1x2x4x4xf32>, tensor<1x4x2xf32>, tensor<1x4x2xf32>) -> tensor<1x2x4x4xf32>
  func.return %y, %t : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}
