// RUN: ge-opt %s -p ge-optimize-cast,ge-dce | filecheck %s
// RUN: ge-opt %s -p ge-optimize-cast --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK
// RUN: ge-opt %s -p 'ge-optimize-cast{precision=mixed_float16 drop-round-trips=true},ge-dce' | filecheck %s --check-prefix=MIXED

// CHECK-LABEL: func.func @wide_transpose
// CHECK-NEXT: %[[T:.*]] = ge.transpose %x perm [1, 0] : (tensor<2x3xf16>) -> tensor<3x2xf16>
// CHECK-NEXT: ge.cast %[[T]] : (tensor<3x2xf16>) -> tensor<3x2xf32>
func.func @wide_transpose(%x: tensor<2x3xf16>) -> tensor<3x2xf32> {
  %c = ge.cast %x : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %y = ge.transpose %c perm [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Negative: the wide value is read as well.
// CHECK-LABEL: func.func @read_twice
// CHECK-NEXT: ge.cast
// CHECK-NEXT: ge.transpose
func.func @read_twice(%x: tensor<2x3xf16>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %c = ge.cast %x : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %y = ge.transpose %c perm [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %y, %c : tensor<3x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @round_trip
// CHECK-NEXT: ge.cast
// CHECK-NEXT: ge.cast
// REMARK: DropRoundTrip: ge.cast: f32 is rounded to f16 in between (found drop-round-trips=false, wanted drop-round-trips=true) [DISABLED]
// MIXED-LABEL: func.func @round_trip
// MIXED-NEXT: func.return %x
func.func @round_trip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = ge.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %y = ge.cast %c : (tensor<4xf16>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @precision
// CHECK-NEXT: ge.matmul %x, %w
// MIXED-LABEL: func.func @precision
// MIXED-NEXT: ge.cast %x
// MIXED-NEXT: ge.cast %w
// MIXED-NEXT: ge.matmul {{.*}} -> tensor<3x4xf16>
// MIXED-NEXT: ge.relu {{.*}} -> tensor<3x4xf16>
// MIXED-NEXT: ge.cast {{.*}} -> tensor<3x4xf32>
// MIXED-NEXT: ge.softmax {{.*}} -> tensor<3x4xf32>
func.func @precision(%x: tensor<3x2xf32>, %w: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %c = ge.matmul %x, %w : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %r = ge.relu %c : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = ge.softmax %r axis -1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
