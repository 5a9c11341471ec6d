// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @groups
// CHECK-NEXT: ge.flash_attention %q, %k, %v scale 1.000000e+00
// CHECK-NEXT: func.return
func.func @groups(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x6x8xf32>, %v: tensor<2x2x6x8xf32>)
    -> tensor<2x4x6x8xf32> {
  %k1 = ge.reshape %k : (tensor<2x2x6x8xf32>) -> tensor<2x2x1x6x8xf32>
  %k2 = ge.broadcast_to %k1 : (tensor<2x2x1x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %k3 = ge.reshape %k2 : (tensor<2x2x2x6x8xf32>) -> tensor<2x4x6x8xf32>
  %v1 = ge.reshape %v : (tensor<2x2x6x8xf32>) -> tensor<2x2x1x6x8xf32>
  %v2 = ge.tile %v1 repeats [1, 1, 2, 1, 1] : (tensor<2x2x1x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %v3 = ge.reshape %v2 : (tensor<2x2x2x6x8xf32>) -> tensor<2x4x6x8xf32>
  %kt = ge.transpose %k3 perm [0, 1, 3, 2] : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %a = ge.matmul %q, %kt : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v3 : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// One head of keys for all queries, spelled by the product's own broadcast.
// CHECK-LABEL: func.func @one_head
// CHECK: ge.flash_attention %q, %k, %v scale 1.000000e+00
// CHECK-SAME: (tensor<2x4x6x8xf32>, tensor<2x1x6x8xf32>, tensor<2x1x6x8xf32>)
func.func @one_head(%q: tensor<2x4x6x8xf32>, %k: tensor<2x1x6x8xf32>, %v: tensor<2x1x6x8xf32>)
    -> tensor<2x4x6x8xf32> {
  %kt = ge.transpose %k perm [0, 1, 3, 2] : (tensor<2x1x6x8xf32>) -> tensor<2x1x8x6xf32>
  %a = ge.matmul %q, %kt : (tensor<2x4x6x8xf32>, tensor<2x1x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x1x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// Copies that are not neighbours: query head 1 would get key head 1, not 0.
// CHECK-LABEL: func.func @alternating
// CHECK: ge.flash_attention %q, %{{.*}}, %{{.*}} scale 1.000000e+00
// CHECK-SAME: (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>)
func.func @alternating(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %k1 = ge.reshape %k : (tensor<2x2x6x8xf32>) -> tensor<2x1x2x6x8xf32>
  %k2 = ge.broadcast_to %k1 : (tensor<2x1x2x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %k3 = ge.reshape %k2 : (tensor<2x2x2x6x8xf32>) -> tensor<2x4x6x8xf32>
  %o = ge.flash_attention %q, %k3, %k3 scale 1.0 : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>,
    tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @different_groups
// CHECK: ge.broadcast_to
// REMARK: AbsorbGroupedHeads: ge.flash_attention: keys and values are repeated for groups of different size (found [2, 1, 6, 8], wanted [2, 2, 6, 8]) [SHAPE]
func.func @different_groups(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x1x6x8xf32>,
    %v: tensor<2x1x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %k2 = ge.broadcast_to %k : (tensor<2x2x1x6x8xf32>) -> tensor<2x2x2x6x8xf32>
  %k3 = ge.reshape %k2 : (tensor<2x2x2x6x8xf32>) -> tensor<2x4x6x8xf32>
  %v2 = ge.broadcast_to %v : (tensor<2x1x6x8xf32>) -> tensor<2x4x6x8xf32>
  %o = ge.flash_attention %q, %k3, %v2 scale 1.0 : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>,
    tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}
