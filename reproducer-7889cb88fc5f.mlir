// ge-opt reproducer
// configuration: -p ge-canonicalize
// error: GE0901: 'ge-canonicalize' (pass 9 of 33) failed: ValueError: array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.
// versions: ge-dialect 0.1.0, xdsl 0.75.0, python 3.11.7
// at: elementwise.py:65, in match_and_rewrite
// at: elementwise.py:48, in is_neutral
// at: operands.py:60, in is_uniform
// at: operands.py:29, in uniform_value
// at: operands.py:47, in _uniform_value
// at: constants.py:191, in constant_array
// at: constants.py:220, in array_of
// at: constants.py:236, in _dense_array
builtin.module attributes {ge.opset = 18 : i64, ge.target = #ge.target<#dlti.target_system_spec<"NPU" = #dlti.target_device_spec<"name" = "Ascend910B1", "arch" = "AIC-C-220", "short_soc" = "Ascend910B", "split_cores" = true, "cube_cores" = 24 : i64, "vector_cores" = 48 : i64, "clock_hz" = 1850000000 : i64, "vector_bytes_per_cycle" = 256 : i64, "cube_macs" = #dlti.map<"f16" = 4096 : i64, "bf16" = 4096 : i64, "f32" = 1024 : i64, "i8" = 8192 : i64, "ui8" = 8192 : i64>, "tiers" = #dlti.map<"hbm" = #dlti.map<"size" = 68719476736 : i64, "per_core" = false, "bandwidth" = 1.600000e+12 : f64, "write_bandwidth" = 1.600000e+12 : f64, "alignment" = 512 : i64>, "l2" = #dlti.map<"size" = 201326592 : i64, "per_core" = false, "bandwidth" = 4.884000e+12 : f64, "write_bandwidth" = 3.818400e+12 : f64, "alignment" = 512 : i64>, "l1" = #dlti.map<"size" = 524288 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "ub" = #dlti.map<"size" = 196608 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 32 : i64>, "l0a" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 2.273280e+13 : f64, "write_bandwidth" = 2.273280e+13 : f64, "alignment" = 512 : i64>, "l0b" = #dlti.map<"size" = 65536 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 512 : i64>, "l0c" = #dlti.map<"size" = 131072 : i64, "per_core" = true, "bandwidth" = 1.136640e+13 : f64, "write_bandwidth" = 1.136640e+13 : f64, "alignment" = 64 : i64>>, "limits" = #dlti.map<"streams" = 1984 : i64, "events" = 65535 : i64>, "overhead_us" = #dlti.map<"kernel_floor" = 1.200000e+00 : f64, "launch" = 3.000000e+00 : f64, "launch_eager" = 6.500000e+01 : f64, "event" = 2.000000e+00 : f64, "attention_fill" = 1.500000e+01 : f64>, "efficiency" = #dlti.map<"cube" = 7.800000e-01 : f64, "attention" = 4.500000e-01 : f64, "hbm" = 7.900000e-01 : f64, "l2" = 6.900000e-01 : f64, "overlap" = 9.500000e-01 : f64>, "vector_cycles" = #dlti.map<"elementwise" = 1.000000e+00 : f64, "softmax" = 3.400000e+01 : f64, "norm" = 3.600000e+01 : f64, "silu" = 4.000000e+01 : f64, "gelu" = 1.200000e+02 : f64>, "confidence" = #dlti.map<"cube_mkn.f32" = "assumed", "overhead_us.event" = "assumed", "overhead_us.launch" = "assumed">>>>} {
  func.func @main(%x: tensor<0x1099511627776x1099511627776xf32> {ge.name = "x"}) -> (tensor<0x1099511627776x1099511627776xf32> {ge.name = "y"}) {
    %w = ge.constant dense<> : tensor<0x1099511627776x1099511627776xf32> loc("w")
    %y = ge.add %x, %w : (tensor<0x1099511627776x1099511627776xf32>, tensor<0x1099511627776x1099511627776xf32>) -> tensor<0x1099511627776x1099511627776xf32> loc("y")
    func.return %y : tensor<0x1099511627776x1099511627776xf32>
  }
}
