// RUN: GE_INVALID

// CHECK: expected operands of one element type, got f16, f16, f32
func.func @flash_attention_c1(%q: tensor<1x4x5x8xf16>, %v: tensor<1x4x5x8xf32>) {
  %o = ge.flash_attention %q, %q, %v scale 1.0 : (tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf16>
  func.return
}

// -----

// CHECK: expected 'q' of rank 4, got [4, 5, 8]
func.func @flash_attention_c2_rank(%q: tensor<4x5x8xf16>) {
  %o = ge.flash_attention %q, %q, %q scale 1.0 : (tensor<4x5x8xf16>, tensor<4x5x8xf16>, tensor<4x5x8xf16>) -> tensor<4x5x8xf16>
  func.return
}

// -----

// CHECK: expected 'q' and 'k' in the last dimension to agree, got 8 and 6
func.func @flash_attention_c2(%q: tensor<1x4x5x8xf16>, %k: tensor<1x4x5x6xf16>) {
  %o = ge.flash_attention %q, %k, %k scale 1.0 : (tensor<1x4x5x8xf16>, tensor<1x4x5x6xf16>, tensor<1x4x5x6xf16>) -> tensor<1x4x5x6xf16>
  func.return
}

// -----

// CHECK: expected heads in multiples of 3, got 4
func.func @flash_attention_c3(%q: tensor<1x4x5x8xf16>, %k: tensor<1x3x5x8xf16>) {
  %o = ge.flash_attention %q, %k, %k scale 1.0 : (tensor<1x4x5x8xf16>, tensor<1x3x5x8xf16>, tensor<1x3x5x8xf16>) -> tensor<1x4x5x8xf16>
  func.return
}

// -----

// CHECK: expected 'mask' to broadcast to [1, 4, 5, 5], got [2, 1, 5, 5]
func.func @flash_attention_c4(%q: tensor<1x4x5x8xf16>, %m: tensor<2x1x5x5xi1>) {
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 : (tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>, tensor<2x1x5x5xi1>) -> tensor<1x4x5x8xf16>
  func.return
}

// -----

// CHECK: expected 'mask' of i1 or floats, got i32
func.func @flash_attention_c4_type(%q: tensor<1x4x5x8xf16>, %m: tensor<5x5xi32>) {
  %o = ge.flash_attention %q, %q, %q mask %m scale 1.0 : (tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>, tensor<5x5xi32>) -> tensor<1x4x5x8xf16>
  func.return
}

// -----

// CHECK: expected 'accumulate' f64 for f64, got f32
func.func @flash_attention_c5(%q: tensor<1x4x5x8xf64>) {
  %o = ge.flash_attention %q, %q, %q scale 1.0 : (tensor<1x4x5x8xf64>, tensor<1x4x5x8xf64>, tensor<1x4x5x8xf64>) -> tensor<1x4x5x8xf64>
  func.return
}

// -----

// CHECK: expected 'softcap' > 0, got 0.0
func.func @flash_attention_c6(%q: tensor<1x4x5x8xf16>) {
  %o = ge.flash_attention %q, %q, %q scale 1.0 softcap 0.0 : (tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>) -> tensor<1x4x5x8xf16>
  func.return
}

// -----

// CHECK: expected 'causal' with 'causal_offset'
func.func @flash_attention_c6_offset(%q: tensor<1x4x5x8xf16>) {
  %o = ge.flash_attention %q, %q, %q scale 1.0 causal_offset 1 : (tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>, tensor<1x4x5x8xf16>) -> tensor<1x4x5x8xf16>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f16, f32, f32
func.func @rotary_embedding_c1(%x: tensor<1x4x8x64xf16>, %c: tensor<1x8x32xf32>) {
  %y = ge.rotary_embedding %x, %c, %c num_heads 0 rotary_dim 0 : (tensor<1x4x8x64xf16>, tensor<1x8x32xf32>, tensor<1x8x32xf32>) -> tensor<1x4x8x64xf16>
  func.return
}

// -----

// CHECK: expected 'num_heads' to divide 64, got 0
func.func @rotary_embedding_c2(%x: tensor<1x8x64xf16>, %c: tensor<1x8x32xf16>) {
  %y = ge.rotary_embedding %x, %c, %c num_heads 0 rotary_dim 0 : (tensor<1x8x64xf16>, tensor<1x8x32xf16>, tensor<1x8x32xf16>) -> tensor<1x8x64xf16>
  func.return
}

// -----

// CHECK: expected 'cos' of rank 3, got [8, 32]
func.func @rotary_embedding_c3(%x: tensor<1x4x8x64xf16>, %c: tensor<8x32xf16>) {
  %y = ge.rotary_embedding %x, %c, %c num_heads 0 rotary_dim 0 : (tensor<1x4x8x64xf16>, tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<1x4x8x64xf16>
  func.return
}

// -----

// CHECK: expected 'position_ids' of integers, got f32
func.func @rotary_embedding_c4(%x: tensor<1x4x8x64xf16>, %c: tensor<8x32xf16>, %i: tensor<1x8xf32>) {
  %y = ge.rotary_embedding %x, %c, %c position_ids %i num_heads 0 rotary_dim 0 : (tensor<1x4x8x64xf16>, tensor<8x32xf16>, tensor<8x32xf16>, tensor<1x8xf32>) -> tensor<1x4x8x64xf16>
  func.return
}

// -----

// CHECK: expected 'cos' and half of the rotated features to agree, got 32 and 16
func.func @rotary_embedding_c5(%x: tensor<1x4x8x64xf16>, %c: tensor<1x8x32xf16>) {
  %y = ge.rotary_embedding %x, %c, %c num_heads 0 rotary_dim 32 : (tensor<1x4x8x64xf16>, tensor<1x8x32xf16>, tensor<1x8x32xf16>) -> tensor<1x4x8x64xf16>
  func.return
}

// -----

// CHECK: expected 'training_mode' of i1, got i8
func.func @dropout_c1(%x: tensor<4xf32>, %t: tensor<i8>) {
  %y, %m = ge.dropout %x training_mode %t : tensor<i8> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  func.return
}

// -----

// CHECK: expected 'ratio' of one element, got [2]
func.func @dropout_c2(%x: tensor<4xf32>, %r: tensor<2xf32>) {
  %y, %m = ge.dropout %x ratio %r : tensor<2xf32> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  func.return
}
