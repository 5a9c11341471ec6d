// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

!q = tensor<1x4x5x8xf16>
!k = tensor<1x2x7x8xf16>
!v = tensor<1x2x7x6xf16>
!o = tensor<1x4x5x6xf16>

// CHECK-LABEL: func.func @attention
func.func @attention(%q: !q, %k: !k, %v: !v, %m: tensor<5x7xi1>, %a: tensor<1x1x5x7xf32>) {
  // CHECK: ge.flash_attention %q, %k, %v scale 8.83883461e-02 : (tensor<1x4x5x8xf16>, tensor<1x2x7x8xf16>, tensor<1x2x7x6xf16>) -> tensor<1x4x5x6xf16>
  %plain = ge.flash_attention %q, %k, %v scale 0.0883883461 : (!q, !k, !v) -> !o
  // CHECK: ge.flash_attention %q, %k, %v mask %m scale 1.000000e+00 causal causal_offset 2 softcap 3.000000e+01 nan_guard accumulate f64 :
  %all = ge.flash_attention %q, %k, %v mask %m scale 1.0 causal causal_offset 2 softcap 30.0 nan_guard accumulate f64 : (!q, !k, !v, tensor<5x7xi1>) -> !o
  // CHECK: ge.flash_attention %q, %k, %v mask %m scale 1.000000e+00 causal masked_fill zero_nan :
  %filled = ge.flash_attention %q, %k, %v mask %m scale 1.0 causal masked_fill zero_nan : (!q, !k, !v, tensor<5x7xi1>) -> !o
  // CHECK: ge.flash_attention %q, %k, %v mask %a scale 1.000000e+00 causal :
  %add = ge.flash_attention %q, %k, %v mask %a scale 1.0 causal : (!q, !k, !v, tensor<1x1x5x7xf32>) -> !o
  func.return
}

// -----

// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%q: tensor<1x4x?x8xf16, #ge.dims<"S">>, %k: tensor<1x4x?x8xf16, #ge.dims<"P + S">>) {
  // CHECK: ge.flash_attention %q, %k, %k scale 1.000000e+00 : {{.*}} -> tensor<1x4x?x8xf16, #ge.dims<"S">>
  %o = ge.flash_attention %q, %k, %k scale 1.0 : (tensor<1x4x?x8xf16, #ge.dims<"S">>, tensor<1x4x?x8xf16, #ge.dims<"P + S">>, tensor<1x4x?x8xf16, #ge.dims<"P + S">>) -> tensor<1x4x?x8xf16, #ge.dims<"S">>
  func.return
}

// -----

// CHECK-LABEL: func.func @rotary
func.func @rotary(%x: tensor<1x4x8x64xf16>, %c: tensor<1x8x32xf16>, %t: tensor<512x16xf16>, %i: tensor<1x8xi64>, %y: tensor<1x8x256xf16>) {
  // CHECK: ge.rotary_embedding %x, %c, %c num_heads 0 rotary_dim 0 : (tensor<1x4x8x64xf16>, tensor<1x8x32xf16>, tensor<1x8x32xf16>) -> tensor<1x4x8x64xf16>
  %a = ge.rotary_embedding %x, %c, %c num_heads 0 rotary_dim 0 : (tensor<1x4x8x64xf16>, tensor<1x8x32xf16>, tensor<1x8x32xf16>) -> tensor<1x4x8x64xf16>
  // CHECK: ge.rotary_embedding %y, %t, %t position_ids %i interleaved num_heads 4 rotary_dim 32 :
  %b = ge.rotary_embedding %y, %t, %t position_ids %i interleaved num_heads 4 rotary_dim 32 : (tensor<1x8x256xf16>, tensor<512x16xf16>, tensor<512x16xf16>, tensor<1x8xi64>) -> tensor<1x8x256xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @dropout
func.func @dropout(%x: tensor<4xf32>, %r: tensor<f32>, %t: tensor<i1>) {
  // CHECK: ge.dropout %x : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  %a, %b = ge.dropout %x : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  // CHECK: ge.dropout %x training_mode %t : tensor<i1> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  %c, %d = ge.dropout %x training_mode %t : tensor<i1> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  // CHECK: ge.dropout %x ratio %r : tensor<f32> training_mode %t : tensor<i1> seed 7 : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  %e, %f = ge.dropout %x ratio %r : tensor<f32> training_mode %t : tensor<i1> seed 7 : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  func.return
}
