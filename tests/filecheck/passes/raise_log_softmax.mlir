// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The logarithm may be read by others.
// CHECK-LABEL: func.func @difference_from_logarithm
// CHECK: %[[L:.*]] = ge.reduce_log_sum_exp %x
// CHECK-NEXT: %[[P:.*]] = ge.softmax %x axis 1
// CHECK-NEXT: func.return %[[P]], %[[L]]
func.func @difference_from_logarithm(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x1xf32>) {
  %l = ge.reduce_log_sum_exp %x axes [1] keepdims true : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %l : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %p = ge.exp %d : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %p, %l : tensor<4x6xf32>, tensor<4x1xf32>
}

// CHECK-LABEL: func.func @log_softmax
// CHECK-NEXT: %[[P:.*]] = ge.softmax %x axis 0
// CHECK-NEXT: func.return %[[P]]
func.func @log_softmax(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %l = ge.log_softmax %x axis 0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = ge.exp %l : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %p : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @narrow
// CHECK-NEXT: ge.log_softmax
// REMARK: the logarithm of the sum is rounded to a narrow type (found f16, wanted f32 or f64) [DTYPE]
func.func @narrow(%x: tensor<4x6xf16>) -> tensor<4x6xf16> {
  %l = ge.log_softmax %x axis 0 : (tensor<4x6xf16>) -> tensor<4x6xf16>
  %p = ge.exp %l : (tensor<4x6xf16>) -> tensor<4x6xf16>
  func.return %p : tensor<4x6xf16>
}

// CHECK-LABEL: func.func @of_another
// CHECK: ge.exp
func.func @of_another(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %l = ge.reduce_log_sum_exp %y axes [1] keepdims true : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %d = ge.sub %x, %l : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %p = ge.exp %d : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %p : tensor<4x6xf32>
}
