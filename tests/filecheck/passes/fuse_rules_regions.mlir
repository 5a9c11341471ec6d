// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules,ge-fuse-rules --split-input-file | filecheck %s

// Rules fire inside branches and loop bodies, and not inside kernels.
// CHECK-LABEL: func.func @inside
// CHECK:         ge.loop
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %n = ge.fusion "FlashAttentionLayerNormFusion"
// CHECK-COUNT-1:     ge.flash_attention
// CHECK-NOT:       ge.fusion
// CHECK:           ge.yield %go, %n
func.func @inside(%t: tensor<i64>, %c: tensor<i1>, %q: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %y = ge.loop %t, %c carried (%q) : (tensor<i64>, tensor<i1>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<1x2x8x8xf16>):
    %a = ge.flash_attention %v, %v, %v scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
    %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
    ge.yield %go, %n : tensor<i1>, tensor<1x2x8x8xf16>
  }
  func.return %y : tensor<1x2x8x8xf16>
}

// -----

// Negative: in one kernel with the norm, the attention would be computed in every iteration.
// CHECK-LABEL: func.func @across
// CHECK-NEXT:    ge.flash_attention
// CHECK-NEXT:    ge.loop
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      ge.layer_norm
func.func @across(%t: tensor<i64>, %c: tensor<i1>, %q: tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  %a = ge.flash_attention %q, %q, %q scale 0.353553 : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
  %y = ge.loop %t, %c carried (%q) : (tensor<i64>, tensor<i1>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<1x2x8x8xf16>):
    %n = ge.layer_norm %a axis -1 epsilon 1.0e-05 : tensor<1x2x8x8xf16> -> tensor<1x2x8x8xf16>
    %s = ge.add %v, %n : (tensor<1x2x8x8xf16>, tensor<1x2x8x8xf16>) -> tensor<1x2x8x8xf16>
    ge.yield %go, %s : tensor<i1>, tensor<1x2x8x8xf16>
  }
  func.return %y : tensor<1x2x8x8xf16>
}
