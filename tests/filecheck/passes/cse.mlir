// RUN: ge-opt %s -p ge-cse --split-input-file | filecheck %s

// CHECK-LABEL: func.func @merges
// CHECK-NEXT:    %a = ge.relu %x
// CHECK-NEXT:    %c = ge.add %a, %a
// CHECK-NEXT:    func.return %c, %c
func.func @merges(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = ge.add %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

// Constants are equal by value and by type.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %a = ge.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %c = ge.constant dense<4.000000e+00> : tensor<f32>
// CHECK-NEXT:    %d = ge.constant dense<2.000000e+00> : tensor<f16>
// CHECK-NEXT:    %e = ge.constant dense<2.000000e+00> : tensor<1xf32>
// CHECK-NEXT:    %f = ge.constant dense<2> : tensor<i32>
// CHECK-NEXT:    %h = ge.constant dense<-2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %p = ge.div %x, %a
// CHECK-NEXT:    %q = ge.mul %y, %c
// CHECK-NEXT:    %r = ge.mul %y, %a
func.func @constants(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f16>, tensor<1xf32>, tensor<i32>, tensor<f32>) {
  %a = ge.constant dense<2.0> : tensor<f32>
  %b = ge.constant dense<2.0> : tensor<f32>
  %c = ge.constant dense<4.0> : tensor<f32>
  %d = ge.constant dense<2.0> : tensor<f16>
  %e = ge.constant dense<2.0> : tensor<1xf32>
  %f = ge.constant dense<2> : tensor<i32>
  %h = ge.constant dense<-2.0> : tensor<f32>
  %p = ge.div %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %q = ge.mul %y, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = ge.mul %y, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %p, %q, %r, %d, %e, %f, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f16>, tensor<1xf32>, tensor<i32>, tensor<f32>
}

// -----

// Negative: zeros of different signs are different constants, attributes too.
// CHECK-LABEL: func.func @signed_zeros
// CHECK-NEXT:    ge.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    ge.constant dense<-0.000000e+00> : tensor<f32>
// CHECK-NEXT:    ge.leaky_relu %x alpha 0.000000e+00
// CHECK-NEXT:    ge.leaky_relu %x alpha -0.000000e+00
func.func @signed_zeros(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  %a = ge.constant dense<0.0> : tensor<f32>
  %b = ge.constant dense<-0.0> : tensor<f32>
  %c = ge.leaky_relu %x alpha 0.0 : (tensor<4xf32>) -> tensor<4xf32>
  %d = ge.leaky_relu %x alpha -0.0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b, %c, %d : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Negative: other attributes, other result types, random numbers.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-2: ge.softmax
// CHECK-COUNT-2: ge.cast
// CHECK-COUNT-2: ge.host_call
func.func @different(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf16>, tensor<2x2xbf16>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = ge.softmax %x axis 0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = ge.softmax %x axis 1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = ge.cast %x : (tensor<2x2xf32>) -> tensor<2x2xf16>
  %d = ge.cast %x : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  %e = ge.host_call "ai.onnx::RandomNormalLike" version 1 (%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %f = ge.host_call "ai.onnx::RandomNormalLike" version 1 (%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %a, %b, %c, %d, %e, %f : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf16>, tensor<2x2xbf16>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// An op in a region may use an equal one before it, not one of the other region; a later op may
// not use one in a region. A fusion uses nothing from outside.
// CHECK-LABEL: func.func @regions
// CHECK-NEXT:    %a = ge.relu %x
// CHECK-NEXT:    %y = ge.if %p
// CHECK-NEXT:      %m = ge.neg %a
// CHECK-NEXT:      ge.yield %m
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %n = ge.neg %a
// CHECK-NEXT:      ge.yield %n
// CHECK-NEXT:    }
// CHECK-NEXT:    %o = ge.neg %a
// CHECK-NEXT:    ge.fusion "Relu"(%x)
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<4xf32>):
// CHECK-NEXT:      ge.relu
func.func @regions(%p: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.if %p : tensor<i1> -> tensor<4xf32> then {
    %b = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    %m = ge.neg %b : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %m : tensor<4xf32>
  } else {
    %n = ge.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %n : tensor<4xf32>
  }
  %o = ge.neg %a : (tensor<4xf32>) -> tensor<4xf32>
  %k = ge.fusion "Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %r = ge.relu %v : (tensor<4xf32>) -> tensor<4xf32>
    ge.yield %r : tensor<4xf32>
  }
  func.return %y, %o, %k : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
