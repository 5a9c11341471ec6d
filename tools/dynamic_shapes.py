"""Ranges and gears as users give them: ATC's options, and their meaning for a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.ports import io_names
from ge_dialect.ge.symbolic import set_symbol_ranges, symbol_ranges
from ge_dialect.ge.types import MaybeDim, is_tensor, shape_of
from ge_dialect.passes.symbols.split_gears import show_gear
from ge_dialect.symbols import DimExpr, evaluate, symbol, symbols_of

if TYPE_CHECKING:
    from argparse import Namespace

    from ge_dialect.frontends.onnx.input_shapes import DimSpec, InputShapes
    from ge_dialect.tools.api import CompileOptions

MAX_GEARS = 100
_IMAGE = 2
"""Sizes of an image gear: height and width."""


@dataclass(frozen=True)
class DynamicShapes:
    """What is asked of the sizes of a model.

    Attributes:
        shapes: Of inputs, dimension by dimension; None for those of the model.
        gears: Sets of sizes, each a size for every dimension that `shapes` leaves open, in order;
            of one size where all open dimensions have it.
    """

    shapes: InputShapes | None = None
    gears: tuple[tuple[int, ...], ...] = ()


_GEARS = ("dynamic_batch_size", "dynamic_image_size", "dynamic_dims")
_EXCLUSIVE = ("input_shape_range", *_GEARS)


def read_arguments(args: Namespace) -> DynamicShapes:
    """Returns what the command line asks of sizes.

    Raises:
        GEError: Options exclude each other (GE0107), or one is malformed (GE0216, GE0108).
    """
    from ge_dialect.frontends.onnx.input_shapes import parse_input_shapes

    given = [name for name in _EXCLUSIVE if getattr(args, name) is not None]
    if len(given) > 1:
        flags = " and ".join(f"--{name}" for name in given)
        raise GEError(
            "GE0107",
            f"{flags} exclude each other",
            hint="give either one range, or gears of one kind",
        )
    shapes = None if args.input_shape is None else parse_input_shapes(args.input_shape)
    if args.input_shape_range is not None:
        ranges = parse_input_shapes(args.input_shape_range.replace("[", "").replace("]", ""))
        return DynamicShapes(with_ranges(shapes or {}, ranges))
    if not given:
        return DynamicShapes(shapes)
    option = given[0]
    gears = parse_gears(getattr(args, option), option)
    if shapes is None:
        raise GEError(
            "GE0108",
            f"--{option} needs --input_shape with -1 where the gears differ",
            hint='such as --input_shape "x:-1,3,224,224"',
        )
    _check_places(option, shapes, gears)
    return DynamicShapes(shapes, gears)


def with_ranges(
    shapes: Mapping[str, Sequence[DimSpec]], ranges: Mapping[str, Sequence[DimSpec]]
) -> dict[str, tuple[DimSpec, ...]]:
    """Returns shapes with ranges where they say -1.

    Raises:
        GEError: A range is given for a dimension that has a size (GE0108).
    """
    found = {name: tuple(dims) for name, dims in shapes.items()}
    for name, dims in ranges.items():
        known = found.get(name, tuple(dims))
        if len(known) != len(dims) or not all(
            _is_open(a) or a == b for a, b in zip(known, dims, strict=True)
        ):
            raise GEError(
                "GE0108",
                f"--input_shape_range of '{name}' contradicts its --input_shape",
                hint="write -1 there for dimensions that have a range",
            )
        found[name] = tuple(dims)
    return found


def _is_open(dim: DimSpec) -> bool:
    return not isinstance(dim, int) or dim == -1


def parse_gears(text: str, option: str) -> tuple[tuple[int, ...], ...]:
    """Returns gears out of ATC's notation: `1,2,4` for batches, `1,128;1,256` for the others.

    Raises:
        GEError: It is malformed, or has fewer than 2 or more than 100 gears (GE0108).
    """
    parts = [part.strip() for part in text.strip().strip(";").split(";")]
    if option == "dynamic_batch_size":
        parts = text.split(",")
    gears: list[tuple[int, ...]] = []
    for part in parts:
        words = [word.strip() for word in part.split(",")]
        if not all(word.isascii() and word.isdecimal() and len(word) < 19 for word in words):
            raise GEError(
                "GE0108",
                f"--{option}: expected whole numbers, got '{part[:40]}'",
                hint='such as --dynamic_dims "1,128;1,256" or --dynamic_batch_size "1,2,4"',
            )
        gears.append(tuple(map(int, words)))
    distinct = list(dict.fromkeys(gears))
    if not 2 <= len(distinct) <= MAX_GEARS or len(distinct) != len(gears):
        raise GEError(
            "GE0108",
            f"--{option}: expected 2 to {MAX_GEARS} different gears, got {len(distinct)}",
            hint="a single set of sizes is what --input_shape alone is for",
        )
    return tuple(gears)


def _check_places(option: str, shapes: InputShapes, gears: Sequence[tuple[int, ...]]) -> None:
    """Checks that the open dimensions are those that a kind of gears is for."""
    places = open_places(shapes)
    per_input = {name: [axis for other, axis in places if other == name] for name, _ in places}
    if option == "dynamic_batch_size":
        fits = all(axes == [0] for axes in per_input.values())
        wanted = "-1 for the first dimension alone"
    elif option == "dynamic_image_size":
        fits = len(per_input) == 1 and len(places) == _IMAGE
        wanted = "-1 for height and width of one input"
    else:
        fits, wanted = True, "-1 where the gears differ"
    if not places or not fits:
        raise GEError("GE0108", f"--{option}: expected {wanted} in --input_shape")
    size = 1 if option == "dynamic_batch_size" else len(places)
    for number, gear in enumerate(gears):
        if len(gear) != size:
            raise GEError(
                "GE0108",
                f"--{option}: gear {number} has {len(gear)} sizes, --input_shape has"
                f" {len(places)} times -1",
                hint="give one size for each -1, in order",
            )


def open_places(shapes: InputShapes) -> list[tuple[str, int]]:
    """Returns the dimensions that shapes leave open, as input and axis, in order."""
    return [
        (name, axis)
        for name, dims in shapes.items()
        for axis, dim in enumerate(dims)
        if not isinstance(dim, int) or dim == -1
    ]


def shapes_at(shapes: InputShapes, gear: Sequence[int]) -> dict[str, tuple[DimSpec, ...]]:
    """Returns shapes with the sizes of a gear where they leave dimensions open."""
    places = open_places(shapes)
    values = [*gear] * len(places) if len(gear) == 1 else gear
    sizes = dict(zip(places, values, strict=True))
    return {
        name: tuple(sizes.get((name, axis), dim) for axis, dim in enumerate(dims))
        for name, dims in shapes.items()
    }


def declare_gears(
    module: ModuleOp,
    input_shapes: InputShapes | str | None,
    dynamic_dims: Sequence[Sequence[int]],
) -> tuple[str, ...]:
    """Returns the gears in terms of the symbols of a model, as `ge-split-gears` takes them.

    The ranges of the symbols become those that the gears span.

    Args:
        module: As it was imported.
        input_shapes: As `compile` takes them.
        dynamic_dims: For each gear a size for every dimension that `input_shapes` leaves open.

    Raises:
        GEError: A gear gives one symbol two sizes (GE0331).
    """
    from ge_dialect.frontends.onnx.input_shapes import parse_input_shapes

    shapes = parse_input_shapes(input_shapes) if isinstance(input_shapes, str) else input_shapes
    function = _function(module)
    dims = dict(_dims(function))
    places = [dims.get(place) for place in open_places(shapes or {})]
    gears = [_sizes(number, places, gear) for number, gear in enumerate(dynamic_dims)]
    ranges = symbol_ranges(function)
    for name, known in ranges.items():
        if values := [sizes[name] for sizes in gears if name in sizes]:
            ranges[name] = replace(known, lo=min(values), hi=max(values), multiple_of=1)
    set_symbol_ranges(function, ranges)
    return tuple(show_gear(sizes) for sizes in gears)


def with_gears(graph: Sequence[ModulePass], options: CompileOptions) -> list[ModulePass]:
    """Returns graph passes with the split into gears, and what simplifies each of them anew.

    What does not depend on sizes is simplified before, once for all gears.
    """
    from ge_dialect.passes.pipelines import OptimizePipeline
    from ge_dialect.passes.symbols.bound_sizes import BoundSizesPass
    from ge_dialect.passes.symbols.split_gears import SplitGearsPass

    shared = OptimizePipeline(min(options.level, 1), options.fast_math).passes()
    typed = len(OptimizePipeline(0).passes())
    split = SplitGearsPass(options.gears)
    return [*graph[: len(shared)], split, BoundSizesPass(), *shared[typed:], *graph[len(shared) :]]


def _function(module: ModuleOp) -> FuncOp:
    for op in module.body.block.ops:
        if isinstance(op, FuncOp):
            return op
    raise GEError("GE0217", "the module has no function: it is lowered, or empty")


def _dims(function: FuncOp) -> Iterator[tuple[tuple[str, int], MaybeDim]]:
    for name, arg in zip(io_names(function)[0], function.body.block.args, strict=True):
        for axis, dim in enumerate(shape_of(arg.type) if is_tensor(arg.type) else ()):
            yield (name, axis), dim


def _sizes(number: int, places: Sequence[MaybeDim], gear: Sequence[int]) -> dict[str, int]:
    given = list(gear) * len(places) if len(gear) == 1 else list(gear)
    pairs = list(zip(places, given, strict=False))
    sizes: dict[str, int] = {}
    for dim, size in pairs:
        if isinstance(dim, DimExpr) and dim == symbol(symbols_of(dim)[0]):
            sizes.setdefault(symbols_of(dim)[0], size)
    for dim, size in pairs:
        if isinstance(dim, int) and dim != size:
            raise GEError(
                "GE0331",
                f"gear {number} gives the size {size} to a dimension that is {dim} in the model",
                hint="export the model with that dimension dynamic, or give its size in"
                " --input_shape",
            )
        if dim is not None and (found := evaluate(dim, sizes)) != size:
            raise GEError(
                "GE0331",
                f"gear {number} ({show_gear(sizes)}) gives '{dim}' the size {found} in one place"
                f" and {size} in another",
                hint="dimensions that the model gives one name have one size",
            )
    return sizes


def set_shape_range(module: ModuleOp, name: str, *dims: int | tuple[int, int | None]) -> None:
    """Sets the sizes that an input of an imported model may have.

    Args:
        module: As `ge_dialect.tools.api.load_model` returns it.
        name: Of the input.
        dims: For each dimension a size, or its least and greatest size, both included.

    Raises:
        GEError: There is no such input (GE0217), or the sizes contradict the model (GE0218).

    >>> set_shape_range(module, "ids", (1, 32), (128, 4096))  # doctest: +SKIP
    """
    function = _function(module)
    names = io_names(function)[0]
    if name not in names:
        raise GEError("GE0217", f"no input is named '{name}'", hint=f"inputs: {', '.join(names)}")
    type_ = function.body.block.args[names.index(name)].type
    shape = shape_of(type_) if is_tensor(type_) else ()
    if len(shape) != len(dims):
        what = f"expected {len(shape)} dimensions of '{name}', got {len(dims)}"
        raise GEError("GE0218", what, hint="give a size or a pair for each")
    ranges = symbol_ranges(function)
    for axis, (dim, given) in enumerate(zip(shape, dims, strict=True)):
        low, high = given if isinstance(given, tuple) else (given, given)
        where = f"dimension {axis} of '{name}'"
        if isinstance(dim, int) and low <= dim and (high is None or dim <= high):
            continue
        names_ = symbols_of(dim) if isinstance(dim, DimExpr) else ()
        if len(names_) != 1 or dim != symbol(names_[0]):
            raise GEError("GE0218", f"{where} is {dim} in the model, got {given}")
        try:
            ranges[names_[0]] = replace(ranges[names_[0]], lo=low, hi=high)
        except ValueError as error:
            raise GEError("GE0218", f"{where}: {error}") from error
    set_symbol_ranges(function, ranges)
