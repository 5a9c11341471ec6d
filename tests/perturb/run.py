"""Changes exporter graphs and compares the optimised plan with the plan of the graph as it is.

    python -m tests.perturb [--zoo DIR] [--count N] [--seed N] [--levels 2 3] [--sizes]

Each seed takes one model of the zoo, makes one to three small changes to it (an operator, an
attribute, a constant, a use, another output, nodes in between), puts an infinity, a NaN, a
subnormal or a negative zero into its inputs now and then, and runs it at level 0 and optimised.
With `--sizes` models of symbolic sizes are compiled for ranges, and compared at three sizes with
plans for these sizes alone. A finding is a difference that rounding does not explain, or an error
that level 0 does not have; the model and its inputs are kept in `build/perturb/`. The exit status
is 1 where there is one.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx

from ge_dialect.diagnostics import GEError
from ge_dialect.tools.api import CompileOptions, compile
from ge_dialect.tools.runtime.executor import Executor, load_plan
from tests.perturb.judge import differences
from tests.perturb.mutate import Mutator, rounds_to_half, shaken
from tests.test_dynamic_zoo import feeds_of, five_sizes, ranges_of, shapes_of

Array = npt.NDArray[Any]
ROOT = Path(__file__).resolve().parent.parent.parent
ZOO = ROOT.parent / "shared" / "zoo" / "small"
KEPT = ROOT / "build" / "perturb"
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 1e-40)
OK, REFUSED, UNCHANGED, FOUND = "equal", "refused", "unchanged", "finding"


@dataclass(frozen=True)
class Outcome:
    """What became of one seed.

    Attributes:
        kind: `OK`, `REFUSED` where level 0 refuses it too, `UNCHANGED` or `FOUND`.
        text: The model, the changes, and what is wrong.
    """

    kind: str
    text: str = ""


class Perturbed:
    """A model of the zoo with a few changes, its inputs, and how it was changed."""

    def __init__(self, folder: Path, rng: Random, seed: int):
        self.folder, self.seed = folder, seed
        self.model = onnx.ModelProto.FromString((folder / "model.onnx").read_bytes())
        mutator = Mutator(self.model, rng)
        made = [mutator.change() for _ in range(rng.choice([1, 1, 2, 3]))]
        self.changes = [change for change in made if change is not None]
        self.half = rounds_to_half(self.model)

    def feeds(self, rng: Random) -> dict[str, Array]:
        """Returns the exporter's example, with a special number now and then."""
        with np.load(self.folder / "io.npz") as io:
            prefix = "input."
            found = {n.removeprefix(prefix): io[n] for n in io.files if n.startswith(prefix)}
        if rng.random() < 0.3:
            for name, array in found.items():
                if array.dtype == np.float32 and array.size:
                    found[name] = array.copy()
                    found[name].reshape(-1)[rng.randrange(array.size)] = rng.choice(SPECIAL)
        return found

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.folder.name}: {'; '.join(self.changes)}"


def executor_of(
    model: onnx.ModelProto, work: Path, level: int, shapes: str | None = None
) -> Executor:
    """Compiles a model, and loads what was written.

    Raises:
        GEError: It cannot be compiled, or the file cannot be used.
    """
    (work / "model.onnx").write_bytes(model.SerializeToString())
    options = CompileOptions(level=level)
    compile(work / "model.onnx", input_shapes=shapes, options=options).save(work / "model.om")
    loaded = load_plan(str(work / "model.om"))
    return Executor(loaded.module, loaded.weights)


def references(
    case: Perturbed, feeds: Mapping[str, Array], work: Path, shapes: str | None = None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Returns the results of level 0, as the model is and shaken.

    Raises:
        GEError: Level 0 refuses the model or the inputs.
    """
    wanted = executor_of(case.model, work, 0, shapes).run(feeds)
    model, inputs = shaken(case.model, feeds, case.seed)
    try:
        return wanted, executor_of(model, work, 0, shapes).run(inputs)
    except GEError:
        return wanted, {}


def try_static(case: Perturbed, rng: Random, work: Path, levels: Sequence[int]) -> Outcome:
    """Compares levels with level 0."""
    feeds = case.feeds(rng)
    try:
        wanted, other = references(case, feeds, work)
    except GEError:
        return Outcome(REFUSED)
    for level in levels:
        try:
            found = executor_of(case.model, work, level).run(feeds, poison=True)
        except GEError as error:
            return Outcome(FOUND, f"{case}: -O{level}: {error}")
        for line in differences(wanted, found, other, case.half):
            return Outcome(FOUND, f"{case}: -O{level}: {line}")
    return Outcome(OK)


def try_sizes(case: Perturbed, work: Path) -> Outcome:
    """Compares a plan for ranges with level 0 at three sizes.

    That the plan for ranges is refused, or one size of it, is no finding: it has to fit all sizes.
    """
    ranges, kind = ranges_of(case.folder.name), REFUSED
    try:
        executor = executor_of(case.model, work, 2, shapes_of(case.model, ranges))
    except GEError:
        return Outcome(REFUSED)
    with np.load(case.folder / "io.npz") as samples:
        for number, sizes in enumerate(five_sizes(ranges)[:3]):
            feeds = feeds_of(case.model, samples, sizes, number)
            shapes = ";".join(f"{n}:{','.join(map(str, x.shape))}" for n, x in feeds.items())
            try:
                wanted, other = references(case, feeds, work, shapes)
                found = executor.run(feeds, poison=True)
            except GEError:
                continue
            kind = OK
            for line in differences(wanted, found, other, case.half):
                return Outcome(FOUND, f"{case}: at {sizes}: {line}")
    return Outcome(kind)


def folders_of(zoo: Path, dynamic: bool) -> list[Path]:
    """Returns the models to change; not those of training, whose dropout is random."""
    kind = "-dyn" if dynamic else "-static"
    found = (path.parent for path in zoo.glob("*/model.onnx"))
    return sorted(path for path in found if kind in path.name and "train" not in path.name)


def attempt(folders: Sequence[Path], seed: int, levels: Sequence[int], dynamic: bool) -> Outcome:
    """Returns what becomes of one seed; anything but a clean error is a finding."""
    rng = Random(seed)
    case = Perturbed(rng.choice(folders), rng, seed)
    if not case.changes:
        return Outcome(UNCHANGED)
    with TemporaryDirectory() as folder, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        work = Path(folder)
        try:
            outcome = try_sizes(case, work) if dynamic else try_static(case, rng, work, levels)
        except Exception as error:  # whatever the compiler or the runtime lets out
            outcome = Outcome(FOUND, f"{case}: {type(error).__name__}: {error}")
    if outcome.kind == FOUND:
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / f"{seed}.onnx").write_bytes(case.model.SerializeToString())
    return outcome


def outcomes(args: argparse.Namespace) -> Iterator[Outcome]:
    """Yields the outcomes of the seeds that were asked for."""
    folders = folders_of(args.zoo, args.sizes)
    for seed in range(args.seed, args.seed + args.count):
        yield attempt(folders, seed, args.levels, args.sizes)


def main() -> int:
    """Runs the seeds; 1 where something was found."""
    text = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tests.perturb",
        description=text[0],
        epilog=text[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--zoo", type=Path, default=ZOO)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--levels", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--sizes", action="store_true")
    counts = Counter[str]()
    for outcome in outcomes(parser.parse_args()):
        counts[outcome.kind] += 1
        if outcome.text:
            print(outcome.text, flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts[FOUND] else 0
