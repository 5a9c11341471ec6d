// RUN: GE_INVALID

// CHECK: expected a dimension of 'T', got S
ge_exec.plan @symbol_c1 {
  %x = ge_exec.input "x" : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
  ge_exec.symbol "T" of %x dim 0 <1, 16, 1, ""> : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
}

// -----

// CHECK: expected an input with a dimension 2
ge_exec.plan @symbol_dim {
  %x = ge_exec.input "x" : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
  ge_exec.symbol "S" of %x dim 2 <1, 16, 1, ""> : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
}

// -----

// CHECK: expected an expression for each dimension, got tensor<?x4xf32>
ge_exec.plan @bounded_c1 {
  %x = ge_exec.buffer : !ge_exec.bounded<tensor<?x4xf32>, 256 : i64>
}

// -----

// CHECK: expected 'bytes' >= 0, got -1
ge_exec.plan @bounded_c2 {
  %x = ge_exec.buffer : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, -1 : i64>
}

// -----

// CHECK: expected a view inside 256 bytes, got bytes 248 to 264
ge_exec.plan @view_c1 {
  %x = ge_exec.buffer : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
  %v = ge_exec.view %x offset 248 : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64> -> memref<4xf32, "hbm">
}

// -----

// CHECK: expected one expression for 'plus'
ge_exec.plan @view_c2 {
  %x = ge_exec.buffer : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64>
  %v = ge_exec.view %x offset 0 plus <"16*S", "S"> : !ge_exec.bounded<tensor<?x4xf32, #ge.dims<"S">>, 256 : i64> -> memref<4xf32, "hbm">
}
