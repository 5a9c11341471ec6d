"""Reference semantics of data movement and resampling."""

from __future__ import annotations

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.grid_sample import GridSampleOp
from ge_dialect.ge.movement import BroadcastToOp, ReshapeOp, TileOp, TransposeOp
from ge_dialect.ge.pieces import ConcatOp, PadOp, SliceOp, SplitOp
from ge_dialect.ge.rearrange import (
    DepthToSpaceOp,
    RangeOp,
    ReverseSequenceOp,
    SpaceToDepthOp,
    TriluOp,
)
from ge_dialect.ge.resize import ResizeOp
from ge_dialect.ge.types import (
    MaybeDim,
    static_shape,
    tensor_of,
    value_shape,
)
from ge_dialect.interpreters.kernels import grid_sample, movement, resize
from ge_dialect.interpreters.registry import Array, semantics


@semantics(ReshapeOp)
def reshape(op: ReshapeOp, x: Array) -> Array:
    """Evaluates `ge.reshape`; one dimension of the result may be dynamic."""
    return movement.reshape(x, shape=_sizes(value_shape(op.result)), allowzero=True)


def _sizes(shape: tuple[MaybeDim, ...]) -> list[int]:
    """Returns a shape with -1 for its dynamic dimension.

    Raises:
        InterpretationError: There are several.
    """
    sizes = [dim if isinstance(dim, int) else -1 for dim in shape]
    if sizes.count(-1) > 1:
        raise InterpretationError("expected a shape with one dynamic dimension at most")
    return sizes


@semantics(TransposeOp)
def transpose(op: TransposeOp, x: Array) -> Array:
    """Evaluates `ge.transpose`."""
    return movement.transpose(x, perm=op.permutation)


@semantics(BroadcastToOp)
def broadcast_to(op: BroadcastToOp, x: Array) -> Array:
    """Evaluates `ge.broadcast_to`.

    Raises:
        InterpretationError: A dynamic dimension of the result is not one of the operand.
    """
    target, shape = value_shape(op.result), value_shape(op.input)
    added = len(target) - x.ndim
    sizes: list[int] = []
    for i, dim in enumerate(target):
        if isinstance(dim, int):
            sizes.append(dim)
        elif i >= added and (x.shape[i - added] != 1 or shape[i - added] == dim):
            sizes.append(x.shape[i - added])
        else:
            raise InterpretationError(f"expected dimension {i} of 'result' to be a number")
    return movement.expand(x, shape=sizes)


@semantics(TileOp)
def tile(op: TileOp, x: Array) -> Array:
    """Evaluates `ge.tile`."""
    return movement.tile(x, repeats=op.repeats.get_values())


@semantics(ConcatOp)
def concat(op: ConcatOp, inputs: tuple[Array, ...]) -> Array:
    """Evaluates `ge.concat`."""
    return movement.concat(*inputs, axis=op.axis.value.data)


@semantics(SplitOp)
def split(op: SplitOp, x: Array) -> tuple[Array, ...]:
    """Evaluates `ge.split`."""
    return movement.split(x, sizes=op.sizes.get_values(), axis=op.axis.value.data)


@semantics(SliceOp)
def slice_(op: SliceOp, x: Array) -> Array:
    """Evaluates `ge.slice`."""
    spans = op.spans()
    # ONNX clamps a start before the first element to it; Python takes nothing going backwards.
    starts = [max(start, -x.shape[axis]) if step < 0 else start for axis, start, _, step in spans]
    return movement.slice_(
        x,
        starts=starts,
        ends=[end for _, _, end, _ in spans],
        axes=[axis for axis, _, _, _ in spans],
        steps=[step for _, _, _, step in spans],
    )


@semantics(PadOp)
def pad(op: PadOp, x: Array, value: Array | None) -> Array:
    """Evaluates `ge.pad`."""
    fill = np.zeros((), x.dtype) if value is None else value
    return movement.pad(x, pads=op.pads.get_values(), mode=op.mode.data, value=fill)


@semantics(TriluOp)
def trilu(op: TriluOp, x: Array) -> Array:
    """Evaluates `ge.trilu`."""
    return movement.trilu(x, k=op.k.value.data, upper=op.upper is not None)


@semantics(DepthToSpaceOp)
def depth_to_space(op: DepthToSpaceOp, x: Array) -> Array:
    """Evaluates `ge.depth_to_space`."""
    return movement.depth_to_space(x, blocksize=op.blocksize.value.data, mode=op.mode.data)


@semantics(SpaceToDepthOp)
def space_to_depth(op: SpaceToDepthOp, x: Array) -> Array:
    """Evaluates `ge.space_to_depth`."""
    return movement.space_to_depth(x, blocksize=op.blocksize.value.data)


@semantics(ReverseSequenceOp)
def reverse_sequence(op: ReverseSequenceOp, x: Array, sequence_lens: Array) -> Array:
    """Evaluates `ge.reverse_sequence`."""
    return movement.reverse_sequence(
        x,
        sequence_lens,
        time_axis=op.time_axis.value.data,
        batch_axis=op.batch_axis.value.data,
    )


@semantics(RangeOp)
def range_(op: RangeOp) -> Array:
    """Evaluates `ge.range`: integers wrap, floats are computed in f64 and rounded once.

    Raises:
        InterpretationError: Its length is no number.
    """
    type_ = tensor_of(op.result)
    if (shape := static_shape(type_)) is None:
        raise InterpretationError("expected a length that is a number")
    steps = np.arange(shape[0], dtype=np.int64)
    values = op.start.value.data + op.delta.value.data * steps
    return values.astype(to_numpy(type_.element_type))


@semantics(ResizeOp)
def resize_(op: ResizeOp, x: Array) -> Array:
    """Evaluates `ge.resize`."""
    return resize.resize(
        x,
        sizes=None if op.sizes is None else op.sizes.get_values(),
        scales=None if op.scales is None else op.scales.get_values(),
        mode=op.mode.data,
        coordinate_transformation_mode=op.coordinate_transformation_mode.data,
        nearest_mode=op.nearest_mode.data,
        cubic_coeff_a=op.cubic_coeff_a.value.data,
        exclude_outside=op.exclude_outside is not None,
        extrapolation_value=0.0
        if op.extrapolation_value is None
        else op.extrapolation_value.value.data,
        roi=None if op.roi is None else op.roi.get_values(),
    )


@semantics(GridSampleOp)
def grid_sample_(op: GridSampleOp, x: Array, grid: Array) -> Array:
    """Evaluates `ge.grid_sample`."""
    return grid_sample.grid_sample(
        x,
        grid,
        mode=op.mode.data,
        padding_mode=op.padding_mode.data,
        align_corners=op.align_corners is not None,
    )
