// RUN: GE_INVALID

// CHECK: expected operands of one element type, got f32, f16
func.func @matmul_c1(%a: tensor<2x4xf32>, %b: tensor<4x3xf16>) {
  %y = ge.matmul %a, %b : (tensor<2x4xf32>, tensor<4x3xf16>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected 'lhs' [2, 4] and 'rhs' [5, 3] in K to agree, got 4 and 5
func.func @matmul_c2(%a: tensor<2x4xf32>, %b: tensor<5x3xf32>) {
  %y = ge.matmul %a, %b : (tensor<2x4xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// CHECK: expected operands of rank 1 or more, got [] and [5, 3]
func.func @matmul_c2_rank(%a: tensor<f32>, %b: tensor<5x3xf32>) {
  %y = ge.matmul %a, %b : (tensor<f32>, tensor<5x3xf32>) -> tensor<3xf32>
  func.return
}

// -----

// CHECK: expected shapes that broadcast, got [2] and [3]
func.func @matmul_c3(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>) {
  %y = ge.matmul %a, %b : (tensor<2x4x4xf32>, tensor<3x4x4xf32>) -> tensor<2x4x4xf32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f32, f16
func.func @gemm_c1(%a: tensor<2x2xf32>, %c: tensor<2xf16>) {
  %y = ge.gemm %a, %a bias %c alpha 1.0 beta 1.0 : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf16>) -> tensor<2x2xf32>
  func.return
}

// -----

// CHECK: expected 'a' and 'b' in K to agree, got 2 and 3
func.func @gemm_c2(%a: tensor<2x3xf32>) {
  %y = ge.gemm %a, %a alpha 1.0 beta 1.0 trans_a trans_b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

// CHECK: expected 'a' of rank 2, got [3]
func.func @gemm_c2_rank(%a: tensor<3xf32>) {
  %y = ge.gemm %a, %a alpha 1.0 beta 1.0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

// CHECK: expected 'c' to broadcast to [2, 2], got [3]
func.func @gemm_c3(%a: tensor<2x2xf32>, %c: tensor<3xf32>) {
  %y = ge.gemm %a, %a bias %c alpha 1.0 beta 1.0 : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<3xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// CHECK: expected operands of one element type, got f32, f16
func.func @einsum_c1(%a: tensor<2xf32>, %b: tensor<2xf16>) {
  %y = ge.einsum "i,i->"(%a, %b) : (tensor<2xf32>, tensor<2xf16>) -> tensor<f32>
  func.return
}

// -----

// CHECK: expected 2 operands, got 1
func.func @einsum_c2(%a: tensor<2x2xf32>) {
  %y = ge.einsum "ij,jk->ik"(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

// CHECK: expected 3 dimensions, got 2
func.func @einsum_c2_rank(%a: tensor<2x2xf32>) {
  %y = ge.einsum "ijk->i"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected 'k' once in the output and in an input of 'ij->k'
func.func @einsum_c2_output(%a: tensor<2x2xf32>) {
  %y = ge.einsum "ij->k"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected '...' in the output as in the inputs
func.func @einsum_c2_ellipsis(%a: tensor<2x2xf32>) {
  %y = ge.einsum "...i->i"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// CHECK: expected one size of 'j', got 2 and 3
func.func @einsum_c3(%a: tensor<2x2xf32>, %b: tensor<3xf32>) {
  %y = ge.einsum "ij,j->i"(%a, %b) : (tensor<2x2xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return
}
