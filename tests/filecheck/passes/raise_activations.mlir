// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @gelu
// CHECK: ge.gelu %x approximate "none"
// CHECK-NEXT: func.return
func.func @gelu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %root = ge.constant dense<1.4142135381698608> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %half = ge.constant dense<0.5> : tensor<f32>
  %a = ge.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.erf %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.add %b, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = ge.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = ge.mul %d, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %e : tensor<8xf32>
}

// CHECK-LABEL: func.func @gelu_other_order
// CHECK: ge.gelu %x approximate "none"
// CHECK-NEXT: func.return
func.func @gelu_other_order(%x: tensor<8xf32>) -> tensor<8xf32> {
  %root = ge.constant dense<0.70710677> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %half = ge.constant dense<0.5> : tensor<f32>
  %h = ge.mul %half, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %a = ge.mul %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.erf %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.add %one, %b : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %d = ge.mul %h, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %d : tensor<8xf32>
}

// CHECK-LABEL: func.func @gelu_factor
// CHECK-NOT: ge.gelu
// REMARK: RaiseGelu: ge.mul: the argument of 'ge.erf' has another factor (found 0.69{{.*}}, wanted 0.7071{{.*}}) [CONST]
func.func @gelu_factor(%x: tensor<8xf32>) -> tensor<8xf32> {
  %root = ge.constant dense<0.70> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %half = ge.constant dense<0.5> : tensor<f32>
  %a = ge.mul %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = ge.erf %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.add %b, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = ge.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = ge.mul %d, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %e : tensor<8xf32>
}

// CHECK-LABEL: func.func @gelu_tanh
// CHECK: ge.gelu %x approximate "tanh"
// CHECK-NEXT: func.return
func.func @gelu_tanh(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = ge.constant dense<3.0> : tensor<f32>
  %cubic = ge.constant dense<0.044715> : tensor<f32>
  %k = ge.constant dense<0.79788458> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %half = ge.constant dense<0.5> : tensor<f32>
  %h = ge.mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %p = ge.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %q = ge.mul %p, %cubic : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %r = ge.add %x, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %s = ge.mul %r, %k : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %t = ge.tanh %s : (tensor<8xf32>) -> tensor<8xf32>
  %u = ge.add %t, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = ge.mul %h, %u : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @silu
// CHECK-NEXT: ge.silu %x
// CHECK-NEXT: ge.mul
// CHECK-NEXT: func.return
func.func @silu(%x: tensor<8xf32>, %up: tensor<8xf32>) -> tensor<8xf32> {
  %s = ge.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  %a = ge.mul %s, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = ge.mul %a, %up : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// CHECK-LABEL: func.func @silu_gate_used
// CHECK-NOT: ge.silu
// REMARK: RaiseSilu: ge.mul: the result of 'ge.sigmoid' has 2 uses, 1 outside: func.return
func.func @silu_gate_used(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = ge.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  %a = ge.mul %s, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %a, %s : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @gate_of_another
// CHECK-NOT: ge.silu
func.func @gate_of_another(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %s = ge.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  %a = ge.mul %s, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %a : tensor<8xf32>
}

// CHECK-LABEL: func.func @quick_gelu
// CHECK: ge.quick_gelu %x alpha 1.702
// CHECK-NEXT: func.return
func.func @quick_gelu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %k = ge.constant dense<1.702> : tensor<f32>
  %a = ge.mul %x, %k : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %s = ge.sigmoid %a : (tensor<8xf32>) -> tensor<8xf32>
  %y = ge.mul %x, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// The factored cubic of a value that is itself a sum, as with a bias.
// CHECK-LABEL: func.func @gelu_tanh_of_sum
// CHECK: [[X:%.*]] = ge.add %h, %b
// CHECK-NEXT: ge.gelu [[X]] approximate "tanh"
// CHECK-NEXT: func.return
func.func @gelu_tanh_of_sum(%h: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %root = ge.constant dense<0.79788456> : tensor<f32>
  %cubic = ge.constant dense<0.044715> : tensor<f32>
  %one = ge.constant dense<1.0> : tensor<f32>
  %half = ge.constant dense<0.5> : tensor<f32>
  %x = ge.add %h, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %a = ge.mul %x, %root : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %c = ge.mul %x, %cubic : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %d = ge.mul %c, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %e = ge.add %d, %one : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %f = ge.mul %a, %e : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %t = ge.tanh %f : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %u = ge.add %t, %one : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %i = ge.mul %x, %half : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %y = ge.mul %i, %u : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}
