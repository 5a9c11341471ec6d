// RUN: ge-opt %s -p 'ge-split-gears{gears="S=4","S=16"}' | filecheck %s
// RUN: ge-opt %s -p 'ge-split-gears' | filecheck %s --check-prefix=NONE

// CHECK-LABEL: func.func @f_gear_0(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {ge.gear = "S=4"} {
// CHECK-NEXT: ge.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: func.func @f_gear_1(%x: tensor<16x8xf32>) -> tensor<16x8xf32> attributes {ge.gear = "S=16"} {
// NONE: func.func @f(%x: tensor<?x8xf32, #ge.dims<"S">>)
func.func @f(%x: tensor<?x8xf32, #ge.dims<"S">>) -> tensor<?x8xf32, #ge.dims<"S">> attributes {ge.symbols = {S = #ge.symbol<4, 16, 1, "dim 0 of input 'x'">}} {
  %y = ge.relu %x : (tensor<?x8xf32, #ge.dims<"S">>) -> tensor<?x8xf32, #ge.dims<"S">>
  func.return %y : tensor<?x8xf32, #ge.dims<"S">>
}

// Near miss: a function without symbols stays.
// CHECK: func.func @static(
func.func @static(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
