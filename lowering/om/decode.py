"""An `.om` file back as a planned module; nothing in the file is trusted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Operation

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.attributes import NamedWeight, WeightAttr
from ge_dialect.lowering.om.checksum import check_weights
from ge_dialect.lowering.om.file import OmFile, read_om
from ge_dialect.lowering.om.layout import PartitionType
from ge_dialect.parsing import TextParser
from ge_dialect.source_text import check_strings
from ge_dialect.validity import verify
from ge_dialect.weights import WeightSource

MAX_DENSE_ELEMENTS = 1 << 20
"""A dense constant in a plan has at most this many; ours have about a thousand.

xDSL expands `dense<0> : tensor<1000000000xf32>` while it parses, so this is checked before.
"""
MAX_ALL_ELEMENTS = 1 << 26
"""All dense constants of a plan together have at most this many."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//|(?<![\w.$%@#!^-])dense(?=\s*<)')
"""What may hide a dense constant, or starts one: a string, a comment, the keyword."""
_DENSE = re.compile(r"dense<[^>]*> : (?:tensor|vector)<((?:[0-9]{1,18}x)*)[^0-9>]")
"""A dense constant as it is written into plans, up to its shape."""


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
    check_constants(text, path)
    module = parse_plan(text, path)
    entry = om.container.find(PartitionType.WEIGHTS_DATA)
    bind_weights(module, path, 0 if entry is None else entry.offset, len(om.weights))
    check_weights(module, om.weights, path)
    return LoadedPlan(module, om.weights, om)


def check_constants(text: str, path: str) -> None:
    """Checks that no constant of a plan takes more time or memory than its text lets one expect.

    Raises:
        GEError: One does, or is in another form than that of plans; or a string does not end.
    """
    try:
        check_strings(text, "plan")
    except GEError as error:
        raise broken(path, error.message) from error
    total = end = 0
    for token in _TOKEN.finditer(text):
        if token.group() == "//":
            raise broken(path, "a comment in its text, where none is ever written")
        if token.start() < end or not token.group().startswith("dense"):
            continue
        if (found := _DENSE.match(text, token.start())) is None:
            raise broken(path, "a constant in its text that is written in an unknown form")
        end = found.end()
        elements = prod(int(dim) for dim in found.group(1).split("x") if dim)
        total += elements
        if elements > MAX_DENSE_ELEMENTS or total > MAX_ALL_ELEMENTS:
            raise broken(path, f"a constant of {elements} elements in its text")


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
        module = TextParser(plan_context(), text, path).parse_module()
        verify(module)
    except RecursionError as error:
        raise broken(path, "regions nested too deeply") from error
    except Exception as error:  # whatever a parser that was not made for hostile text may raise
        raise broken(path, str(error) or type(error).__name__) from error
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
