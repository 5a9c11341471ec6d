// RUN: ge-opt %s -p ge-zero-copy --split-input-file | filecheck %s
// RUN: ge-opt %s -p ge-zero-copy --split-input-file --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=MISSED

// Pieces of an argument, and a piece of a piece.
// CHECK-LABEL: func.func @pieces
// CHECK-NEXT:    ge.split %x axis 0 sizes [1, 1] {ge.zero_copy} :
// CHECK-NEXT:    ge.slice %b starts [8] ends [-1] axes [1] steps [1] {ge.zero_copy} :
func.func @pieces(%x: tensor<2x16xf32>) -> (tensor<1x16xf32>, tensor<1x7xf32>) {
  %a, %b = ge.split %x axis 0 sizes [1, 1] : (tensor<2x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
  %c = ge.slice %b starts [8] ends [-1] axes [1] steps [1] : (tensor<1x16xf32>) -> tensor<1x7xf32>
  %d = ge.neg %a : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %e = ge.neg %c : (tensor<1x7xf32>) -> tensor<1x7xf32>
  func.return %d, %e : tensor<1x16xf32>, tensor<1x7xf32>
}

// -----

// Negative: behind a dimension of two; every second row; backwards; not at a multiple of 32 bytes.
// CHECK-LABEL: func.func @near
// CHECK-NOT:     ge.zero_copy
// MISSED-DAG: ge.split: a piece is not one stretch of bytes ({{.*}}) [SHAPE]
// MISSED-DAG: ge.slice: a piece is not one stretch of bytes ({{.*}}) [SHAPE]
// MISSED-DAG: ge.slice: a part would start where no transfer can (found byte 4, wanted a multiple of 32) [TARGET]
func.func @near(%x: tensor<2x16xf32>, %y: tensor<16xf32>) -> (tensor<2x8xf32>, tensor<8xf32>, tensor<16xf32>, tensor<8xf32>) {
  %a, %b = ge.split %x axis 1 sizes [8, 8] : (tensor<2x16xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>)
  %c = ge.slice %y starts [0] ends [16] axes [0] steps [2] : (tensor<16xf32>) -> tensor<8xf32>
  %d = ge.slice %y starts [-1] ends [-17] axes [0] steps [-1] : (tensor<16xf32>) -> tensor<16xf32>
  %e = ge.slice %y starts [1] ends [9] axes [0] steps [1] : (tensor<16xf32>) -> tensor<8xf32>
  %s = ge.sub %a, %b : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %f = ge.neg %c : (tensor<8xf32>) -> tensor<8xf32>
  %g = ge.neg %d : (tensor<16xf32>) -> tensor<16xf32>
  %h = ge.neg %e : (tensor<8xf32>) -> tensor<8xf32>
  func.return %s, %f, %g, %h : tensor<2x8xf32>, tensor<8xf32>, tensor<16xf32>, tensor<8xf32>
}

// -----

// Negative: a piece that is an output has bytes of its own.
// CHECK-LABEL: func.func @given
// CHECK-NEXT:    ge.split %x axis 0 sizes [1, 1] :
// MISSED: ge.split: a piece is an output, which has bytes of its own [USE]
func.func @given(%x: tensor<2x16xf32>) -> (tensor<1x16xf32>, tensor<4x4xf32>) {
  %a, %b = ge.split %x axis 0 sizes [1, 1] : (tensor<2x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
  %d = ge.neg %a : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %r = ge.reshape %b : (tensor<1x16xf32>) -> tensor<4x4xf32>
  func.return %d, %r : tensor<1x16xf32>, tensor<4x4xf32>
}
