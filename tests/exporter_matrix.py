"""What `ge-optimize` makes of the spellings that exporters have for one model.

Graphs are compared by wiring, attributes, types and the values of constants, without names and
locations. Run as a program, it writes `docs/exporters.md`.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.ge.binary import AddOp, AndOp, MulOp, OrOp
from ge_dialect.ge.constants import ConstantOp, constant_array
from ge_dialect.passes.pipelines import OptimizePipeline
from tests.unraised_sites import unraised_sites

ROOT = Path(__file__).resolve().parents[1]
ZOO = ROOT.parent / "shared" / "zoo" / "small"
PAGE = ROOT / "docs" / "exporters.md"
TOLERANCE = 1e-5
"""Of constants, relative to the largest element: exporters fold in different orders."""
COMPOSITES = (
    "flash_attention",
    "rotary_embedding",
    "layer_norm",
    "rms_norm",
    "group_norm",
    "gelu",
    "quick_gelu",
    "silu",
    "mish",
    "hard_swish",
    "hard_sigmoid",
    "softplus",
)
FLAGS = ("masks", "no-signed-zeros")
"""What exporters spell differently and is no difference of the models."""
DIFFERENT_MODELS = ("activations", "control-flow")
"""One exporter has no RMS norm, so that its model is written without it; one counts a loop where
the other tests a condition."""
_COMMUTATIVE = (AddOp, MulOp, AndOp, OrOp)


def optimized(folder: Path, flags: tuple[str, ...] = ()) -> ModuleOp:
    """Returns a zoo model after `ge-optimize`; dynamic sizes are those of its first inputs."""
    shapes = None
    if "-dyn" in folder.name:
        with np.load(folder / "io.npz") as arrays:
            keys = [key for key in arrays.files if key.startswith("input.")]
            sizes = {key.removeprefix("input."): arrays[key].shape for key in keys}
        shapes = ";".join(f"{name}:{','.join(map(str, size))}" for name, size in sizes.items())
    module = import_onnx(str(folder / "model.onnx"), input_shapes=shapes)
    OptimizePipeline(fast_math=flags).apply(Context(), module)
    return module


def main_of(module: ModuleOp) -> FuncOp:
    """Returns the only function of a module."""
    (function,) = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    return function


@dataclass
class Numbering:
    """Numbers for values: two that are computed alike, in whatever module, have the same.

    Attributes:
        known: The numbers that were given out, by what computes a value.
        constants: Arrays that stand for all constants close to them, by type.
    """

    known: dict[object, int] = field(default_factory=dict[object, int])
    constants: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])

    def module(self, module: ModuleOp) -> Numbered:
        """Returns the numbers of what the function of a module computes."""
        return self.block(main_of(module).body.block, {}, 0)

    def block(self, block: Block, outer: dict[SSAValue, int], depth: int) -> Numbered:
        """Returns the numbers of a block, whose ops may read values numbered before."""
        found = Numbered(dict(outer))
        for argument in block.args:
            key = ("argument", depth, argument.index, str(argument.type))
            found.values[argument] = self._number(key)
        for op in block.ops:
            key = self._key(op, found.values, depth)
            for place, result in enumerate(op.results):
                found.values[result] = self._number((key, place))
            found.ops[op] = self._number(key)
        return found

    def _number(self, key: object) -> int:
        return self.known.setdefault(key, len(self.known))

    def _key(self, op: Operation, values: dict[SSAValue, int], depth: int) -> object:
        types = tuple(str(result.type) for result in op.results)
        if isinstance(op, ConstantOp) and (array := constant_array(op.result)) is not None:
            return ("constant", types, self._like(types[0], array))
        operands, attributes = [values[operand] for operand in op.operands], _attributes(op)
        if isinstance(op, _COMMUTATIVE):
            operands.sort()
        bodies = [self.block(region.block, values, depth + 1).last for region in op.regions]
        return (op.name, types, tuple(operands), attributes, tuple(bodies))

    def _like(self, type_: str, array: Any) -> int:
        alike = self.constants.setdefault(type_, [])
        for place, other in enumerate(alike):
            if _close(array, other):
                return place
        alike.append(array)
        return len(alike) - 1


@dataclass
class Numbered:
    """A block with numbers.

    Attributes:
        values: Of its values and those it may read.
        ops: Of its ops, in order.
    """

    values: dict[SSAValue, int]
    ops: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @property
    def last(self) -> int:
        """The number of the terminator: equal ones return the same."""
        return list(self.ops.values())[-1]

    def first_apart_from(self, other: Numbered) -> list[Operation]:
        """Returns ops that the other block has not, though it has all of their operands."""
        known, theirs = set(other.values.values()), set(other.ops.values())
        return [
            op
            for op, number in self.ops.items()
            if number not in theirs and all(self.values[x] in known for x in op.operands)
        ]


def _close(first: Any, second: Any) -> bool:
    if first.dtype.kind != "f":
        return bool(np.array_equal(first, second))
    finite = np.abs(second[np.isfinite(second)])
    scale = float(np.max(finite, initial=1e-30))
    return bool(np.allclose(first, second, rtol=0, atol=TOLERANCE * scale, equal_nan=True))


def _attributes(op: Operation) -> tuple[tuple[str, str], ...]:
    """Attributes by name; numbers are rounded as constants are."""
    found: list[tuple[str, str]] = []
    for name, attribute in sorted({**op.attributes, **op.properties}.items()):
        is_number = isinstance(attribute, FloatAttr)
        found.append((name, f"{attribute.value.data:.5g}" if is_number else str(attribute)))
    return tuple(found)


def differences(one: Numbered, other: Numbered) -> list[str]:
    """Returns the names of ops that either graph has and the other one has not, sorted."""
    found = [*one.first_apart_from(other), *other.first_apart_from(one)]
    names = sorted({op.name for op in found if not isinstance(op, ConstantOp)})
    return names or ["ge.constant"] * bool(found)


@dataclass(frozen=True)
class Row:
    """One exported graph after `ge-optimize`.

    Attributes:
        name: CASE.VARIANT.
        graph: A letter, equal for equal graphs of a case.
        allowed: The same with `FLAGS`.
        counts: How often each composite is there.
        left: Sites of composites that are still spelled out.
        apart: Names of the first ops in which the graph differs from the first one of its case.
        allowed_apart: The same with `FLAGS`.
    """

    name: str
    graph: str
    allowed: str
    counts: tuple[int, ...]
    left: tuple[str, ...]
    apart: tuple[str, ...] = ()
    allowed_apart: tuple[str, ...] = ()

    def text(self) -> str:
        """Returns the row of the table."""
        counts = " | ".join(str(count or "") for count in self.counts)
        graphs = f"{self.graph} | {self.allowed}"
        return f"| {self.name} | {graphs} | {counts} | {', '.join(self.left) or 'none'} |"


def exporter_of(name: str) -> str:
    """Returns the column of a graph: who exported it, and how where that is not the default."""
    variant = name.partition(".")[2]
    for way in ("eager", "train"):
        if variant.endswith(way):
            return way
    return variant.partition("-")[0]


def cases() -> dict[str, list[Path]]:
    """Returns the folders of each case; graphs for training are cases of their own."""
    found: dict[str, list[Path]] = {}
    for folder in sorted(ZOO.iterdir()):
        train = "-train" if folder.name.endswith("train") else ""
        found.setdefault(folder.name.partition(".")[0] + train, []).append(folder)
    return found


@dataclass
class _Graphs:
    """The graphs of a case, compared with each other."""

    numbering: Numbering = field(default_factory=Numbering)
    found: list[Numbered] = field(default_factory=list[Numbered])
    letters: dict[int, str] = field(default_factory=dict[int, str])

    def add(self, module: ModuleOp) -> tuple[str, tuple[str, ...]]:
        """Returns the letter of a graph, and the first ops in which it differs from the first."""
        graph = self.numbering.module(module)
        self.found.append(graph)
        letter = self.letters.setdefault(graph.last, string.ascii_uppercase[len(self.letters)])
        return letter, tuple(differences(graph, self.found[0]))


def rows_of(folders: Sequence[Path]) -> list[Row]:
    """Returns the rows of a case."""
    exact, allowed = _Graphs(), _Graphs()
    rows: list[Row] = []
    for folder in folders:
        module = optimized(folder)
        letter, apart = exact.add(module)
        allowed_letter, allowed_apart = allowed.add(optimized(folder, FLAGS))
        counts = Counter(op.name.removeprefix("ge.") for op in module.walk())
        rows.append(
            Row(
                folder.name,
                letter,
                allowed_letter,
                tuple(counts[name] for name in COMPOSITES),
                tuple(unraised_sites(module)),
                apart,
                allowed_apart,
            )
        )
    return rows


def _table(header: Sequence[str], rows: Iterator[str]) -> str:
    lines = [f"| {' | '.join(header)} |", "| --- " + "| --: " * (len(header) - 1) + "|", *rows]
    return "\n".join(lines) + "\n"


def case_text(case: str, rows: Sequence[Row]) -> str:
    """Returns the row of a case: how many graphs are left of its variants, and how they differ."""
    cells: list[str] = []
    for graphs, names in (
        ({row.graph for row in rows}, {name for row in rows for name in row.apart}),
        ({row.allowed for row in rows}, {name for row in rows for name in row.allowed_apart}),
    ):
        cells += str(len(graphs)), ", ".join(f"`{name}`" for name in sorted(names))
    return f"| {case} | {len(rows)} | {' | '.join(cells)} |"


def exporter_table(rows: Sequence[Row]) -> str:
    """Returns the table of composites by exporter: sites that are one op, sites that are not."""
    exporters = sorted({exporter_of(row.name) for row in rows})
    found: Counter[tuple[str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for name, count in zip(COMPOSITES, row.counts, strict=True):
            found[name, exporter_of(row.name)] += count
        for site in row.left:
            left[site, exporter_of(row.name)] += 1

    def cell(name: str, exporter: str) -> str:
        missed = left[name, exporter]
        return f"{found[name, exporter]}" + (f" ({missed} left)" if missed else "")

    names = sorted({*COMPOSITES, *(name for name, _ in left)}, key=_order)
    lines = (f"| {name} | {' | '.join(cell(name, one) for one in exporters)} |" for name in names)
    return _table(["composite", *exporters], lines)


def _order(name: str) -> tuple[int, str]:
    return (COMPOSITES.index(name) if name in COMPOSITES else len(COMPOSITES), name)


def page_of(rows: dict[str, list[Row]]) -> str:
    """Returns the text of `docs/exporters.md`."""
    every = [row for case in rows.values() for row in case]
    parts = [
        _HEAD,
        exporter_table(every),
        _CASES,
        _table(
            ["case", "variants", "graphs", "they differ in", "with flags", "they differ in"],
            iter([case_text(case, found) for case, found in rows.items()]),
        ),
        _VARIANTS,
        _table(
            ["variant", "graph", "with flags", *COMPOSITES, "left"],
            iter([row.text() for row in every]),
        ),
    ]
    return "\n".join(parts)


_HEAD = """# Exporters

