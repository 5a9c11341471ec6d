// RUN: ge-opt %s -p ge-raise | filecheck %s
// RUN: ge-opt %s -p ge-raise --remarks=missed 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// (s + m) * c is s * c + m * c.
// CHECK-LABEL: func.func @sum
// CHECK: %[[M:.*]] = ge.mul %m, %{{.*}}
// CHECK-NEXT: ge.flash_attention %q, {{.*}}, %v mask %[[M]] scale 2.500000e-01
func.func @sum(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<2x4x6x6xf32>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.constant dense<0.25> : tensor<f32>
  %b = ge.add %a, %m : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.mul %b, %c : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @difference
// CHECK: %[[C:.*]] = ge.constant dense<5.000000e-01>
// CHECK-NEXT: %[[M:.*]] = ge.mul %m, %[[C]]
// CHECK-NEXT: ge.flash_attention %q, {{.*}}, %v mask %[[M]] scale -5.000000e-01
func.func @difference(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<2x4x6x6xf32>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.constant dense<-0.5> : tensor<f32>
  %b = ge.sub %a, %m : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %s = ge.mul %b, %c : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @truth
// CHECK: ge.flash_attention %q, {{.*}}, %v mask %m scale 2.000000e+00 masked_fill
// CHECK-SAME: tensor<6x6xi1>
func.func @truth(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.constant dense<2.0> : tensor<f32>
  %f = ge.constant dense<"0x000080FF"> : tensor<f32>
  %b = ge.select %m, %a, %f : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %s = ge.mul %b, %c : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A quarter of the least number is as good as minus infinity.
// CHECK-LABEL: func.func @least_number
// CHECK: ge.constant dense<-8.50705867e+37>
// CHECK: ge.flash_attention
func.func @least_number(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.constant dense<0.25> : tensor<f32>
  %f = ge.constant dense<-3.40282347e+38> : tensor<f32>
  %b = ge.select %m, %a, %f : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %s = ge.mul %b, %c : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// CHECK-LABEL: func.func @overflow
// CHECK-NOT: ge.flash_attention
// REMARK: the scores are scaled after the mask, which may overflow alone (found f16, wanted f32 or f64) [DTYPE]
func.func @overflow(%q: tensor<2x4x6x8xf16>, %k: tensor<2x4x8x6xf16>, %v: tensor<2x4x6x8xf16>,
    %m: tensor<2x4x6x6xf16>) -> tensor<2x4x6x8xf16> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf16>, tensor<2x4x8x6xf16>) -> tensor<2x4x6x6xf16>
  %c = ge.constant dense<4.0> : tensor<f16>
  %b = ge.add %a, %m : (tensor<2x4x6x6xf16>, tensor<2x4x6x6xf16>) -> tensor<2x4x6x6xf16>
  %s = ge.mul %b, %c : (tensor<2x4x6x6xf16>, tensor<f16>) -> tensor<2x4x6x6xf16>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf16>) -> tensor<2x4x6x6xf16>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf16>, tensor<2x4x6x8xf16>) -> tensor<2x4x6x8xf16>
  func.return %o : tensor<2x4x6x8xf16>
}

// CHECK-LABEL: func.func @negative
// CHECK-NOT: ge.flash_attention
// REMARK: masked scores are scaled to what is not minus infinity (found -0.5, wanted > 0) [CONST]
func.func @negative(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.constant dense<-0.5> : tensor<f32>
  %f = ge.constant dense<"0x000080FF"> : tensor<f32>
  %b = ge.select %m, %a, %f : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %s = ge.mul %b, %c : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}

// A fill that scores might come up to stays what it is.
// CHECK-LABEL: func.func @small_fill
// CHECK: ge.flash_attention %q, {{.*}}, %v mask %m scale 1.000000e-10 masked_fill fill -1.000000e+28 :
func.func @small_fill(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x6xf32>, %v: tensor<2x4x6x8xf32>,
    %m: tensor<6x6xi1>) -> tensor<2x4x6x8xf32> {
  %a = ge.matmul %q, %k : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  %c = ge.constant dense<1.0e-10> : tensor<f32>
  %f = ge.constant dense<-1.0e+38> : tensor<f32>
  %b = ge.select %m, %a, %f : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %s = ge.mul %b, %c : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = ge.softmax %s axis -1 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %o = ge.matmul %p, %v : (tensor<2x4x6x6xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  func.return %o : tensor<2x4x6x8xf32>
}
