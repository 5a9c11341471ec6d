"""What is fuzzed: for each kind of input its seeds, its mutator, and what a user would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from xdsl.dialects.builtin import ModuleOp, ShapedType

from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.ge_exec import LoopOp
from ge_dialect.lowering.om.decode import check_constants, parse_plan, read_plan
from ge_dialect.lowering.om.encode import plan_of
from ge_dialect.lowering.om.file import read_om
from ge_dialect.lowering.om.model import decode_model_def
from ge_dialect.lowering.om.tasks import decode_tasks
from ge_dialect.lowering.verify_plan import verify_plan
from ge_dialect.passes.fusion.toml_rules import read_rules
from ge_dialect.tools.report.model_info import model_info
from ge_dialect.tools.runtime.executor import Executor
from ge_dialect.tools.runtime.ports import random_feeds
from tests.fuzz.mutate import mutate_bytes, mutate_om, mutate_text
from tests.fuzz.seeds import ROOT, om_files, onnx_models, plan_texts
from tests.test_fusion_toml import FULL

MAX_RUN_ELEMENTS = 1 << 16
"""A plan with a larger tensor than this is loaded and not run: it may rightly take its time."""


@dataclass(frozen=True)
class Target:
    """One kind of input.

    Attributes:
        suffix: Of the file, which tells the kind.
        seeds: Returns right inputs.
        mutate: Returns a damaged one.
        use: Loads a file; raises `GEError` where it is not right, and nothing else ever.
        share: Of the executions of `.om` files, how many of this kind.
    """

    suffix: str
    seeds: Callable[[], Sequence[bytes]]
    mutate: Callable[[bytes, Random], bytes]
    use: Callable[[Path], None]
    share: float = 0.1


def use_om(path: Path) -> None:
    """Does all that the tools do with a file."""
    with read_om(path) as om:  # first, since it takes less time than the plan
        assert om.model.graphs is not None and om.tasks.tasks is not None
        model_info(str(path), ["fuzz"])
    loaded = read_plan(str(path))
    with loaded.file:
        executor = Executor(loaded.module, loaded.weights)
        if is_small(loaded.module):
            executor.run(random_feeds(executor.inputs, 0), schedule_seed=0, poison=True)


def is_small(module: ModuleOp) -> bool:
    """Whether running a plan takes little time and memory."""
    values = [value for op in module.walk() for value in op.results]
    values += [arg for op in module.walk() for r in op.regions for b in r.blocks for arg in b.args]
    types = [value.type for value in values if isinstance(value.type, ShapedType)]
    sizes = [abs(_elements(type)) for type in types]
    looping = any(isinstance(op, LoopOp) for op in module.walk())
    return not looping and max(sizes, default=0) <= MAX_RUN_ELEMENTS


def _elements(type: ShapedType) -> int:
    count = 1
    for dim in type.get_shape():
        count *= dim
    return count


def use_plan(path: Path) -> None:
    """Parses and verifies the text of a plan."""
    text = path.read_text("utf-8", "replace")
    check_constants(text, str(path))
    module = parse_plan(text, str(path))
    verify_plan(plan_of(module))
    Executor(module)


def use_model_def(path: Path) -> None:
    """Decodes a MODEL_DEF partition, or a TASK_INFO partition."""
    data = path.read_bytes()
    decode_model_def(data)
    decode_tasks(data)


def use_rules(path: Path) -> None:
    """Reads fusion rules."""
    read_rules(str(path))


def use_onnx(path: Path) -> None:
    """Imports a model."""
    import_onnx(str(path))


def _messages() -> Sequence[bytes]:
    from ge_dialect.lowering.om.container import read_container
    from ge_dialect.lowering.om.layout import PartitionType

    kinds = PartitionType.MODEL_DEF, PartitionType.TASK_INFO
    return [bytes(read_container(om).view(kind)) for om in om_files() for kind in kinds]


def _plans() -> Sequence[bytes]:
    return [text.encode() for text in plan_texts()]


def _rules() -> Sequence[bytes]:
    return [FULL.encode()]


def _models() -> Sequence[bytes]:
    return [*onnx_models(), (ROOT / "examples" / "bert_tiny.onnx").read_bytes()]


def _text(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.1:
        return mutate_bytes(data, rng)
    return mutate_text(data.decode(), rng).encode()


TARGETS = {
    "om": Target(".om", om_files, mutate_om, use_om, 1.0),
    "plan": Target(".mlir", _plans, _text, use_plan),
    "message": Target(".pb", _messages, mutate_bytes, use_model_def),
    "rules": Target(".toml", _rules, _text, use_rules),
    "onnx": Target(".onnx", _models, mutate_bytes, use_onnx),
}
