// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @identity
// CHECK-NEXT: func.return %x
func.func @identity(%x: tensor<4xf16>) -> tensor<4xf16> {
  %y = ge.cast %x : (tensor<4xf16>) -> tensor<4xf16>
  func.return %y : tensor<4xf16>
}

// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT: func.return %x
func.func @there_and_back(%x: tensor<4xf16>) -> tensor<4xf16> {
  %y = ge.cast %x : (tensor<4xf16>) -> tensor<4xf32>
  %z = ge.cast %y : (tensor<4xf32>) -> tensor<4xf16>
  func.return %z : tensor<4xf16>
}

// CHECK-LABEL: func.func @widened_twice
// CHECK-NEXT: ge.cast %x : (tensor<4xi8>) -> tensor<4xi64>
// CHECK-NEXT: func.return
func.func @widened_twice(%x: tensor<4xi8>) -> tensor<4xi64> {
  %y = ge.cast %x : (tensor<4xi8>) -> tensor<4xi32>
  %z = ge.cast %y : (tensor<4xi32>) -> tensor<4xi64>
  func.return %z : tensor<4xi64>
}

// f32 -> f16 rounds, so that it stays.
// CHECK-LABEL: func.func @rounding
// CHECK-NEXT: ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: ge.cast
func.func @rounding(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %z = ge.cast %y : (tensor<4xf16>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// bf16 has the range but not the digits, f16 the digits but not the range.
// CHECK-LABEL: func.func @formats
// CHECK-COUNT-2: ge.cast
func.func @formats(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = ge.cast %x : (tensor<4xbf16>) -> tensor<4xf16>
  %z = ge.cast %y : (tensor<4xf16>) -> tensor<4xbf16>
  func.return %z : tensor<4xbf16>
}

// An i32 is not always an f32.
// CHECK-LABEL: func.func @digits
// CHECK-COUNT-2: ge.cast
func.func @digits(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = ge.cast %x : (tensor<4xi32>) -> tensor<4xf32>
  %z = ge.cast %y : (tensor<4xf32>) -> tensor<4xi32>
  func.return %z : tensor<4xi32>
}

// -1 as a float becomes 0, as an integer 255.
// CHECK-LABEL: func.func @saturating
// CHECK-COUNT-2: ge.cast
func.func @saturating(%x: tensor<4xi8>) -> tensor<4xui8> {
  %y = ge.cast %x : (tensor<4xi8>) -> tensor<4xf32>
  %z = ge.cast %y : (tensor<4xf32>) -> tensor<4xui8>
  func.return %z : tensor<4xui8>
}
