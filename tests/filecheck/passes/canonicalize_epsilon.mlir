// RUN: ge-opt %s -p ge-canonicalize --remarks=analysis 2>&1 >/dev/null | filecheck %s

// CHECK: remark: [analysis] ge-canonicalize: SmallEpsilon: ge.layer_norm: epsilon 1e-12 is 0 in f16, it counts as statistics are in f32 at "encoder/norm"
func.func @vanishes(%x: tensor<1x10xf16>) -> tensor<1x10xf16> {
  %y = ge.layer_norm %x axis -1 epsilon 1.0e-12 : tensor<1x10xf16> -> tensor<1x10xf16> loc("encoder/norm")
  func.return %y : tensor<1x10xf16>
}

// Negative: the least number of f16, f32 and bf16 with the same range, and none at all.
// CHECK-NOT: SmallEpsilon
func.func @counts(%x: tensor<1x10xf16>, %y: tensor<1x10xf32>, %z: tensor<1x10xbf16>) -> (tensor<1x10xf16>, tensor<1x10xf32>, tensor<1x10xbf16>, tensor<1x10xf16>) {
  %a = ge.layer_norm %x axis -1 epsilon 6.0e-08 : tensor<1x10xf16> -> tensor<1x10xf16>
  %b = ge.layer_norm %y axis -1 epsilon 1.0e-12 : tensor<1x10xf32> -> tensor<1x10xf32>
  %c = ge.layer_norm %z axis -1 epsilon 1.0e-12 : tensor<1x10xbf16> -> tensor<1x10xbf16>
  %d = ge.layer_norm %x axis -1 epsilon 0.0 : tensor<1x10xf16> -> tensor<1x10xf16>
  func.return %a, %b, %c, %d : tensor<1x10xf16>, tensor<1x10xf32>, tensor<1x10xbf16>, tensor<1x10xf16>
}
