// RUN: ge-opt %s -p ge-raise | filecheck %s

// CHECK-LABEL: func.func @nine_ops
// CHECK: ge.layer_norm %x scale %g : tensor<8xf32> bias %b : tensor<8xf32> axis 1
// CHECK-SAME: epsilon 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: func.return
func.func @nine_ops(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-05> : tensor<f32>
  %two = ge.constant dense<2.0> : tensor<f32>
  %m = ge.reduce_mean %x axes [-1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %q = ge.pow %d, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [-1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %s = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %d, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %w = ge.mul %g, %n : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = ge.add %w, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// Two axes, a product with the reciprocal, operands swapped, no parameters, a symbolic row.
// CHECK-LABEL: func.func @two_axes
// CHECK: ge.layer_norm %x axis 1 epsilon 1.000000e-03
// CHECK-NEXT: func.return
func.func @two_axes(%x: tensor<?x2x8xf32, #ge.dims<"B">>) -> tensor<?x2x8xf32, #ge.dims<"B">> {
  %eps = ge.constant dense<1.0e-03> : tensor<1xf32>
  %m = ge.reduce_mean %x axes [2, 1] keepdims true
    : (tensor<?x2x8xf32, #ge.dims<"B">>) -> tensor<?x1x1xf32, #ge.dims<"B">>
  %d = ge.sub %x, %m : (tensor<?x2x8xf32, #ge.dims<"B">>, tensor<?x1x1xf32, #ge.dims<"B">>)
    -> tensor<?x2x8xf32, #ge.dims<"B">>
  %q = ge.mul %d, %d : (tensor<?x2x8xf32, #ge.dims<"B">>, tensor<?x2x8xf32, #ge.dims<"B">>)
    -> tensor<?x2x8xf32, #ge.dims<"B">>
  %v = ge.reduce_mean %q axes [1, 2] keepdims true
    : (tensor<?x2x8xf32, #ge.dims<"B">>) -> tensor<?x1x1xf32, #ge.dims<"B">>
  %e = ge.add %eps, %v : (tensor<1xf32>, tensor<?x1x1xf32, #ge.dims<"B">>)
    -> tensor<?x1x1xf32, #ge.dims<"B">>
  %s = ge.sqrt %e : (tensor<?x1x1xf32, #ge.dims<"B">>) -> tensor<?x1x1xf32, #ge.dims<"B">>
  %r = ge.reciprocal %s : (tensor<?x1x1xf32, #ge.dims<"B">>) -> tensor<?x1x1xf32, #ge.dims<"B">>
  %n = ge.mul %r, %d : (tensor<?x1x1xf32, #ge.dims<"B">>, tensor<?x2x8xf32, #ge.dims<"B">>)
    -> tensor<?x2x8xf32, #ge.dims<"B">>
  func.return %n : tensor<?x2x8xf32, #ge.dims<"B">>
}

// A sum with rows is a residual, not a bias.
// CHECK-LABEL: func.func @residual
// CHECK: ge.layer_norm %x scale %g : tensor<8xf32> axis -1
// CHECK-NEXT: ge.add
func.func @residual(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %n = ge.layer_norm %x axis -1 epsilon 1.0e-05 : tensor<4x8xf32> -> tensor<4x8xf32>
  %w = ge.mul %n, %g : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = ge.add %w, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
