// ge-opt reproducer
// configuration: -p ge-plan-memory
// error: GE0901: 'ge-plan-memory' (pass 31 of 33) failed: ValueError: expected buffers of less than 4611686018427387904 bytes together
// versions: ge-dialect 0.1.0, xdsl 0.75.0, python 3.11.7
// at: running.py:258, in _apply
// at: plan_memory.py:87, in apply
// at: plan_memory.py:178, in place_work
// at: plan_memory.py:219, in work_problem
// at: happens_before.py:218, in memory_problem
// at: <string>:8, in __init__
// at: problem.py:94, in __post_init__
builtin.module attributes {ge.opset = 18 : i64, ge.target = #ge.target<#dlti.target_system_spec<"NPU" = #dlti.target_device_spec<"name" = "Ascend910B1", "arch" = "AIC-C-220", "short_soc" = "Ascend910B", "split_cores" = true, "cube_cores" = 24 : i64, "vector_cores" = 48 : i64, "clock_hz" = 1850000000 : i64, "vector_bytes_per_cycle" = 256 : i64, "cube_macs" = #dlti.map<"f16" = 4096 : i64, "bf16" = 4096 : i64, "f32" = 1024 : i64, "i8" = 8192 : i64, "ui8" = 8192 : i64>, "tiers" = #dlti.map<"hbm" = #dlti.map<"size" = 68719476736 : i64, "per_core" = false, "bandwidth" = 1.600000e+12 : f64, "write_bandwidth" = 1.600000e+12 : f64, "alignment" = 512 : i64>, "l2" = #dlti.map<"size" = 201326592 : i64, "per_core" = false, "bandwidth" = 4.884000e+12 : f64, "write_bandwidth" = 3.818400e+12 : f64, "alignment" = 512 : i64>, "l1" = #dlti.map<"size" = 524288 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "ub" = #dlti.map<"size" = 196608 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "l0a" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 512 : i64>, "l0b" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 512 : i64>, "l0c" = #dlti.map<"size" = 131072 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 64 : i64>>, "limits" = #dlti.map<"streams" = 1984 : i64, "events" = 65535 : i64>, "overhead_us" = #dlti.map<"kernel_floor" = 1.200000e+00 : f64, "launch" = 3.000000e+00 : f64, "launch_eager" = 6.500000e+01 : f64, "event" = 2.000000e+00 : f64, "attention_fill" = 1.500000e+01 : f64>, "efficiency" = #dlti.map<"cube" = 7.800000e-01 : f64, "attention" = 4.500000e-01 : f64, "hbm" = 7.900000e-01 : f64, "l2" = 6.900000e-01 : f64, "overlap" = 9.500000e-01 : f64>, "vector_cycles" = #dlti.map<"elementwise" = 1.000000e+00 : f64, "softmax" = 3.400000e+01 : f64, "norm" = 3.600000e+01 : f64, "silu" = 4.000000e+01 : f64, "gelu" = 1.200000e+02 : f64>, "confidence" = #dlti.map<"cube_mkn.f32" = "assumed", "overhead_us.event" = "assumed", "overhead_us.launch" = "assumed">>>>} {
  ge_exec.kernel @GatherV2D_0 "GatherV2D" engine "dma" flops 0 {
  ^bb0(%0: tensor<0x1099511627776x1099511627776xi64>):
    %s = ge.constant dense<0> : tensor<1xi64> loc("s")
    %y = ge.gather %0, %s axis 0 : (tensor<0x1099511627776x1099511627776xi64>, tensor<1xi64>) -> tensor<1x1099511627776x1099511627776xi64> loc("y")
    ge.yield %y : tensor<1x1099511627776x1099511627776xi64>
  }
  ge_exec.plan @main {
    %x = ge_exec.input "x" : memref<0x1099511627776x1099511627776xi64, "hbm">
    %y = ge_exec.buffer : memref<1x1099511627776x1099511627776xi64, "hbm"> loc("y")
    ge_exec.stream 0 {
      ge_exec.launch 0 @GatherV2D_0 ins(%x : memref<0x1099511627776x1099511627776xi64, "hbm">) outs(%y : memref<1x1099511627776x1099511627776xi64, "hbm">) loc("y")
    }
    ge_exec.output "y" %y : memref<1x1099511627776x1099511627776xi64, "hbm">
  }
}
