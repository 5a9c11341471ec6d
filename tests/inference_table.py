"""Types of imported models against ONNX's own shape inference, value by value: docs/inference.md.

    python -m tests.inference_table [--zoo DIR] [--details]

What exporters declare is taken out of the models that ONNX infers, but for their inputs: compared
is inference, not what a file says. ONNX propagates data as well.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import onnx
from onnx import shape_inference
from onnx.backend.test.loader import DATA_DIR, load_model_tests
from xdsl.context import Context
from xdsl.dialects.builtin import UnrankedTensorType
from xdsl.ir import Attribute, SSAValue

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.described import DeclaredValues
from ge_dialect.frontends.onnx.importer import Importer, Scope
from ge_dialect.frontends.onnx.load import LoadedModel, load_onnx, load_proto
from ge_dialect.frontends.onnx.normalize import inline_functions, normalize
from ge_dialect.frontends.onnx.rows import NodeRow
from ge_dialect.frontends.onnx.unsupported import check_supported
from ge_dialect.frontends.onnx.validate import subgraphs
from ge_dialect.ge.dtypes import from_onnx
from ge_dialect.ge.types import MaybeDim, is_tensor, shape_of
from ge_dialect.passes.infer_types import InferTypesPass
from ge_dialect.symbols import DimExpr, SymbolRange, import_dim, prove_equal, sanitise

ROOT = Path(__file__).resolve().parent.parent
ZOO = Path(os.environ.get("GE_ZOO", ROOT.parent / "shared" / "zoo" / "small"))


class Outcome(StrEnum):
    """How the type of a value compares with ONNX's, from best to worst."""

    EQUAL = "equal"
    MORE = "more precise"
    LESS = "less precise"
    WRONG = "contradictory"


_RANKING = tuple(Outcome)

VARIANTS = {
    "": "as they are",
    "sizes": "a symbol for each size",
    "dims": "a symbol for each dimension",
    "batch": "first dimensions symbolic",
    "unknown": "dimensions unknown",
    "unranked": "ranks unknown",
}
"""What is done to the inputs of conformance models, whose own shapes are numbers."""


ACCEPTED = {
    "test_einsum_batch_matmul*": (
        "ONNX takes the first size of a letter for that of the result; in `onnx.reference` a size"
        " of 1 broadcasts, so that the second one may be the greater"
    ),
    "test_sequence_map_add_1_sequence_1_tensor_expanded": (
        "ONNX takes a name of a dimension in the type of a sequence for one number; here each item"
        " has dimensions of its own"
    ),
}
"""Models in which ONNX says of a symbol what need not hold, and why; by the name, as a glob."""


@dataclass
class Tally:
    """What the comparison of some models found.

    Attributes:
        models: How many were compared.
        refused: Import errors, with the name of the model.
        outcomes: Over all values, after import and again after `ge-infer-types`.
        worse: Values that are less precise or contradictory, `model: value (op type): why`.
        accepted: Those of them where `ACCEPTED` says why; no outcome counts them.
    """

    models: int = 0
    refused: list[str] = field(default_factory=list[str])
    outcomes: Counter[Outcome] = field(default_factory=Counter[Outcome])
    worse: list[str] = field(default_factory=list[str])
    accepted: list[str] = field(default_factory=list[str])


@dataclass
class Recorder(Importer):
    """An importer that remembers the value of each name, in all graphs."""

    seen: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    @staticmethod
    def recording(loaded: LoadedModel) -> Recorder:
        """Returns the recorder of a normalised model."""
        found = Importer.of(loaded, {})
        return Recorder(
            found.loaded,
            found.tensors,
            found.symbols,
            found.input_types,
            found.builder,
            found.replayer,
        )

    def graph(
        self,
        graph: onnx.GraphProto,
        scope: Scope,
        nodes: Sequence[NodeRow] | None = None,
        declared: DeclaredValues | None = None,
    ) -> list[SSAValue]:
        results = super().graph(graph, scope, nodes, declared)
        self.seen |= scope.values
        return results


