// RUN: ge-opt %s -p ge-raise | filecheck %s

// The scale is split over q and k: 0.5946 * 0.5946. The key's transpose is the one bound away.
// CHECK-LABEL: func.func @split_scale
// CHECK-NEXT: ge.flash_attention %q, %k, %v scale 3.53553{{[0-9]*}}e-01 : (tensor<2x4x6x8xf32>,
// CHECK-NEXT: func.return
func.func @split_scale(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x6x8xf32>, %v: tensor<2x4x6x8xf32>)
    -> tensor<2x4x6x8xf32> {
  %c = ge.constant dense<0.5946035385131836> : tensor<f32>
  %qs = ge.mul %q, %c : (tensor<2x4x6x8xf32>, tensor<f32>) -> tensor<2x4x6x8xf32>
  %kt = ge.transpose %k perm [0, 1, 3, 2] : (tensor<2x4x6x8xf32>) -> tensor<2x4x8x6xf32>
  %ks = ge.mul %kt, %c : (tensor<2x4x8x6xf32>, tensor<f32>) -> tensor<2x4x8x6xf32>
  %s = ge.matmul %qs, %ks : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// K as [B, T, H, D]: the key is that with T and H swapped, never the value itself.
// CHECK-LABEL: func.func @permuted_key
// CHECK: [[K:%.*]] = ge.transpose %k perm [0, 2, 1, 3]
// CHECK-NEXT: ge.flash_attention %q, [[K]], %v scale 5.000000e-01
func.func @permuted_key(%q: tensor<1x4x4x4xf32>, %k: tensor<1x4x4x4xf32>, %v: tensor<1x4x4x4xf32>)
    -> tensor<1x4x4x4xf32> {
  %c = ge.constant dense<0.5> : tensor<f32>
  %kt = ge.transpose %k perm [0, 2, 3, 1] : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %s = ge.matmul %q, %kt : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %t = ge.mul %s, %c : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x4x4x4xf32>
  %p = ge.softmax %t axis 3 : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %o = ge.matmul %p, %v : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  func.return %o : tensor<1x4x4x4xf32>
}

// CHECK-LABEL: func.func @scale_below_transpose
// CHECK: [[Q:%.*]] = ge.transpose %q perm [0, 2, 1, 3]
// CHECK: ge.flash_attention [[Q]], {{.*}} scale 2.500000e-01
func.func @scale_below_transpose(%q: tensor<2x6x4x8xf32>, %k: tensor<2x4x8x6xf32>,
    %v: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %c = ge.constant dense<4.0> : tensor<f32>
  %qs = ge.div %q, %c : (tensor<2x6x4x8xf32>, tensor<f32>) -> tensor<2x6x4x8xf32>
  %qt = ge.transpose %qs perm [0, 2, 1, 3] : (tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
  %s = ge.matmul %qt, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A soft cap of 50 on scores of scale 0.25, then a mask.
// CHECK-LABEL: func.func @softcap
// CHECK: ge.flash_attention %q, {{.*}} mask %m scale 2.500000e-01 softcap 5.000000e+01
func.func @softcap(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xf32>) -> tensor<2x4x6x8xf32> {
  %c = ge.constant dense<0.25> : tensor<f32>
  %cap = ge.constant dense<50.0> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %b = ge.mul %a, %c : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %d = ge.div %b, %cap : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %e = ge.tanh %d : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %f = ge.mul %e, %cap : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %g = ge.add %f, %m : (tensor<2x4x6x6xf32>, tensor<6x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %g axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// f16 with casts around softmax and a dropout that drops nothing.
// CHECK-LABEL: func.func @casts_and_dropout
// CHECK: ge.flash_attention %q, {{.*}}, %v scale 1.000000e+00 : (tensor<2x4x6x8xf16>
// CHECK-NEXT: func.return
func.func @casts_and_dropout(%q: tensor<2x4x6x8xf16>, %k: tensor<2x4x8x6xf16>,
    %v: tensor<2x4x6x8xf16>, %on: tensor<i1>) -> tensor<2x4x6x8xf16> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf16>, tensor<2x4x8x6xf16>) -> tensor<2x4x6x6xf16>
  %b = ge.cast %a : (tensor<2x4x6x6xf16>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %b axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %h = ge.cast %p : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf16>
  %d, %m = ge.dropout %h ratio %zero : tensor<f32> training_mode %on : tensor<i1>
    : tensor<2x4x6x6xf16> -> tensor<2x4x6x6xf16>, tensor<2x4x6x6xi1>
  %o = ge.matmul %d, %v : (tensor<2x4x6x6xf16>, tensor<2x4x6x8xf16>) -> tensor<2x4x6x8xf16>
  func.return %o : tensor<2x4x6x8xf16>
}

// Attention without heads.
// CHECK-LABEL: func.func @rank_3
// CHECK: ge.reshape %q : (tensor<2x6x8xf32>) -> tensor<2x1x6x8xf32>
// CHECK: ge.flash_attention {{.*}} -> tensor<2x1x6x3xf32>
// CHECK-NEXT: ge.reshape {{.*}} -> tensor<2x6x3xf32>
func.func @rank_3(%q: tensor<2x6x8xf32>, %k: tensor<2x8x5xf32>, %v: tensor<2x5x3xf32>)
    -> tensor<2x6x3xf32> {
  %s = ge.matmul %q, %k : (tensor<2x6x8xf32>, tensor<2x8x5xf32>) -> tensor<2x6x5xf32>
  %p = ge.softmax %s axis 2 : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %o = ge.matmul %p, %v : (tensor<2x6x5xf32>, tensor<2x5x3xf32>) -> tensor<2x6x3xf32>
  func.return %o : tensor<2x6x3xf32>
}

// Symbolic sizes.
// CHECK-LABEL: func.func @symbolic
// CHECK: ge.flash_attention %q, {{.*}}, %v scale 1.000000e+00
func.func @symbolic(%q: tensor<?x4x?x8xf32, #ge.dims<"B", "S">>,
    %k: tensor<?x4x8x?xf32, #ge.dims<"B", "T">>, %v: tensor<?x4x?x8xf32, #ge.dims<"B", "T">>)
    -> tensor<?x4x?x8xf32, #ge.dims<"B", "S">> {
  %s = ge.matmul %q, %k : (tensor<?x4x?x8xf32, #ge.dims<"B", "S">>,
    tensor<?x4x8x?xf32, #ge.dims<"B", "T">>) -> tensor<?x4x?x?xf32, #ge.dims<"B", "S", "T">>
  %p = ge.softmax %s axis 3 : (tensor<?x4x?x?xf32, #ge.dims<"B", "S", "T">>)
    -> tensor<?x4x?x?xf32, #ge.dims<"B", "S", "T">>
  %o = ge.matmul %p, %v : (tensor<?x4x?x?xf32, #ge.dims<"B", "S", "T">>,
    tensor<?x4x?x8xf32, #ge.dims<"B", "T">>) -> tensor<?x4x?x8xf32, #ge.dims<"B", "S">>
  func.return %o : tensor<?x4x?x8xf32, #ge.dims<"B", "S">>
}

// One factor a head, as of cosine attention: each head is a product of its own, so q takes it.
// CHECK-LABEL: func.func @head_scale
// CHECK: [[Q:%.*]] = ge.mul %q, %t : (tensor<2x4x6x8xf32>, tensor<4x1x1xf32>)
// CHECK: ge.flash_attention [[Q]], {{.*}}, %v scale 5.000000e-01
func.func @head_scale(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %t: tensor<4x1x1xf32>) -> tensor<2x4x6x8xf32> {
  %half = ge.constant dense<0.5> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %b = ge.mul %t, %a : (tensor<4x1x1xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.mul %b, %half : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %c axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A divisor of batches and heads in one dimension.
// CHECK-LABEL: func.func @head_divisor
// CHECK: [[T:%.*]] = ge.reshape %t : (tensor<8x1x1xf32>) -> tensor<2x4x1x1xf32>
// CHECK: [[Q:%.*]] = ge.div {{%.*}}, [[T]]
// CHECK: ge.flash_attention [[Q]]
func.func @head_divisor(%q: tensor<8x6x8xf32>, %k: tensor<8x8x6xf32>, %v: tensor<8x6x8xf32>,
    %t: tensor<8x1x1xf32>, %m: tensor<2x1x6x6xf32>) -> tensor<8x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<8x6x8xf32>, tensor<8x8x6xf32>) -> tensor<8x6x6xf32>
  %b = ge.div %a, %t : (tensor<8x6x6xf32>, tensor<8x1x1xf32>) -> tensor<8x6x6xf32>
  %r = ge.reshape %b : (tensor<8x6x6xf32>) -> tensor<2x4x6x6xf32>
  %d = ge.add %r, %m : (tensor<2x4x6x6xf32>, tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.reshape %d : (tensor<2x4x6x6xf32>) -> tensor<8x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<8x6x6xf32>, tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
  func.return %o : tensor<8x6x8xf32>
}

// Queries in half precision, the rest in single, as an exporter's f32 masks have it: they are widened.
// CHECK-LABEL: func.func @wide_values
// CHECK: [[Q:%.*]] = ge.cast %q : (tensor<2x4x6x8xf16>) -> tensor<2x4x6x8xf32>
// CHECK: ge.flash_attention [[Q]], {{.*}}, %v scale 1.000000e+00
func.func @wide_values(%q: tensor<2x4x6x8xf16>, %k: tensor<2x4x8x6xf16>, %v: tensor<2x4x6x8xf32>)
    -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf16>, tensor<2x4x8x6xf16>) -> tensor<2x4x6x6xf16>
  %s = ge.cast %a : (tensor<2x4x6x6xf16>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}
