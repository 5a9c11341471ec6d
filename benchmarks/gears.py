"""What another gear costs to compile: CPU seconds of one set of sizes against several.

    python benchmarks/gears.py [--zoo DIR] [--work DIR] [--repeat N] [--passes]
    python benchmarks/gears.py --all [--zoo DIR] [--only NAME]

Each model is compiled for one set of sizes, then for two gears and for five of other sequence
lengths: CPU seconds of the compilation in this process, best of N, in turn. An extra gear costs the
difference between five and two, divided by three. LLaMA-7B's weights are one sparse file.

`--all` takes every small model with symbols, and counts calls of functions (cProfile) in place of
seconds: the same in every run, whatever else the machine does. Two gears are the smallest and the
largest, five have three between them.
"""

from __future__ import annotations

import argparse
import cProfile
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ge_dialect.tools.api import CompiledPlan, compile

CALLS_AT = {
    "batch": (1, 4, 2, 3, 2),
    "height": (32, 64, 48, 32, 64),
    "images": (1, 3, 2, 2, 1),
    "out_seq": (2, 8, 4, 6, 3),
    "past": (4, 20, 8, 12, 16),
    "seq": (8, 16, 10, 12, 14),
    "texts": (1, 3, 2, 1, 2),
    "total": (5, 21, 9, 13, 17),
    "width": (32, 64, 32, 48, 48),
}
"""Five sizes of each symbol of the small models; those of `lstm.dynamo-dyn` are partly baked in."""
BAKED = {"lstm.dynamo-dyn": {"seq": (7, 7, 7, 7, 7), "batch": (1, 5, 2, 3, 4)}}
HERE = Path(__file__).resolve().parent
ZOO = HERE.parent.parent / "shared" / "zoo"
LLAMA_WEIGHTS = 524_288_000
"""Bytes of the file that every large weight of the LLaMA-7B graph points into."""
SEQUENCES = (128, 2048, 256, 512, 1024)
SMALL = (8, 20, 10, 12, 16)


@dataclass(frozen=True)
class Model:
    """A model with symbolic inputs.

    Attributes:
        name: Of its folder below the zoo.
        shapes: Of the inputs, with `{}` for the length of the sequence.
        places: How many dimensions are the length.
        lengths: That are compiled for.
    """

    name: str
    shapes: str
    places: int
    lengths: Sequence[int] = SMALL


MODELS = (
    Model("llama7b/dynamo-dyn", "input_ids:1,{};attention_mask:1,{}", 2, SEQUENCES),
    Model(
        "small/bert.dynamo-dyn",
        "input_ids:1,{};attention_mask:1,{};token_type_ids:1,{}",
        3,
    ),
    Model("small/llama-prefill.ts-dyn", "input_ids:1,{};attention_mask:1,{}", 2),
    Model("small/gpt2-prefill.dynamo-dyn", "input_ids:1,{};attention_mask:1,{}", 2),
)


def file_of(model: Model, zoo: Path, work: Path) -> Path:
    """Returns the file of a model; the large one stands beside sparse weights."""
    source = zoo / model.name / "model.onnx"
    if not model.name.startswith("llama7b"):
        return source
    folder = work / "llama7b-dyn"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(source.read_bytes())
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(LLAMA_WEIGHTS)
    return folder / "model.onnx"


def compiled(path: Path, model: Model, count: int) -> tuple[float, CompiledPlan]:
    """Returns the CPU seconds of a compilation for so many gears, and the plan; 1 is static."""
    began = time.process_time()
    if count == 1:
        plan = compile(path, input_shapes=model.shapes.replace("{}", str(model.lengths[0])))
    else:
        gears = [(length,) * model.places for length in model.lengths[:count]]
        plan = compile(path, input_shapes=model.shapes.replace("{}", "-1"), dynamic_dims=gears)
    return time.process_time() - began, plan


