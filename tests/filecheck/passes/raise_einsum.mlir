// RUN: ge-opt %s -p ge-raise | filecheck %s

// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %[[R:.*]] = ge.matmul %a, %b
// CHECK-NEXT: func.return %[[R]]
func.func @plain(%a: tensor<2x3x4x5xf32>, %b: tensor<2x3x5x6xf32>) -> tensor<2x3x4x6xf32> {
  %r = ge.einsum "bsij,bsjk->bsik"(%a, %b) : (tensor<2x3x4x5xf32>, tensor<2x3x5x6xf32>) -> tensor<2x3x4x6xf32>
  func.return %r : tensor<2x3x4x6xf32>
}

// Letters of the rows are leading dimensions, those of the columns one.
// CHECK-LABEL: func.func @weights
// CHECK: %[[B:.*]] = ge.reshape %b : (tensor<5x2x4xf32>) -> tensor<5x8xf32>
// CHECK-NEXT: %[[M:.*]] = ge.matmul %a, %[[B]]
// CHECK-NEXT: ge.reshape %[[M]] : (tensor<6x3x8xf32>) -> tensor<6x3x2x4xf32>
func.func @weights(%a: tensor<6x3x5xf32>, %b: tensor<5x2x4xf32>) -> tensor<6x3x2x4xf32> {
  %r = ge.einsum "ibh,hnd->ibnd"(%a, %b) : (tensor<6x3x5xf32>, tensor<5x2x4xf32>) -> tensor<6x3x2x4xf32>
  func.return %r : tensor<6x3x2x4xf32>
}

// CHECK-LABEL: func.func @scores
// CHECK-NEXT: %[[A:.*]] = ge.transpose %a perm [1, 2, 0, 3]
// CHECK-NEXT: %[[B:.*]] = ge.transpose %b perm [1, 2, 3, 0]
// CHECK-NEXT: %[[R:.*]] = ge.matmul %[[A]], %[[B]]
// CHECK-NEXT: func.return %[[R]]
func.func @scores(%a: tensor<6x2x3x4xf32>, %b: tensor<5x2x3x4xf32>) -> tensor<2x3x6x5xf32> {
  %r = ge.einsum "ibnd,jbnd->bnij"(%a, %b) : (tensor<6x2x3x4xf32>, tensor<5x2x3x4xf32>) -> tensor<2x3x6x5xf32>
  func.return %r : tensor<2x3x6x5xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK: %[[M:.*]] = ge.matmul %a, {{.*}} -> tensor<2x3x6x4xf32>
// CHECK-NEXT: ge.transpose %[[M]] perm [2, 0, 1, 3]
func.func @transposed(%a: tensor<2x3x6x5xf32>, %b: tensor<5x2x3x4xf32>) -> tensor<6x2x3x4xf32> {
  %r = ge.einsum "bnij,jbnd->ibnd"(%a, %b) : (tensor<2x3x6x5xf32>, tensor<5x2x3x4xf32>) -> tensor<6x2x3x4xf32>
  func.return %r : tensor<6x2x3x4xf32>
}

// A letter that only one operand has broadcasts the other one.
// CHECK-LABEL: func.func @broadcast
// CHECK: ge.matmul %{{.*}}, %{{.*}} : (tensor<2x3x6x4xf32>, tensor<3x4x5xf32>) -> tensor<2x3x6x5xf32>
// CHECK-NEXT: func.return
func.func @broadcast(%a: tensor<2x6x3x4xf32>, %b: tensor<5x3x4xf32>) -> tensor<2x3x6x5xf32> {
  %r = ge.einsum "binh,tnh->bnit"(%a, %b) : (tensor<2x6x3x4xf32>, tensor<5x3x4xf32>) -> tensor<2x3x6x5xf32>
  func.return %r : tensor<2x3x6x5xf32>
}

// CHECK-LABEL: func.func @swapped
// CHECK: ge.matmul %b, %{{.*}} : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
func.func @swapped(%a: tensor<6x4xf32>, %b: tensor<5x4xf32>) -> tensor<5x6xf32> {
  %r = ge.einsum "id,jd->ji"(%a, %b) : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<5x6xf32>
  func.return %r : tensor<5x6xf32>
}

// CHECK-LABEL: func.func @symbolic
// CHECK: ge.matmul %{{.*}}, %{{.*}} : (tensor<2x?x?x4xf32, #ge.dims<"h", "s">>,
// CHECK-NEXT: func.return
func.func @symbolic(%a: tensor<?x2x?x4xf32, #ge.dims<"s", "h">>,
    %b: tensor<?x2x?x4xf32, #ge.dims<"t", "h">>) -> tensor<2x?x?x?xf32, #ge.dims<"h", "s", "t">> {
  %r = ge.einsum "ibnd,jbnd->bnij"(%a, %b)
    : (tensor<?x2x?x4xf32, #ge.dims<"s", "h">>, tensor<?x2x?x4xf32, #ge.dims<"t", "h">>)
    -> tensor<2x?x?x?xf32, #ge.dims<"h", "s", "t">>
  func.return %r : tensor<2x?x?x?xf32, #ge.dims<"h", "s", "t">>
}

// CHECK-LABEL: func.func @no_columns
// CHECK-NEXT: ge.einsum
func.func @no_columns(%a: tensor<2x3x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x3xf32> {
  %r = ge.einsum "bij,bj->bi"(%a, %b) : (tensor<2x3x4xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @nothing_is_summed
// CHECK-NEXT: ge.einsum
func.func @nothing_is_summed(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> tensor<2x3x4xf32> {
  %r = ge.einsum "bi,bj->bij"(%a, %b) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3x4xf32>
  func.return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @summed_alone
// CHECK-NEXT: ge.einsum
func.func @summed_alone(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %r = ge.einsum "bij,jk->bk"(%a, %b) : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  func.return %r : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @diagonal
// CHECK-NEXT: ge.einsum
func.func @diagonal(%a: tensor<3x3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %r = ge.einsum "iij,jk->ik"(%a, %b) : (tensor<3x3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  func.return %r : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @size_of_one
// CHECK-NEXT: ge.einsum
func.func @size_of_one(%a: tensor<1x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %r = ge.einsum "bij,bjk->bik"(%a, %b) : (tensor<1x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// Rows and result would be transposed.
// CHECK-LABEL: func.func @there_and_back
// CHECK-NEXT: ge.einsum
func.func @there_and_back(%a: tensor<2x3x4x5xf32>, %b: tensor<4x6x5xf32>) -> tensor<2x3x4x6xf32> {
  %r = ge.einsum "bhwc,wkc->bhwk"(%a, %b) : (tensor<2x3x4x5xf32>, tensor<4x6x5xf32>) -> tensor<2x3x4x6xf32>
  func.return %r : tensor<2x3x4x6xf32>
}
