// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not TbeConvElemwise,ConvScale,Conv2DTransposeElemwise,PadConv2d --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @tbe_conv_elemwise(
// CHECK:         ge.fusion "Conv2DElemwise"({{.*}}) rule "TbeConvElemwise"
func.func @tbe_conv_elemwise(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.hard_swish %c : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.conv' is returned as well.
// CHECK-LABEL: func.func @tbe_conv_elemwise_c1(
// CHECK-NOT:     rule "TbeConvElemwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeConvElemwise: {{.*}}the result of
func.func @tbe_conv_elemwise_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.hard_swish %c : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %c : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @conv_scale(
// CHECK:         ge.fusion "Conv2DMul"({{.*}}) rule "ConvScale"
func.func @conv_scale(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %k = ge.constant dense<[[[2.000000e+00]], [[5.000000e-01]]]> : tensor<2x1x1xf32>
  %y = ge.mul %c, %k : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.conv' is returned as well.
// CHECK-LABEL: func.func @conv_scale_c1(
// CHECK-NOT:     rule "ConvScale"
// CHECK:         func.return
// REMARK: ge-fuse-rules: ConvScale: {{.*}}the result of
func.func @conv_scale_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %k = ge.constant dense<[[[2.000000e+00]], [[5.000000e-01]]]> : tensor<2x1x1xf32>
  %y = ge.mul %c, %k : (tensor<1x2x3x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %c : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @conv2_dtranspose_elemwise(
// CHECK:         ge.fusion "Conv2DTransposeElemwise"({{.*}}) rule "Conv2DTransposeElemwise"
func.func @conv2_dtranspose_elemwise(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv_transpose %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] output_padding [0, 0] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.relu %c : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.conv_transpose' is returned as well.
// CHECK-LABEL: func.func @conv2_dtranspose_elemwise_c1(
// CHECK-NOT:     rule "Conv2DTransposeElemwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: Conv2DTransposeElemwise: {{.*}}the result of
func.func @conv2_dtranspose_elemwise_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %c = ge.conv_transpose %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] output_padding [0, 0] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.relu %c : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %c : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @pad_conv2d(
// CHECK:         ge.fusion "PadConv2D"({{.*}}) rule "PadConv2d"
func.func @pad_conv2d(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %p = ge.pad %x pads [0, 0, 1, 1, 0, 0, 1, 1] mode "reflect" : (tensor<1x2x3x3xf32>) -> tensor<1x2x5x5xf32>
  %c = ge.conv %p, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x5x5xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %c : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.pad' is returned as well.
// CHECK-LABEL: func.func @pad_conv2d_c1(
// CHECK-NOT:     rule "PadConv2d"
// CHECK:         func.return
// REMARK: ge-fuse-rules: PadConv2d: {{.*}}the result of
func.func @pad_conv2d_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x3x3xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x5x5xf32>) {
  %p = ge.pad %x pads [0, 0, 1, 1, 0, 0, 1, 1] mode "reflect" : (tensor<1x2x3x3xf32>) -> tensor<1x2x5x5xf32>
  %c = ge.conv %p, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x5x5xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %c, %p : tensor<1x2x3x3xf32>, tensor<1x2x5x5xf32>
}