What `ge-optimize{level=2}` makes of graphs that different exporters wrote for the same model.
`python -m tests.exporter_matrix` writes this page, `tests/test_exporter_matrix.py` checks it. The
exporters: `ts` and `ts14` are TorchScript at opset 17 and 14, `dynamo` and `dynamo23` the newer
exporter at opset 20 and 23, `raw` the latter without its own optimiser, `eager` a model with
attention spelled out by its author, `train` one exported for training. Dynamic graphs are compiled
for the sizes of the static ones.

Sites of each composite that are one op, and how many are left spelled out:
"""

_CASES = """
## Graphs of a case

How many different graphs are left of all variants of a case, names aside; constants are the same
up to 1e-5 of their largest element. First what results do not differ in, then what
`ge-optimize{fast-math=masks,no-signed-zeros}` makes of them:

- `masks`: a mask of large negative numbers gives a query that keeps no key the mean of all values,
  one of minus infinities gives it NaN, or 0 with a guard. Only where every query is proved to keep
  a key are these the same. A score that is NaN shows where a mask is added, and not where one is
  selected or NaN guarded against. The flag says that every query keeps a key, and that scores are
  finite. Nothing else differs in the first column but where the next points say so.
- `no-signed-zeros`: the norms of `dit` add a bias of 0.0 in one exporter, which makes a -0.0
  positive.

Two cases are different models and stay so: in `activations` one exporter has no RMS norm and its
model is written without it; `control-flow` counts its loop in one exporter (a number of trips) and
tests a condition in the other, whose trips nobody can count before it runs.
"""

_VARIANTS = """
## Variants

Graphs of a case with the same letter are the same.
"""


if __name__ == "__main__":
    PAGE.write_text(page_of({case: rows_of(folders) for case, folders in cases().items()}))
