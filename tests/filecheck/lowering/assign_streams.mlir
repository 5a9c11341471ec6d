// RUN: ge-opt %s -p "ge-bufferize,ge-assign-streams{streams=2}" --split-input-file | filecheck %s
// RUN: ge-opt %s -p "ge-lower{streams=2}" --split-input-file | filecheck %s --check-prefix=PLAN
// RUN: ge-opt %s -p "ge-lower{streams=1}" --split-input-file | filecheck %s --check-prefix=ONE

// A large matmul on the cube and a large exponential on the vector unit run side by side.
// CHECK-LABEL: ge_exec.plan @two_engines
// CHECK:         ge_exec.stream 0 {
// CHECK:         ge_exec.stream 1 {
// CHECK-NOT:     ge_exec.stream
// PLAN-LABEL:  ge_exec.plan @two_engines
// PLAN:          ge_exec.record [[E:[0-9]+]]
// PLAN:          ge_exec.wait
// ONE-LABEL:   ge_exec.plan @two_engines
// ONE:           ge_exec.stream 0 {
// ONE-NOT:       ge_exec.stream 1
// ONE-NOT:       ge_exec.wait
func.func @two_engines(%x: tensor<1024x1024xf16>, %y: tensor<2048x2048xf16>) -> (tensor<1024x1024xf16>, tensor<2048x2048xf16>) {
  %a = ge.matmul %x, %x : (tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %b = ge.matmul %a, %x : (tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %s = ge.softmax %y axis -1 : (tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %t = ge.softmax %s axis 0 : (tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %r = ge.slice %t starts [0, 0] ends [1024, 1024] axes [0, 1] steps [1, 1] : (tensor<2048x2048xf16>) -> tensor<1024x1024xf16>
  %o = ge.add %b, %r : (tensor<1024x1024xf16>, tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  func.return %o, %t : tensor<1024x1024xf16>, tensor<2048x2048xf16>
}

// -----

// Negative: a chain gains nothing, so it stays on one stream.
// CHECK-LABEL: ge_exec.plan @chain
// CHECK:         ge_exec.stream 0 {
// CHECK-NOT:     ge_exec.stream
// CHECK:         ge_exec.output
func.func @chain(%x: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %a = ge.matmul %x, %x : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
  %b = ge.softmax %a axis -1 : (tensor<256x256xf16>) -> tensor<256x256xf16>
  %c = ge.matmul %b, %b : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
  func.return %c : tensor<256x256xf16>
}
