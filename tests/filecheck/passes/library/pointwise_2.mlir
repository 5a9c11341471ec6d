// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not SwiGlu,GeGluV2,CastReluCast,TbeReduceElemwise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @swi_glu(
// CHECK:         ge.fusion "SwiGlu"({{.*}}) rule "SwiGlu"
func.func @swi_glu(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %2 = ge.silu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.mul %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.silu' is returned as well.
// CHECK-LABEL: func.func @swi_glu_c1(
// CHECK-NOT:     rule "SwiGlu"
// CHECK:         func.return
// REMARK: ge-fuse-rules: SwiGlu: {{.*}}the result of
func.func @swi_glu_c1(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %2 = ge.silu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.mul %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @ge_glu_v2(
// CHECK:         ge.fusion "GeGluV2"({{.*}}) rule "GeGluV2"
func.func @ge_glu_v2(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %g = ge.gelu %x approximate "tanh" : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.mul %g, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.gelu' is returned as well.
// CHECK-LABEL: func.func @ge_glu_v2_c1(
// CHECK-NOT:     rule "GeGluV2"
// CHECK:         func.return
// REMARK: ge-fuse-rules: GeGluV2: {{.*}}the result of
func.func @ge_glu_v2_c1(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %g = ge.gelu %x approximate "tanh" : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.mul %g, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y, %g : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @cast_relu_cast(
// CHECK:         ge.fusion "CastReluCast"({{.*}}) rule "CastReluCast"
func.func @cast_relu_cast(%0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %1 = ge.cast %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = ge.relu %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.cast %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3 : tensor<4x4xf32>
}

// -----

// Negative: the result of 'ge.relu' is returned as well.
// CHECK-LABEL: func.func @cast_relu_cast_c1(
// CHECK-NOT:     rule "CastReluCast"
// CHECK:         func.return
// REMARK: ge-fuse-rules: CastReluCast: {{.*}}the result of
func.func @cast_relu_cast_c1(%0: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %1 = ge.cast %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = ge.relu %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = ge.cast %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %3, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @tbe_reduce_elemwise(
// CHECK:         ge.fusion "ReduceElemwise"({{.*}}) rule "TbeReduceElemwise"
func.func @tbe_reduce_elemwise(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x1xf32> {
  %p = ge.mul %x, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.reduce_sum %p axes [1] keepdims true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return %y : tensor<4x1xf32>
}

// -----

// Negative: the result of 'ge.mul' is returned as well.
// CHECK-LABEL: func.func @tbe_reduce_elemwise_c1(
// CHECK-NOT:     rule "TbeReduceElemwise"
// CHECK:         func.return
// REMARK: ge-fuse-rules: TbeReduceElemwise: {{.*}}the result of
func.func @tbe_reduce_elemwise_c1(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> (tensor<4x1xf32>, tensor<4x4xf32>) {
  %p = ge.mul %x, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = ge.reduce_sum %p axes [1] keepdims true : (tensor<4x4xf32>) -> tensor<4x1xf32>
  func.return %y, %p : tensor<4x1xf32>, tensor<4x4xf32>
}
