// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Attention, norm, dropout and residual: four ops, one kernel; the Add in either order.
// CHECK-LABEL: func.func @tail
// CHECK:         %y = ge.fusion "FlashAttentionLayerNormDropoutAddFusion"(%q, %x)
// CHECK:           ge.flash_attention
// CHECK-NEXT:      ge.layer_norm
// CHECK-NEXT:      ge.dropout
// CHECK-NEXT:      ge.add
// CHECK-NEXT:      ge.yield
func.func @tail(%q: tensor<1x2x8x8xf16>, %x: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %p = ge.constant dense<0.0> : tensor<f32>
  %t = ge.constant dense<true> : tensor<i1>
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
  %d, %m = ge.dropout %n ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>, tensor<1x2x8x8xi1>
  %y = ge.add %x, %d : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  func.return %y : tensor<1x2x8x8xf16>
}

// -----

// Without a dropout, and with the residual on the right.
// CHECK-LABEL: func.func @commuted
// CHECK-NEXT:    ge.fusion "FlashAttentionLayerNormDropoutAddFusion"
func.func @commuted(%q: tensor<1x2x8x8xf16>, %x: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
  %y = ge.add %n, %x : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  func.return %y : tensor<1x2x8x8xf16>
}

// -----

// Negative: epsilon 1e-06 keeps norm and attention apart, whatever follows (both rules say so).
// CHECK-LABEL: func.func @epsilon
// CHECK-NEXT:    ge.flash_attention
// CHECK-NEXT:    ge.layer_norm
// CHECK-NEXT:    ge.add
// REMARK: FlashAttentionLayerNormDropoutAdd: ge.layer_norm: attribute 'epsilon'
// REMARK: FlashAttentionLayerNorm: ge.layer_norm: attribute 'epsilon'
func.func @epsilon(%q: tensor<1x2x8x8xf16>, %x: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-06 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
  %y = ge.add %x, %n : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  func.return %y : tensor<1x2x8x8xf16>
}

// -----

// Negative: a dropout that drops. Attention and norm still go together.
// CHECK-LABEL: func.func @training
// CHECK:         ge.fusion "FlashAttentionLayerNormFusion"
// CHECK:         ge.dropout
// CHECK-NEXT:    ge.add
// REMARK: FlashAttentionLayerNormDropoutAdd: ge.add: condition 'dropout ratio = 0' does not hold
// REMARK-SAME: found ratio 0.1 in training, wanted ratio 0 or training off
func.func @training(%q: tensor<1x2x8x8xf16>, %x: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %p = ge.constant dense<0.1> : tensor<f32>
  %t = ge.constant dense<true> : tensor<i1>
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
  %d, %m = ge.dropout %n ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>, tensor<1x2x8x8xi1>
  %y = ge.add %x, %d : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  func.return %y : tensor<1x2x8x8xf16>
}

// -----

// Attention and a dropout of ratio 0.
// CHECK-LABEL: func.func @attention_dropout
// CHECK:         ge.fusion "FlashAttentionDropoutFusion"
func.func @attention_dropout(%q: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %p = ge.constant dense<0.0> : tensor<f32>
  %t = ge.constant dense<true> : tensor<i1>
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %d, %m = ge.dropout %a ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>, tensor<1x2x8x8xi1>
  func.return %d : tensor<1x2x8x8xf16>
}

// -----

// Negative: the mask of the dropout is used.
// CHECK-LABEL: func.func @mask_used
// CHECK:         ge.flash_attention
// CHECK-NEXT:    ge.dropout
// REMARK: FlashAttentionDropout: ge.dropout: condition 'dropout mask unused' does not hold
func.func @mask_used(%q: tensor<1x2x8x8xf16>) -> (tensor<1x2x8x8xf16>, tensor<1x2x8x8xi1>) {
  %p = ge.constant dense<0.0> : tensor<f32>
  %t = ge.constant dense<true> : tensor<i1>
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %d, %m = ge.dropout %a ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>, tensor<1x2x8x8xi1>
  func.return %d, %m : tensor<1x2x8x8xf16>, tensor<1x2x8x8xi1>
}
