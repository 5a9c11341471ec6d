// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// As jax.nn.elu, whose exponential never sees what is positive.
// CHECK-LABEL: func.func @elu
// CHECK: ge.elu %x alpha 2.000000e+00
// CHECK-NEXT: func.return
func.func @elu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %zeros = ge.constant dense<0.0> : tensor<8xf32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %alpha = ge.constant dense<2.0> : tensor<f32>
  %p = ge.greater %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %m = ge.select %p, %zeros, %x : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = ge.exp %m : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.sub %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %s = ge.mul %d, %alpha : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = ge.select %p, %x, %s : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @elu_without_a_guard
// CHECK: ge.elu %x alpha 1.000000e+00
// CHECK-NEXT: func.return
func.func @elu_without_a_guard(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %less = ge.constant dense<-1.0> : tensor<f32>
  %p = ge.greater_equal %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %e = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.add %e, %less : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = ge.select %p, %x, %d : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @elu_of_others
// CHECK-NOT: ge.elu
// REMARK: RaiseElu: ge.select: the exponential is of something else than what is selected [CONST]
func.func @elu_of_others(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %p = ge.greater %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %e = ge.exp %z : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.sub %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = ge.select %p, %x, %d : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Negative: the exponential is used once more.
// CHECK-LABEL: func.func @elu_two_uses
// CHECK-NOT: ge.elu
// REMARK: RaiseElu: ge.select: the result of 'ge.exp' has 2 uses, 1 outside: func.return
func.func @elu_two_uses(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %p = ge.greater %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %e = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.sub %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = ge.select %p, %x, %d : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y, %e : tensor<8xf32>, tensor<8xf32>
}

// Negative: the threshold is not 0, and the difference not from 1.
// CHECK-LABEL: func.func @elu_of_other_numbers
// CHECK-NOT: ge.elu
func.func @elu_of_other_numbers(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %two = ge.constant dense<2.0> : tensor<f32>
  %e = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.sub %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %f = ge.sub %e, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %p = ge.greater %x, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %q = ge.greater %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %y = ge.select %p, %x, %d : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %z = ge.select %q, %x, %f : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @selu
// CHECK: ge.selu %x alpha 1.673{{.*}} beta 1.050{{.*}}
// CHECK-NEXT: func.return
func.func @selu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %gamma = ge.constant dense<1.05070102> : tensor<f32>
  %e = ge.elu %x alpha 1.67326319 : (tensor<8xf32>) -> tensor<8xf32>
  %y = ge.mul %e, %gamma : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Negative: the factor is one an element.
// CHECK-LABEL: func.func @selu_of_weights
// CHECK: ge.elu
// CHECK-NOT: ge.selu
func.func @selu_of_weights(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %e = ge.elu %x alpha 1.0 : (tensor<8xf32>) -> tensor<8xf32>
  %y = ge.mul %e, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @celu
// CHECK: ge.celu %x alpha 2.000000e+00
// CHECK-NEXT: func.return
func.func @celu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %alpha = ge.constant dense<2.0> : tensor<f32>
  %most = ge.maximum %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %least = ge.minimum %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %q = ge.div %least, %alpha : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %e = ge.exp %q : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.sub %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %s = ge.mul %alpha, %d : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.add %most, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Negative: divided by another number than it is multiplied with.
// CHECK-LABEL: func.func @celu_of_two_numbers
// CHECK-NOT: ge.celu
func.func @celu_of_two_numbers(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %alpha = ge.constant dense<2.0> : tensor<f32>
  %beta = ge.constant dense<3.0> : tensor<f32>
  %most = ge.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %least = ge.minimum %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %q = ge.div %least, %beta : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %e = ge.exp %q : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.sub %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %s = ge.mul %alpha, %d : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.add %most, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// As jax.nn.softplus, by logaddexp.
// CHECK-LABEL: func.func @softplus
// CHECK: ge.softplus %x
// CHECK-NEXT: func.return
func.func @softplus(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %most = ge.maximum %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %t = ge.equal %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %r = ge.add %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %a = ge.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  %n = ge.neg %a : (tensor<8xf32>) -> tensor<8xf32>
  %e = ge.exp %n : (tensor<8xf32>) -> tensor<8xf32>
  %o = ge.add %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %l = ge.log %o : (tensor<8xf32>) -> tensor<8xf32>
  %s = ge.add %most, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = ge.select %t, %s, %r : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// Negative: the logarithm is of another argument.
// CHECK-LABEL: func.func @softplus_of_others
// CHECK-NOT: ge.softplus
func.func @softplus_of_others(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %one = ge.constant dense<1.0> : tensor<f32>
  %most = ge.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %a = ge.abs %z : (tensor<8xf32>) -> tensor<8xf32>
  %n = ge.neg %a : (tensor<8xf32>) -> tensor<8xf32>
  %e = ge.exp %n : (tensor<8xf32>) -> tensor<8xf32>
  %o = ge.add %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %l = ge.log %o : (tensor<8xf32>) -> tensor<8xf32>
  %s = ge.add %most, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %s : tensor<8xf32>
}

// Negative: another value is selected where it is NaN.
// CHECK-LABEL: func.func @softplus_or_others
// CHECK: ge.softplus
// CHECK: ge.select
func.func @softplus_or_others(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %t = ge.equal %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %s = ge.softplus %x : (tensor<8xf32>) -> tensor<8xf32>
  %y = ge.select %t, %s, %z : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
