// RUN: ge-opt %s -p ge-fuse-rules --rules %S/Inputs/rules.toml --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --rules %S/Inputs/rules.toml --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The inner value is read outside as well; its reader moves behind the kernel.
// CHECK-LABEL: func.func @two_results
// CHECK-NEXT:    %y, %a = ge.fusion "NegExpFusion"(%x) rule "NegExp"
// CHECK:           ge.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r = ge.relu %a
// CHECK-NEXT:    func.return %y, %r
func.func @two_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = ge.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y, %r : tensor<4xf32>, tensor<4xf32>
}

// -----

// The rule was not written for this opset.
// CHECK-LABEL: func.func @newer
// CHECK-NEXT:    ge.neg
// CHECK-NEXT:    ge.exp
// REMARK: NegExp: ge.exp: the model has opset 22, the rule was written for 1 to 21 (found 22, wanted 1 to 21) [VERSION]
// REMARK-SAME: verified: without that it fires and saves 32 bytes
builtin.module attributes {ge.opset = 22 : i64} {
  func.func @newer(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    %y = ge.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    func.return %y : tensor<4xf32>
  }
}

// -----

// A tolerant rule takes the cast into the kernel.
// CHECK-LABEL: func.func @casts
// CHECK-NEXT:    ge.fusion "AbsSoftmaxFusion"(%x)
// CHECK:           ge.abs
// CHECK-NEXT:      ge.cast
// CHECK-NEXT:      ge.softmax
func.func @casts(%x: tensor<4xf16>) -> tensor<4xf32> {
  %a = ge.abs %x : (tensor<4xf16>) -> tensor<4xf16>
  %c = ge.cast %a : (tensor<4xf16>) -> tensor<4xf32>
  %y = ge.softmax %c axis -1 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// One symbol is one dimension.
// CHECK-LABEL: func.func @same_symbol
// CHECK-NEXT:    ge.fusion "SumNormFusion"
func.func @same_symbol(%x: tensor<?x8xf32, #ge.dims<"S">>, %z: tensor<?x8xf32, #ge.dims<"S">>) -> tensor<?x8xf32, #ge.dims<"S">> {
  %s = ge.add %x, %z : (tensor<?x8xf32, #ge.dims<"S">>, tensor<?x8xf32, #ge.dims<"S">>) -> tensor<?x8xf32, #ge.dims<"S">>
  %y = ge.layer_norm %s axis -1 epsilon 1.0e-05 : tensor<?x8xf32, #ge.dims<"S">> -> tensor<?x8xf32, #ge.dims<"S">>
  func.return %y : tensor<?x8xf32, #ge.dims<"S">>
}

// -----

// Negative: two symbols may differ.
// CHECK-LABEL: func.func @two_symbols
// CHECK-NEXT:    ge.add
// CHECK-NEXT:    ge.layer_norm
// REMARK: SumNorm: ge.layer_norm: condition 'same shape of a, b' does not hold (found cannot prove S==U, wanted S==U) [SYMBOL]
func.func @two_symbols(%x: tensor<?x8xf32, #ge.dims<"S">>, %z: tensor<?x8xf32, #ge.dims<"U">>) -> tensor<?x8xf32> {
  %s = ge.add %x, %z : (tensor<?x8xf32, #ge.dims<"S">>, tensor<?x8xf32, #ge.dims<"U">>) -> tensor<?x8xf32>
  %y = ge.layer_norm %s axis -1 epsilon 1.0e-05 : tensor<?x8xf32> -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}
