// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not IncreFlashAttention,PromptFlashAttentionQuant,FlashAttentionProjection --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @incre_flash_attention(
// CHECK:         ge.fusion "IncreFlashAttention"({{.*}}) rule "IncreFlashAttention"
func.func @incre_flash_attention(%q: tensor<1x2x1x4xf32>, %p: tensor<1x2x4x4xf32>, %k: tensor<1x2x1x4xf32>) -> (tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>) {
  %c = ge.concat %p, %k axis 2 : (tensor<1x2x4x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x5x4xf32>
  %d = ge.concat %p, %q axis 2 : (tensor<1x2x4x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x5x4xf32>
  %y = ge.flash_attention %q, %c, %d scale 5.000000e-01 : (tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x1x4xf32>
  func.return %y, %c : tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>
}

// -----

// Negative: the values come from no cache.
// CHECK-LABEL: func.func @incre_flash_attention_c1(
// CHECK-NOT:     rule "IncreFlashAttention"
// CHECK:         func.return
// REMARK: ge-fuse-rules: IncreFlashAttention: {{.*}}'ge.flash_attention' reads
func.func @incre_flash_attention_c1(%q: tensor<1x2x1x4xf32>, %p: tensor<1x2x4x4xf32>, %k: tensor<1x2x1x4xf32>, %v: tensor<1x2x5x4xf32>) -> tensor<1x2x1x4xf32> {
  %c = ge.concat %p, %k axis 2 : (tensor<1x2x4x4xf32>, tensor<1x2x1x4xf32>) -> tensor<1x2x5x4xf32>
  %y = ge.flash_attention %q, %c, %v scale 5.000000e-01 : (tensor<1x2x1x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x1x4xf32>
  func.return %y : tensor<1x2x1x4xf32>
}

// -----

// CHECK-LABEL: func.func @prompt_flash_attention_quant(
// CHECK:         ge.fusion "PromptFlashAttentionQuant"({{.*}}) rule "PromptFlashAttentionQuant"
func.func @prompt_flash_attention_quant(%q: tensor<1x2x4x4xf32>, %s: tensor<f32>, %p: tensor<i8>) -> tensor<1x4x8xi8> {
  %a = ge.flash_attention %q, %q, %q scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %t = ge.transpose %a perm [0, 2, 1, 3] : (tensor<1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
  %m = ge.reshape %t : (tensor<1x4x2x4xf32>) -> tensor<1x4x8xf32>
  %y = ge.quantize_linear %m, %s zero_point %p axis 1 block_size 0 : (tensor<1x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x8xi8>
  func.return %y : tensor<1x4x8xi8>
}

// -----

// Negative: the result of 'ge.reshape' is returned as well.
// CHECK-LABEL: func.func @prompt_flash_attention_quant_c1(
// CHECK-NOT:     rule "PromptFlashAttentionQuant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: PromptFlashAttentionQuant: {{.*}}the result of
func.func @prompt_flash_attention_quant_c1(%q: tensor<1x2x4x4xf32>, %s: tensor<f32>, %p: tensor<i8>) -> (tensor<1x4x8xi8>, tensor<1x4x8xf32>) {
  %a = ge.flash_attention %q, %q, %q scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %t = ge.transpose %a perm [0, 2, 1, 3] : (tensor<1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
  %m = ge.reshape %t : (tensor<1x4x2x4xf32>) -> tensor<1x4x8xf32>
  %y = ge.quantize_linear %m, %s zero_point %p axis 1 block_size 0 : (tensor<1x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x8xi8>
  func.return %y, %m : tensor<1x4x8xi8>, tensor<1x4x8xf32>
}

// -----

// CHECK-LABEL: func.func @flash_attention_projection(
// CHECK:         ge.fusion "FlashAttentionMatMul"({{.*}}) rule "FlashAttentionProjection"
func.func @flash_attention_projection(%q: tensor<1x2x4x4xf32>, %w: tensor<8x4xf32>) -> tensor<1x4x4xf32> {
  %a = ge.flash_attention %q, %q, %q scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %t = ge.transpose %a perm [0, 2, 1, 3] : (tensor<1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
  %m = ge.reshape %t : (tensor<1x4x2x4xf32>) -> tensor<1x4x8xf32>
  %y = ge.matmul %m, %w : (tensor<1x4x8xf32>, tensor<8x4xf32>) -> tensor<1x4x4xf32>
  func.return %y : tensor<1x4x4xf32>
}

// -----

// Negative: the result of 'ge.reshape' is returned as well.
// CHECK-LABEL: func.func @flash_attention_projection_c1(
// CHECK-NOT:     rule "FlashAttentionProjection"
// CHECK:         func.return
// REMARK: ge-fuse-rules: FlashAttentionProjection: {{.*}}the result of
func.func @flash_attention_projection_c1(%q: tensor<1x2x4x4xf32>, %w: tensor<8x4xf32>) -> (tensor<1x4x4xf32>, tensor<1x4x8xf32>) {
  %a = ge.flash_attention %q, %q, %q scale 5.000000e-01 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %t = ge.transpose %a perm [0, 2, 1, 3] : (tensor<1x2x4x4xf32>) -> tensor<1x4x2x4xf32>
  %m = ge.reshape %t : (tensor<1x4x2x4xf32>) -> tensor<1x4x8xf32>
  %y = ge.matmul %m, %w : (tensor<1x4x8xf32>, tensor<8x4xf32>) -> tensor<1x4x4xf32>
  func.return %y, %m : tensor<1x4x4xf32>, tensor<1x4x8xf32>
}
