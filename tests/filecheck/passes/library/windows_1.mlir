// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not TbeConvAddRelu,TbeConvBatchnormElemwise,TbeConvAdd,ConvBatchnorm --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @tbe_conv_add_relu(
// CHECK:         ge.fusion "Conv2DAddRelu"({{.*}}) rule "TbeConvAddRelu"
func.func @tbe_conv_add_relu(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %a = ge.add %c, %x : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.relu %a : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.add' is returned as well.
// CHECK-LABEL: func.func @tbe_conv_add_relu_c1(
// CHECK-NOT:     rule "TbeConvAddRelu"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeConvAddRelu: {{.*}}the result of
func.func @tbe_conv_add_relu_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %a = ge.add %c, %x : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.relu %a : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %a : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @tbe_conv_batchnorm_elemwise(
// CHECK:         ge.fusion "Conv2DBatchNormElemwise"({{.*}}) rule "TbeConvBatchnormElemwise"
func.func @tbe_conv_batchnorm_elemwise(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %a = ge.batch_norm %c, %s, %s, %s, %s epsilon 1.000000e-05 : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.silu %a : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.batch_norm' is returned as well.
// CHECK-LABEL: func.func @tbe_conv_batchnorm_elemwise_c1(
// CHECK-NOT:     rule "TbeConvBatchnormElemwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeConvBatchnormElemwise: {{.*}}the result of
func.func @tbe_conv_batchnorm_elemwise_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %a = ge.batch_norm %c, %s, %s, %s, %s epsilon 1.000000e-05 : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.silu %a : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %a : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @tbe_conv_add(
// CHECK:         ge.fusion "Conv2DAdd"({{.*}}) rule "TbeConvAdd"
func.func @tbe_conv_add(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.add %c, %x : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.conv' is returned as well.
// CHECK-LABEL: func.func @tbe_conv_add_c1(
// CHECK-NOT:     rule "TbeConvAdd"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeConvAdd: {{.*}}the result of
func.func @tbe_conv_add_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.add %c, %x : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %c : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @conv_batchnorm(
// CHECK:         ge.fusion "Conv2DBatchNorm"({{.*}}) rule "ConvBatchnorm"
func.func @conv_batchnorm(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.batch_norm %c, %s, %s, %s, %s epsilon 1.000000e-05 : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// -----

// Negative: the result of 'ge.conv' is returned as well.
// CHECK-LABEL: func.func @conv_batchnorm_c1(
// CHECK-NOT:     rule "ConvBatchnorm"
// CHECK:         func.return
// REMARK: ge-fuse-rules: ConvBatchnorm: {{.*}}the result of
func.func @conv_batchnorm_c1(%x: tensor<1x2x3x3xf32>, %w: tensor<2x2x1x1xf32>, %s: tensor<2xf32>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %c = ge.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] group 1 : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = ge.batch_norm %c, %s, %s, %s, %s epsilon 1.000000e-05 : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %c : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}
