"""Transposes move only where that saves bytes, and values stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.ge.activations import ReluOp
from ge_dialect.ge.binary import AddOp, MulOp
from ge_dialect.ge.constants import array_constant
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.normalization import LayerNormOp
from ge_dialect.ge.pieces import ConcatOp, SliceOp, SplitOp
from ge_dialect.ge.reductions import ReduceMeanOp, ReduceSumOp, SoftmaxOp
from ge_dialect.ge.types import byte_size, value_shape
from ge_dialect.interpreters.functions import run_function
from ge_dialect.passes.layout.agnostic import inverse, moves_data
from ge_dialect.passes.layout.optimize_layout import NAME, OptimizeLayoutPass
from ge_dialect.passes.pipelines import OptimizePipeline
from ge_dialect.passes import statistics
from tests.exporter_matrix import ZOO
from tests.kernel_reference import F32
from tests.test_passes_raise import module_of

SHAPE = (2, 3, 4, 5)
Step = Callable[[SSAValue, SSAValue], SSAValue]


def moved(module: ModuleOp) -> tuple[int, int]:
    """Bytes and number of the transposes of a module that move data."""
    sizes = [
        2 * (byte_size(op.result.type) or 0)
        for op in module.walk()
        if isinstance(op, TransposeOp)
        and moves_data(value_shape(op.result), op.permutation)
    ]
    return sum(sizes), len(sizes)


def added(value: SSAValue, other: SSAValue) -> SSAValue:
    """The sum with a constant that fits the last dimension."""
    bias = array_constant(np.arange(value_shape(value)[-1], dtype=F32))  # pyright: ignore
    return AddOp(value, bias).result


STEPS: dict[str, Step] = {
    "relu": lambda x, y: ReluOp(x).result,
    "sum": lambda x, y: AddOp(x, y).result,
    "bias": added,
    "softmax": lambda x, y: SoftmaxOp(x, 1).result,
    "norm": lambda x, y: LayerNormOp(x).result,
    "mean": lambda x, y: MulOp(x, ReduceMeanOp(x, [0, 2]).result).result,
    "concat": lambda x, y: SliceOp(ConcatOp([x, y], 2).result, [1], [3], [2]).result,
    "split": lambda x, y: SplitOp(x, 0, [1, 1]).results[1],
    "gone": lambda x, y: ReduceSumOp(x, [1, 3], keepdims=False).result,
}
