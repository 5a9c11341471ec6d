// RUN: GE_ROUNDTRIP
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s

// Constants come back with the very bits they had, as bytes where no decimal text says them.

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: %minus_infinity = ge.constant dense<"0x000080FF"> : tensor<3xf32>
  %minus_infinity = ge.constant dense<"0x000080FF"> : tensor<3xf32>
  // CHECK-NEXT: %zeros = ge.constant dense<"0x0000000000000080"> : tensor<2xf32>
  %zeros = ge.constant dense<"0x0000000000000080"> : tensor<2xf32>
  // CHECK-NEXT: %whole = ge.constant dense<1.67772180e+07> : tensor<f32>
  %whole = ge.constant dense<16777218.0> : tensor<f32>
  func.return
}