def shapes_of(path: Path) -> list[tuple[str, list[str | int]]]:
    """Returns the names and the dimensions of the inputs of a model."""
    import onnx

    graph = onnx.ModelProto.FromString(path.read_bytes()).graph
    return [
        (value.name, [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim])
        for value in graph.input
    ]


def calls(path: Path, count: int) -> tuple[int, CompiledPlan]:
    """Returns the calls of functions of a compilation for so many gears, and the plan."""
    sizes = CALLS_AT | BAKED.get(path.parent.name, {})
    places = shapes_of(path)

    def word(dim: str | int) -> str:
        if isinstance(dim, int):
            return str(dim)
        return str(sizes[dim][0]) if count == 1 else "-1"

    shapes = ";".join(f"{name}:{','.join(map(word, dims))}" for name, dims in places)
    open_ = [dim for _, dims in places for dim in dims if isinstance(dim, str)]
    gears = [tuple(sizes[dim][number] for dim in open_) for number in range(count)]
    profile = cProfile.Profile()
    profile.enable()
    plan = compile(path, input_shapes=shapes, dynamic_dims=gears if count > 1 else ())
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), plan


def is_alone(plan: CompiledPlan) -> bool:
    """Whether the smallest gear was optimised by itself as well."""
    return sum(record.name == "ge-raise" for record in plan.passes) > 1


def all_lines(zoo: Path, only: str) -> Iterator[str]:
    """Yields the table of all small models with symbols."""
    yield "| model | calls, one set of sizes | two gears | five gears | an extra gear | twice |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for folder in sorted((zoo / "small").glob("*-dyn*")):
        if only not in folder.name or not folder.is_dir():
            continue
        path = folder / "model.onnx"
        calls(path, 2)
        counts = {count: calls(path, count) for count in (1, 2, 5)}
        one, two, five = (counts[count][0] for count in (1, 2, 5))
        cells = [f"{one / 1000:.0f} k", f"{two / one:.2f}", f"{five / one:.2f}"]
        cells.append(f"{(five - two) / 3 / one:.0%}")
        twice = "yes" if is_alone(counts[5][1]) else ""
        yield f"| `{folder.name}` | {' | '.join(cells)} | {twice} |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measure what an extra gear costs to compile.")
    parser.add_argument("--zoo", type=Path, default=ZOO)
    parser.add_argument("--work", type=Path, default=HERE.parent / "build" / "gears")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--passes", action="store_true", help="list the seconds of each pass")
    parser.add_argument("--all", action="store_true", help="count calls, of all small models")
    args = parser.parse_args()
    if args.all:
        for line in all_lines(args.zoo, args.only):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        return
    lines = ["| model | one set of sizes | two gears | five gears | an extra gear |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")
    for model in MODELS:
        if args.only not in model.name:
            continue
        path = file_of(model, args.zoo, args.work)
        compiled(path, model, 2)
        best: dict[int, float] = {}
        plans: dict[int, CompiledPlan] = {}
        for _ in range(args.repeat):
            for count in (1, 2, 5):
                seconds, plans[count] = compiled(path, model, count)
                best[count] = min(seconds, best.get(count, seconds))
        extra = (best[5] - best[2]) / 3
        cells = [f"{best[count]:.2f} s" for count in (1, 2, 5)]
        share = f"{extra:.2f} s ({extra / best[1]:.0%})"
        lines.append(f"| `{model.name}` | {' | '.join(cells)} | {share} |")
        if args.passes:
            lines += pass_lines(plans[1], plans[2], plans[5])
    sys.stdout.write("\n".join(lines) + "\n")


def pass_lines(*plans: CompiledPlan) -> list[str]:
    """Returns for each pass its milliseconds in each of some compilations, all runs together."""
    totals: dict[str, list[float]] = {}
    for index, plan in enumerate(plans):
        for record in plan.passes:
            totals.setdefault(record.name, [0.0] * len(plans))[index] += record.seconds
    return [
        f"  {name}: {', '.join(f'{seconds * 1e3:.1f}' for seconds in found)} ms"
        for name, found in totals.items()
    ]


if __name__ == "__main__":
    main()