@dataclass(frozen=True)
class Comparison:
    """One model, imported and inferred.

    Attributes:
        loaded: The model as it was opened.
        ours: The types of names after import, then after `ge-infer-types`.
        ranges: Of the symbols.
        params: Names of dimensions of the inputs; all others ONNX made up.
    """

    loaded: LoadedModel
    ours: tuple[dict[str, Attribute], dict[str, Attribute]]
    ranges: dict[str, SymbolRange]
    params: frozenset[str]

    @staticmethod
    def of(loaded: LoadedModel) -> Comparison:
        """Imports a model.

        Raises:
            GEError: It cannot be imported.
        """
        normalised = normalize(loaded)
        check_supported(normalised.nodes, normalised.opset)
        recorder = Recorder.recording(normalised)
        module = recorder.module()
        before = {name: value.type for name, value in recorder.seen.items()}
        InferTypesPass().apply(Context(), module)
        after = {name: value.type for name, value in recorder.seen.items()}
        shapes = [value.type.tensor_type.shape for value in loaded.inputs]
        params = frozenset(dim.dim_param for shape in shapes for dim in shape.dim if dim.dim_param)
        return Comparison(loaded, (before, after), recorder.symbols.ranges, params)

    def dim(self, dim: onnx.TensorShapeProto.Dimension) -> MaybeDim:
        """Returns a dimension of ONNX; names that inference made up are unknown."""
        if dim.HasField("dim_value"):
            return dim.dim_value if dim.dim_value >= 0 else None
        if dim.dim_param not in self.params:
            return None
        return import_dim(dim.dim_param, {name for name in self.params if name == sanitise(name)})

    def outcome(self, ours: Attribute, theirs: onnx.TypeProto) -> Outcome:
        """Compares the types of one value."""
        tensor = theirs.tensor_type
        if getattr(ours, "element_type", None) != from_onnx(tensor.elem_type):
            return Outcome.WRONG
        ranked = tensor.HasField("shape")
        if isinstance(ours, UnrankedTensorType) or not is_tensor(ours):
            return Outcome.LESS if ranked else Outcome.EQUAL
        if not ranked:
            return Outcome.MORE
        mine, others = shape_of(ours), [self.dim(dim) for dim in tensor.shape.dim]
        if len(mine) != len(others):
            return Outcome.WRONG
        found = [self._dims(a, b) for a, b in zip(mine, others, strict=True)]
        return max(found, key=_RANKING.index, default=Outcome.EQUAL)

    def _dims(self, ours: MaybeDim, theirs: MaybeDim) -> Outcome:
        if ours == theirs:
            return Outcome.EQUAL
        if ours is None or theirs is None:
            return Outcome.MORE if theirs is None else Outcome.LESS
        if isinstance(ours, DimExpr) and isinstance(theirs, DimExpr):
            # Of two dimensions that have to agree, each side may name the other one.
            same = prove_equal(ours, theirs, self.ranges)
            return Outcome.WRONG if same is False else Outcome.EQUAL
        if isinstance(ours, DimExpr):
            return Outcome.LESS
        return Outcome.MORE if isinstance(theirs, DimExpr) else Outcome.WRONG


