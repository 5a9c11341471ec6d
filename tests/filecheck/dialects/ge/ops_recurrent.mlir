// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

!x = tensor<5x2x3xf32>
!h = tensor<1x2x4xf32>

// CHECK-LABEL: func.func @rnn
func.func @rnn(%x: !x, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %b: tensor<1x8xf32>, %l: tensor<2xi32>, %h: !h) {
  // CHECK: ge.rnn %x, %w, %r direction "reverse" : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
  %y, %z = ge.rnn %x, %w, %r direction "reverse" : !x, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, !h
  // CHECK: ge.rnn %x, %w, %r bias %b : tensor<1x8xf32> sequence_lens %l : tensor<2xi32> initial_h %h : tensor<1x2x4xf32> direction "forward" {activations = ["Elu"], alphas = array<f32: 5.000000e-01>, betas = array<f32: 0.000000e+00>, clip = 3.000000e+00 : f32} :
  %u, %v = ge.rnn %x, %w, %r bias %b : tensor<1x8xf32> sequence_lens %l : tensor<2xi32> initial_h %h : !h direction "forward" {activations = ["Elu"], alphas = array<f32: 0.5>, betas = array<f32: 0.0>, clip = 3.0 : f32} : !x, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, !h
  func.return
}

// -----

// CHECK-LABEL: func.func @gru
func.func @gru(%x: tensor<?x2x3xf16, #ge.dims<"S">>, %w: tensor<2x12x3xf16>, %r: tensor<2x12x4xf16>) attributes {ge.symbols = {S = #ge.symbol<1, ?, 1, "">}} {
  // CHECK: ge.gru %x, %w, %r direction "bidirectional" linear_before_reset : {{.*}} -> tensor<?x2x2x4xf16, #ge.dims<"S">>, tensor<2x2x4xf16>
  %y, %z = ge.gru %x, %w, %r direction "bidirectional" linear_before_reset : tensor<?x2x3xf16, #ge.dims<"S">>, tensor<2x12x3xf16>, tensor<2x12x4xf16> -> tensor<?x2x2x4xf16, #ge.dims<"S">>, tensor<2x2x4xf16>
  func.return
}

// -----

!x = tensor<5x2x3xf32>
!h = tensor<1x2x4xf32>

// CHECK-LABEL: func.func @lstm
func.func @lstm(%x: !x, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %h: !h, %p: tensor<1x12xf32>) {
  // CHECK: ge.lstm %x, %w, %r initial_h %h : tensor<1x2x4xf32> initial_c %h : tensor<1x2x4xf32> peephole %p : tensor<1x12xf32> direction "forward" input_forget :
  %y, %z, %c = ge.lstm %x, %w, %r initial_h %h : !h initial_c %h : !h peephole %p : tensor<1x12xf32> direction "forward" input_forget : !x, tensor<1x16x3xf32>, tensor<1x16x4xf32> -> tensor<5x1x2x4xf32>, !h, !h
  func.return
}

// -----

!x = tensor<5x2x3xf32>
!h = tensor<1x2x4xf32>

// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: !x, %w: tensor<1x16x3xi8>, %r: tensor<1x16x4xi8>, %s: tensor<1xf32>, %z: tensor<1xi8>, %t: tensor<1x16xf32>, %u: tensor<1x16xi8>) {
  // CHECK: ge.dynamic_quantize_lstm %x, %w, %r scales %s, %z, %t, %u direction "forward" :
  %y, %h, %c = ge.dynamic_quantize_lstm %x, %w, %r scales %s, %z, %t, %u direction "forward" : !x, tensor<1x16x3xi8>, tensor<1x16x4xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1x16xf32>, tensor<1x16xi8> -> tensor<5x1x2x4xf32>, !h, !h
  func.return
}

// -----

// CHECK-LABEL: func.func @stft
func.func @stft(%x: tensor<1x128xf32>, %c: tensor<1x128x2xf32>, %w: tensor<16xf32>) {
  // CHECK: ge.stft %x window %w frame_step 4 frame_length 16 onesided : (tensor<1x128xf32>, tensor<16xf32>) -> tensor<1x29x9x2xf32>
  %y = ge.stft %x window %w frame_step 4 frame_length 16 onesided : (tensor<1x128xf32>, tensor<16xf32>) -> tensor<1x29x9x2xf32>
  // CHECK: ge.stft %c frame_step 4 frame_length 16 : (tensor<1x128x2xf32>) -> tensor<1x29x16x2xf32>
  %z = ge.stft %c frame_step 4 frame_length 16 : (tensor<1x128x2xf32>) -> tensor<1x29x16x2xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @fail
func.func @fail() -> tensor<4xf32> {
  // CHECK: ge.fail "expected an input of rank 3" : tensor<4xf32>, tensor<i64>
  %y, %z = ge.fail "expected an input of rank 3" : tensor<4xf32>, tensor<i64>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @trees
func.func @trees(%x: tensor<2x4xf32>, %m: tensor<5xui8>, %i: tensor<5xi32>, %t: tensor<5xf32>, %r: tensor<1xi32>, %k: tensor<3xi32>, %w: tensor<3xf32>) {
  // CHECK: ge.tree_ensemble %x, %m, %i, %t, %i, %i, %r, %k, %w num_targets 3 : {{.*}} -> tensor<2x3xf32>
  %y = ge.tree_ensemble %x, %m, %i, %t, %i, %i, %r, %k, %w num_targets 3 : (tensor<2x4xf32>, tensor<5xui8>, tensor<5xi32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>, tensor<1xi32>, tensor<3xi32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}
