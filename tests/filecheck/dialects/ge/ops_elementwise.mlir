// RUN: GE_ROUNDTRIP
// RUN: GE_GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<2x4xf16>, %y: tensor<4xf16>) {
  // CHECK: ge.add %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r0 = ge.add %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.sub %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r1 = ge.sub %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.mul %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r2 = ge.mul %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.div %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r3 = ge.div %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.mod %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r4 = ge.mod %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.fmod %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r5 = ge.fmod %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.maximum %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r6 = ge.maximum %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.minimum %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r7 = ge.minimum %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.prelu %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r8 = ge.prelu %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  // CHECK: ge.pow %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  %r9 = ge.pow %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xf16>
  func.return
}

// -----

// CHECK-LABEL: func.func @compare
func.func @compare(%x: tensor<2x4xf16>, %y: tensor<4xf16>) {
  // CHECK: ge.equal %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  %r0 = ge.equal %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  // CHECK: ge.less %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  %r1 = ge.less %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  // CHECK: ge.less_equal %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  %r2 = ge.less_equal %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  // CHECK: ge.greater %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  %r3 = ge.greater %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  // CHECK: ge.greater_equal %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  %r4 = ge.greater_equal %x, %y : (tensor<2x4xf16>, tensor<4xf16>) -> tensor<2x4xi1>
  func.return
}

// -----

// CHECK-LABEL: func.func @logic
func.func @logic(%c: tensor<4xi1>, %d: tensor<i1>, %i: tensor<4xui8>) {
  // CHECK: ge.and %c, %d : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %r0 = ge.and %c, %d : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: ge.or %c, %d : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %r1 = ge.or %c, %d : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: ge.xor %c, %d : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %r2 = ge.xor %c, %d : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  // CHECK: ge.bitwise_and %i, %i : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r3 = ge.bitwise_and %i, %i : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK: ge.bitwise_or %i, %i : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r4 = ge.bitwise_or %i, %i : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK: ge.bitwise_xor %i, %i : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %r5 = ge.bitwise_xor %i, %i : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return
}

// -----

// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<?x4xf32, #ge.dims<"S">>, %c: tensor<4xi1>, %lo: tensor<f32>, %hi: tensor<1xf32>) {
  // CHECK: ge.select %c, %x, %lo : (tensor<4xi1>, tensor<?x4xf32, #ge.dims<"S">>, tensor<f32>) -> tensor<?x4xf32, #ge.dims<"S">>
  %r0 = ge.select %c, %x, %lo : (tensor<4xi1>, tensor<?x4xf32, #ge.dims<"S">>, tensor<f32>) -> tensor<?x4xf32, #ge.dims<"S">>
  // CHECK: ge.clip %x min %lo : tensor<f32> max %hi : tensor<1xf32> : tensor<?x4xf32, #ge.dims<"S">> -> tensor<?x4xf32, #ge.dims<"S">>
  %r1 = ge.clip %x min %lo : tensor<f32> max %hi : tensor<1xf32> : tensor<?x4xf32, #ge.dims<"S">> -> tensor<?x4xf32, #ge.dims<"S">>
  // CHECK: ge.clip %x max %hi : tensor<1xf32> : tensor<?x4xf32, #ge.dims<"S">> -> tensor<?x4xf32, #ge.dims<"S">>
  %r2 = ge.clip %x max %hi : tensor<1xf32> : tensor<?x4xf32, #ge.dims<"S">> -> tensor<?x4xf32, #ge.dims<"S">>
  // CHECK: ge.clip %x : tensor<?x4xf32, #ge.dims<"S">> -> tensor<?x4xf32, #ge.dims<"S">>
  %r3 = ge.clip %x : tensor<?x4xf32, #ge.dims<"S">> -> tensor<?x4xf32, #ge.dims<"S">>
  // CHECK: ge.cast %x : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<?x4xbf16, #ge.dims<"S">>
  %r4 = ge.cast %x : (tensor<?x4xf32, #ge.dims<"S">>) -> tensor<?x4xbf16, #ge.dims<"S">>
  func.return
}
