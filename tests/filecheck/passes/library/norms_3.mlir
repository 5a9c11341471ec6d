// RUN: ge-opt %s -p ge-fuse-rules --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-fuse-rules --split-input-file --why-not AddRmsNormDynamicQuant --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The scale of each row is a result, and so is the sum, which the next layer adds to.
// CHECK-LABEL: func.func @add_rms_norm_dynamic_quant(
// CHECK:         %q, %a, %s = ge.fusion "AddRmsNormDynamicQuant"(%x, %z) rule "AddRmsNormDynamicQuant"
func.func @add_rms_norm_dynamic_quant(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x8xf32>) {
  %c = ge.constant dense<127.0> : tensor<f32>
  %low = ge.constant dense<-128.0> : tensor<f32>
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = ge.abs %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = ge.reduce_max %m axes [-1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %s = ge.div %l, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %d = ge.div %n, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %r = ge.round %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %k = ge.clip %r min %low : tensor<f32> max %c : tensor<f32> : tensor<4x8xf32> -> tensor<4x8xf32>
  %q = ge.cast %k : (tensor<4x8xf32>) -> tensor<4x8xi8>
  func.return %q, %s, %a : tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x8xf32>
}

// -----

// Negative: the norm is returned as well.
// CHECK-LABEL: func.func @add_rms_norm_dynamic_quant_c1(
// CHECK-NOT:     rule "AddRmsNormDynamicQuant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: AddRmsNormDynamicQuant: {{.*}}the result of
func.func @add_rms_norm_dynamic_quant_c1(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4x8xf32>) {
  %c = ge.constant dense<127.0> : tensor<f32>
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = ge.abs %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = ge.reduce_max %m axes [-1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %s = ge.div %l, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %d = ge.div %n, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %r = ge.round %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = ge.cast %r : (tensor<4x8xf32>) -> tensor<4x8xi8>
  func.return %q, %n : tensor<4x8xi8>, tensor<4x8xf32>
}

// -----

// Negative: the scale is that of the sum, not of its norm.
// CHECK-LABEL: func.func @add_rms_norm_dynamic_quant_c2(
// CHECK-NOT:     rule "AddRmsNormDynamicQuant"
// CHECK:         func.return
// REMARK: ge-fuse-rules: AddRmsNormDynamicQuant: ge.abs: 'ge.abs' reads 'ge.add' where the rule wants 'ge.rms_norm'
func.func @add_rms_norm_dynamic_quant_c2(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xi8> {
  %c = ge.constant dense<127.0> : tensor<f32>
  %a = ge.add %x, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = ge.rms_norm %a axis -1 epsilon 1.0e-05 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = ge.abs %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = ge.reduce_max %m axes [-1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %s = ge.div %l, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %d = ge.div %n, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %r = ge.round %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = ge.cast %r : (tensor<4x8xf32>) -> tensor<4x8xi8>
  func.return %q : tensor<4x8xi8>
}
