// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<4xf16>) {
  // CHECK: ge.abs %x : (tensor<4xf16>) -> tensor<4xf16>
  %r0 = ge.abs %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.ceil %x : (tensor<4xf16>) -> tensor<4xf16>
  %r1 = ge.ceil %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.floor %x : (tensor<4xf16>) -> tensor<4xf16>
  %r2 = ge.floor %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.round %x : (tensor<4xf16>) -> tensor<4xf16>
  %r3 = ge.round %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.sign %x : (tensor<4xf16>) -> tensor<4xf16>
  %r4 = ge.sign %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.neg %x : (tensor<4xf16>) -> tensor<4xf16>
  %r5 = ge.neg %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.reciprocal %x : (tensor<4xf16>) -> tensor<4xf16>
  %r6 = ge.reciprocal %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.sqrt %x : (tensor<4xf16>) -> tensor<4xf16>
  %r7 = ge.sqrt %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.rsqrt %x : (tensor<4xf16>) -> tensor<4xf16>
  %r8 = ge.rsqrt %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.exp %x : (tensor<4xf16>) -> tensor<4xf16>
  %r9 = ge.exp %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.log %x : (tensor<4xf16>) -> tensor<4xf16>
  %r10 = ge.log %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.erf %x : (tensor<4xf16>) -> tensor<4xf16>
  %r11 = ge.erf %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.sin %x : (tensor<4xf16>) -> tensor<4xf16>
  %r12 = ge.sin %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.cos %x : (tensor<4xf16>) -> tensor<4xf16>
  %r13 = ge.cos %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.tan %x : (tensor<4xf16>) -> tensor<4xf16>
  %r14 = ge.tan %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.atan %x : (tensor<4xf16>) -> tensor<4xf16>
  %r15 = ge.atan %x : (tensor<4xf16>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @tests
func.func @tests(%x: tensor<4xf16>, %c: tensor<4xi1>, %i: tensor<4xi8>) {
  // CHECK: ge.is_nan %x : (tensor<4xf16>) -> tensor<4xi1>
  %r0 = ge.is_nan %x : (tensor<4xf16>) -> tensor<4xi1>
  // CHECK: ge.is_inf %x : (tensor<4xf16>) -> tensor<4xi1>
  %r1 = ge.is_inf %x : (tensor<4xf16>) -> tensor<4xi1>
  // CHECK: ge.logical_not %c : (tensor<4xi1>) -> tensor<4xi1>
  %r2 = ge.logical_not %c : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: ge.bitwise_not %i : (tensor<4xi8>) -> tensor<4xi8>
  %r3 = ge.bitwise_not %i : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// -----

// CHECK-LABEL: func.func @activations
func.func @activations(%x: tensor<4xf16>) {
  // CHECK: ge.tanh %x : (tensor<4xf16>) -> tensor<4xf16>
  %r0 = ge.tanh %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.sigmoid %x : (tensor<4xf16>) -> tensor<4xf16>
  %r1 = ge.sigmoid %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.relu %x : (tensor<4xf16>) -> tensor<4xf16>
  %r2 = ge.relu %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.hard_swish %x : (tensor<4xf16>) -> tensor<4xf16>
  %r3 = ge.hard_swish %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.silu %x : (tensor<4xf16>) -> tensor<4xf16>
  %r4 = ge.silu %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.softplus %x : (tensor<4xf16>) -> tensor<4xf16>
  %r5 = ge.softplus %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.softsign %x : (tensor<4xf16>) -> tensor<4xf16>
  %r6 = ge.softsign %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.mish %x : (tensor<4xf16>) -> tensor<4xf16>
  %r7 = ge.mish %x : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.leaky_relu %x alpha 1.000000e-02 : (tensor<4xf16>) -> tensor<4xf16>
  %r8 = ge.leaky_relu %x alpha 1.000000e-02 : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.elu %x alpha 1.000000e+00 : (tensor<4xf16>) -> tensor<4xf16>
  %r9 = ge.elu %x alpha 1.000000e+00 : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.celu %x alpha -0.000000e+00 : (tensor<4xf16>) -> tensor<4xf16>
  %r10 = ge.celu %x alpha -0.000000e+00 : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.quick_gelu %x alpha 1.702000e+00 : (tensor<4xf16>) -> tensor<4xf16>
  %r11 = ge.quick_gelu %x alpha 1.702000e+00 : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.hard_sigmoid %x alpha 1.66666672e-01 beta 5.000000e-01 : (tensor<4xf16>) -> tensor<4xf16>
  %r12 = ge.hard_sigmoid %x alpha 0.166666672 beta 5.000000e-01 : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.selu %x alpha 1.67326319e+00 beta 1.05070102e+00 : (tensor<4xf16>) -> tensor<4xf16>
  %r13 = ge.selu %x alpha 1.67326319 beta 1.05070102 : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.gelu %x approximate "none" : (tensor<4xf16>) -> tensor<4xf16>
  %r14 = ge.gelu %x approximate "none" : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: ge.gelu %x approximate "tanh" : (tensor<4xf16>) -> tensor<4xf16>
  %r15 = ge.gelu %x approximate "tanh" : (tensor<4xf16>) -> tensor<4xf16>
  func.return
}
