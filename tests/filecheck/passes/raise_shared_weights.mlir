// RUN: ge-opt %s -p ge-raise,ge-dce | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @two_products
// CHECK: %[[W:.*]] = ge.exp %w
// CHECK: %[[C:.*]] = ge.concat %v, %[[W]] axis 3
// CHECK: %[[O:.*]] = ge.flash_attention %q, {{.*}}, %[[C]] scale
// CHECK-NEXT: %[[X:.*]], %[[Y:.*]] = ge.split %[[O]] axis 3 sizes [8, 2]
// CHECK: func.return %{{.*}}, %[[Y]]
func.func @two_products(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>, %w: tensor<2x4x6x2xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x2xf32>) {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %n = ge.neg %o : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %e = ge.exp %w : (tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  %r = ge.matmul %p, %e : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  func.return %n, %r : tensor<2x4x6x8xf32>, tensor<2x4x6x2xf32>
}

// CHECK-LABEL: func.func @one_after_the_other
// CHECK-NOT: ge.flash_attention
// REMARK: values of the same weights can not be computed before the first product [USE]
func.func @one_after_the_other(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>, %w: tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>) {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %x = ge.add %o, %w : (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %r = ge.matmul %p, %x : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %r : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @other_heads
// CHECK-NOT: ge.flash_attention
// REMARK: values of the same weights have different shapes (found [1, 4, 6, 8], wanted [2, 4, 6, 8]) [SHAPE]
func.func @other_heads(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>, %w: tensor<1x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %r = ge.matmul %p, %w : (tensor<2x4x6x6xf32>, tensor<1x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o, %r : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
}

// The weights of an average are read as well.
// CHECK-LABEL: func.func @also_read
// CHECK-NOT: ge.flash_attention
func.func @also_read(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>, %w: tensor<2x4x6x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>) {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %r = ge.matmul %p, %w : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o, %r, %p : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>
}
