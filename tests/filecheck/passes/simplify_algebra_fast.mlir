// RUN: ge-opt %s -p ge-simplify-algebra | filecheck %s --check-prefix=EXACT
// RUN: ge-opt %s -p ge-simplify-algebra --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=MISSED
// RUN: ge-opt %s -p ge-simplify-algebra{fast-math=all} | filecheck %s --check-prefix=FAST
// RUN: ge-opt %s -p ge-simplify-algebra{fast-math=all} --remarks=passed 2>&1 >/dev/null | filecheck %s --check-prefix=PASSED

// log(exp(89)) is infinite.
// EXACT-LABEL: func.func @log_of_exp
// EXACT: ge.log
// FAST-LABEL: func.func @log_of_exp
// FAST-NEXT: func.return %x
// MISSED: CancelExponential: ge.log: results could differ (found fast-math=none, wanted fast-math=reassociate,no-infs) [DISABLED]; fix: allow it with
// PASSED: CancelExponential: ge.log: now a value that was there, allowed by fast-math=reassociate,no-infs
func.func @log_of_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = ge.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = ge.log %e : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// (x * 0) / 0 is NaN.
// EXACT-LABEL: func.func @product_over_factor
// EXACT: ge.div
// FAST-LABEL: func.func @product_over_factor
// FAST-NEXT: func.return %x
// MISSED: CancelFactor: ge.div: {{.*}}wanted fast-math=reassociate,no-nans,no-infs
// PASSED: CancelFactor: ge.div
func.func @product_over_factor(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %p = ge.mul %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = ge.div %p, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %q : tensor<4xf32>
}

// A sum of rounded quotients is not 1.
// EXACT-LABEL: func.func @sum_of_softmax
// EXACT: ge.reduce_sum
// FAST-LABEL: func.func @sum_of_softmax
// FAST-NEXT: ge.constant dense<1.000000e+00> : tensor<2x1xf32>
// MISSED: SumOfSoftmax: ge.reduce_sum: {{.*}}wanted fast-math=reassociate,no-nans
// PASSED: SumOfSoftmax: ge.reduce_sum
func.func @sum_of_softmax(%x: tensor<2x56xf32>) -> tensor<2x1xf32> {
  %p = ge.softmax %x axis -1 : (tensor<2x56xf32>) -> tensor<2x56xf32>
  %s = ge.reduce_sum %p axes [1] keepdims true : (tensor<2x56xf32>) -> tensor<2x1xf32>
  func.return %s : tensor<2x1xf32>
}

// -0.0 + 0.0 is 0.0.
// EXACT-LABEL: func.func @added_zero
// EXACT: ge.add
// FAST-LABEL: func.func @added_zero
// FAST: func.return %x
// MISSED: DropAddedZero: ge.add: {{.*}}wanted fast-math=no-signed-zeros
// PASSED: DropAddedZero: ge.add
func.func @added_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = ge.constant dense<0.0> : tensor<f32>
  %y = ge.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