def inferred_types(model: onnx.ModelProto) -> dict[str, tuple[str, onnx.TypeProto]]:
    """Returns op type and inferred type of every tensor that exactly one node of a model makes."""
    bare = onnx.ModelProto()
    bare.CopyFrom(inline_functions(model) if model.functions else model)
    for index, graph in enumerate(_graphs(bare.graph)):
        del graph.value_info[:]
        # Inputs of a body have the types of what a loop gives it.
        for value in (*graph.output, *(graph.input if index else ())):
            value.ClearField("type")
    try:
        found = shape_inference.infer_shapes(bare, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError:
        found = shape_inference.infer_shapes(bare, data_prop=True)  # what it knows nevertheless
    makers: dict[str, list[str]] = {}
    types: dict[str, onnx.TypeProto] = {}
    for graph in _graphs(found.graph):
        for node in graph.node:
            for name in node.output:
                makers.setdefault(name, []).append(node.op_type)
        values = (*graph.value_info, *graph.output)
        types |= {value.name: value.type for value in values if value.type.tensor_type.elem_type}
    return {
        name: (makers[name][0], type_)
        for name, type_ in types.items()
        if len(makers.get(name, ())) == 1
    }


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for inner in subgraphs(node):
            yield from _graphs(inner)


def compare(name: str, model: onnx.ModelProto, loaded: LoadedModel, tally: Tally) -> None:
    """Compares all values of one model that both sides know."""
    try:
        comparison = Comparison.of(loaded)
    except GEError as error:
        tally.refused.append(f"{name}: {error}")
        return
    tally.models += 1
    for value, (op_type, theirs) in inferred_types(model).items():
        for ours in comparison.ours:
            if value not in ours:
                continue  # of a branch that is never taken
            outcome = comparison.outcome(ours[value], theirs)
            if outcome in (Outcome.EQUAL, Outcome.MORE):
                tally.outcomes[outcome] += 1
                continue
            dims = [dim.dim_param or dim.dim_value for dim in theirs.tensor_type.shape.dim]
            shown = f"{name}: {value} ({op_type}): {ours[value]}, ONNX has {dims}"
            if outcome == Outcome.LESS and any(fnmatchcase(name, glob) for glob in ACCEPTED):
                tally.accepted.append(shown)
            else:
                tally.outcomes[outcome] += 1
                tally.worse.append(shown)


def with_inputs(model: onnx.ModelProto, variant: str) -> onnx.ModelProto:
    """Returns a model whose inputs say less of their shapes, as `VARIANTS` lists it."""
    if not variant:
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    given = {tensor.name for tensor in model.graph.initializer}
    for value in changed.graph.input:
        if value.name in given or not value.type.HasField("tensor_type"):
            continue
        if variant == "unranked":
            value.type.tensor_type.ClearField("shape")
        for place, dim in enumerate(value.type.tensor_type.shape.dim):
            _weaken(dim, place, value.name, variant)
    return changed


def _weaken(dim: onnx.TensorShapeProto.Dimension, place: int, value: str, variant: str) -> None:
    # A dimension of 1 may broadcast, and so has to stay a number.
    if dim.dim_value < 2 or (variant == "batch" and place):
        return
    names = {
        "sizes": f"n{dim.dim_value}",
        "dims": f"{sanitise(value)}_{place}",
        "batch": "N",
    }
    dim.Clear()
    if variant in names:
        dim.dim_param = names[variant]


def conformance(variant: str = "") -> Tally:
    """Compares the node tests of ONNX, with what `variant` makes of their inputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # making the cases overflows
        cases = load_model_tests(kind="node")
    tally = Tally()
    for case in cases:
        if case.model is not None:
            model = with_inputs(case.model, variant)
            compare(case.name, model, load_proto(model), tally)
    return tally


def files(paths: Sequence[Path]) -> Tally:
    """Compares models in files."""
    tally = Tally()
    for path in paths:
        model = onnx.ModelProto.FromString(path.read_bytes())
        name = path.parent.name if path.stem == "model" else path.stem
        compare(name, model, load_onnx(path), tally)
    return tally


def conformance_files() -> list[Path]:
    """Returns the models that ONNX's own tests have as files."""
    data = Path(DATA_DIR)
    folders = ("simple", "pytorch-converted", "pytorch-operator")
    found = [path for folder in folders for path in sorted(data.glob(f"{folder}/*/model.onnx"))]
    return [*found, *sorted(data.glob("light/*.onnx"))]


def zoo_files(zoo: Path) -> list[Path]:
    """Returns the models of a folder with one subfolder a model."""
    return sorted(zoo.glob("*/model.onnx"))


def _row(title: str, tally: Tally) -> str:
    counts = [tally.outcomes[outcome] // 2 for outcome in _RANKING]
    others = [len(tally.accepted) // 2, len(tally.refused)]
    cells = [title, tally.models, sum(counts) + others[0], *counts, *others]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Compare types with ONNX's shape inference.")
    parser.add_argument("--zoo", type=Path, default=ZOO)
    parser.add_argument("--details", action="store_true", help="list what is worse and refused")
    args = parser.parse_args()
    tallies = {f"node tests, {shown}": conformance(v) for v, shown in VARIANTS.items()}
    tallies["other models of ONNX's tests"] = files(conformance_files())
    if paths := zoo_files(args.zoo):
        tallies["exported models"] = files(paths)
    heads = ["models", "compared", "values", *Outcome, "accepted", "refused"]
    lines = [f"| {' | '.join(heads)} |", "| --- |" + " ---: |" * (len(heads) - 1)]
    lines += [_row(title, tally) for title, tally in tallies.items()]
    if args.details:
        for tally in tallies.values():
            lines += [*tally.worse, *tally.accepted, *tally.refused]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
