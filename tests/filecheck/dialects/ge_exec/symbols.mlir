// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK:      ge_exec.plan @symbols {
// CHECK-NEXT:   %x = ge_exec.input "x" : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
// CHECK-NEXT:   ge_exec.symbol "S" of %x dim 0 <1, 16, 1, "dim 0 of input 'x'"> : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
// CHECK-NEXT:   ge_exec.guard <"S", multiple, "2", "by hand">
// CHECK-NEXT:   %v = ge_exec.view %x offset 0 : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64> -> !ge_exec.bounded<tensor<?xf32, #ge.dims<"4*S">>, 256 : i64>
ge_exec.plan @symbols {
  %x = ge_exec.input "x" : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
  ge_exec.symbol "S" of %x dim 0 <1, 16, 1, "dim 0 of input 'x'"> : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
  ge_exec.guard <"S", multiple, "2", "by hand">
  %v = ge_exec.view %x offset 0 : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64> -> !ge_exec.bounded<tensor<?xf32, #ge.dims<"4*S">>, 256 : i64>
  ge_exec.output "y" %v : !ge_exec.bounded<tensor<?xf32, #ge.dims<"4*S">>, 256 : i64>
}
