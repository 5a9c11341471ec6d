"""Random arguments for the functions of a module, special values among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ge_dialect.ge.attributes import SymbolAttr
from ge_dialect.ge.dtypes import to_numpy
from ge_dialect.ge.types import MaybeDim, is_tensor, shape_of, static_shape
from ge_dialect.passes.symbols.resolve_symbols import asked_of
from ge_dialect.symbols import Guard, SymbolRange, evaluate, symbols_of

Array = npt.NDArray[Any]

UNKNOWN_DIM = 2
"""The size of a dimension that nothing is known of."""

SYMBOL_STEPS = 4
"""A symbol is sampled among so many of its least values: the ranges of models are huge."""

MAX_DRAWS = 256
"""Sets of sizes that are drawn until one fits together."""

SPECIALS = (0.0, -0.0, np.inf, -np.inf, np.nan)
EXTREMES = (1e-30, -1e-42, 1e30, 65504.0)
"""Overflow and underflow: only where both sides round in the same places."""


@dataclass(frozen=True)
class Draw:
    """One set of random arguments.

    Attributes:
        name: For messages.
        seed: Different draws, different numbers.
        specials: Whether zeros of both signs, infinities and NaN are among the floats.
        low, high: Bounds of the integers, the upper one excluded.
    """

    name: str
    seed: int
    specials: bool = False
    low: int = 0
    high: int = 2


DRAWS = (
    Draw("normal values", 0),
    Draw("special values", 1, specials=True),
    Draw("wide integers", 2, low=-8, high=9),
)


@dataclass(frozen=True)
class Feed:
    """Arguments of one function.

    Attributes:
        function: Its symbol.
        draw: What they were drawn from.
        arguments: In order.
        sizes: The values of the symbols in the types.
        dynamic: Whether a type of an argument has a dimension that is no number.
    """

    function: str
    draw: Draw
    arguments: tuple[Array, ...]
    sizes: Mapping[str, int]
    dynamic: bool


def functions_of(module: ModuleOp) -> Sequence[FuncOp]:
    """Returns the functions that can be called: with a body, public, of tensors only."""
    return [
        op
        for op in module.body.block.ops
        if isinstance(op, FuncOp)
        and not op.is_declaration
        and (op.sym_visibility is None or op.sym_visibility.data != "private")
        and all(is_tensor(arg.type) for arg in op.body.block.args)
    ]


def random_feed(function: FuncOp, draw: Draw, seed: int, *, extremes: bool) -> Feed:
    """Returns arguments for a function; the same for the same seed.

    Args:
        function: All its arguments are ranked tensors.
        draw: Which numbers.
        seed: Of the run.
        extremes: Whether special values are also such that overflow or vanish.
    """
    rng = np.random.default_rng((seed, draw.seed))
    sizes = _fitting_sizes(function, rng)
    arguments: list[Array] = []
    for arg in function.body.block.args:
        assert is_tensor(arg.type)
        shape = tuple(_size(dim, sizes) for dim in shape_of(arg.type))
        arguments.append(_random(arg.type.element_type, shape, draw, rng, extremes))
    dynamic = any(static_shape(arg.type) is None for arg in function.body.block.args)
    return Feed(function.sym_name.data, draw, tuple(arguments), sizes, dynamic)


def _fitting_sizes(function: FuncOp, rng: np.random.Generator) -> dict[str, int]:
    """Chooses sizes that fit together, as far as the ops of the function tell; else any."""
    first = sizes = _symbol_sizes(function, rng)
    guards = asked_of(function) if sizes else []
    for _ in range(MAX_DRAWS if guards else 0):
        if all(_holds(guard, sizes) for guard in guards):
            return sizes
        sizes = _symbol_sizes(function, rng)
    return first


def _holds(guard: Guard, sizes: Mapping[str, int]) -> bool:
    try:
        return guard.holds(sizes)
    except ValueError:  # a symbol that no argument has
        return True


def _symbol_sizes(function: FuncOp, rng: np.random.Generator) -> dict[str, int]:
    """Chooses a value within its range for every symbol of the arguments."""
    declared = function.attributes.get("ge.symbols")
    ranges = {
        name: attr.data
        for name, attr in (declared.data.items() if isinstance(declared, DictionaryAttr) else ())
        if isinstance(attr, SymbolAttr)
    }
    names: dict[str, None] = {}
    for arg in function.body.block.args:
        for dim in shape_of(arg.type) if is_tensor(arg.type) else ():
            names |= dict.fromkeys(sorted(symbols_of(dim)) if dim is not None else ())
    return {name: _sample(ranges.get(name), rng) for name in names}


def _sample(known: SymbolRange | None, rng: np.random.Generator) -> int:
    if known is None:
        return UNKNOWN_DIM
    step = known.multiple_of
    first = max(known.first, step)
    last = known.last if known.last is not None else first + SYMBOL_STEPS * step
    steps = min(max(last - first, 0) // step, SYMBOL_STEPS)
    return min(first, last) + step * int(rng.integers(0, steps + 1))


def _size(dim: MaybeDim, sizes: dict[str, int]) -> int:
    return UNKNOWN_DIM if dim is None else max(evaluate(dim, sizes), 0)


def _random(
    element_type: Attribute,
    shape: tuple[int, ...],
    draw: Draw,
    rng: np.random.Generator,
    extremes: bool,
) -> Array:
    dtype = to_numpy(element_type)
    if dtype.kind == "O":
        return np.asarray(rng.choice(["a", "b"], shape)).astype(object)
    if dtype.kind == "c":
        pair = rng.standard_normal((2, *shape))
        return (pair[0] + 1j * pair[1]).astype(dtype)
    if dtype.kind == "f" or dtype.name.startswith(("bfloat", "float")):
        values = np.asarray(rng.standard_normal(shape))
        if draw.specials and values.size:
            _mix_in(values, SPECIALS + (EXTREMES if extremes else ()), rng)
        with np.errstate(all="ignore"):
            return values.astype(dtype)
    low = 0 if dtype.kind in "bu" or dtype.name.startswith("uint") else draw.low
    high = 2 if dtype.kind == "b" else draw.high
    return np.asarray(rng.integers(low, high, shape)).astype(dtype)


def _mix_in(values: Array, specials: Sequence[float], rng: np.random.Generator) -> None:
    """Replaces an eighth of the elements, at least one, by special values."""
    count = max(values.size // 8, 1)
    places = rng.choice(values.size, count, replace=False)
    values.reshape(-1)[places] = rng.choice(specials, count)
