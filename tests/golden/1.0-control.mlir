builtin.module attributes {ge.model = "main", ge.target = #ge.target<#dlti.target_system_spec<"NPU" = #dlti.target_device_spec<"name" = "Ascend910B1", "arch" = "AIC-C-220", "short_soc" = "Ascend910B", "split_cores" = true, "cube_cores" = 24 : i64, "vector_cores" = 48 : i64, "clock_hz" = 1850000000 : i64, "vector_bytes_per_cycle" = 256 : i64, "cube_macs" = #dlti.map<"f16" = 4096 : i64, "bf16" = 4096 : i64, "f32" = 1024 : i64, "i8" = 8192 : i64, "ui8" = 8192 : i64>, "tiers" = #dlti.map<"hbm" = #dlti.map<"size" = 68719476736 : i64, "per_core" = false, "bandwidth" = 1.600000e+12 : f64, "write_bandwidth" = 1.600000e+12 : f64, "alignment" = 512 : i64>, "l2" = #dlti.map<"size" = 201326592 : i64, "per_core" = false, "bandwidth" = 4.884000e+12 : f64, "write_bandwidth" = 3.818400e+12 : f64, "alignment" = 512 : i64>, "l1" = #dlti.map<"size" = 524288 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "ub" = #dlti.map<"size" = 196608 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "l0a" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 512 : i64>, "l0b" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 512 : i64>, "l0c" = #dlti.map<"size" = 131072 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 64 : i64>>, "limits" = #dlti.map<"streams" = 1984 : i64, "events" = 65535 : i64>, "overhead_us" = #dlti.map<"kernel_floor" = 1.200000e+00 : f64, "launch" = 3.000000e+00 : f64, "launch_eager" = 6.500000e+01 : f64, "event" = 2.000000e+00 : f64, "attention_fill" = 1.500000e+01 : f64>, "efficiency" = #dlti.map<"cube" = 7.800000e-01 : f64, "attention" = 4.500000e-01 : f64, "hbm" = 7.900000e-01 : f64, "l2" = 6.900000e-01 : f64, "overlap" = 9.500000e-01 : f64>, "vector_cycles" = #dlti.map<"elementwise" = 1.000000e+00 : f64, "softmax" = 3.400000e+01 : f64, "norm" = 3.600000e+01 : f64, "silu" = 4.000000e+01 : f64, "gelu" = 1.200000e+02 : f64>, "confidence" = #dlti.map<"cube_mkn.f32" = "assumed", "overhead_us.event" = "assumed", "overhead_us.launch" = "assumed">>>>} {
  ge_exec.kernel @Fill_0 "Fill" engine "vector" flops 0 {
    %0 = ge.constant dense<> : tensor<0x4xf32> loc(unknown)
    ge.yield %0 : tensor<0x4xf32> loc(unknown)
  } loc(unknown)
  ge_exec.kernel @Add_0 "Add" engine "vector" flops 4 {
  ^bb0(%0: tensor<4xf32> loc(unknown)):
    %t = ge.add %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc(unknown)
    ge.yield %t : tensor<4xf32> loc(unknown)
  } loc(unknown)
  ge_exec.kernel @Relu_0 "Relu" engine "vector" flops 4 {
  ^bb0(%0: tensor<4xf32> loc(unknown)):
    %r = ge.relu %0 : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)
    ge.yield %r : tensor<4xf32> loc(unknown)
  } loc(unknown)
  ge_exec.plan @main {
    %work = ge_exec.arena "work" tier <hbm> size 4096 lower_bound 4096 loc(unknown)
    %weights = ge_exec.arena "weights" tier <hbm> size 512 lower_bound 512 loc(unknown)
    %c = ge_exec.input "c" in %work offset 2048 : memref<i1, "hbm"> loc(unknown)
    %n = ge_exec.input "n" in %work offset 2560 : memref<i64, "hbm"> loc(unknown)
    %x = ge_exec.input "x" in %work offset 3072 : memref<4xf32, "hbm"> loc(unknown)
    %yes = ge_exec.weight <"constant_4a9e6f9b8d43", "", 0, 1> in %weights offset 0 : memref<i1, "hbm"> loc(unknown)
    %0 = ge_exec.buffer in %work offset 1536 : memref<i64, "hbm"> loc(unknown)
    %yes_1 = ge_exec.buffer in %work offset 512 : memref<i1, "hbm"> loc(unknown)
    %x_1 = ge_exec.buffer in %work offset 0 : memref<4xf32, "hbm"> loc(unknown)
    %s = ge_exec.object : !ge_exec.object<tensor<?x4xf32>> loc(unknown)
    %t = ge_exec.buffer in %work offset 1024 : memref<4xf32, "hbm"> loc(unknown)
    %b = ge_exec.buffer in %work offset 3584 : memref<4xf32, "hbm"> loc(unknown)
    ge_exec.stream 0 {
      ge_exec.copy 0 %yes to %yes_1 : memref<i1, "hbm"> to memref<i1, "hbm"> loc(unknown)
      ge_exec.copy 1 %x to %x_1 : memref<4xf32, "hbm"> to memref<4xf32, "hbm"> loc(unknown)
      ge_exec.wait 0 why "WAW on %s" loc(unknown)
      ge_exec.loop 3 %0 below %n while %yes_1 : memref<i64, "hbm">, memref<i64, "hbm">, memref<i1, "hbm"> {
        ge_exec.launch 4 @Add_0 ins(%x_1 : memref<4xf32, "hbm">) outs(%t : memref<4xf32, "hbm">) loc(unknown)
        ge_exec.store 5 %t to %s at %0 : memref<4xf32, "hbm"> to !ge_exec.object<tensor<?x4xf32>> at memref<i64, "hbm"> loc(unknown)
        ge_exec.copy 6 %yes to %yes_1 : memref<i1, "hbm"> to memref<i1, "hbm"> loc(unknown)
        ge_exec.copy 7 %t to %x_1 : memref<4xf32, "hbm"> to memref<4xf32, "hbm"> loc(unknown)
      } loc(unknown)
      ge_exec.branch 8 %c : memref<i1, "hbm"> then {
        ge_exec.launch 9 @Relu_0 ins(%x_1 : memref<4xf32, "hbm">) outs(%b : memref<4xf32, "hbm">) loc(unknown)
      } else {
        ge_exec.copy 10 %x to %b : memref<4xf32, "hbm"> to memref<4xf32, "hbm"> loc(unknown)
      } loc(unknown)
    } loc(unknown)
    ge_exec.stream 1 {
      ge_exec.launch 2 @Fill_0 outs(%s : !ge_exec.object<tensor<?x4xf32>>) loc(unknown)
      ge_exec.record 0 loc(unknown)
    } loc(unknown)
    ge_exec.output "y" %b : memref<4xf32, "hbm"> loc(unknown)
    ge_exec.output "s" %s : !ge_exec.object<tensor<?x4xf32>> loc(unknown)
  } loc(unknown)
} loc(unknown)
