// The attention block of the tutorial: projections of Q, K and V, attention, residual Add.
// Eight nodes, and the transpose of K that ONNX's MatMul needs and GE's has as a flag.
//
//   ge-opt examples/flash_attention_block.mlir -p ge-raise,ge-fuse-rules --remarks=passed
//
// leaves three: QKVProjectionFusion, flash_attention, add. The scale is 1/sqrt(128).
func.func @block(%x: tensor<1x32x1024x128xf16> {ge.name = "x"})
    -> (tensor<1x32x1024x128xf16> {ge.name = "y"}) {
  %wq = ge.constant dense<0.0125> : tensor<128x128xf16>
  %wk = ge.constant dense<-0.0075> : tensor<128x128xf16>
  %wv = ge.constant dense<0.0078125> : tensor<128x128xf16>
  %scale = ge.constant dense<0.08838834764831845> : tensor<f16>
  %q = ge.matmul %x, %wq : (tensor<1x32x1024x128xf16>, tensor<128x128xf16>) -> tensor<1x32x1024x128xf16> loc("q_proj")
  %k = ge.matmul %x, %wk : (tensor<1x32x1024x128xf16>, tensor<128x128xf16>) -> tensor<1x32x1024x128xf16> loc("k_proj")
  %v = ge.matmul %x, %wv : (tensor<1x32x1024x128xf16>, tensor<128x128xf16>) -> tensor<1x32x1024x128xf16> loc("v_proj")
  %kt = ge.transpose %k perm [0, 1, 3, 2] : (tensor<1x32x1024x128xf16>) -> tensor<1x32x128x1024xf16> loc("k_transpose")
  %s = ge.matmul %q, %kt : (tensor<1x32x1024x128xf16>, tensor<1x32x128x1024xf16>) -> tensor<1x32x1024x1024xf16> loc("scores")
  %d = ge.mul %s, %scale : (tensor<1x32x1024x1024xf16>, tensor<f16>) -> tensor<1x32x1024x1024xf16> loc("scale")
  %p = ge.softmax %d axis -1 : (tensor<1x32x1024x1024xf16>) -> tensor<1x32x1024x1024xf16> loc("softmax")
  %o = ge.matmul %p, %v : (tensor<1x32x1024x1024xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> loc("context")
  %y = ge.add %x, %o : (tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> loc("residual")
  func.return %y : tensor<1x32x1024x128xf16>
}

// FlashAttention + LayerNorm + Dropout + residual Add: four ops, one kernel.
//
//   ge-opt examples/flash_attention_block.mlir -p ge-fuse-rules
func.func @tail(%q: tensor<1x32x1024x128xf16>, %k: tensor<1x32x1024x128xf16>, %v: tensor<1x32x1024x128xf16>, %x: tensor<1x32x1024x128xf16>)
    -> tensor<1x32x1024x128xf16> {
  %gamma = ge.constant dense<1.5> : tensor<128xf16>
  %beta = ge.constant dense<0.25> : tensor<128xf16>
  %ratio = ge.constant dense<0.0> : tensor<f32>
  %training = ge.constant dense<true> : tensor<i1>
  %a = ge.flash_attention %q, %k, %v scale 0.08838834764831845 : (tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> loc("attention")
  %n = ge.layer_norm %a scale %gamma : tensor<128xf16> bias %beta : tensor<128xf16> axis -1 epsilon 1.0e-05 : tensor<1x32x1024x128xf16> -> tensor<1x32x1024x128xf16> loc("norm")
  %d, %mask = ge.dropout %n ratio %ratio : tensor<f32> training_mode %training : tensor<i1> : tensor<1x32x1024x128xf16> -> tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xi1> loc("dropout")
  %y = ge.add %x, %d : (tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> loc("residual")
  func.return %y : tensor<1x32x1024x128xf16>
}

// The same tail with epsilon 1e-06, which the kernel does not take: nothing is fused, and
//
//   ge-opt examples/flash_attention_block.mlir -p ge-fuse-rules --remarks=missed
//
// says so, with the node, what was found and what was wanted.
func.func @tail_eps6(%q: tensor<1x32x1024x128xf16>, %k: tensor<1x32x1024x128xf16>, %v: tensor<1x32x1024x128xf16>, %x: tensor<1x32x1024x128xf16>)
    -> tensor<1x32x1024x128xf16> {
  %a = ge.flash_attention %q, %k, %v scale 0.08838834764831845 : (tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> loc("attention_eps6")
  %n = ge.layer_norm %a axis -1 epsilon 1.0e-06 : tensor<1x32x1024x128xf16> -> tensor<1x32x1024x128xf16> loc("norm_eps6")
  %y = ge.add %x, %n : (tensor<1x32x1024x128xf16>, tensor<1x32x1024x128xf16>) -> tensor<1x32x1024x128xf16> loc("residual_eps6")
  func.return %y : tensor<1x32x1024x128xf16>
}
