// RUN: ge-opt %s -p ge-canonicalize | filecheck %s

// CHECK-LABEL: func.func @one_index
// CHECK-NEXT: ge.slice %x starts [1] ends [2] axes [0] steps [1]
// CHECK-NEXT: ge.reshape %{{.*}} -> tensor<4xf32>
func.func @one_index(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %i = ge.constant dense<1> : tensor<i64>
  %y = ge.gather %x, %i axis 0 : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @from_back
// CHECK-NEXT: ge.slice %x starts [2] ends [4] axes [1] steps [1]
// CHECK-NEXT: func.return
func.func @from_back(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %i = ge.constant dense<[-2, -1]> : tensor<2xi64>
  %y = ge.gather %x, %i axis 1 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @everything
// CHECK-NEXT: ge.reshape %x : (tensor<6xi1>) -> tensor<2x3xi1>
// CHECK-NEXT: func.return
func.func @everything(%x: tensor<6xi1>) -> tensor<2x3xi1> {
  %i = ge.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>
  %y = ge.gather %x, %i axis 0 : (tensor<6xi1>, tensor<2x3xi64>) -> tensor<2x3xi1>
  func.return %y : tensor<2x3xi1>
}

// No neighbours in order; an end of one side and the start of the other; out of bounds.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: ge.gather
func.func @others(%x: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %i = ge.constant dense<[1, 0]> : tensor<2xi64>
  %j = ge.constant dense<[-1, 0]> : tensor<2xi64>
  %k = ge.constant dense<[2, 3]> : tensor<2xi64>
  %a = ge.gather %x, %i axis 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %b = ge.gather %x, %j axis 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %c = ge.gather %x, %k axis 0 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  func.return %a, %b, %c : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func.func @all_places
// CHECK-NEXT: ge.reshape %x : (tensor<2x2xi1>) -> tensor<2x1x2xi1>
// CHECK-NEXT: func.return
func.func @all_places(%x: tensor<2x2xi1>) -> tensor<2x1x2xi1> {
  %i = ge.constant dense<[[[[0, 0], [0, 1]]], [[[1, 0], [1, 1]]]]> : tensor<2x1x2x2xi64>
  %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<2x2xi1>, tensor<2x1x2x2xi64>) -> tensor<2x1x2xi1>
  func.return %y : tensor<2x1x2xi1>
}

// CHECK-LABEL: func.func @other_places
// CHECK: ge.gather_nd
func.func @other_places(%x: tensor<2x2xi1>) -> tensor<2x1x2xi1> {
  %i = ge.constant dense<[[[[0, 0], [0, 1]]], [[[1, 1], [1, 0]]]]> : tensor<2x1x2x2xi64>
  %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<2x2xi1>, tensor<2x1x2x2xi64>) -> tensor<2x1x2xi1>
  func.return %y : tensor<2x1x2xi1>
}

// CHECK-LABEL: func.func @first_dimension
// CHECK-NEXT: %[[I:.*]] = ge.reshape %i : (tensor<5x1xi64>) -> tensor<5xi64>
// CHECK-NEXT: ge.gather %x, %[[I]] axis 0
func.func @first_dimension(%x: tensor<3x4xf32>, %i: tensor<5x1xi64>) -> tensor<5x4xf32> {
  %y = ge.gather_nd %x, %i batch_dims 0 : (tensor<3x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  func.return %y : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @rows_by_batch
// CHECK: ge.gather_nd %x, %i batch_dims 1 : (tensor<2x8x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return
func.func @rows_by_batch(%x: tensor<2x8x4xf32>, %i: tensor<2x1xi64>) -> tensor<2x4xf32> {
  %n = ge.constant dense<[[0], [1]]> : tensor<2x1xi64>
  %c = ge.concat %n, %i axis 1 : (tensor<2x1xi64>, tensor<2x1xi64>) -> tensor<2x2xi64>
  %y = ge.gather_nd %x, %c batch_dims 0 : (tensor<2x8x4xf32>, tensor<2x2xi64>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @rows_of_all
// CHECK: %[[I:.*]] = ge.reshape %{{.*}} : (tensor<2xi64>) -> tensor<2x1xi64>
// CHECK-NEXT: ge.gather_nd %x, %[[I]] batch_dims 1
func.func @rows_of_all(%x: tensor<2x8x4xf32>, %ids: tensor<2x8xi64>) -> tensor<2x4xf32> {
  %n = ge.constant dense<[0, 8]> : tensor<2xi64>
  %i = ge.arg_max %ids axis 1 keepdims false : (tensor<2x8xi64>) -> tensor<2xi64>
  %a = ge.add %i, %n : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %f = ge.reshape %x : (tensor<2x8x4xf32>) -> tensor<16x4xf32>
  %y = ge.gather %f, %a axis 0 : (tensor<16x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// An index of another row, or from the back, would be of the row before.
// CHECK-LABEL: func.func @rows_unknown
// CHECK: ge.gather %{{.*}}, %{{.*}} axis 0
func.func @rows_unknown(%x: tensor<2x8x4xf32>, %i: tensor<2xi64>) -> tensor<2x4xf32> {
  %n = ge.constant dense<[0, 8]> : tensor<2xi64>
  %a = ge.add %i, %n : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %f = ge.reshape %x : (tensor<2x8x4xf32>) -> tensor<16x4xf32>
  %y = ge.gather %f, %a axis 0 : (tensor<16x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}
