// RUN: ge-opt %s -p ge-legalize-attention,ge-legalize-norm,ge-legalize-activation,ge-legalize-rotary | filecheck %s
// RUN: ge-opt %s -p ge-legalize-attention --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s -p 'ge-legalize-activation{ops=gelu}' | filecheck %s --check-prefix=ONLY

// CHECK-LABEL: func.func @attention
// CHECK: %[[K:.*]] = ge.transpose %k perm [0, 1, 3, 2]
// CHECK-NEXT: ge.matmul %q, %[[K]]
// CHECK: ge.mul
// CHECK-NEXT: %[[P:.*]] = ge.softmax
// CHECK-NEXT: ge.matmul %[[P]], %v
// CHECK-NEXT: func.return
func.func @attention(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32> {
  %y = ge.flash_attention %q, %k, %v scale 0.5 : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32>
  func.return %y : tensor<1x2x3x4xf32>
}

// Negative: a causal mask needs numbers.
// CHECK-LABEL: func.func @unknown_size
// CHECK-NEXT: ge.flash_attention
// REMARK: ge.flash_attention: a causal mask needs the number of queries and keys (found [1, 2, S, S], wanted numbers) [SYMBOL]
func.func @unknown_size(%q: tensor<1x2x?x4xf32, #ge.dims<"S">>) -> tensor<1x2x?x4xf32, #ge.dims<"S">> {
  %y = ge.flash_attention %q, %q, %q scale 0.5 causal : (tensor<1x2x?x4xf32, #ge.dims<"S">>, tensor<1x2x?x4xf32, #ge.dims<"S">>, tensor<1x2x?x4xf32, #ge.dims<"S">>) -> tensor<1x2x?x4xf32, #ge.dims<"S">>
  func.return %y : tensor<1x2x?x4xf32, #ge.dims<"S">>
}

// Statistics are of f32, and the result is rounded once.
// CHECK-LABEL: func.func @norm
// CHECK-NEXT: %[[X:.*]] = ge.cast %x : (tensor<2x4xf16>) -> tensor<2x4xf32>
// CHECK-NEXT: ge.mul %[[X]], %[[X]]
// CHECK-NEXT: ge.reduce_mean
// CHECK: ge.add
// CHECK-NEXT: ge.sqrt
// CHECK-NEXT: ge.div
// CHECK-NEXT: ge.cast %s
// CHECK-NEXT: ge.mul
// CHECK-NEXT: ge.cast {{.*}} -> tensor<2x4xf16>
func.func @norm(%x: tensor<2x4xf16>, %s: tensor<4xf16>) -> tensor<2x4xf16> {
  %y = ge.rms_norm %x scale %s axis -1 epsilon 1.0e-06 : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  func.return %y : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @activation
// CHECK-NEXT: %[[S:.*]] = ge.sigmoid %x
// CHECK-NEXT: ge.mul %x, %[[S]]
// CHECK-NEXT: func.return
// ONLY-LABEL: func.func @activation
// ONLY-NEXT: ge.silu
func.func @activation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.silu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @rotary
// CHECK: ge.slice {{.*}} starts [0] ends [2] axes [3]
// CHECK-NEXT: ge.slice {{.*}} starts [2] ends [4] axes [3]
// CHECK: ge.sub
// CHECK: ge.add
// CHECK-NEXT: ge.concat
// CHECK-NEXT: func.return
func.func @rotary(%x: tensor<1x2x3x4xf32>, %c: tensor<1x3x2xf32>, %s: tensor<1x3x2xf32>) -> tensor<1x2x3x4xf32> {
  %y = ge.rotary_embedding %x, %c, %s num_heads 0 rotary_dim 0 : (tensor<1x2x3x4xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x2x3x4xf32>
  func.return %y : tensor<1x2x3x4xf32>
}
