// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Where the last dimensions are equal, dropping the dimension still broadcasts: to a wrong place.
// CHECK-LABEL: func.func @keepdims
// CHECK-NOT: ge.layer_norm
// REMARK: RaiseLayerNorm: ge.div: 'keepdims' of the mean is false (found false, wanted true) [ATTR]
func.func @keepdims(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = ge.constant dense<1.0e-05> : tensor<f32>
  %m = ge.reduce_mean %x axes [-1] keepdims false : (tensor<4x4xf32>) -> tensor<4xf32>
  %d = ge.sub %x, %m : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %q = ge.mul %d, %d : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = ge.reduce_mean %q axes [-1] keepdims false : (tensor<4x4xf32>) -> tensor<4xf32>
  %e = ge.add %v, %eps : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %s = ge.sqrt %e : (tensor<4xf32>) -> tensor<4xf32>
  %n = ge.div %d, %s : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %n : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @axes_operand
// CHECK-NOT: ge.layer_norm
// REMARK: RaiseLayerNorm: ge.div: 'axes' is not a constant (found a value, wanted a constant) [CONST]
func.func @axes_operand(%x: tensor<4x8xf32>, %a: tensor<1xi64>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-05> : tensor<f32>
  %m = ge.host_call "ai.onnx::ReduceMean" version 18 (%x, %a)
    : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %d = ge.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %q = ge.mul %d, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.host_call "ai.onnx::ReduceMean" version 18 (%q, %a)
    : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %s = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %d, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @first_axis
// CHECK-NOT: ge.layer_norm
// REMARK: RaiseLayerNorm: ge.div: 'axes' are not the last dimensions (found [0], wanted [1]) [ATTR]
func.func @first_axis(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = ge.constant dense<1.0e-05> : tensor<f32>
  %m = ge.reduce_mean %x axes [0] keepdims true : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %d = ge.sub %x, %m : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %q = ge.mul %d, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [0] keepdims true : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %e = ge.add %v, %eps : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %s = ge.sqrt %e : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %n = ge.div %d, %s : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// The variance is an output as well.
// CHECK-LABEL: func.func @used
// CHECK-NOT: ge.layer_norm
// REMARK: RaiseLayerNorm: ge.div: the result of 'ge.reduce_mean' has 2 uses, 1 outside: func.return
func.func @used(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %eps = ge.constant dense<1.0e-05> : tensor<f32>
  %m = ge.reduce_mean %x axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %q = ge.mul %d, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %s = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %d, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n, %v : tensor<4x8xf32>, tensor<4x1xf32>
}

// CHECK-LABEL: func.func @epsilon_operand
// CHECK-NOT: ge.rms_norm
// REMARK: RaiseRMSNorm: ge.div: 'epsilon' is not a constant (found a value, wanted a constant) [CONST]
func.func @epsilon_operand(%x: tensor<4x8xf32>, %eps: tensor<f32>) -> tensor<4x8xf32> {
  %q = ge.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = ge.reduce_mean %q axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %e = ge.add %v, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %s = ge.sqrt %e : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = ge.div %x, %s : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %n : tensor<4x8xf32>
}

// In f16 the norm is rounded before the product; one op would not do so.
// CHECK-LABEL: func.func @narrow_scale
// CHECK: ge.mul
// REMARK: AbsorbScale: ge.mul: the norm is rounded before the parameter (found f16, wanted f32 or f64) [DTYPE]
func.func @narrow_scale(%x: tensor<4x8xf16>, %g: tensor<8xf16>) -> tensor<4x8xf16> {
  %n = ge.layer_norm %x axis -1 epsilon 1.0e-05 : tensor<4x8xf16> -> tensor<4x8xf16>
  %w = ge.mul %n, %g : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  func.return %w : tensor<4x8xf16>
}
