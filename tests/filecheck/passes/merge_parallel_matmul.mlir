// RUN: ge-opt %s -p ge-merge-parallel-matmul,ge-dce | filecheck %s
// RUN: ge-opt %s -p ge-merge-parallel-matmul --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Two key heads for four query heads: sizes differ.
// CHECK-LABEL: func.func @projections
// CHECK-NEXT: %[[W:.*]] = ge.constant dense<{{.*}}> : tensor<2x4xf16>
// CHECK-NEXT: %[[M:.*]] = ge.matmul %x, %[[W]] : (tensor<3x2xf16>, tensor<2x4xf16>) -> tensor<3x4xf16>
// CHECK-NEXT: %[[Q:.*]], %[[K:.*]], %[[V:.*]] = ge.split %[[M]] axis 1 sizes [2, 1, 1]
// CHECK-NEXT: func.return %[[Q]], %[[K]], %[[V]]
func.func @projections(%x: tensor<3x2xf16>) -> (tensor<3x2xf16>, tensor<3x1xf16>, tensor<3x1xf16>) {
  %a = ge.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %b = ge.constant dense<[[5.0], [6.0]]> : tensor<2x1xf16>
  %c = ge.constant dense<[[7.0], [8.0]]> : tensor<2x1xf16>
  %q = ge.matmul %x, %a : (tensor<3x2xf16>, tensor<2x2xf16>) -> tensor<3x2xf16>
  %k = ge.matmul %x, %b : (tensor<3x2xf16>, tensor<2x1xf16>) -> tensor<3x1xf16>
  %v = ge.matmul %x, %c : (tensor<3x2xf16>, tensor<2x1xf16>) -> tensor<3x1xf16>
  func.return %q, %k, %v : tensor<3x2xf16>, tensor<3x1xf16>, tensor<3x1xf16>
}

// Negative: a split of two results costs more than a launch saves.
// CHECK-LABEL: func.func @pair
// CHECK: ge.matmul
// CHECK-NEXT: ge.matmul
// REMARK: MergeParallelMatmul: ge.matmul: it would not be faster on Ascend910B1 (found {{.*}} us slower, wanted faster) [COST]
func.func @pair(%x: tensor<3x2xf16>) -> (tensor<3x1xf16>, tensor<3x1xf16>) {
  %a = ge.constant dense<[[5.0], [6.0]]> : tensor<2x1xf16>
  %b = ge.constant dense<[[7.0], [8.0]]> : tensor<2x1xf16>
  %p = ge.matmul %x, %a : (tensor<3x2xf16>, tensor<2x1xf16>) -> tensor<3x1xf16>
  %q = ge.matmul %x, %b : (tensor<3x2xf16>, tensor<2x1xf16>) -> tensor<3x1xf16>
  func.return %p, %q : tensor<3x1xf16>, tensor<3x1xf16>
}

// Negative: different left operands.
// CHECK-LABEL: func.func @others
// CHECK: ge.matmul
// CHECK-NEXT: ge.matmul
func.func @others(%x: tensor<3x2xf16>, %y: tensor<3x2xf16>) -> (tensor<3x1xf16>, tensor<3x1xf16>) {
  %a = ge.constant dense<[[5.0], [6.0]]> : tensor<2x1xf16>
  %p = ge.matmul %x, %a : (tensor<3x2xf16>, tensor<2x1xf16>) -> tensor<3x1xf16>
  %q = ge.matmul %y, %a : (tensor<3x2xf16>, tensor<2x1xf16>) -> tensor<3x1xf16>
  func.return %p, %q : tensor<3x1xf16>, tensor<3x1xf16>
}
