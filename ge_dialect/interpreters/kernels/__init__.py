"""Numpy kernels: the numerics of `ge` ops as plain functions, with no IR in them.

Arrays are positional, attributes are keywords; semantics are those of the ONNX operator of the same
meaning. What holds for all of them:

- Results have the operand's element type; numpy never promotes.
- f16, bf16 and narrower floats compute in f32 and round once at the end; f64 stays f64.
- Integers wrap.
- No numpy warning escapes.
- A result may be a view of an operand: treat arrays as immutable.

Names that Python has taken end in an underscore (`abs_`, `slice_`).
"""
