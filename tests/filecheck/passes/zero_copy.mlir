// RUN: ge-opt %s -p ge-zero-copy --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-zero-copy --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=MISSED
// RUN: ge-opt %s -p ge-zero-copy --split-input-file --remarks=passed 2>&1 >/dev/null | filecheck %s --check-prefix=PASSED
// RUN: ge-opt %s -p ge-zero-copy{grow=true} --split-input-file | filecheck %s --check-prefix=GROW

// Both producers write straight into the result.
// CHECK-LABEL: func.func @parts
// CHECK:         ge.concat %a, %b axis 0 {ge.zero_copy = array<i64: 0, 1>}
// PASSED: remark: [passed] ge-zero-copy: view: ge.concat: 2 of 2 parts written in place: 128 bytes not moved
func.func @parts(%x: tensor<8xf32>) -> tensor<16xf32> {
  %a = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = ge.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.concat %a, %b axis 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  func.return %c : tensor<16xf32>
}

// -----

// What is joined is a part of something else; an argument is copied, as one task.
// CHECK-LABEL: func.func @cascade
// CHECK:         ge.concat %a, %r axis 1 {ge.zero_copy = array<i64: 0, 1>}
// CHECK-NEXT:    ge.concat %x, %c axis 1 {ge.zero_copy = array<i64: 1>}
func.func @cascade(%x: tensor<1x8xf32>) -> tensor<1x24xf32> {
  %a = ge.exp %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %b = ge.neg %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %r = ge.reshape %b : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %c = ge.concat %a, %r axis 1 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x16xf32>
  %d = ge.concat %x, %c axis 1 : (tensor<1x8xf32>, tensor<1x16xf32>) -> tensor<1x24xf32>
  func.return %d : tensor<1x24xf32>
}

// -----

// Negative: behind a dimension of two the parts are in pieces.
// CHECK-LABEL: func.func @behind
// CHECK:         ge.concat %a, %b axis 1 :
// MISSED: ge.concat: the parts are not one stretch of bytes each (found {{.*}}2{{.*}}, wanted 1 in all dimensions before axis 1) [SHAPE]
func.func @behind(%x: tensor<2x8xf32>) -> tensor<2x16xf32> {
  %a = ge.exp %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = ge.neg %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %c = ge.concat %a, %b axis 1 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x16xf32>
  func.return %c : tensor<2x16xf32>
}

// -----

