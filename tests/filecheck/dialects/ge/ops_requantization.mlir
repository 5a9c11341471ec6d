// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @requantize
func.func @requantize(%x: tensor<2x3xi32>, %m: tensor<3xf32>, %s: tensor<f16>, %z: tensor<ui8>) {
  // CHECK: ge.requantize %x, %m zero_point %z : (tensor<2x3xi32>, tensor<3xf32>, tensor<ui8>) -> tensor<2x3xui8>
  %a = ge.requantize %x, %m zero_point %z : (tensor<2x3xi32>, tensor<3xf32>, tensor<ui8>) -> tensor<2x3xui8>
  // CHECK: ge.requantize %x, %s : (tensor<2x3xi32>, tensor<f16>) -> tensor<2x3xi16>
  %b = ge.requantize %x, %s : (tensor<2x3xi32>, tensor<f16>) -> tensor<2x3xi16>
  func.return
}
