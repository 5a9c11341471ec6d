// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @limits
// CHECK-NEXT: %[[N:.*]] = ge.constant dense<3> : tensor<i64>
// CHECK-NEXT: ge.host_call "ai.onnx::NonMaxSuppression" version 11(%b, %s, %[[N]]) : (
func.func @limits(%b: tensor<1x6x4xf32>, %s: tensor<1x1x6xf32>) -> tensor<?x3xi64> {
  %n = ge.constant dense<3> : tensor<1xi64>
  %y = ge.host_call "ai.onnx::NonMaxSuppression" version 20 (%b, %s, %n) attrs {center_point_box = 0 : i64} : (tensor<1x6x4xf32>, tensor<1x1x6xf32>, tensor<1xi64>) -> tensor<?x3xi64>
  func.return %y : tensor<?x3xi64>
}

// Near miss: an attribute that is not the default, a limit that is computed.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: ge.host_call "ai.onnx::NonMaxSuppression" version 11(%b, %s, %n) attrs {center_point_box = 1 : i64} : ({{.*}}tensor<1xi64>)
func.func @others(%b: tensor<1x6x4xf32>, %s: tensor<1x1x6xf32>, %n: tensor<1xi64>) -> tensor<?x3xi64> {
  %y = ge.host_call "ai.onnx::NonMaxSuppression" version 11 (%b, %s, %n) attrs {center_point_box = 1 : i64} : (tensor<1x6x4xf32>, tensor<1x1x6xf32>, tensor<1xi64>) -> tensor<?x3xi64>
  func.return %y : tensor<?x3xi64>
}

// Near miss: nothing is known of ops of another domain.
// CHECK-LABEL: func.func @foreign
// CHECK-NEXT: ge.host_call "com.example::NonMaxSuppression" version 20(%n)
func.func @foreign(%n: tensor<1xi64>) -> tensor<1xi64> {
  %y = ge.host_call "com.example::NonMaxSuppression" version 20 (%n) : (tensor<1xi64>) -> tensor<1xi64>
  func.return %y : tensor<1xi64>
}
