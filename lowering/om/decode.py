"""An `.om` file back as a planned module; nothing in the file is trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import NamedWeight, WeightAttr
from ge_dialect.lowering.om.file import OmFile, read_om
from ge_dialect.lowering.om.layout import PartitionType
from ge_dialect.weights import WeightSource

MAX_DENSE_ELEMENTS = 1 << 20
"""A dense constant in a plan has at most this many; ours have about a thousand.

xDSL expands `dense<0> : tensor<1000000000xf32>` while it parses, so this is checked before.
"""
_DENSE = re.compile(r"dense<[^>]{0,4096}>\s*:\s*(?:tensor|vector|memref)<([0-9x ]*)")


@dataclass
class LoadedPlan:
    """A plan out of a file.

    Attributes:
        module: Kernels and plan, verified as IR.
        weights: WEIGHTS_DATA, mapped.
        file: The open file; keep it as long as `weights` is used.
    """

    module: ModuleOp
    weights: memoryview
    file: OmFile


def read_plan(path: str) -> LoadedPlan:
    """Returns the plan in an `.om` file.

    Raises:
        GEError: The file is damaged, no `.om`, or its plan does not parse or verify.
    """
    om = read_om(path)
    text = om.plan()
    for shape in _DENSE.findall(text):
        elements = prod(int(dim) for dim in re.findall(r"\d+", shape))
        if elements > MAX_DENSE_ELEMENTS:
            raise broken(path, f"a constant of {elements} elements in its text")
    module = parse_plan(text, path)
    entry = om.container.find(PartitionType.WEIGHTS_DATA)
    bind_weights(module, path, 0 if entry is None else entry.offset, len(om.weights))
    return LoadedPlan(module, om.weights, om)


def plan_context() -> Context:
    """Returns a context with just the dialects that a plan may use."""
    from xdsl.dialects.dlti import DLTI

    from ge_dialect.ge import GE
    from ge_dialect.ge_exec import GE_EXEC

    ctx = Context()
    for dialect in (Builtin, DLTI, GE, GE_EXEC):
        ctx.load_dialect(dialect)
    return ctx


def parse_plan(text: str, path: str) -> ModuleOp:
    """Returns the verified module of a plan's text.

    Raises:
        GEError: It does not parse or verify.
    """
    try:
        module = Parser(plan_context(), text, path).parse_module()
        module.verify()
    except (ParseError, DiagnosticException, VerifyException, ValueError) as error:
        raise broken(path, str(error)) from error
    except RecursionError as error:
        raise broken(path, "regions nested too deeply") from error
    return module


def bind_weights(module: ModuleOp, path: str, start: int, size: int) -> None:
    """Makes every weight of a plan a range of its file.

    Args:
        module: Weights with path "" count from the start of WEIGHTS_DATA.
        path: Of the `.om` file.
        start: Of WEIGHTS_DATA in the file, in bytes.
        size: Of WEIGHTS_DATA, in bytes.

    Raises:
        GEError: A weight lies outside, or in another file.
    """
    for op in module.walk():
        attr = op.properties.get("value")
        if isinstance(attr, WeightAttr):
            op.properties["value"] = _bound(op, attr, path, start, size)


def _bound(op: Operation, attr: WeightAttr, path: str, start: int, size: int) -> WeightAttr:
    weight = attr.data.weight
    if not isinstance(weight, WeightSource) or weight.path:
        raise broken(path, f"weight '{attr.data.name}' is not in the file")
    if weight.offset + weight.length > size:
        raise broken(path, f"weight '{attr.data.name}' ends behind the {size} bytes of weights")
    source = WeightSource(path, start + weight.offset, weight.length)
    return WeightAttr(NamedWeight(attr.data.name, source))


def broken(path: str, what: str) -> GEError:
    """Returns the error of a file whose plan cannot be used."""
    text = " ".join(what.split())
    return GEError(
        "GE0622",
        f"the plan in '{path}' cannot be used: {text[:300]}",
        hint="compile the model again with ge-compile",
    )
