// RUN: ge-opt %s -p ge-optimize-layout | filecheck %s
// RUN: ge-opt %s -p ge-optimize-layout --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Two that undo each other, with ops in between that take any layout; a bias is turned as it must.
// CHECK-LABEL: func.func @cancel
// CHECK-NEXT: %[[B:.*]] = ge.constant {{.*}} : tensor<1x4x1x1xf32>
// CHECK-NEXT: %[[R:.*]] = ge.add %x, %[[B]] : (tensor<2x4x3x5xf32>, tensor<1x4x1x1xf32>)
// CHECK-NEXT: %[[Y:.*]] = ge.relu %[[R]] : (tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32>
// CHECK-NEXT: func.return %[[Y]]
// REMARK: [passed] ge-optimize-layout: MoveTranspose: ge.transpose: 2 ops before it save 1920 bytes of transposes
func.func @cancel(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xf32> {
  %b = ge.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %t = ge.transpose %x perm [0, 2, 3, 1] : (tensor<2x4x3x5xf32>) -> tensor<2x3x5x4xf32>
  %r = ge.add %t, %b : (tensor<2x3x5x4xf32>, tensor<4xf32>) -> tensor<2x3x5x4xf32>
  %s = ge.relu %r : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %y = ge.transpose %s perm [0, 3, 1, 2] : (tensor<2x3x5x4xf32>) -> tensor<2x4x3x5xf32>
  func.return %y : tensor<2x4x3x5xf32>
}

// What a reduction leaves is less to transpose; here nothing, since one dimension is left.
// CHECK-LABEL: func.func @reduce
// CHECK-NEXT: ge.reduce_mean %x axes [1, 2] keepdims false : (tensor<2x3x5x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return
func.func @reduce(%x: tensor<2x3x5x4xf32>) -> tensor<2x4xf32> {
  %t = ge.transpose %x perm [0, 3, 1, 2] : (tensor<2x3x5x4xf32>) -> tensor<2x4x3x5xf32>
  %y = ge.reduce_mean %t axes [2, 3] keepdims false : (tensor<2x4x3x5xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// Axes of concat, slice and softmax follow; both transposes become one of a piece.
// CHECK-LABEL: func.func @axes
// CHECK-NEXT: ge.concat %x, %y axis 2 : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x9xf32>
// CHECK-NEXT: ge.slice {{.*}} starts [1] ends [7] axes [2] steps [1]
// CHECK-NEXT: ge.softmax {{.*}} axis -1 :
// CHECK-NEXT: ge.split {{.*}} axis 2 sizes [2, 4] : (tensor<2x3x6xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x4xf32>)
// CHECK-NEXT: ge.transpose {{.*}} perm [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT: func.return
func.func @axes(%x: tensor<2x3x4xf32>, %y: tensor<2x3x5xf32>) -> (tensor<2x3x2xf32>, tensor<2x4x3xf32>) {
  %a = ge.transpose %x perm [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %b = ge.transpose %y perm [0, 2, 1] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %c = ge.concat %a, %b axis 1 : (tensor<2x4x3xf32>, tensor<2x5x3xf32>) -> tensor<2x9x3xf32>
  %s = ge.slice %c starts [1] ends [7] axes [1] steps [1] : (tensor<2x9x3xf32>) -> tensor<2x6x3xf32>
  %p = ge.softmax %s axis 1 : (tensor<2x6x3xf32>) -> tensor<2x6x3xf32>
  %d, %e = ge.split %p axis 1 sizes [2, 4] : (tensor<2x6x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x4x3xf32>)
  %f = ge.transpose %d perm [0, 2, 1] : (tensor<2x2x3xf32>) -> tensor<2x3x2xf32>
  func.return %f, %e : tensor<2x3x2xf32>, tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @product
// CHECK-NEXT: ge.gemm %x, %y alpha 1.000000e+00 beta 1.000000e+00 trans_b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
func.func @product(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %t = ge.transpose %y perm [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %p = ge.matmul %x, %t : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %p : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @broadcast
// CHECK-NEXT: ge.transpose %x perm [1, 0, 2] : (tensor<3x2x1xf32>) -> tensor<2x3x1xf32>
// CHECK-NEXT: ge.broadcast_to {{.*}} -> tensor<2x3x8xf32>
func.func @broadcast(%x: tensor<3x2x1xf32>) -> tensor<2x3x8xf32> {
  %b = ge.broadcast_to %x : (tensor<3x2x1xf32>) -> tensor<3x2x8xf32>
  %t = ge.transpose %b perm [1, 0, 2] : (tensor<3x2x8xf32>) -> tensor<2x3x8xf32>
  func.return %t : tensor<2x3x8xf32>
}

// Near miss: the other operand would have to be transposed instead.
// CHECK-LABEL: func.func @other_operand
// CHECK-NEXT: ge.transpose %x
// CHECK-NEXT: ge.add
// CHECK-NEXT: func.return
// REMARK: [missed] ge-optimize-layout: MoveTranspose: ge.transpose: no bytes would be saved
func.func @other_operand(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %t = ge.transpose %x perm [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %s = ge.add %t, %y : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %s : tensor<4x3xf32>
}

// Near miss: a norm along a dimension that moves; one along dimensions that stay does not mind.
// CHECK-LABEL: func.func @norms
// CHECK-NEXT: ge.rms_norm %x axis -1 epsilon {{.*}} : (tensor<2x3x8xf32>)
// CHECK-NEXT: ge.transpose {{.*}} perm [2, 1, 0]
// CHECK-NEXT: ge.rms_norm {{.*}} : (tensor<8x3x2xf32>)
// CHECK-NEXT: ge.transpose
func.func @norms(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %a = ge.transpose %x perm [1, 0, 2] : (tensor<2x3x8xf32>) -> tensor<3x2x8xf32>
  %n = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<3x2x8xf32>) -> tensor<3x2x8xf32>
  %b = ge.transpose %n perm [2, 0, 1] : (tensor<3x2x8xf32>) -> tensor<8x3x2xf32>
  %m = ge.rms_norm %b axis -1 epsilon 1.0e-05 : (tensor<8x3x2xf32>) -> tensor<8x3x2xf32>
  %y = ge.transpose %m perm [2, 1, 0] : (tensor<8x3x2xf32>) -> tensor<2x3x8xf32>
  func.return %y : tensor<2x3x8xf32>
}

// Near miss: what is read as it is, too, is transposed anyway, and a product of more dimensions.
// CHECK-LABEL: func.func @shared
// CHECK-NEXT: ge.transpose
// CHECK-NEXT: ge.relu
// CHECK-NEXT: ge.matmul
func.func @shared(%x: tensor<2x3x4xf32>, %y: tensor<2x3x5xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x5xf32>) {
  %t = ge.transpose %x perm [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %r = ge.relu %t : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %p = ge.matmul %t, %y : (tensor<2x4x3xf32>, tensor<2x3x5xf32>) -> tensor<2x4x5xf32>
  func.return %r, %p : tensor<2x4x3xf32>, tensor<2x4x5xf32>
}

// Near miss: nobody knows what would be saved.
// CHECK-LABEL: func.func @dynamic
// CHECK-NEXT: ge.transpose
// REMARK: [missed] ge-optimize-layout: MoveTranspose: ge.transpose: sizes around it are not known
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %t = ge.transpose %x perm [1, 0] : (tensor<?x4xf32>) -> tensor<4x?xf32>
  %r = ge.relu %t : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %y = ge.transpose %r perm [1, 0] : (tensor<4x?xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}

// Quantisation with one scale takes any layout; also one without a zero point, and of sums.
// CHECK-LABEL: func.func @quantized
// CHECK-NOT: ge.transpose
// CHECK: func.return
func.func @quantized(%x: tensor<2x4x3x5xi32>) -> tensor<2x4x3x5xi8> {
  %m = ge.constant dense<0.5> : tensor<f32>
  %z = ge.constant dense<3> : tensor<i8>
  %t = ge.transpose %x perm [0, 2, 3, 1] : (tensor<2x4x3x5xi32>) -> tensor<2x3x5x4xi32>
  %r = ge.requantize %t, %m zero_point %z : (tensor<2x3x5x4xi32>, tensor<f32>, tensor<i8>) -> tensor<2x3x5x4xi8>
  %d = ge.dequantize_linear %r, %m zero_point %z axis 1 block_size 0
    : (tensor<2x3x5x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x5x4xf32>
  %q = ge.quantize_linear %d, %m axis 1 block_size 0 : (tensor<2x3x5x4xf32>, tensor<f32>) -> tensor<2x3x5x4xi8>
  %y = ge.transpose %q perm [0, 3, 1, 2] : (tensor<2x3x5x4xi8>) -> tensor<2x4x3x5xi8>
  func.return %y : tensor<2x4x3x5xi8>
}

// Negative: a scale for each place along an axis.
// CHECK-LABEL: func.func @scales
// CHECK: ge.transpose
func.func @scales(%x: tensor<2x4x3x5xf32>) -> tensor<2x4x3x5xi8> {
  %m = ge.constant dense<[0.5, 1.0, 2.0, 4.0]> : tensor<4xf32>
  %t = ge.transpose %x perm [0, 2, 3, 1] : (tensor<2x4x3x5xf32>) -> tensor<2x3x5x4xf32>
  %q = ge.quantize_linear %t, %m axis 3 block_size 0 : (tensor<2x3x5x4xf32>, tensor<4xf32>) -> tensor<2x3x5x4xi8>
  %y = ge.transpose %q perm [0, 3, 1, 2] : (tensor<2x3x5x4xi8>) -> tensor<2x4x3x5xi8>
  func.return %y : tensor<2x4x3x5xi8>
}
