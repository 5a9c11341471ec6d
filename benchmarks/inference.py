"""What is known of the values of dynamic models: ours, and three other shape inferences.

    python benchmarks/inference.py [--zoo DIR] [--peers PYTHON] [--details]

Of each value (inputs and results of the nodes of the main graph, functions inlined) it is counted
whether its rank is known; whether every dimension is a number or an expression over the symbols of
the inputs (a name that a tool made up says nothing); and whether all are numbers. What the file
declares of values is taken out, but for the inputs. Peers are those that the interpreter `--peers`
can import: onnx's own inference with data propagation, onnxruntime's symbolic shape inference, and
onnx-shape-inference. Expressions are compared by evaluating them at three sets of sizes; where two
disagree, and where ours says less, `--details` lists the value.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import onnx

HERE = Path(__file__).resolve().parent
ZOO = HERE.parent.parent / "shared" / "zoo" / "small"

SAMPLES = ((3, 7, 11, 64, 96, 5), (2, 5, 8, 96, 64, 9), (4, 13, 6, 128, 32, 3))
"""Sizes at which expressions are evaluated: of the symbols of a model in order, and again."""

Dims: TypeAlias = "list[list[int] | None] | None"
"""Of a value each dimension at the samples, None where it is not known; None without a rank."""

PEERS = {
    "onnx": """
import onnx
from onnx import shape_inference
def infer(model):
    try:
        return shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError:
        return shape_inference.infer_shapes(model, data_prop=True)
""",
    "onnxruntime": """
import logging
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
logging.disable(logging.CRITICAL)
def infer(model):
    return SymbolicShapeInference.infer_shapes(model, auto_merge=True)
""",
    "onnx-shape-inference": """
import logging
import onnx_ir
from onnx_shape_inference import infer_symbolic_shapes
logging.disable(logging.CRITICAL)
def infer(model):
    found = infer_symbolic_shapes(onnx_ir.from_proto(model), warn_on_missing=False)
    return onnx_ir.to_proto(found)
""",
}

READ = """
import json, sys, onnx, sympy
samples = json.loads(sys.argv[2])
known = {name: getattr(sympy, name) for name in ("floor", "ceiling", "Max", "Min", "Mod")}
known |= {"max": sympy.Max, "min": sympy.Min, "__builtins__": {}}
def numbers(sizes):
    return {name: sympy.Integer(size) for name, size in sizes.items()}
def value_of(dim):
    if dim.HasField("dim_value"):
        return [dim.dim_value] * len(samples) if dim.dim_value >= 0 else None
    text = dim.dim_param
    if not text:
        return None
    try:
        return [int(eval(text, known | numbers(sizes))) for sizes in samples]
    except (NameError, SyntaxError):
        return None  # a name that the tool made up
model = infer(onnx.load(sys.argv[1]))
graph = model.graph
shapes = {}
for value in (*graph.input, *graph.value_info, *graph.output):
    if value.type.WhichOneof("value") == "tensor_type" and value.type.tensor_type.HasField("shape"):
        shapes[value.name] = [value_of(dim) for dim in value.type.tensor_type.shape.dim]
print(json.dumps(shapes))
"""


@dataclass
class Counts:
    """How many values of a model a tool knows how well, and how it compares with ours.

    Attributes:
        rank: With a known rank.
        expressions: With every dimension as a number or an expression.
        numbers: With every dimension as a number.
        better: Values of which the tool says more than ours.
        other: Values of which it says something else.
        failed: Why the tool gave nothing, or "".
        reasons: Of a total, why the tool gave nothing, by model.
    """

    rank: int = 0
    expressions: int = 0
    numbers: int = 0
    better: list[str] = field(default_factory=list[str])
    other: list[str] = field(default_factory=list[str])
    failed: str = ""
    reasons: list[str] = field(default_factory=list[str])

    def cell(self) -> str:
        """Returns the counts as the table has them."""
        return "fails" if self.failed else f"{self.rank} / {self.expressions} / {self.numbers}"


def bare(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns a model without functions and without what it declares of its values."""
    import onnx
    from onnx import inliner

    plain: onnx.ModelProto = onnx.ModelProto()
    plain.CopyFrom(inliner.inline_local_functions(model) if model.functions else model)
    for index, graph in enumerate(_graphs(plain.graph)):
        del graph.value_info[:]
        for value in (*graph.output, *(graph.input if index else ())):
            element = value.type.tensor_type.elem_type
            value.type.tensor_type.Clear()
            value.type.tensor_type.elem_type = element
    return plain


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.g.node else ())):
                yield from _graphs(inner)