// Negative: the second part would start at byte 28. The last part may have any size.
// CHECK-LABEL: func.func @misaligned
// CHECK:         ge.concat %a, %b, %c axis 0 :
// CHECK:         ge.concat %d, %a axis 0 {ge.zero_copy = array<i64: 0, 1>}
// MISSED: ge.concat: a part would start where no transfer can (found byte 28, wanted a multiple of 32) [TARGET]
func.func @misaligned(%x: tensor<7xf32>, %y: tensor<8xf32>) -> (tensor<21xf32>, tensor<15xf32>) {
  %a = ge.exp %x : (tensor<7xf32>) -> tensor<7xf32>
  %b = ge.neg %x : (tensor<7xf32>) -> tensor<7xf32>
  %c = ge.relu %x : (tensor<7xf32>) -> tensor<7xf32>
  %d = ge.neg %y : (tensor<8xf32>) -> tensor<8xf32>
  %e = ge.concat %a, %b, %c axis 0 : (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<21xf32>
  %f = ge.concat %d, %a axis 0 : (tensor<8xf32>, tensor<7xf32>) -> tensor<15xf32>
  func.return %e, %f : tensor<21xf32>, tensor<15xf32>
}

// -----

// Negative: two copies are more tasks than one concatenation; a value has one place.
// CHECK-LABEL: func.func @two_copies
// CHECK:         ge.concat %x, %a, %y axis 0 :
// CHECK:         ge.concat %a, %a axis 0 {ge.zero_copy = array<i64: 0>}
// MISSED: ge.concat: operand 0 is an argument [USE]
func.func @two_copies(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<24xf32>, tensor<16xf32>) {
  %a = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.concat %x, %a, %y axis 0 : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<24xf32>
  %d = ge.concat %a, %a axis 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  func.return %c, %d : tensor<24xf32>, tensor<16xf32>
}

// -----

// Negative: parts that are outputs, under any form.
// CHECK-LABEL: func.func @given
// CHECK:         ge.concat %a, %b axis 0 :
// MISSED: ge.concat: a part is an output, which has bytes of its own [USE]
func.func @given(%x: tensor<8xf32>) -> (tensor<16xf32>, tensor<8xf32>, tensor<2x4xf32>) {
  %a = ge.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = ge.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.concat %a, %b axis 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %r = ge.reshape %b : (tensor<8xf32>) -> tensor<2x4xf32>
  func.return %c, %a, %r : tensor<16xf32>, tensor<8xf32>, tensor<2x4xf32>
}

// -----

// Negative: the big value would live on in its small piece, beside another big one.
// CHECK-LABEL: func.func @long_lived
// CHECK:         ge.slice %b starts [0] ends [8] axes [0] steps [1] :
// MISSED: ge.slice: memory would need a higher peak [COST]
// GROW:         ge.slice %b starts [0] ends [8] axes [0] steps [1] {ge.zero_copy} :
func.func @long_lived(%x: tensor<8xf32>) -> tensor<8xf32> {
  %b = ge.tile %x repeats [512] : (tensor<8xf32>) -> tensor<4096xf32>
  %p = ge.slice %b starts [0] ends [8] axes [0] steps [1] : (tensor<4096xf32>) -> tensor<8xf32>
  %c = ge.tile %x repeats [512] : (tensor<8xf32>) -> tensor<4096xf32>
  %s = ge.reduce_sum %c axes [0] keepdims true : (tensor<4096xf32>) -> tensor<1xf32>
  %y = ge.add %p, %s : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

// Where a part begins depends on the length of the one before it.
// CHECK-LABEL: func.func @appended
// CHECK: ge.concat %{{.*}} axis 0 {ge.zero_copy = array<i64: 0, 1>}
func.func @appended(%x: tensor<?x8xf32, #ge.dims<"P">>, %y: tensor<1x8xf32>) -> tensor<1xf32> attributes {ge.symbols = {P = #ge.symbol<1, 9, 1, "dim 0 of input 'x'">}} {
  %a = ge.exp %x : (tensor<?x8xf32, #ge.dims<"P">>) -> tensor<?x8xf32, #ge.dims<"P">>
  %b = ge.exp %y : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %c = ge.concat %a, %b axis 0 : (tensor<?x8xf32, #ge.dims<"P">>, tensor<1x8xf32>) -> tensor<?x8xf32, #ge.dims<"P + 1">>
  %s = ge.reduce_sum %c axes [0, 1] keepdims false : (tensor<?x8xf32, #ge.dims<"P + 1">>) -> tensor<f32>
  %r = ge.reshape %s : (tensor<f32>) -> tensor<1xf32>
  func.return %r : tensor<1xf32>
}

// -----

// Near miss: of one row the last two are not there.
// CHECK-LABEL: func.func @last_two
// CHECK: ge.slice %{{.*}} starts [-2] ends [9] axes [0] steps [1] :
// MISSED: ge.slice: nothing proves that a piece begins inside its operand at every size (found dimension P, wanted a range that keeps the indices inside) [SYMBOL]
func.func @last_two(%x: tensor<?x8xf32, #ge.dims<"P">>) -> tensor<f32> attributes {ge.symbols = {P = #ge.symbol<1, 9, 1, "dim 0 of input 'x'">}} {
  %a = ge.exp %x : (tensor<?x8xf32, #ge.dims<"P">>) -> tensor<?x8xf32, #ge.dims<"P">>
  %c = ge.slice %a starts [-2] ends [9] axes [0] steps [1] : (tensor<?x8xf32, #ge.dims<"P">>) -> tensor<?x8xf32, #ge.dims<"min(P, 2)">>
  %s = ge.reduce_sum %c axes [0, 1] keepdims false : (tensor<?x8xf32, #ge.dims<"min(P, 2)">>) -> tensor<f32>
  func.return %s : tensor<f32>
}
