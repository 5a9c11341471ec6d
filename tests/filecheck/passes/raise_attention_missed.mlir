// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-NOT: ge.flash_attention

// REMARK: RaiseAttention: ge.matmul: the result of 'ge.softmax' has 2 uses, 1 outside: func.return (found 1, wanted 0) [USE]
func.func @weights_used(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>)
    -> (tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>) {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o, %p : tensor<2x4x6x8xf32>, tensor<2x4x6x6xf32>
}

// REMARK: softmax is not along the last dimension (found 2, wanted 3) [ATTR]
func.func @axis(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>)
    -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis 2 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// REMARK: masked scores are not minus infinity (found -10000.0, wanted -inf) [CONST]
func.func @fill_and_sum(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>, %b: tensor<6x6xf32>) -> tensor<2x4x6x8xf32> {
  %c = ge.constant dense<-10000.0> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %z = ge.add %a, %b : (tensor<2x4x6x6xf32>, tensor<6x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.select %m, %z, %c : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>)
    -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// REMARK: the scores are rounded to a narrower type (found f16, wanted f32 or wider) [DTYPE]
func.func @rounded(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf16>)
    -> tensor<2x4x6x8xf16> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.cast %a : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf16>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf16>) -> tensor<2x4x6x6xf16>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf16>, tensor<2x4x6x8xf16>) -> tensor<2x4x6x8xf16>
  func.return %o : tensor<2x4x6x8xf16>
}

// REMARK: values are no floats of the type of queries, or a wider one (found f16, wanted f32) [DTYPE]
func.func @narrow_values(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf16>)
    -> tensor<2x4x6x8xf16> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.cast %p : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf16>
  %o = ge.matmul %c, %v : (tensor<2x4x6x6xf16>, tensor<2x4x6x8xf16>) -> tensor<2x4x6x8xf16>
  func.return %o : tensor<2x4x6x8xf16>
}

// REMARK: dropout may drop weights (found 0.1{{.*}}, wanted 0.0) [ATTR]
func.func @training(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>)
    -> tensor<2x4x6x8xf32> {
  %r = ge.constant dense<0.1> : tensor<f32>
  %on = ge.constant dense<true> : tensor<i1>
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %d, %m = ge.dropout %p ratio %r : tensor<f32> training_mode %on : tensor<i1>
    : tensor<2x4x6x6xf32> -> tensor<2x4x6x6xf32>, tensor<2x4x6x6xi1>
  %o = ge.matmul %d, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// REMARK: 'q' is not proved to have the leading dimensions of the scores (found [A, 4], wanted [?, 4]) [SYMBOL]
func.func @symbols(%q: tensor<?x4x6x8xf32, #ge.dims<"A">>, %k: tensor<?x4x8x6xf32, #ge.dims<"B">>,
    %v: tensor<?x4x6x8xf32, #ge.dims<"B">>) -> tensor<?x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<?x4x6x8xf32, #ge.dims<"A">>,
    tensor<?x4x8x6xf32, #ge.dims<"B">>) -> tensor<?x4x6x6xf32>
  %p = ge.softmax %a axis -1 : (tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<?x4x6x6xf32>, tensor<?x4x6x8xf32, #ge.dims<"B">>)
    -> tensor<?x4x6x8xf32>
  func.return %o : tensor<?x4x6x8xf32>
}

// REMARK: the mask has more elements than the scores (found [2, 4, 6, 6], wanted [1, 4, 6, 6]) [SHAPE]
func.func @large_mask(%q: tensor<1x4x6x8xf32>, %k: tensor<1x4x8x6xf32>, %v: tensor<1x4x6x8xf32>,
    %m: tensor<2x1x6x6xf32>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<1x4x6x8xf32>, tensor<1x4x8x6xf32>) -> tensor<1x4x6x6xf32>
  %s = ge.add %a, %m : (tensor<1x4x6x6xf32>, tensor<2x1x6x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<1x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A floor that scores may reach: it is part of what is computed.
// CHECK-LABEL: func.func @floor_reached
// CHECK-NOT: ge.flash_attention
// REMARK: RaiseAttention: ge.matmul: scores have a floor that may be reached (found -10000.0, wanted -1e+30 or less, f32) [CONST]
func.func @floor_reached(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>)
    -> tensor<4x6x8xf32> {
  %min = ge.constant dense<-1.0e+04> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %f = ge.maximum %a, %min : (tensor<4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
  %p = ge.softmax %f axis -1 : (tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  func.return %o : tensor<4x6x8xf32>
}

// A mask of which nothing is known may add minus infinity, which the floor lifts.
// CHECK-LABEL: func.func @floor_over_mask
// CHECK-NOT: ge.flash_attention
// REMARK: RaiseAttention: ge.matmul: masks may take scores below their floor (found -inf, wanted {{.*}} or more) [CONST]
func.func @floor_over_mask(%q: tensor<4x6x8xf32>, %k: tensor<4x8x6xf32>, %v: tensor<4x6x8xf32>,
    %m: tensor<6x6xf32>) -> tensor<4x6x8xf32> {
  %min = ge.constant dense<-3.40282347E+38> : tensor<f32>
  %a = ge.matmul %q, %k : (tensor<4x6x8xf32>, tensor<4x8x6xf32>) -> tensor<4x6x6xf32>
  %d = ge.add %a, %m : (tensor<4x6x6xf32>, tensor<6x6xf32>) -> tensor<4x6x6xf32>
  %f = ge.maximum %d, %min : (tensor<4x6x6xf32>, tensor<f32>) -> tensor<4x6x6xf32>
  %p = ge.softmax %f axis -1 : (tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<4x6x6xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  func.return %o : tensor<4x6x8xf32>
}

// The mask would be scaled as well.
// CHECK-LABEL: func.func @head_scale_after_mask
// CHECK-NOT: ge.flash_attention
// REMARK: RaiseAttention: ge.matmul: the scores are scaled after a mask or a soft cap (found scale after it, wanted scale before it) [ATTR]
func.func @head_scale_after_mask(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>,
    %v: tensor<2x4x6x8xf32>, %t: tensor<4x1x1xf32>, %m: tensor<6x6xf32>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %b = ge.add %a, %m : (tensor<2x4x6x6xf32>, tensor<6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.mul %b, %t : (tensor<2x4x6x6xf32>, tensor<4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %c axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A factor of rows is none of heads.
// CHECK-LABEL: func.func @row_scale
// CHECK-NOT: ge.flash_attention
func.func @row_scale(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %t: tensor<4x1x6xf32>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.mul %a, %t : (tensor<2x4x6x6xf32>, tensor<4x1x6xf32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %c axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}
