// RUN: ge-opt %s -p "ge-lower{streams=3}" | filecheck %s
// RUN: ge-opt %s -p 'ge-lower{streams=4 stream-labels="tail=mine"}' | filecheck %s --check-prefix=NAMED
// RUN: ge-opt %s -p "ge-lower{streams=3},ge-verify-events" --remarks=all 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Every label is a stream of its own, in the order of the plan, and what has none goes elsewhere.
// CHECK-LABEL: ge_exec.plan @labels
// CHECK:         ge_exec.stream 0 {
// CHECK:           ge_exec.launch 0 @Neg
// CHECK:         ge_exec.stream 1 {
// CHECK:           ge_exec.launch 1 @Relu
// CHECK:         ge_exec.stream 2 {
// CHECK:           ge_exec.launch 2 @Abs
// CHECK-NOT:     stream_label

// A node's name pins its task where no attribute does.
// NAMED-LABEL: ge_exec.plan @labels
// NAMED:         ge_exec.stream 0 {
// NAMED:         ge_exec.stream 1 {
// NAMED:         ge_exec.stream 2 {
// NAMED:         ge_exec.stream 3 {
// NAMED:           ge_exec.launch 3 @Exp
// NAMED-NOT:     ge_exec.stream

// REMARK: [missed] ge-assign-streams: streams: ge_exec.plan: the labels make the plan slower than one stream
// REMARK: [analysis] ge-verify-events: needed: ge_exec.wait: event 0, for RAW on %{{.*}}: without it task
func.func @labels(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = ge.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = ge.relu %a {ge.stream_label = "left"} : (tensor<8xf32>) -> tensor<8xf32>
  %c = ge.abs %b {ge.stream_label = "right"} : (tensor<8xf32>) -> tensor<8xf32>
  %d = ge.exp %c : (tensor<8xf32>) -> tensor<8xf32> loc("tail")
  func.return %d : tensor<8xf32>
}
