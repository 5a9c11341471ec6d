// RUN: ge-opt %s -p ge-raise,ge-canonicalize,ge-cse | filecheck %s

!x = tensor<2x4x3x8xf32>
!h = tensor<2x4x3x4xf32>

// Tables from positions; every angle is there twice.
// CHECK-LABEL: func.func @halves
// CHECK-NEXT: %[[C:.*]] = ge.cos %f
// CHECK-NEXT: %[[S:.*]] = ge.sin %f
// CHECK-NEXT: ge.rotary_embedding %x, %[[C]], %[[S]] num_heads 0 rotary_dim 0
// CHECK-NEXT: func.return
func.func @halves(%x: !x, %f: tensor<2x3x4xf32>) -> !x {
  %ff = ge.concat %f, %f axis -1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %cos = ge.cos %ff : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %sin = ge.sin %ff : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %c = ge.reshape %cos : (tensor<2x3x8xf32>) -> tensor<2x1x3x8xf32>
  %s = ge.reshape %sin : (tensor<2x3x8xf32>) -> tensor<2x1x3x8xf32>
  %xc = ge.mul %x, %c : (!x, tensor<2x1x3x8xf32>) -> !x
  %a = ge.slice %x starts [0] ends [4] axes [3] steps [1] : (!x) -> !h
  %b = ge.slice %x starts [4] ends [9223372036854775807] axes [3] steps [1] : (!x) -> !h
  %n = ge.neg %b : (!h) -> !h
  %t = ge.concat %n, %a axis -1 : (!h, !h) -> !x
  %ts = ge.mul %t, %s : (!x, tensor<2x1x3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y : !x
}

// Heads after positions: a row of all heads is the other form of the op.
// CHECK-LABEL: func.func @heads_last
// CHECK: %[[X:.*]] = ge.reshape %x : (tensor<2x3x4x2xf32>) -> tensor<2x3x8xf32>
// CHECK: ge.rotary_embedding %[[X]], %{{.*}}, %{{.*}} num_heads 4 rotary_dim 0 : (tensor<2x3x8xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>)
func.func @heads_last(%x: tensor<2x3x4x2xf32>) -> tensor<2x3x4x2xf32> {
  %c = ge.constant dense<[[[[1.0, 1.0]], [[0.5, 0.5]], [[0.25, 0.25]]]]> : tensor<1x3x1x2xf32>
  %s = ge.constant dense<[[[[0.0, 0.0]], [[0.1, 0.1]], [[0.2, 0.2]]]]> : tensor<1x3x1x2xf32>
  %xc = ge.mul %x, %c : (tensor<2x3x4x2xf32>, tensor<1x3x1x2xf32>) -> tensor<2x3x4x2xf32>
  %a, %b = ge.split %x axis 3 sizes [1, 1] : (tensor<2x3x4x2xf32>) -> (tensor<2x3x4x1xf32>, tensor<2x3x4x1xf32>)
  %n = ge.neg %b : (tensor<2x3x4x1xf32>) -> tensor<2x3x4x1xf32>
  %t = ge.concat %n, %a axis 3 : (tensor<2x3x4x1xf32>, tensor<2x3x4x1xf32>) -> tensor<2x3x4x2xf32>
  %ts = ge.mul %t, %s : (tensor<2x3x4x2xf32>, tensor<1x3x1x2xf32>) -> tensor<2x3x4x2xf32>
  %y = ge.add %xc, %ts : (tensor<2x3x4x2xf32>, tensor<2x3x4x2xf32>) -> tensor<2x3x4x2xf32>
  func.return %y : tensor<2x3x4x2xf32>
}

// Neighbours are pairs, and the parts are rotated one by one.
// CHECK-LABEL: func.func @neighbours
// CHECK: ge.rotary_embedding %x, %{{.*}}, %{{.*}} interleaved num_heads 0 rotary_dim 0
// CHECK-NOT: ge.concat
func.func @neighbours(%x: !x, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> !x {
  %a = ge.slice %x starts [0] ends [8] axes [3] steps [2] : (!x) -> !h
  %b = ge.slice %x starts [1] ends [8] axes [3] steps [2] : (!x) -> !h
  %ac = ge.mul %a, %c : (!h, tensor<3x4xf32>) -> !h
  %bs = ge.mul %b, %s : (!h, tensor<3x4xf32>) -> !h
  %bc = ge.mul %b, %c : (!h, tensor<3x4xf32>) -> !h
  %as = ge.mul %a, %s : (!h, tensor<3x4xf32>) -> !h
  %re = ge.sub %ac, %bs : (!h, !h) -> !h
  %im = ge.add %as, %bc : (!h, !h) -> !h
  %u = ge.reshape %re : (!h) -> tensor<2x4x3x4x1xf32>
  %v = ge.reshape %im : (!h) -> tensor<2x4x3x4x1xf32>
  %w = ge.concat %u, %v axis 4 : (tensor<2x4x3x4x1xf32>, tensor<2x4x3x4x1xf32>) -> tensor<2x4x3x4x2xf32>
  %y = ge.reshape %w : (tensor<2x4x3x4x2xf32>) -> !x
  func.return %y : !x
}

// The last features stay as they are.
// CHECK-LABEL: func.func @partial
// CHECK-NEXT: ge.rotary_embedding %x, %c, %s num_heads 0 rotary_dim 6
// CHECK-NEXT: func.return
func.func @partial(%x: !x, %c: tensor<2x3x3xf32>, %s: tensor<2x3x3xf32>) -> !x {
  %a, %b = ge.split %x axis 3 sizes [6, 2] : (!x) -> (tensor<2x4x3x6xf32>, tensor<2x4x3x2xf32>)
  %r = ge.rotary_embedding %a, %c, %s num_heads 0 rotary_dim 0
    : (tensor<2x4x3x6xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x4x3x6xf32>
  %y = ge.concat %r, %b axis 3 : (tensor<2x4x3x6xf32>, tensor<2x4x3x2xf32>) -> !x
  func.return %y : !x
}

// Rotated keys that are returned as well: the op does not move into what reads them.
// CHECK-LABEL: func.func @returned_key
// CHECK: %[[K:.*]] = ge.rotary_embedding %x, %c, %s
// CHECK-NEXT: %[[O:.*]] = ge.flash_attention %[[K]], %[[K]], %x
// CHECK-NEXT: func.return %[[O]], %[[K]]
func.func @returned_key(%x: !x, %c: tensor<2x3x4xf32>, %s: tensor<2x3x4xf32>) -> (!x, !x) {
  %k = ge.rotary_embedding %x, %c, %s num_heads 0 rotary_dim 0 : (!x, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> !x
  %t = ge.transpose %k perm [0, 1, 3, 2] : (!x) -> tensor<2x4x8x3xf32>
  %m = ge.matmul %k, %t : (!x, tensor<2x4x8x3xf32>) -> tensor<2x4x3x3xf32>
  %p = ge.softmax %m axis -1 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
  %o = ge.matmul %p, %x : (tensor<2x4x3x3xf32>, !x) -> !x
  func.return %o, %k : !x, !x
}

!n = tensor<2x4x3x8xf16>
!m = tensor<2x4x3x4xf16>

// In a wider type than what is turned: the value and what is turned are both cast to it.
// CHECK-LABEL: func.func @widened
// CHECK: %[[W:.*]] = ge.cast %x : (tensor<2x4x3x8xf16>) -> tensor<2x4x3x8xf32>
// CHECK: ge.rotary_embedding %[[W]]
func.func @widened(%x: !n, %f: tensor<2x3x4xf32>) -> !x {
  %ff = ge.concat %f, %f axis -1 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %cos = ge.cos %ff : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %sin = ge.sin %ff : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %c = ge.reshape %cos : (tensor<2x3x8xf32>) -> tensor<2x1x3x8xf32>
  %s = ge.reshape %sin : (tensor<2x3x8xf32>) -> tensor<2x1x3x8xf32>
  %w = ge.cast %x : (!n) -> !x
  %xc = ge.mul %w, %c : (!x, tensor<2x1x3x8xf32>) -> !x
  %a = ge.slice %x starts [0] ends [4] axes [3] steps [1] : (!n) -> !m
  %b = ge.slice %x starts [4] ends [9223372036854775807] axes [3] steps [1] : (!n) -> !m
  %n = ge.neg %b : (!m) -> !m
  %t = ge.concat %n, %a axis -1 : (!m, !m) -> !n
  %tw = ge.cast %t : (!n) -> !x
  %ts = ge.mul %tw, %s : (!x, tensor<2x1x3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y : !x
}

// The other way round: the sines change sign.
// CHECK-LABEL: func.func @backwards
// CHECK: %[[S:.*]] = ge.neg
// CHECK: ge.rotary_embedding %x, %{{.*}}, %[[S]] num_heads 0 rotary_dim 0
// CHECK-NEXT: func.return
func.func @backwards(%x: !x, %f: tensor<2x1x3x4xf32>) -> !x {
  %ff = ge.concat %f, %f axis -1 : (tensor<2x1x3x4xf32>, tensor<2x1x3x4xf32>) -> tensor<2x1x3x8xf32>
  %c = ge.cos %ff : (tensor<2x1x3x8xf32>) -> tensor<2x1x3x8xf32>
  %s = ge.sin %ff : (tensor<2x1x3x8xf32>) -> tensor<2x1x3x8xf32>
  %xc = ge.mul %x, %c : (!x, tensor<2x1x3x8xf32>) -> !x
  %a, %b = ge.split %x axis 3 sizes [4, 4] : (!x) -> (!h, !h)
  %n = ge.neg %a : (!h) -> !h
  %t = ge.concat %b, %n axis -1 : (!h, !h) -> !x
  %ts = ge.mul %t, %s : (!x, tensor<2x1x3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y : !x
}

// Neighbours that are halves of the result, beside features that are not rotated (DeepSeek).
// CHECK-LABEL: func.func @neighbours_to_halves
// CHECK: %[[X:.*]] = ge.concat %{{.*}}, %{{.*}} axis 3 : (tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>)
// CHECK: %[[R:.*]] = ge.rotary_embedding %[[X]], %{{.*}}, %{{.*}} num_heads 0 rotary_dim 0
// CHECK-NEXT: ge.concat %z, %[[R]] axis 3
// CHECK-NEXT: func.return
func.func @neighbours_to_halves(%x: !x, %z: !x, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<2x4x3x16xf32> {
  %a = ge.slice %x starts [0] ends [8] axes [3] steps [2] : (!x) -> !h
  %b = ge.slice %x starts [1] ends [8] axes [3] steps [2] : (!x) -> !h
  %ac = ge.mul %a, %c : (!h, tensor<3x4xf32>) -> !h
  %bs = ge.mul %b, %s : (!h, tensor<3x4xf32>) -> !h
  %bc = ge.mul %b, %c : (!h, tensor<3x4xf32>) -> !h
  %as = ge.mul %a, %s : (!h, tensor<3x4xf32>) -> !h
  %re = ge.sub %ac, %bs : (!h, !h) -> !h
  %im = ge.add %as, %bc : (!h, !h) -> !h
  %y = ge.concat %z, %re, %im axis 3 : (!x, !h, !h) -> tensor<2x4x3x16xf32>
  func.return %y : tensor<2x4x3x16xf32>
}

// Angles of two axes of a picture, each repeated for both features of a pair (FLUX).
// CHECK-LABEL: func.func @tables_side_by_side
// CHECK: ge.rotary_embedding %x, %{{.*}}, %{{.*}} interleaved num_heads 0 rotary_dim 0
// CHECK-NEXT: func.return
func.func @tables_side_by_side(%x: !x, %f: tensor<3x1xf32>, %g: tensor<3x3xf32>) -> !x {
  %f0 = ge.reshape %f : (tensor<3x1xf32>) -> tensor<3x1x1xf32>
  %f1 = ge.broadcast_to %f0 : (tensor<3x1x1xf32>) -> tensor<3x1x2xf32>
  %f2 = ge.reshape %f1 : (tensor<3x1x2xf32>) -> tensor<3x2xf32>
  %g0 = ge.reshape %g : (tensor<3x3xf32>) -> tensor<3x3x1xf32>
  %g1 = ge.broadcast_to %g0 : (tensor<3x3x1xf32>) -> tensor<3x3x2xf32>
  %g2 = ge.reshape %g1 : (tensor<3x3x2xf32>) -> tensor<3x6xf32>
  %fg = ge.concat %f2, %g2 axis 1 : (tensor<3x2xf32>, tensor<3x6xf32>) -> tensor<3x8xf32>
  %t = ge.reshape %fg : (tensor<3x8xf32>) -> tensor<1x1x3x8xf32>
  %c = ge.cos %t : (tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  %s = ge.sin %t : (tensor<1x1x3x8xf32>) -> tensor<1x1x3x8xf32>
  %a = ge.slice %x starts [0] ends [8] axes [3] steps [2] : (!x) -> !h
  %b = ge.slice %x starts [1] ends [8] axes [3] steps [2] : (!x) -> !h
  %n = ge.neg %b : (!h) -> !h
  %u = ge.reshape %n : (!h) -> tensor<2x4x3x4x1xf32>
  %v = ge.reshape %a : (!h) -> tensor<2x4x3x4x1xf32>
  %w = ge.concat %u, %v axis 4 : (tensor<2x4x3x4x1xf32>, tensor<2x4x3x4x1xf32>) -> tensor<2x4x3x4x2xf32>
  %turned = ge.reshape %w : (tensor<2x4x3x4x2xf32>) -> !x
  %xc = ge.mul %x, %c : (!x, tensor<1x1x3x8xf32>) -> !x
  %ts = ge.mul %turned, %s : (!x, tensor<1x1x3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y : !x
}
