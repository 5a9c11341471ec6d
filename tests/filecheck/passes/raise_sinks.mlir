// RUN: ge-opt %s -p ge-raise,ge-canonicalize --remarks=missed 2> %t | filecheck %s
// RUN: filecheck %s --input-file %t --check-prefix REMARK

!q = tensor<2x4x3x8xf32>
!k = tensor<2x4x8x5xf32>
!v = tensor<2x4x5x8xf32>
!s = tensor<2x4x3x5xf32>
!w = tensor<2x4x3x6xf32>
!c = tensor<2x4x3x1xf32>

// The largest score is taken away, which softmax does by itself.
// CHECK-LABEL: func.func @last
// CHECK: ge.flash_attention %q, %{{.*}}, %v sink %h : tensor<4xf32> scale 1.000000e+00
// CHECK-NEXT: func.return
func.func @last(%q: !q, %k: !k, %v: !v, %h: tensor<4xf32>) -> !q {
  %h1 = ge.reshape %h : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
  %h2 = ge.broadcast_to %h1 : (tensor<1x4x1x1xf32>) -> !c
  %s = ge.matmul %q, %k : (!q, !k) -> !s
  %j = ge.concat %s, %h2 axis 3 : (!s, !c) -> !w
  %m = ge.reduce_max %j axes [3] keepdims true : (!w) -> !c
  %d = ge.sub %j, %m : (!w, !c) -> !w
  %p = ge.softmax %d axis -1 : (!w) -> !w
  %w = ge.slice %p starts [0] ends [5] axes [3] steps [1] : (!w) -> !s
  %y = ge.matmul %w, %v : (!s, !v) -> !q
  func.return %y : !q
}

// CHECK-LABEL: func.func @first
// CHECK: %[[H:.*]] = ge.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK: ge.flash_attention %q, %{{.*}}, %v sink %[[H]] : tensor<4xf32>
func.func @first(%q: !q, %k: !k, %v: !v) -> !q {
  %h1 = ge.constant dense<[[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]> : tensor<1x4x1x1xf32>
  %h2 = ge.broadcast_to %h1 : (tensor<1x4x1x1xf32>) -> !c
  %s = ge.matmul %q, %k : (!q, !k) -> !s
  %j = ge.concat %h2, %s axis 3 : (!c, !s) -> !w
  %p = ge.softmax %j axis 3 : (!w) -> !w
  %w = ge.slice %p starts [1] ends [6] axes [3] steps [1] : (!w) -> !s
  %y = ge.matmul %w, %v : (!s, !v) -> !q
  func.return %y : !q
}

// The column that is cut off is one of a key.
// CHECK-LABEL: func.func @a_key
// CHECK-NOT: ge.flash_attention
func.func @a_key(%q: !q, %k: !k, %v: !v, %h: !c) -> !q {
  %s = ge.matmul %q, %k : (!q, !k) -> !s
  %j = ge.concat %h, %s axis 3 : (!c, !s) -> !w
  %p = ge.softmax %j axis 3 : (!w) -> !w
  %w = ge.slice %p starts [0] ends [5] axes [3] steps [1] : (!w) -> !s
  %y = ge.matmul %w, %v : (!s, !v) -> !q
  func.return %y : !q
}

// REMARK: RaiseAttention: ge.matmul: the scores beside those of keys differ between queries (found [2, 4, 3, 1], wanted [1, 4, 1, 1]) [SHAPE]
// CHECK-LABEL: func.func @each_query
// CHECK-NOT: ge.flash_attention
func.func @each_query(%q: !q, %k: !k, %v: !v, %h: !c) -> !q {
  %s = ge.matmul %q, %k : (!q, !k) -> !s
  %j = ge.concat %s, %h axis 3 : (!s, !c) -> !w
  %p = ge.softmax %j axis 3 : (!w) -> !w
  %w = ge.slice %p starts [0] ends [5] axes [3] steps [1] : (!w) -> !s
  %y = ge.matmul %w, %v : (!s, !v) -> !q
  func.return %y : !q
}

// Any number of keys.
// CHECK-LABEL: func.func @symbolic
// CHECK: ge.flash_attention %q, %{{.*}}, %v sink %h : tensor<4xf32>
// CHECK-NEXT: func.return
func.func @symbolic(%q: !q, %k: tensor<2x4x8x?xf32, #ge.dims<"n">>, %v: tensor<2x4x?x8xf32, #ge.dims<"n">>, %h: tensor<4xf32>) -> !q {
  %h1 = ge.reshape %h : (tensor<4xf32>) -> tensor<1x4x1x1xf32>
  %h2 = ge.broadcast_to %h1 : (tensor<1x4x1x1xf32>) -> !c
  %s = ge.matmul %q, %k : (!q, tensor<2x4x8x?xf32, #ge.dims<"n">>) -> tensor<2x4x3x?xf32, #ge.dims<"n">>
  %j = ge.concat %s, %h2 axis 3 : (tensor<2x4x3x?xf32, #ge.dims<"n">>, !c) -> tensor<2x4x3x?xf32, #ge.dims<"n + 1">>
  %p = ge.softmax %j axis 3 : (tensor<2x4x3x?xf32, #ge.dims<"n + 1">>) -> tensor<2x4x3x?xf32, #ge.dims<"n + 1">>
  %w = ge.slice %p starts [0] ends [-1] axes [3] steps [1] : (tensor<2x4x3x?xf32, #ge.dims<"n + 1">>) -> tensor<2x4x3x?xf32, #ge.dims<"n">>
  %y = ge.matmul %w, %v : (tensor<2x4x3x?xf32, #ge.dims<"n">>, tensor<2x4x?x8xf32, #ge.dims<"n">>) -> !q
  func.return %y : !q
}

// The column that is cut off is one of any number of keys.
// CHECK-LABEL: func.func @symbolic_key
// CHECK-NOT: ge.flash_attention
func.func @symbolic_key(%q: !q, %k: tensor<2x4x8x?xf32, #ge.dims<"n">>, %v: tensor<2x4x?x8xf32, #ge.dims<"n">>, %h: tensor<1x4x1x1xf32>) -> !q {
  %h2 = ge.broadcast_to %h : (tensor<1x4x1x1xf32>) -> !c
  %s = ge.matmul %q, %k : (!q, tensor<2x4x8x?xf32, #ge.dims<"n">>) -> tensor<2x4x3x?xf32, #ge.dims<"n">>
  %j = ge.concat %h2, %s axis 3 : (!c, tensor<2x4x3x?xf32, #ge.dims<"n">>) -> tensor<2x4x3x?xf32, #ge.dims<"n + 1">>
  %p = ge.softmax %j axis 3 : (tensor<2x4x3x?xf32, #ge.dims<"n + 1">>) -> tensor<2x4x3x?xf32, #ge.dims<"n + 1">>
  %w = ge.slice %p starts [0] ends [-1] axes [3] steps [1] : (tensor<2x4x3x?xf32, #ge.dims<"n + 1">>) -> tensor<2x4x3x?xf32, #ge.dims<"n">>
  %y = ge.matmul %w, %v : (tensor<2x4x3x?xf32, #ge.dims<"n">>, tensor<2x4x?x8xf32, #ge.dims<"n">>) -> !q
  func.return %y : !q
}
