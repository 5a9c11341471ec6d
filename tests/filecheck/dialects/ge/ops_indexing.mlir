// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<10x4xf32>, %i: tensor<2x3xi64>, %e: tensor<10x2xi32>, %p: tensor<5x1xi64>) {
  // CHECK: ge.gather %x, %i axis -2 : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %r0 = ge.gather %x, %i axis -2 : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  // CHECK: ge.gather_elements %x, %e axis 1 : (tensor<10x4xf32>, tensor<10x2xi32>) -> tensor<10x2xf32>
  %r1 = ge.gather_elements %x, %e axis 1 : (tensor<10x4xf32>, tensor<10x2xi32>) -> tensor<10x2xf32>
  // CHECK: ge.gather_nd %x, %p batch_dims 0 : (tensor<10x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  %r2 = ge.gather_nd %x, %p batch_dims 0 : (tensor<10x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<8x4xf32>, %p: tensor<3x1xi64>, %u: tensor<3x4xf32>, %e: tensor<3x4xi64>) {
  // CHECK: ge.scatter_nd %x, %p, %u reduction "none" : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %r0 = ge.scatter_nd %x, %p, %u reduction "none" : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  // CHECK: ge.scatter_elements %x, %e, %u axis 0 reduction "max" : (tensor<8x4xf32>, tensor<3x4xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %r1 = ge.scatter_elements %x, %e, %u axis 0 reduction "max" : (tensor<8x4xf32>, tensor<3x4xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

// CHECK-LABEL: func.func @reads
func.func @reads(%x: tensor<?x4xf32, #ge.dims<"S">>, %i: tensor<4xi64>, %v: tensor<2xf16>) {
  // CHECK: ge.one_hot %i, %v depth 10 axis -1 : (tensor<4xi64>, tensor<2xf16>) -> tensor<4x10xf16>
  %r0 = ge.one_hot %i, %v depth 10 axis -1 : (tensor<4xi64>, tensor<2xf16>) -> tensor<4x10xf16>
  // CHECK: ge.shape %x start 0 : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<2xi64>
  %r1 = ge.shape %x start 0 : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<2xi64>
  // CHECK: ge.shape %x start -1 end 2 : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<1xi64>
  %r2 = ge.shape %x start -1 end 2 : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<1xi64>
  // CHECK: ge.size %x : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<i64>
  %r3 = ge.size %x : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<i64>
  func.return
}
