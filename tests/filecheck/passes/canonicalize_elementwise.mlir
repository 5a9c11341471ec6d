// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: func.return %x
func.func @neutral(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = ge.constant dense<1.0> : tensor<f32>
  %zero = ge.constant dense<0.0> : tensor<3xf32>
  %minus_zero = ge.constant dense<-0.0> : tensor<f32>
  %a = ge.mul %one, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = ge.div %a, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = ge.sub %b, %zero : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %d = ge.add %c, %minus_zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}

// -0.0 + 0.0 and -0.0 - -0.0 are 0.0.
// CHECK-LABEL: func.func @signed_zero
// CHECK: ge.add
// CHECK-NEXT: ge.sub
func.func @signed_zero(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %minus_zero = ge.constant dense<-0.0> : tensor<f32>
  %a = ge.add %x, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %b = ge.sub %a, %minus_zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  func.return %b : tensor<3xf32>
}

// CHECK-LABEL: func.func @integer_zero
// CHECK-NEXT: func.return %x
func.func @integer_zero(%x: tensor<3xi32>) -> tensor<3xi32> {
  %zero = ge.constant dense<0> : tensor<i32>
  %a = ge.add %x, %zero : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  func.return %a : tensor<3xi32>
}

// CHECK-LABEL: func.func @larger_one
// CHECK: ge.mul
func.func @larger_one(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %one = ge.constant dense<1.0> : tensor<2x3xf32>
  %a = ge.mul %x, %one : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @truth
// CHECK-NEXT: func.return %x
func.func @truth(%x: tensor<3xi1>) -> tensor<3xi1> {
  %true = ge.constant dense<true> : tensor<i1>
  %false = ge.constant dense<false> : tensor<i1>
  %a = ge.and %true, %x : (tensor<i1>, tensor<3xi1>) -> tensor<3xi1>
  %b = ge.or %a, %false : (tensor<3xi1>, tensor<i1>) -> tensor<3xi1>
  %c = ge.logical_not %b : (tensor<3xi1>) -> tensor<3xi1>
  %d = ge.logical_not %c : (tensor<3xi1>) -> tensor<3xi1>
  %e = ge.and %d, %d : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  func.return %e : tensor<3xi1>
}

// CHECK-LABEL: func.func @repeated
// CHECK-NEXT: ge.relu %x
// CHECK-NEXT: func.return
func.func @repeated(%x: tensor<3xf32>) -> tensor<3xf32> {
  %a = ge.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %b = ge.neg %a : (tensor<3xf32>) -> tensor<3xf32>
  %c = ge.relu %b : (tensor<3xf32>) -> tensor<3xf32>
  %d = ge.relu %c : (tensor<3xf32>) -> tensor<3xf32>
  func.return %d : tensor<3xf32>
}

// CHECK-LABEL: func.func @constant_right
// CHECK: ge.add %x, %{{.*}} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
func.func @constant_right(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = ge.constant dense<2.0> : tensor<f32>
  %a = ge.add %c, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %a : tensor<3xf32>
}

// Which zero the greater of 0.0 and -0.0 is depends on the order.
// CHECK-LABEL: func.func @maximum_keeps_order
// CHECK: ge.maximum %c, %x
func.func @maximum_keeps_order(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = ge.constant dense<0.0> : tensor<f32>
  %a = ge.maximum %c, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %a : tensor<3xf32>
}

// CHECK-LABEL: func.func @square
// CHECK-NEXT: ge.mul %x, %x
// CHECK-NEXT: func.return
func.func @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %two = ge.constant dense<2.0> : tensor<f32>
  %a = ge.pow %x, %two : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  func.return %a : tensor<3xf32>
}

// CHECK-LABEL: func.func @cube
// CHECK: ge.pow
func.func @cube(%x: tensor<3xf32>) -> tensor<3xf32> {
  %three = ge.constant dense<3.0> : tensor<f32>
  %a = ge.pow %x, %three : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  func.return %a : tensor<3xf32>
}
