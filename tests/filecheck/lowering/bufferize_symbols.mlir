// RUN: ge-opt %s -p ge-bufferize,ge-plan-memory,ge-verify-plan | filecheck %s

// Bytes of the greatest size, at one address; the reshape is a view.
// CHECK: ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 128
// CHECK-LABEL: ge_exec.plan @main
// CHECK: %x = ge_exec.input "x" in %work offset 0 : !ge_exec.bounded<tensor<?x8xf32, #ge.dims<"S">>, 512 : i64>
// CHECK-NEXT: ge_exec.symbol "S" of %x dim 0 <4, 16, 1, "dim 0 of input 'x'">
// CHECK-NEXT: ge_exec.guard <"S", broadcast, "16", "by hand">
// CHECK: ge_exec.view %{{.*}} offset 0 : !ge_exec.bounded<tensor<?x8xf32, #ge.dims<"S">>, 512 : i64> -> !ge_exec.bounded<tensor<?xf32, #ge.dims<"8*S">>, 512 : i64>
func.func @main(%x: tensor<?x8xf32, #ge.dims<"S">> {ge.name = "x"}) -> tensor<?xf32, #ge.dims<"8*S">> attributes {ge.symbols = {S = #ge.symbol<4, 16, 1, "dim 0 of input 'x'">}, ge.guards = [#ge.guard<"S", broadcast, "16", "by hand">]} {
  %a = ge.relu %x : (tensor<?x8xf32, #ge.dims<"S">>) -> tensor<?x8xf32, #ge.dims<"S">>
  %b = ge.reshape %a : (tensor<?x8xf32, #ge.dims<"S">>) -> tensor<?xf32, #ge.dims<"8*S">>
  %y = ge.relu %b : (tensor<?xf32, #ge.dims<"8*S">>) -> tensor<?xf32, #ge.dims<"8*S">>
  func.return %y : tensor<?xf32, #ge.dims<"8*S">>
}