def values_of(model: onnx.ModelProto) -> list[str]:
    """Returns the names that are compared: inputs, and results of the nodes of the main graph."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value.name for value in model.graph.input if value.name not in weights]
    return [*inputs, *(name for node in model.graph.node for name in node.output if name)]


def samples_of(model: onnx.ModelProto) -> list[dict[str, int]]:
    """Returns sizes for the symbols of the inputs of a model."""
    names: dict[str, None] = {}
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param and dim.dim_param.isidentifier():
                names[dim.dim_param] = None
    return [
        {name: sizes[i % len(sizes)] + 8 * (i // len(sizes)) for i, name in enumerate(names)}
        for sizes in SAMPLES
    ]


def our_shapes(model: onnx.ModelProto, samples: Sequence[Mapping[str, int]]) -> dict[str, Dims]:
    """Returns what the first passes of a compilation know of each value of a model."""
    from ge_dialect.frontends.onnx.load import load_proto
    from ge_dialect.frontends.onnx.normalize import normalize
    from ge_dialect.ge.types import is_tensor, shape_of
    from ge_dialect.passes.pipelines import OptimizePipeline
    from ge_dialect.tools.api import make_context
    from tests.inference_table import Recorder

    recorder = Recorder.recording(normalize(load_proto(model)))
    module = recorder.module()
    before = {name: value.type for name, value in recorder.seen.items()}
    OptimizePipeline(0).apply(make_context(), module)
    found: dict[str, Dims] = {}
    for name, value in recorder.seen.items():
        # A value that was replaced keeps the type that it had.
        types = [type_ for type_ in (value.type, before[name]) if is_tensor(type_)]
        found[name] = [_at(dim, samples) for dim in shape_of(types[0])] if types else None
    return found


def _at(dim: Any, samples: Sequence[Mapping[str, int]]) -> list[int] | None:
    from ge_dialect.symbols import evaluate

    try:
        return None if dim is None else [evaluate(dim, sizes) for sizes in samples]
    except ValueError:  # a symbol for a size that depends on data
        return None


def their_shapes(
    python: str, tool: str, path: Path, samples: Sequence[Mapping[str, int]]
) -> dict[str, Dims] | str:
    """Returns what a peer knows of each value of a model, or why it knows nothing."""
    command = [python, "-c", PEERS[tool] + READ, str(path), json.dumps(samples)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:60]
    return json.loads(done.stdout.splitlines()[-1])


def available(python: str) -> list[str]:
    """Returns the peers that an interpreter can import."""
    return [
        tool
        for tool, script in PEERS.items()
        if not subprocess.run([python, "-c", script], capture_output=True, check=False).returncode
    ]


def count(names: Sequence[str], shapes: Mapping[str, Dims] | str) -> Counts:
    """Counts how well the values of a model are known."""
    if isinstance(shapes, str):
        return Counts(failed=shapes)
    found = Counts()
    for name in names:
        if (dims := shapes.get(name)) is not None:
            found.rank += 1
            found.expressions += all(dim is not None for dim in dims)
            found.numbers += all(dim is not None and len({*dim}) == 1 for dim in dims)
    return found


def compare(ours: Mapping[str, Dims], theirs: Mapping[str, Dims], found: Counts) -> None:
    """Notes the values of which a tool says more than ours, or something else."""
    for name, dims in theirs.items():
        mine = ours.get(name)
        if dims is None or name not in ours:
            continue
        if mine is None:
            found.better.append(f"{name}: rank {len(dims)}")
        elif len(mine) != len(dims) or any(
            a is not None and b is not None and a != b for a, b in zip(mine, dims, strict=True)
        ):
            found.other.append(f"{name}: {mine}, the tool has {dims}")
        elif any(a is None and b is not None for a, b in zip(mine, dims, strict=True)):
            found.better.append(f"{name}: {mine}, the tool has {dims}")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Compare shape inferences on dynamic models.")
    parser.add_argument("--zoo", type=Path, default=ZOO)
    parser.add_argument("--peers", default=sys.executable, help="interpreter with the peers")
    parser.add_argument("--details", action="store_true", help="list what differs")
    args = parser.parse_args()
    tools = available(args.peers)
    sys.stdout.write(f"| model | values | ours | {' | '.join(tools)} |\n")
    sys.stdout.write("| --- | ---: |" + " ---: |" * (len(tools) + 1) + "\n")
    work = HERE.parent / "build" / "inference"
    work.mkdir(parents=True, exist_ok=True)
    totals = {tool: Counts() for tool in ("ours", *tools)}
    values = 0
    for folder in sorted(path.parent for path in args.zoo.glob("*-dyn*/model.onnx")):
        names, row = measure(folder, args.peers, tools, work / "model.onnx")
        values += len(names)
        cells = [row[tool].cell() for tool in totals]
        sys.stdout.write(f"| `{folder.name}` | {len(names)} | {' | '.join(cells)} |\n")
        for tool, found in row.items():
            _add(totals[tool], found, folder.name)
    cells = [totals[tool].cell() for tool in totals]
    sys.stdout.write(f"| all | {values} | {' | '.join(cells)} |\n")
    for tool in tools:
        found = totals[tool]
        more, other = len(found.better), len(found.other)
        sys.stdout.write(f"{tool}: says more of {more} values, something else of {other}\n")
        for line in (*found.better, *found.other, *found.reasons) if args.details else ():
            sys.stdout.write(f"  {line}\n")


def measure(
    folder: Path, python: str, tools: Sequence[str], path: Path
) -> tuple[list[str], dict[str, Counts]]:
    """Returns the names of the values of a model, and for each tool what it knows of them."""
    import onnx

    model = bare(onnx.ModelProto.FromString((folder / "model.onnx").read_bytes()))
    path.write_bytes(model.SerializeToString())
    names, samples = values_of(model), samples_of(model)
    ours = our_shapes(model, samples)
    row = {"ours": count(names, ours)}
    for tool in tools:
        theirs = their_shapes(python, tool, path, samples)
        row[tool] = count(names, theirs)
        if not isinstance(theirs, str):
            wanted = {name: theirs[name] for name in names if name in theirs}
            compare(ours, wanted, row[tool])
    return names, row


def _add(total: Counts, found: Counts, model: str) -> None:
    total.rank += found.rank
    total.expressions += found.expressions
    total.numbers += found.numbers
    if found.failed:
        total.reasons.append(f"{model}: {found.failed}")
    total.better += [f"{model}: {line}" for line in found.better]
    total.other += [f"{model}: {line}" for line in found.other]


if __name__ == "__main__":
    main()
