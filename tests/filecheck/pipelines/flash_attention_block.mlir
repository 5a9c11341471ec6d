// The tutorial's block through the four stages.
//
// RUN: ge-opt %examples/flash_attention_block.mlir -p ge-infer-types | filecheck %s --check-prefix=PARSE
// RUN: ge-opt %examples/flash_attention_block.mlir -p ge-optimize | filecheck %s --check-prefix=FUSED
// RUN: ge-opt %examples/flash_attention_block.mlir -p ge-raise,ge-fuse-rules,ge-bufferize,ge-assign-streams,ge-plan-memory | filecheck %s --check-prefix=MEMORY
// RUN: ge-opt %examples/flash_attention_block.mlir -p ge-fuse-rules,ge-lower | filecheck %s --check-prefix=TAIL
// RUN: ge-opt %s -p ge-lower{streams=2} --split-input-file | filecheck %s --check-prefix=STREAMS

// The tail is one kernel, in tiles, its dropout of nothing included.
// TAIL: ge_exec.kernel @FlashAttentionLayerNormDropoutAddFusion_0 {{.*}} tiles <

// Stage 1, graph: eight nodes (and the transpose that ONNX's MatMul needs), all types known.
// PARSE-LABEL: func.func @block
// PARSE-COUNT-3: ge.matmul
// PARSE:         ge.transpose
// PARSE-NEXT:    ge.matmul
// PARSE-NEXT:    ge.mul
// PARSE-NEXT:    ge.softmax
// PARSE-NEXT:    ge.matmul
// PARSE-NEXT:    ge.add
// PARSE-NEXT:    func.return

// Stage 2, optimisation: one kernel, head by head; the scale is the f16 the model holds, exactly.
// FUSED-LABEL: func.func @block
// FUSED:         %y = ge.fusion "FusedQKVProjectionFlashAttentionAdd"(%x, %wq, %wk, %wv) rule "FlashAttentionAdd+QKVProjection"
// FUSED:           %[[A:.*]] = ge.flash_attention {{.*}} scale 8.83789062e-02
// FUSED-NEXT:      ge.add %{{.*}}, %[[A]]
// FUSED:         func.return %y
// Four ops, one kernel: without its dropout, which drops nothing.
// FUSED-LABEL: func.func @tail
// FUSED:         %y = ge.fusion "FlashAttentionLayerNormDropoutAddFusion"
// FUSED:           ge.flash_attention
// FUSED-NEXT:      ge.layer_norm
// FUSED-NEXT:      ge.add
// FUSED-NEXT:      ge.yield
// FUSED-NEXT:    }
// FUSED-NEXT:    func.return %y

// Stage 3, memory, with the rules' two kernels: [1,32,1024,128] f16 is 8 MiB; Q, K and V, input and output: 40 MiB, the least there is.
// MEMORY-LABEL: ge_exec.plan @block
// MEMORY-NEXT:    %work = ge_exec.arena "work" tier <hbm> size 41943040 lower_bound 41943040
// MEMORY-NEXT:    %weights = ge_exec.arena "weights" tier <hbm> size 98304
// MEMORY:         ge_exec.input "x" in %work offset 25165824
// MEMORY:         %q = ge_exec.buffer in %work offset
// MEMORY:         ge_exec.stream 0 {
// MEMORY-NEXT:      ge_exec.launch 0 @QKVProjectionFusion_0
// MEMORY-NEXT:      ge_exec.launch 1 @FlashAttentionAdd_0
// MEMORY-NEXT:    }
// MEMORY:         ge_exec.output "y"

// Stage 4, streams: two branches of different engines run side by side, and wait where they join.
// STREAMS-LABEL: ge_exec.plan @branches
// STREAMS:         ge_exec.stream 0 {
// STREAMS:           ge_exec.record 0
// STREAMS:         ge_exec.stream 1 {
// STREAMS:         ge_exec.wait {{[0-9]}} why "RAW on
func.func @branches(%x: tensor<2048x2048xf16>, %g: tensor<2048x2048xf16>) -> tensor<2048x2048xf16> {
  %r = ge.relu %x : (tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %a = ge.matmul %r, %g : (tensor<2048x2048xf16>, tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %b = ge.matmul %a, %g : (tensor<2048x2048xf16>, tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %c = ge.erf %r : (tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %d = ge.softmax %c axis -1 : (tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %e = ge.exp %d : (tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %y = ge.add %b, %e : (tensor<2048x2048xf16>, tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  func.return %y : tensor<2048x2048xf16>
}
