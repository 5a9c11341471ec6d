// RUN: ge-opt %s -p ge-canonicalize --split-input-file | filecheck %s

// A grid of coordinates takes every element in order.
// CHECK-LABEL: func.func @grid
// CHECK:         ge.reshape %x : (tensor<?x?xi1, #ge.dims<"B", "S">>) -> tensor<?x1x?xi1, #ge.dims<"B", "S">>
// CHECK-NOT:     ge.gather_nd
func.func @grid(%x: tensor<?x?xi1, #ge.dims<"B", "S">>) -> tensor<?x1x?xi1, #ge.dims<"B", "S">> {
  %b = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"B">>
  %s = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %b1 = ge.reshape %b : (tensor<?xi64, #ge.dims<"B">>) -> tensor<?x1x1x1xi64, #ge.dims<"B">>
  %b2 = ge.broadcast_to %b1 : (tensor<?x1x1x1xi64, #ge.dims<"B">>) -> tensor<?x1x?x1xi64, #ge.dims<"B", "S">>
  %s1 = ge.reshape %s : (tensor<?xi64, #ge.dims<"S">>) -> tensor<1x1x?x1xi64, #ge.dims<"S">>
  %s2 = ge.broadcast_to %s1 : (tensor<1x1x?x1xi64, #ge.dims<"S">>) -> tensor<?x1x?x1xi64, #ge.dims<"B", "S">>
  %i = ge.concat %b2, %s2 axis 3 : (tensor<?x1x?x1xi64, #ge.dims<"B", "S">>, tensor<?x1x?x1xi64, #ge.dims<"B", "S">>) -> tensor<?x1x?x2xi64, #ge.dims<"B", "S">>
  %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<?x?xi1, #ge.dims<"B", "S">>, tensor<?x1x?x2xi64, #ge.dims<"B", "S">>) -> tensor<?x1x?xi1, #ge.dims<"B", "S">>
  func.return %y : tensor<?x1x?xi1, #ge.dims<"B", "S">>
}

// -----

// Near miss: the second index counts other positions than `x` has.
// CHECK-LABEL: func.func @part_of_a_row
// CHECK:         ge.gather_nd
func.func @part_of_a_row(%x: tensor<?x?xi1, #ge.dims<"B", "T">>) -> tensor<?x?xi1, #ge.dims<"B", "S">> {
  %b = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"B">>
  %s = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %b1 = ge.reshape %b : (tensor<?xi64, #ge.dims<"B">>) -> tensor<?x1x1xi64, #ge.dims<"B">>
  %b2 = ge.broadcast_to %b1 : (tensor<?x1x1xi64, #ge.dims<"B">>) -> tensor<?x?x1xi64, #ge.dims<"B", "S">>
  %s1 = ge.reshape %s : (tensor<?xi64, #ge.dims<"S">>) -> tensor<1x?x1xi64, #ge.dims<"S">>
  %s2 = ge.broadcast_to %s1 : (tensor<1x?x1xi64, #ge.dims<"S">>) -> tensor<?x?x1xi64, #ge.dims<"B", "S">>
  %i = ge.concat %b2, %s2 axis 2 : (tensor<?x?x1xi64, #ge.dims<"B", "S">>, tensor<?x?x1xi64, #ge.dims<"B", "S">>) -> tensor<?x?x2xi64, #ge.dims<"B", "S">>
  %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<?x?xi1, #ge.dims<"B", "T">>, tensor<?x?x2xi64, #ge.dims<"B", "S">>) -> tensor<?x?xi1, #ge.dims<"B", "S">>
  func.return %y : tensor<?x?xi1, #ge.dims<"B", "S">>
}

// -----

// `b*S + s` into the flat tensor counts all of it.
// CHECK-LABEL: func.func @flat
// CHECK-NOT:     ge.gather
// CHECK:         func.return
func.func @flat(%x: tensor<?xf32, #ge.dims<"B*S">>, %like: tensor<?x?xf32, #ge.dims<"B", "S">>) -> tensor<?x?xf32, #ge.dims<"B", "S">> {
  %b = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"B">>
  %s = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %b1 = ge.reshape %b : (tensor<?xi64, #ge.dims<"B">>) -> tensor<?x1xi64, #ge.dims<"B">>
  %n = ge.shape %like start 1 end 2 : (tensor<?x?xf32, #ge.dims<"B", "S">>) -> tensor<1xi64>
  %m = ge.mul %b1, %n : (tensor<?x1xi64, #ge.dims<"B">>, tensor<1xi64>) -> tensor<?x1xi64, #ge.dims<"B">>
  %i = ge.add %s, %m : (tensor<?xi64, #ge.dims<"S">>, tensor<?x1xi64, #ge.dims<"B">>) -> tensor<?x?xi64, #ge.dims<"B", "S">>
  %y = ge.gather %x, %i axis 0 : (tensor<?xf32, #ge.dims<"B*S">>, tensor<?x?xi64, #ge.dims<"B", "S">>) -> tensor<?x?xf32, #ge.dims<"B", "S">>
  func.return %y : tensor<?x?xf32, #ge.dims<"B", "S">>
}

// -----

// Near miss: columns first.
// CHECK-LABEL: func.func @turned
// CHECK:         ge.gather %x
func.func @turned(%x: tensor<?xf32, #ge.dims<"B*S">>, %like: tensor<?x?xf32, #ge.dims<"B", "S">>) -> tensor<?x?xf32, #ge.dims<"S", "B">> {
  %b = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"B">>
  %s = ge.range start 0 : i64 delta 1 : i64 : tensor<?xi64, #ge.dims<"S">>
  %s1 = ge.reshape %s : (tensor<?xi64, #ge.dims<"S">>) -> tensor<?x1xi64, #ge.dims<"S">>
  %n = ge.shape %like start 1 end 2 : (tensor<?x?xf32, #ge.dims<"B", "S">>) -> tensor<1xi64>
  %m = ge.mul %b, %n : (tensor<?xi64, #ge.dims<"B">>, tensor<1xi64>) -> tensor<?xi64, #ge.dims<"B">>
  %i = ge.add %s1, %m : (tensor<?x1xi64, #ge.dims<"S">>, tensor<?xi64, #ge.dims<"B">>) -> tensor<?x?xi64, #ge.dims<"S", "B">>
  %y = ge.gather %x, %i axis 0 : (tensor<?xf32, #ge.dims<"B*S">>, tensor<?x?xi64, #ge.dims<"S", "B">>) -> tensor<?x?xf32, #ge.dims<"S", "B">>
  func.return %y : tensor<?x?xf32, #ge.dims<"S", "B">>
}
