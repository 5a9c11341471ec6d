"""Arithmetic on dimensions of which some are expressions and some are not known at all."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.requirements import require
from ge_dialect.ge.types import MaybeDim, Shape, show_shape, value_shape
from ge_dialect.symbols import Dim, DimLimitError, Relation, floor_div


def merge_dims(first: MaybeDim, second: MaybeDim, what: str) -> MaybeDim:
    """Returns what is known of a dimension that two places must agree on; a number where one is.

    Raises:
        VerifyException: They are different numbers.
    """
    if isinstance(first, int) and isinstance(second, int) and first != second:
        raise VerifyException(f"expected {what} to agree, got {first} and {second}")
    require(first, Relation.EQUAL, second, what)
    if isinstance(second, int) or first is None:
        return second
    return first


def expect_dim(found: MaybeDim, expected: MaybeDim, what: str) -> None:
    """Checks that a dimension may be the one expected.

    Raises:
        VerifyException: They are different numbers.
    """
    if isinstance(found, int) and isinstance(expected, int) and found != expected:
        raise VerifyException(f"expected {what} of {expected}, got {found}")
    require(found, Relation.EQUAL, expected, what)


def expect_broadcasts_to(value: SSAValue | None, target: Shape, name: str) -> None:
    """Checks that an operand, where there is one, broadcasts to `target` without making it larger.

    Raises:
        VerifyException: It does not.
    """
    if value is None:
        return
    shape = value_shape(value)
    for mine, wanted in zip(reversed(shape), reversed(target), strict=False):
        if mine != 1:
            require(mine, Relation.BROADCAST, wanted, f"'{name}' and what it broadcasts to")
    fits = len(shape) <= len(target) and all(
        mine == 1 or mine == wanted or not isinstance(mine, int) or not isinstance(wanted, int)
        for mine, wanted in zip(reversed(shape), reversed(target), strict=False)
    )
    if not fits:
        raise VerifyException(
            f"expected '{name}' to broadcast to {show_shape(target)}, got {show_shape(shape)}"
        )


def map_dim(dim: MaybeDim, function: Callable[[Dim], Dim]) -> MaybeDim:
    """Returns `function(dim)`; None where nothing is known or the result is too large."""
    if dim is None:
        return None
    try:
        return function(dim)
    except DimLimitError:
        return None


def window_size(
    size: MaybeDim,
    kernel: MaybeDim,
    *,
    stride: int = 1,
    pad: tuple[int, int] = (0, 0),
    dilation: int = 1,
    ceil_mode: bool = False,
) -> MaybeDim:
    """Returns how many places a sliding window has along one dimension.

    `(size + pad - extent) / stride + 1`, rounded down, or with `ceil_mode` up, where a window that
    would start in the padding after the input is left out. `extent = (kernel - 1) * dilation + 1`.

    Source: ONNX, `MaxPool`, the formula of `output_spatial_shape`.

    Raises:
        VerifyException: The window has no place, or no elements.
    """
    if not isinstance(kernel, int):
        return None
    extent = _extent(kernel, dilation)
    slack = sum(pad) - extent + (stride - 1 if ceil_mode else 0)
    steps = map_dim(size, lambda dim: floor_div(dim + slack, stride))
    if ceil_mode and stride + pad[1] > extent:  # otherwise no window can start that far
        if not isinstance(steps, int) or not isinstance(size, int):
            return None
        steps -= steps * stride >= size + pad[0]
    if isinstance(steps, int) and isinstance(size, int) and steps < 0:
        raise VerifyException(
            f"expected a window of at most {size + sum(pad)}, the padded input, got {extent}"
        )
    return map_dim(steps, lambda dim: dim + 1)


def _extent(kernel: int, dilation: int) -> int:
    if kernel < 1:
        raise VerifyException(f"expected a window of 1 element or more, got {kernel}")
    return (kernel - 1) * dilation + 1


def transposed_size(
    size: MaybeDim,
    kernel: MaybeDim,
    *,
    stride: int,
    pad: tuple[int, int],
    dilation: int,
    output_padding: int,
) -> MaybeDim:
    """Returns the size that a transposed convolution gives one dimension.

    `stride * (size - 1) + output_padding + (kernel - 1) * dilation + 1 - pad`.

    Source: ONNX, `ConvTranspose`, the formula of `output_shape`.

    Raises:
        VerifyException: The padding takes more than there is.
    """
    if not isinstance(kernel, int):
        return None
    rest = output_padding + _extent(kernel, dilation) - sum(pad) - stride
    grown = map_dim(size, lambda dim: dim * stride + rest)
    if isinstance(grown, int) and grown < 0:
        raise VerifyException(f"expected 'pads' of at most {grown + sum(pad)}, got {sum(pad)}")
    return grown
