// RUN: GE_INVALID

// CHECK: expected 'input' of floats, got i32
func.func @rnn_c1(%x: tensor<5x2x3xi32>, %w: tensor<1x4x3xi32>, %r: tensor<1x4x4xi32>) {
  %y, %z = ge.rnn %x, %w, %r direction "forward" : tensor<5x2x3xi32>, tensor<1x4x3xi32>, tensor<1x4x4xi32> -> tensor<5x1x2x4xi32>, tensor<1x2x4xi32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16, f32
func.func @lstm_c1(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf16>, %r: tensor<1x16x4xf32>) {
  %y, %z, %c = ge.lstm %x, %w, %r direction "forward" : tensor<5x2x3xf32>, tensor<1x16x3xf16>, tensor<1x16x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected dimension 1 of 'weights' of 12, got 16
func.func @gru_c2(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x12x4xf32>) {
  %y, %z = ge.gru %x, %w, %r direction "forward" : tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x12x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected dimension 0 of 'weights' of 2, got 1
func.func @gru_c2_sweeps(%x: tensor<5x2x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>) {
  %y, %z = ge.gru %x, %w, %r direction "bidirectional" : tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32> -> tensor<5x2x2x4xf32>, tensor<2x2x4xf32>
  func.return
}

// -----

// CHECK: expected 'sequence_lens' of integers, got f32
func.func @rnn_c3(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %l: tensor<2xf32>) {
  %y, %z = ge.rnn %x, %w, %r sequence_lens %l : tensor<2xf32> direction "forward" : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected 'direction' to be one of forward, reverse, bidirectional, got backward
func.func @rnn_c4(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  %y, %z = ge.rnn %x, %w, %r direction "backward" : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected 1 of each of 'activations', 'alphas' and 'betas'
func.func @rnn_c5(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  %y, %z = ge.rnn %x, %w, %r direction "forward" {activations = ["Elu"]} : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected activations of Relu, Tanh, {{.*}}, got Gelu
func.func @rnn_c5_name(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  %y, %z = ge.rnn %x, %w, %r direction "forward" {activations = ["Gelu"], alphas = array<f32: 0.0>, betas = array<f32: 0.0>} : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected a scale of f32 for 'weights'
func.func @dynamic_quantize_lstm_c6(%x: tensor<5x2x3xf32>, %w: tensor<1x16x3xi8>, %r: tensor<1x16x4xi8>, %s: tensor<1xf16>, %z: tensor<1xi8>) {
  %y, %h, %c = ge.dynamic_quantize_lstm %x, %w, %r scales %s, %z, %s, %z direction "forward" : tensor<5x2x3xf32>, tensor<1x16x3xi8>, tensor<1x16x4xi8>, tensor<1xf16>, tensor<1xi8>, tensor<1xf16>, tensor<1xi8> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16
func.func @stft_c1(%x: tensor<1x128xf32>, %w: tensor<16xf16>) {
  %y = ge.stft %x window %w frame_step 4 frame_length 16 : (tensor<1x128xf32>, tensor<16xf16>) -> tensor<1x29x16x2xf32>
  func.return
}

// -----

// CHECK: expected 'signal' of 1 or 2 parts, got 3
func.func @stft_c2(%x: tensor<1x128x3xf32>) {
  %y = ge.stft %x frame_step 4 frame_length 16 : (tensor<1x128x3xf32>) -> tensor<1x29x16x2xf32>
  func.return
}

// -----

// CHECK: expected a step and a length of 1 or more, got 0, 16
func.func @stft_c3(%x: tensor<1x128xf32>) {
  %y = ge.stft %x frame_step 0 frame_length 16 : (tensor<1x128xf32>) -> tensor<1x29x16x2xf32>
  func.return
}

// -----

// CHECK: expected a window of at most 8, the padded input, got 16
func.func @stft_c3_length(%x: tensor<1x8xf32>) {
  %y = ge.stft %x frame_step 4 frame_length 16 : (tensor<1x8xf32>) -> tensor<1x0x16x2xf32>
  func.return
}

// -----

// CHECK: expected 'window' of 16, got 8
func.func @stft_c4(%x: tensor<1x128xf32>, %w: tensor<8xf32>) {
  %y = ge.stft %x window %w frame_step 4 frame_length 16 : (tensor<1x128xf32>, tensor<8xf32>) -> tensor<1x29x16x2xf32>
  func.return
}

// -----

// CHECK: expected a real 'signal' with 'onesided', got a complex one
func.func @stft_c5(%x: tensor<1x128x2xf32>) {
  %y = ge.stft %x frame_step 4 frame_length 16 onesided : (tensor<1x128x2xf32>) -> tensor<1x29x9x2xf32>
  func.return
}

// -----

// CHECK: expected 'modes' of integers, got f32
func.func @tree_ensemble_c1(%x: tensor<2x4xf32>, %i: tensor<5xi32>, %t: tensor<5xf32>) {
  %y = ge.tree_ensemble %x, %t, %i, %t, %i, %i, %i, %i, %t num_targets 3 : (tensor<2x4xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected 'modes' and 'thresholds' to agree, got 5 and 4
func.func @tree_ensemble_c2(%x: tensor<2x4xf32>, %i: tensor<5xi32>, %t: tensor<4xf32>, %w: tensor<5xf32>) {
  %y = ge.tree_ensemble %x, %i, %i, %t, %i, %i, %i, %i, %w num_targets 3 : (tensor<2x4xf32>, tensor<5xi32>, tensor<5xi32>, tensor<4xf32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected 'num_targets' of 1 or more, got 0
func.func @tree_ensemble_c3(%x: tensor<2x4xf32>, %i: tensor<5xi32>, %t: tensor<5xf32>) {
  %y = ge.tree_ensemble %x, %i, %i, %t, %i, %i, %i, %i, %t num_targets 0 : (tensor<2x4xf32>, tensor<5xi32>, tensor<5xi32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xf32>) -> tensor<2x0xf32>
  func.return
}

// -----

// CHECK: expected finite alpha and beta, got inf and 0.0
func.func @rnn_c5_name_infinite(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  %y, %z = ge.rnn %x, %w, %r direction "forward" {activations = ["LeakyRelu"], alphas = array<f32: 1.0e+999>, betas = array<f32: 0.0>} : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32> -> tensor<5x1x2x4xf32>, tensor<1x2x4xf32>
  func.return
}
