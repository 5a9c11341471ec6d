// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @qkv
// CHECK:         %q, %k, %v = ge.fusion "QKVProjectionFusion"(%x, %wq, %wk, %wv)
// CHECK-COUNT-3:   ge.matmul
// CHECK:           ge.yield
// CHECK:         func.return %q, %k, %v
func.func @qkv(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %wq = ge.constant dense<0.5> : tensor<4x4xf32>
  %q = ge.matmul %x, %wq : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %wk = ge.constant dense<0.25> : tensor<4x4xf32>
  %k = ge.matmul %x, %wk : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %wv = ge.constant dense<0.125> : tensor<4x4xf32>
  %v = ge.matmul %x, %wv : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  func.return %q, %k, %v : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Negative: one of the weights is computed.
// CHECK-LABEL: func.func @computed_weight
// CHECK-NOT:     ge.fusion
// REMARK: QKVProjection: ge.matmul: operand 'weight' of 'ge.matmul' is no constant
func.func @computed_weight(%x: tensor<2x4xf32>, %wv: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %wq = ge.constant dense<0.5> : tensor<4x4xf32>
  %wk = ge.constant dense<0.25> : tensor<4x4xf32>
  %q = ge.matmul %x, %wq : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %k = ge.matmul %x, %wk : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %v = ge.matmul %x, %wv : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  func.return %q, %k, %v : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Negative: four siblings, and the kernel takes three.
// CHECK-LABEL: func.func @four
// CHECK-NOT:     ge.fusion
// REMARK: QKVProjection: ge.matmul: 4 siblings, the kernel takes 3
func.func @four(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %w = ge.constant dense<0.5> : tensor<4x4xf32>
  %a = ge.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b = ge.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %c = ge.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %d = ge.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  func.return %a, %b, %c, %d : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
