// RUN: GE_INVALID

// CHECK: expected 'sizes' or 'scales', one of 2 numbers
func.func @resize_c1(%x: tensor<2x2xf32>) {
  %y = ge.resize %x mode "nearest" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.5e-01 : (tensor<2x2xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: expected 'sizes' or 'scales', one of 2 numbers
func.func @resize_c1_rank(%x: tensor<2x2xf32>) {
  %y = ge.resize %x sizes [4] mode "nearest" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.5e-01 : (tensor<2x2xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: expected 'sizes' > 0, got [4, 0]
func.func @resize_c2(%x: tensor<2x2xf32>) {
  %y = ge.resize %x sizes [4, 0] mode "nearest" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.5e-01 : (tensor<2x2xf32>) -> tensor<4x0xf32>
  func.return
}

// -----

// CHECK: expected finite 'scales' > 0, got [0.0, 1.0]
func.func @resize_c2_scales(%x: tensor<2x2xf32>) {
  %y = ge.resize %x scales [0.0, 1.0] mode "nearest" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.5e-01 : (tensor<2x2xf32>) -> tensor<0x2xf32>
  func.return
}

// -----

// CHECK: expected 'mode' to be one of nearest, linear, cubic, got area
func.func @resize_c3(%x: tensor<2xf32>) {
  %y = ge.resize %x sizes [4] mode "area" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.5e-01 : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'coordinate_transformation_mode' to be one of half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize, tf_half_pixel_for_nn, got centre
func.func @resize_c3_coordinates(%x: tensor<2xf32>) {
  %y = ge.resize %x sizes [4] mode "linear" coordinates "centre" nearest "floor" cubic_coeff_a -7.5e-01 : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'nearest_mode' to be one of round_prefer_floor, round_prefer_ceil, floor, ceil, got round
func.func @resize_c3_nearest(%x: tensor<2xf32>) {
  %y = ge.resize %x sizes [4] mode "linear" coordinates "asymmetric" nearest "round" cubic_coeff_a -7.5e-01 : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected 'roi' of 2 finite numbers with tf_crop_and_resize, got [0.0, 1.0]
func.func @resize_c4(%x: tensor<2xf32>) {
  %y = ge.resize %x sizes [4] mode "linear" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.5e-01 roi [0.0, 1.0] : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: expected finite 'scales' > 0, got [inf]
func.func @resize_c2_infinite(%x: tensor<2xf32>) {
  %y = ge.resize %x scales [1.0e+999] mode "nearest" coordinates "asymmetric" nearest "floor" cubic_coeff_a -7.5e-01 : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}
