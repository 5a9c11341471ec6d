// RUN: ge-opt %s -p ge-dce --split-input-file | filecheck %s
// RUN: not ge-opt %s -p ge-dce 2>&1 | filecheck %s --check-prefix=WHOLE

// Each part is a module of its own: the symbols would clash in one.
// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @main
// CHECK-NEXT:     func.return %x
// CHECK:      // {{-----}}
// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @main
// CHECK-NEXT:     %y = ge.relu
// WHOLE:      ge-opt: error: GE0311: {{.*}}main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
