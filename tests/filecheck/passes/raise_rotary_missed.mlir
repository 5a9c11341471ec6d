// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

!x = tensor<2x4x3x8xf32>
!h = tensor<2x4x3x4xf32>

// CHECK-LABEL: func.func @unknown_tables
// CHECK-NOT: ge.rotary_embedding
// REMARK: RaiseRotary: ge.add: the tables are not proved to have one angle for both features of a pair [CONST]
func.func @unknown_tables(%x: !x, %c: tensor<1x1x3x8xf32>, %s: tensor<1x1x3x8xf32>) -> !x {
  %xc = ge.mul %x, %c : (!x, tensor<1x1x3x8xf32>) -> !x
  %a, %b = ge.split %x axis 3 sizes [4, 4] : (!x) -> (!h, !h)
  %n = ge.neg %b : (!h) -> !h
  %t = ge.concat %n, %a axis 3 : (!h, !h) -> !x
  %ts = ge.mul %t, %s : (!x, tensor<1x1x3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y : !x
}

// An angle for each position of each head.
// CHECK-LABEL: func.func @angles_of_heads
// CHECK-NOT: ge.rotary_embedding
// REMARK: RaiseRotary: ge.add: the tables do not have an angle for each position, the same for all heads (found {{.*}}, wanted {{.*}}) [SHAPE]
func.func @angles_of_heads(%x: !x, %f: tensor<4x3x4xf32>) -> !x {
  %c = ge.concat %f, %f axis 2 : (tensor<4x3x4xf32>, tensor<4x3x4xf32>) -> tensor<4x3x8xf32>
  %xc = ge.mul %x, %c : (!x, tensor<4x3x8xf32>) -> !x
  %a, %b = ge.split %x axis 3 sizes [4, 4] : (!x) -> (!h, !h)
  %n = ge.neg %b : (!h) -> !h
  %t = ge.concat %n, %a axis 3 : (!h, !h) -> !x
  %ts = ge.mul %t, %c : (!x, tensor<4x3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y : !x
}

// The other half is negated: that turns the other way.
// CHECK-LABEL: func.func @other_turn
// CHECK-NOT: ge.rotary_embedding
func.func @other_turn(%x: !x, %f: tensor<3x4xf32>) -> !x {
  %c = ge.concat %f, %f axis 1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %xc = ge.mul %x, %c : (!x, tensor<3x8xf32>) -> !x
  %a, %b = ge.split %x axis 3 sizes [4, 4] : (!x) -> (!h, !h)
  %n = ge.neg %a : (!h) -> !h
  %t = ge.concat %n, %b axis 3 : (!h, !h) -> !x
  %ts = ge.mul %t, %c : (!x, tensor<3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y : !x
}

// CHECK-LABEL: func.func @turned_value_escapes
// CHECK-NOT: ge.rotary_embedding
// REMARK: RaiseRotary: ge.add: the result of 'ge.concat' has 2 uses, 1 outside: func.return (found 1, wanted 0) [USE]
func.func @turned_value_escapes(%x: !x, %f: tensor<3x4xf32>) -> (!x, !x) {
  %c = ge.concat %f, %f axis 1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %xc = ge.mul %x, %c : (!x, tensor<3x8xf32>) -> !x
  %a, %b = ge.split %x axis 3 sizes [4, 4] : (!x) -> (!h, !h)
  %n = ge.neg %b : (!h) -> !h
  %t = ge.concat %n, %a axis 3 : (!h, !h) -> !x
  %ts = ge.mul %t, %c : (!x, tensor<3x8xf32>) -> !x
  %y = ge.add %xc, %ts : (!x, !x) -> !x
  func.return %y, %t : !x, !x
}
