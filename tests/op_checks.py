"""What every op is checked for: types against values, and types of symbolic and unknown shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from xdsl.ir import Attribute, SSAValue
from xdsl.utils.test_value import create_ssa_value

from ge_dialect.ge.base import GEOp
from ge_dialect.ge.dtypes import from_numpy
from ge_dialect.ge.types import MaybeDim, Shape, tensor_of, tensor_type, value_shape
from ge_dialect.interpreters.registry import evaluate
from ge_dialect.symbols import substitute, symbol
from tests.kernel_reference import Array

Build: TypeAlias = Callable[..., GEOp]


def value(array: Array, shape: Shape | None = None) -> SSAValue:
    """Returns a value of the type of `array`, or of its element type and another shape."""
    return create_ssa_value(tensor_type(from_numpy(array.dtype), shape or array.shape))


def run(build: Build, *arrays: Array | None, **options: Any) -> tuple[Array, ...]:
    """Returns the results of an op, after checking that it inferred their types.

    `build` takes one value an array, None for None, and the options.
    """
    build = partial(build, **options)
    op = build(*[None if array is None else value(array) for array in arrays])
    op.verify()
    results = evaluate(op, [array for array in arrays if array is not None])
    inferred = [result.type for result in op.results]
    found = [tensor_type(from_numpy(result.dtype), result.shape) for result in results]
    assert inferred == found
    _check_symbolic(build, arrays, found)
    return results


def _name(size: int) -> MaybeDim:
    # A dimension of 1 broadcasts, so that it has to stay a number.
    return size if size <= 1 else symbol(f"n{size}")


def _check_symbolic(
    build: Build, arrays: tuple[Array | None, ...], found: Sequence[Attribute]
) -> None:
    """Checks inference where sizes are symbols, one a size, and where nothing is known."""
    named = [a if a is None else value(a, tuple(map(_name, a.shape))) for a in arrays]
    sizes = {f"n{size}": size for a in arrays if a is not None for size in a.shape}
    for result, static in zip(build(*named).results, found, strict=True):
        wanted = value_shape(create_ssa_value(static))
        shape = value_shape(result)
        assert tensor_of(result).element_type == tensor_of(create_ssa_value(static)).element_type
        assert len(shape) == len(wanted)
        for dim, size in zip(shape, wanted, strict=True):
            assert dim is None or substitute(dim, sizes) == size
    unknown = [a if a is None else value(a, (None,) * a.ndim) for a in arrays]
    for result, static in zip(build(*unknown).results, found, strict=True):
        assert len(value_shape(result)) == len(value_shape(create_ssa_value(static)))
