// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

!x = tensor<2x4x3x3xf32>
!g = tensor<2x2x18xf32>

// CHECK-LABEL: func.func @affine
// CHECK-NEXT: %[[S:.*]] = ge.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = ge.reshape %b : (tensor<1x4x1x1xf32>) -> tensor<4xf32>
// CHECK-NEXT: ge.group_norm %x, %[[S]], %[[B]] num_groups 2 epsilon 1.000000e-05
// CHECK-NEXT: func.return
func.func @affine(%x: !x, %b: tensor<1x4x1x1xf32>) -> !x {
  %one = ge.constant dense<1.0> : tensor<2xf32>
  %zero = ge.constant dense<0.0> : tensor<2xf32>
  %s = ge.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %g = ge.reshape %x : (!x) -> !g
  %n = ge.instance_norm %g, %one, %zero epsilon 1.0e-05 : (!g, tensor<2xf32>, tensor<2xf32>) -> !g
  %r = ge.reshape %n : (!g) -> !x
  %m = ge.mul %r, %s : (!x, tensor<4x1x1xf32>) -> !x
  %y = ge.add %b, %m : (tensor<1x4x1x1xf32>, !x) -> !x
  func.return %y : !x
}

// What comes after is no parameter of channels.
// CHECK-LABEL: func.func @plain
// CHECK: %[[N:.*]] = ge.group_norm %x, %{{.*}}, %{{.*}} num_groups 2
// CHECK-NEXT: ge.mul %[[N]], %s
func.func @plain(%x: !x, %s: tensor<3x3xf32>) -> !x {
  %one = ge.constant dense<1.0> : tensor<2xf32>
  %zero = ge.constant dense<0.0> : tensor<2xf32>
  %g = ge.reshape %x : (!x) -> !g
  %n = ge.instance_norm %g, %one, %zero epsilon 1.0e-05 : (!g, tensor<2xf32>, tensor<2xf32>) -> !g
  %r = ge.reshape %n : (!g) -> !x
  %y = ge.mul %r, %s : (!x, tensor<3x3xf32>) -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @scaled_groups
// CHECK-NOT: ge.group_norm
// REMARK: RaiseGroupNorm: ge.instance_norm: 'ge.instance_norm' over groups scales or shifts by itself [CONST]
func.func @scaled_groups(%x: !x, %s: tensor<2xf32>) -> !x {
  %zero = ge.constant dense<0.0> : tensor<2xf32>
  %g = ge.reshape %x : (!x) -> !g
  %n = ge.instance_norm %g, %s, %zero epsilon 1.0e-05 : (!g, tensor<2xf32>, tensor<2xf32>) -> !g
  %y = ge.reshape %n : (!g) -> !x
  func.return %y : !x
}

// Eight groups of four channels are parts of channels.
// CHECK-LABEL: func.func @parts_of_channels
// CHECK-NOT: ge.group_norm
// REMARK: RaiseGroupNorm: ge.instance_norm: the groups of 'ge.instance_norm' are no channels of its input (found {{.*}}, wanted {{.*}}) [SHAPE]
func.func @parts_of_channels(%x: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %one = ge.constant dense<1.0> : tensor<8xf32>
  %zero = ge.constant dense<0.0> : tensor<8xf32>
  %g = ge.reshape %x : (tensor<2x4x4xf32>) -> tensor<2x8x2xf32>
  %n = ge.instance_norm %g, %one, %zero epsilon 1.0e-05 : (tensor<2x8x2xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x2xf32>
  %y = ge.reshape %n : (tensor<2x8x2xf32>) -> tensor<2x4x4xf32>
  func.return %y : tensor<2x4x4xf32>
}

// Straight from a picture to rows of pixels: the norm is one of that shape.
// CHECK-LABEL: func.func @other_shape
// CHECK: [[X:%.*]] = ge.reshape %x : (tensor<1x4x3x2xf32>) -> tensor<1x4x6xf32>
// CHECK: ge.group_norm [[X]]
// CHECK-NOT: ge.instance_norm
func.func @other_shape(%x: tensor<1x4x3x2xf32>, %s: tensor<4x1xf32>, %b: tensor<4x1xf32>)
    -> tensor<1x4x6xf32> {
  %one = ge.constant dense<1.0> : tensor<2xf32>
  %zero = ge.constant dense<0.0> : tensor<2xf32>
  %g = ge.reshape %x : (tensor<1x4x3x2xf32>) -> tensor<1x2x12xf32>
  %n = ge.instance_norm %g, %one, %zero epsilon 1.0e-05 : (tensor<1x2x12xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x12xf32>
  %r = ge.reshape %n : (tensor<1x2x12xf32>) -> tensor<1x4x6xf32>
  %y = ge.mul %r, %s : (tensor<1x4x6xf32>, tensor<4x1xf32>) -> tensor<1x4x6xf32>
  %z = ge.add %y, %b : (tensor<1x4x6xf32>, tensor<4x1xf32>) -> tensor<1x4x6xf32>
  func.return %z : tensor<1x4x6xf32>
}

// CHECK-LABEL: func.func @symbolic_batch
// CHECK: ge.group_norm %x
// CHECK-NOT: ge.instance_norm
func.func @symbolic_batch(%x: tensor<?x4x3x2xf32, #ge.dims<"B">>)
    -> tensor<?x4x3x2xf32, #ge.dims<"B">> {
  %one = ge.constant dense<1.0> : tensor<2xf32>
  %zero = ge.constant dense<0.0> : tensor<2xf32>
  %g = ge.reshape %x : (tensor<?x4x3x2xf32, #ge.dims<"B">>) -> tensor<?x2x12xf32, #ge.dims<"B">>
  %n = ge.instance_norm %g, %one, %zero epsilon 1.0e-05 : (tensor<?x2x12xf32, #ge.dims<"B">>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x12xf32, #ge.dims<"B">>
  %r = ge.reshape %n : (tensor<?x2x12xf32, #ge.dims<"B">>) -> tensor<?x4x3x2xf32, #ge.dims<"B">>
  func.return %r : tensor<?x4x3x2xf32, #ge.dims<"B">>
}
