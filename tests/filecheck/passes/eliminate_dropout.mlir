// RUN: ge-opt %s -p ge-eliminate-dropout --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-eliminate-dropout --split-input-file --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// The result is the input; the mask is all true, never the input.
// CHECK-LABEL: func.func @ratio_zero
// CHECK:         %[[ONE:.*]] = ge.constant dense<true> : tensor<i1>
// CHECK-NEXT:    %[[MASK:.*]] = ge.broadcast_to %[[ONE]] : (tensor<i1>) -> tensor<2x4xi1>
// CHECK-NEXT:    func.return %x, %[[MASK]]
// REMARK: remark: [passed] ge-eliminate-dropout: ElideInactiveDropout: ge.dropout: ratio is 0 at "net/drop"
func.func @ratio_zero(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi1>) {
  %p = ge.constant dense<0.0> : tensor<f32>
  %t = ge.constant dense<true> : tensor<i1>
  %y, %m = ge.dropout %x ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<2x4xf32> -> tensor<2x4xf32>, tensor<2x4xi1> loc("net/drop")
  func.return %y, %m : tensor<2x4xf32>, tensor<2x4xi1>
}

// -----

// A mask of a size that is not known yet.
// CHECK-LABEL: func.func @symbolic
// CHECK:         %[[MASK:.*]] = ge.broadcast_to %{{.*}} : (tensor<i1>) -> tensor<?x4xi1, #ge.dims<"S">>
// CHECK-NEXT:    func.return %x, %[[MASK]]
func.func @symbolic(%x: tensor<?x4xf32, #ge.dims<"S">>) -> (tensor<?x4xf32, #ge.dims<"S">>, tensor<?x4xi1, #ge.dims<"S">>) {
  %y, %m = ge.dropout %x : tensor<?x4xf32, #ge.dims<"S">> -> tensor<?x4xf32, #ge.dims<"S">>, tensor<?x4xi1, #ge.dims<"S">>
  func.return %y, %m : tensor<?x4xf32, #ge.dims<"S">>, tensor<?x4xi1, #ge.dims<"S">>
}

// -----

// Training is off: whatever the ratio, here 1 and then an argument.
// CHECK-LABEL: func.func @inference
// CHECK-NEXT:    func.return %x
// REMARK: ElideInactiveDropout: ge.dropout: training is off
func.func @inference(%x: tensor<4xf32>, %r: tensor<f32>) -> tensor<4xf32> {
  %p = ge.constant dense<1.0> : tensor<f32>
  %t = ge.constant dense<false> : tensor<i1>
  %y, %m = ge.dropout %x ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  %z, %n = ge.dropout %y ratio %r : tensor<f32> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  func.return %z : tensor<4xf32>
}

// -----

// Negative: the ratio is an argument, and training is on.
// CHECK-LABEL: func.func @ratio_argument
// CHECK:         ge.dropout
// REMARK: remark: [missed] ge-eliminate-dropout: ElideInactiveDropout: ge.dropout: 'ratio' is not a constant (found None, wanted 0) [CONST]
func.func @ratio_argument(%x: tensor<4xf32>, %p: tensor<f32>) -> tensor<4xf32> {
  %t = ge.constant dense<true> : tensor<i1>
  %y, %m = ge.dropout %x ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  func.return %y : tensor<4xf32>
}

// -----

// Negative: it drops half.
// CHECK-LABEL: func.func @training
// CHECK:         ge.dropout
// REMARK: ge.dropout: training is on, or not proved off (found 0.5, wanted 0) [ATTR]
func.func @training(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = ge.constant dense<0.5> : tensor<f32>
  %t = ge.constant dense<true> : tensor<i1>
  %y, %m = ge.dropout %x ratio %p : tensor<f32> training_mode %t : tensor<i1> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  func.return %y : tensor<4xf32>
}

// -----

// Negative: whether it trains is decided at run time; the default ratio is 0.5.
// CHECK-LABEL: func.func @mode_argument
// CHECK:         ge.dropout
// REMARK: ge.dropout: training is on, or not proved off
func.func @mode_argument(%x: tensor<4xf32>, %t: tensor<i1>) -> tensor<4xf32> {
  %y, %m = ge.dropout %x training_mode %t : tensor<i1> : tensor<4xf32> -> tensor<4xf32>, tensor<4xi1>
  func.return %y : tensor<4xf32>
}
