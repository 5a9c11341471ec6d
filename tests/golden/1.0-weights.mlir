builtin.module attributes {ge.model = "main", ge.target = #ge.target<#dlti.target_system_spec<"NPU" = #dlti.target_device_spec<"name" = "Ascend910B1", "arch" = "AIC-C-220", "short_soc" = "Ascend910B", "split_cores" = true, "cube_cores" = 24 : i64, "vector_cores" = 48 : i64, "clock_hz" = 1850000000 : i64, "vector_bytes_per_cycle" = 256 : i64, "cube_macs" = #dlti.map<"f16" = 4096 : i64, "bf16" = 4096 : i64, "f32" = 1024 : i64, "i8" = 8192 : i64, "ui8" = 8192 : i64>, "tiers" = #dlti.map<"hbm" = #dlti.map<"size" = 68719476736 : i64, "per_core" = false, "bandwidth" = 1.600000e+12 : f64, "write_bandwidth" = 1.600000e+12 : f64, "alignment" = 512 : i64>, "l2" = #dlti.map<"size" = 201326592 : i64, "per_core" = false, "bandwidth" = 4.884000e+12 : f64, "write_bandwidth" = 3.818400e+12 : f64, "alignment" = 512 : i64>, "l1" = #dlti.map<"size" = 524288 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "ub" = #dlti.map<"size" = 196608 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "l0a" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 512 : i64>, "l0b" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 512 : i64>, "l0c" = #dlti.map<"size" = 131072 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 64 : i64>>, "limits" = #dlti.map<"streams" = 1984 : i64, "events" = 65535 : i64>, "overhead_us" = #dlti.map<"kernel_floor" = 1.200000e+00 : f64, "launch" = 3.000000e+00 : f64, "launch_eager" = 6.500000e+01 : f64, "event" = 2.000000e+00 : f64, "attention_fill" = 1.500000e+01 : f64>, "efficiency" = #dlti.map<"cube" = 7.800000e-01 : f64, "attention" = 4.500000e-01 : f64, "hbm" = 7.900000e-01 : f64, "l2" = 6.900000e-01 : f64, "overlap" = 9.500000e-01 : f64>, "vector_cycles" = #dlti.map<"elementwise" = 1.000000e+00 : f64, "softmax" = 3.400000e+01 : f64, "norm" = 3.600000e+01 : f64, "silu" = 4.000000e+01 : f64, "gelu" = 1.200000e+02 : f64>, "confidence" = #dlti.map<"cube_mkn.f32" = "assumed", "overhead_us.event" = "assumed", "overhead_us.launch" = "assumed">>>>} {
  ge_exec.kernel @Add_0 "Add" engine "vector" flops 600 {
  ^bb0(%0: tensor<2x300xf32> loc(unknown), %1: tensor<300xf32> loc(unknown)):
    %a = ge.add %0, %1 : (tensor<2x300xf32>, tensor<300xf32>) -> tensor<2x300xf32> loc("layer/add")
    ge.yield %a : tensor<2x300xf32> loc(unknown)
  } loc(unknown)
  ge_exec.kernel @SoftmaxV2_0 "SoftmaxV2" engine "vector" flops 7200 tiles <[], ["in0" ub[0, 2432] (-, -), "softmax0" ub[2432, 2432] (-, -)]> {
  ^bb0(%0: tensor<2x300xf32> loc(unknown)):
    %s = ge.softmax %0 axis -1 : (tensor<2x300xf32>) -> tensor<2x300xf32> loc("layer/softmax")
    ge.yield %s : tensor<2x300xf32> loc(unknown)
  } loc(unknown)
  ge_exec.kernel @Cast_0 "Cast" engine "vector" flops 600 {
  ^bb0(%0: tensor<2x300xf32> loc(unknown)):
    %h = ge.cast %0 : (tensor<2x300xf32>) -> tensor<2x300xf16> loc(unknown)
    ge.yield %h : tensor<2x300xf16> loc(unknown)
  } loc(unknown)
  ge_exec.plan @main {
    %work = ge_exec.arena "work" tier <hbm> size 9216 lower_bound 9216 loc(unknown)
    %weights = ge_exec.arena "weights" tier <hbm> size 1536 lower_bound 1536 loc(unknown)
    %x = ge_exec.input "x" in %work offset 2560 : memref<2x300xf32, "hbm"> loc(unknown)
    %w = ge_exec.weight <"layer/weight", "", 0, 1200> in %weights offset 0 : memref<300xf32, "hbm"> loc("layer/weight")
    %a = ge_exec.buffer in %work offset 5120 : memref<2x300xf32, "hbm"> loc("layer/add")
    %s = ge_exec.buffer in %work offset 0 : memref<2x300xf32, "hbm"> loc("layer/softmax")
    %h = ge_exec.buffer in %work offset 7680 : memref<2x300xf16, "hbm"> loc(unknown)
    ge_exec.stream 0 {
      ge_exec.launch 0 @Add_0 ins(%x, %w : memref<2x300xf32, "hbm">, memref<300xf32, "hbm">) outs(%a : memref<2x300xf32, "hbm">) loc("layer/add")
    } loc(unknown)
    ge_exec.stream 1 {
      ge_exec.launch 1 @SoftmaxV2_0 ins(%x : memref<2x300xf32, "hbm">) outs(%s : memref<2x300xf32, "hbm">) loc("layer/softmax")
      ge_exec.launch 2 @Cast_0 ins(%s : memref<2x300xf32, "hbm">) outs(%h : memref<2x300xf16, "hbm">) loc(unknown)
    } loc(unknown)
    ge_exec.output "y" %a : memref<2x300xf32, "hbm"> loc(unknown)
    ge_exec.output "z" %h : memref<2x300xf16, "hbm"> loc(unknown)
  } loc(unknown)
} loc(unknown)
