// RUN: GE_INVALID

// CHECK: expected 'axes' in [-2, 2), got 2
func.func @reduce_sum_c1(%x: tensor<4x8xf32>) {
  %y = ge.reduce_sum %x axes [2] keepdims true : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expected 'axes' without repetition, got [1, 1]
func.func @reduce_sum_c1_twice(%x: tensor<4x8xf32>) {
  %y = ge.reduce_sum %x axes [1, -1] keepdims true : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return
}

// -----

// CHECK: expected 'result' of type tensor<4x1xf32>, got tensor<4xf32>
func.func @reduce_sum_result(%x: tensor<4x8xf32>) {
  %y = ge.reduce_sum %x axes [1] keepdims true : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'input' of floats, got i32
func.func @softmax_c1(%x: tensor<4x8xi32>) {
  %y = ge.softmax %x axis 1 : (tensor<4x8xi32>) -> tensor<4x8xi32>
  func.return
}

// -----

// CHECK: expected 'axis' in [-2, 2), got -3
func.func @softmax_c2(%x: tensor<4x8xf32>) {
  %y = ge.softmax %x axis -3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expected 'axis' in [-2, 2), got 2
func.func @arg_max_c1(%x: tensor<4x8xf32>) {
  %y = ge.arg_max %x axis 2 keepdims true : (tensor<4x8xf32>) -> tensor<4x1xi64>
  func.return
}

// -----

// CHECK: expected 'axis' in [0, 0), got 0
func.func @cumsum_c1(%x: tensor<f32>) {
  %y = ge.cumsum %x axis 0 : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

// CHECK: expected 'input' of rank 1 or more, got []
func.func @top_k_c1(%x: tensor<f32>) {
  %v, %i = ge.top_k %x k 1 axis 0 : (tensor<f32>) -> (tensor<f32>, tensor<i64>)
  func.return
}

// -----

// CHECK: expected 'k' between 0 and the 8 of axis 1, got 9
func.func @top_k_c2(%x: tensor<4x8xf32>) {
  %v, %i = ge.top_k %x k 9 axis 1 : (tensor<4x8xf32>) -> (tensor<4x9xf32>, tensor<4x9xi64>)
  func.return
}
