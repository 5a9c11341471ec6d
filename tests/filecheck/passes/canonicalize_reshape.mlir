// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @identity
// CHECK-NEXT: func.return %x
func.func @identity(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = ge.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @identity_symbolic
// CHECK-NEXT: func.return %x
func.func @identity_symbolic(%x: tensor<?x3xf32, #ge.dims<"S">>) -> tensor<?x3xf32, #ge.dims<"S">> {
  %y = ge.reshape %x : (tensor<?x3xf32, #ge.dims<"S">>) -> tensor<?x3xf32, #ge.dims<"S">>
  func.return %y : tensor<?x3xf32, #ge.dims<"S">>
}

// Dimensions that are not known need not be the same ones.
// CHECK-LABEL: func.func @unknown_stays
// CHECK-NEXT: ge.reshape %x
func.func @unknown_stays(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = ge.reshape %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @merged
// CHECK-NEXT: ge.reshape %x : (tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: func.return
func.func @merged(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  %y = ge.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %z = ge.reshape %y : (tensor<12xf32>) -> tensor<4x3xf32>
  func.return %z : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT: func.return %x
func.func @there_and_back(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %y = ge.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %z = ge.reshape %y : (tensor<12xf32>) -> tensor<2x6xf32>
  func.return %z : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @kept_dims
// CHECK-NEXT: ge.reduce_mean %x axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: func.return
func.func @kept_dims(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %m = ge.reduce_mean %x axes [1] keepdims false : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = ge.reshape %m : (tensor<4xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @other_dims
// CHECK: ge.reshape
func.func @other_dims(%x: tensor<4x8xf32>) -> tensor<1x4xf32> {
  %m = ge.reduce_mean %x axes [1] keepdims false : (tensor<4x8xf32>) -> tensor<4xf32>
  %y = ge.reshape %m : (tensor<4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}

// The transposed key of the dynamo exporter.
// CHECK-LABEL: func.func @key
// CHECK-NEXT: ge.transpose %x perm [0, 1, 3, 2] : (tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32>
// CHECK-NEXT: func.return
func.func @key(%x: tensor<2x4x5x8xf32>) -> tensor<2x4x8x5xf32> {
  %a = ge.reshape %x : (tensor<2x4x5x8xf32>) -> tensor<8x5x8xf32>
  %b = ge.transpose %a perm [0, 2, 1] : (tensor<8x5x8xf32>) -> tensor<8x8x5xf32>
  %c = ge.reshape %b : (tensor<8x8x5xf32>) -> tensor<2x4x8x5xf32>
  func.return %c : tensor<2x4x8x5xf32>
}

// CHECK-LABEL: func.func @key_symbolic
// CHECK-NEXT: ge.transpose %x perm [0, 1, 3, 2]
// CHECK-NEXT: func.return
func.func @key_symbolic(%x: tensor<?x4x?x8xf32, #ge.dims<"B", "S">>)
    -> tensor<?x4x8x?xf32, #ge.dims<"B", "S">> {
  %a = ge.reshape %x : (tensor<?x4x?x8xf32, #ge.dims<"B", "S">>)
    -> tensor<?x?x8xf32, #ge.dims<"4*B", "S">>
  %b = ge.transpose %a perm [0, 2, 1] : (tensor<?x?x8xf32, #ge.dims<"4*B", "S">>)
    -> tensor<?x8x?xf32, #ge.dims<"4*B", "S">>
  %c = ge.reshape %b : (tensor<?x8x?xf32, #ge.dims<"4*B", "S">>)
    -> tensor<?x4x8x?xf32, #ge.dims<"B", "S">>
  func.return %c : tensor<?x4x8x?xf32, #ge.dims<"B", "S">>
}

// CHECK-LABEL: func.func @split_after_transpose
// CHECK-NEXT: ge.reshape %x : (tensor<12x5xf32>) -> tensor<3x4x5xf32>
// CHECK-NEXT: ge.transpose {{.*}} perm [2, 0, 1] : (tensor<3x4x5xf32>) -> tensor<5x3x4xf32>
func.func @split_after_transpose(%x: tensor<12x5xf32>) -> tensor<5x3x4xf32> {
  %a = ge.reshape %x : (tensor<12x5xf32>) -> tensor<12x5x1xf32>
  %b = ge.transpose %a perm [2, 1, 0] : (tensor<12x5x1xf32>) -> tensor<1x5x12xf32>
  %c = ge.reshape %b : (tensor<1x5x12xf32>) -> tensor<5x3x4xf32>
  func.return %c : tensor<5x3x4xf32>
}

// The last reshape puts together what the transpose took apart: three ops it is.
// CHECK-LABEL: func.func @merge_after_transpose
// CHECK-NEXT: ge.reshape
// CHECK-NEXT: ge.transpose
// CHECK-NEXT: ge.reshape
func.func @merge_after_transpose(%x: tensor<6x4xf32>) -> tensor<8x3xf32> {
  %a = ge.reshape %x : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %b = ge.transpose %a perm [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %c = ge.reshape %b : (tensor<2x4x3xf32>) -> tensor<8x3xf32>
  func.return %c : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @transpose_used_twice
// CHECK: ge.reshape
// CHECK: ge.transpose
// CHECK: ge.reshape
func.func @transpose_used_twice(%x: tensor<2x4x5x8xf32>) -> (tensor<2x4x8x5xf32>, tensor<8x8x5xf32>) {
  %a = ge.reshape %x : (tensor<2x4x5x8xf32>) -> tensor<8x5x8xf32>
  %b = ge.transpose %a perm [0, 2, 1] : (tensor<8x5x8xf32>) -> tensor<8x8x5xf32>
  %c = ge.reshape %b : (tensor<8x8x5xf32>) -> tensor<2x4x8x5xf32>
  func.return %c, %b : tensor<2x4x8x5xf32>, tensor<8x8x5xf32>
}
