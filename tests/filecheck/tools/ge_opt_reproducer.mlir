// RUN: rm -f %t.mlir
// RUN: not ge-opt %s -p "ge-cse,ge-fuse-rules{rules=NoSuchRule}" --reproducer %t.mlir 2>&1 | filecheck %s --check-prefix=FIRST
// RUN: filecheck %s --input-file %t.mlir --check-prefix=FILE
// RUN: not ge-opt %t.mlir 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: not ge-opt %s -p "ge-fuse-rules{rules=NoSuchRule}" --reproducer - 2>&1 >/dev/null | filecheck %s --check-prefix=FILE
// RUN: ge-opt %s -p ge-optimize --check-numerics=each | filecheck %s
// RUN: ge-opt %s -p ge-dce,ge-cse --print-after-change --print-before ge-cse --no-verify-each 2>&1 >/dev/null | filecheck %s --check-prefix=SHOWN
// RUN: ge-opt %s -p ge-dce --max-rewrites 0 | filecheck %s --check-prefix=NONE

// FIRST: GE0421: {{.*}}; reproduce it with: ge-opt --run-reproducer {{.*}}.mlir

// FILE:      // ge-opt reproducer
// FILE-NEXT: // configuration: -p 'ge-fuse-rules{rules={{.*}}NoSuchRule{{.*}}}'
// FILE-NEXT: // error: GE0421:
// FILE-NEXT: // versions: ge-dialect {{.*}}, xdsl {{.*}}, python
// FILE:      builtin.module {

// AGAIN: GE0421:

// CHECK:     ge.relu
// CHECK-NOT: ge.neg

// SHOWN:      // IR after ge-dce
// SHOWN-NOT:  ge.neg
// SHOWN:      // IR before ge-cse
// SHOWN-NOT:  // IR after

// NONE: ge.neg
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = ge.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
