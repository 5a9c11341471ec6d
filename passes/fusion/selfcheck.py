"""The check of a rule by running it: pattern and kernel agree on sampled inputs.

What passed is kept by the content of the rule in the user's cache folder, so that a library is
checked once. `GE_DIALECT_CACHE=off` keeps nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import InterpretationError, VerifyException

from ge_dialect import __version__
from ge_dialect.diagnostics import GEError
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes.fusion.rule import FusionRule, Rule
from ge_dialect.passes.fusion.samples import sample_of

if TYPE_CHECKING:
    import numpy.typing as npt

CACHE_VARIABLE = "GE_DIALECT_CACHE"
"""A folder for what is kept between runs, or `off`."""

SPECIAL = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-40)
"""Mixed into the samples: what rounds, overflows, is lost, or compares with nothing."""

SEEDS = tuple(range(1, 13))
"""The first sample is of common numbers, the second has each special value, the others no other."""

_checked: set[str] = set()


def check_rules(rules: Iterable[Rule]) -> None:
    """Checks rules from outside, each once.

    Raises:
        GEError: Pattern and kernel of one disagree, or it cannot be tried (GE0429).
    """
    for rule in rules:
        key = content_key(rule)
        if key in _checked:
            continue
        if not _is_kept(key):
            check_rule(rule)
            _keep(key)
        _checked.add(key)


def check_rule(rule: Rule) -> bool:
    """Runs a rule's sample as it is and fused, and compares; returns whether there is a sample.

    A rule without a replacement wraps the ops that it matched, which cannot change a value: it
    needs no sample. Its example must fire, where it has one.

    Raises:
        GEError: The values differ, the rule does not fire on its example, or it has a replacement
            and no example can be made (GE0429).
    """
    module = sample_of(rule)
    replaces = isinstance(rule, FusionRule) and rule.replacement is not None
    if module is None:
        if replaces:
            raise _refused(rule, "has a replacement and no example to try it on", _EXAMPLE)
        return False
    fused = module.clone()
    if not fires(rule, fused):
        if rule.example or replaces:
            raise _refused(rule, "does not fire on its example", _EXAMPLE)
        return False
    for seed in SEEDS:
        feeds = sample_inputs(module, seed)
        _compare(rule, _run(rule, module, feeds), _run(rule, fused, feeds))
    return True


_EXAMPLE = "give an `example`: a function @main in MLIR's text that the rule fires on"


def fires(rule: Rule, module: ModuleOp) -> bool:
    """Applies a rule alone to a module, whatever its limits; returns whether it fused anything.

    Raises:
        GEError: What it makes is not valid (GE0429).
    """
    from ge_dialect.passes.fusion.fuser import Fuser

    before = _kernels(module)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp):
            Fuser(function.body.block).apply(rule)
    try:
        module.verify()
    except VerifyException as error:
        reason = " ".join(str(error).split())[:200]
        raise _refused(rule, f"makes a kernel that is not valid: {reason}") from error
    return _kernels(module) > before


def _kernels(module: ModuleOp) -> int:
    return sum(isinstance(op, FusionOp) for op in module.walk())


def sample_inputs(module: ModuleOp, seed: int) -> list[npt.NDArray[Any]]:
    """Returns arrays for the function `main`; all but the first seed mix special values in."""
    import numpy as np

    from ge_dialect.ge.dtypes import to_numpy
    from ge_dialect.ge.types import static_shape, tensor_of

    function = next(op for op in module.body.block.ops if isinstance(op, FuncOp))
    generator = np.random.default_rng(seed)
    feeds: list[npt.NDArray[Any]] = []
    for argument in function.body.block.args:
        shape, dtype = static_shape(argument.type), to_numpy(tensor_of(argument).element_type)
        array = generator.standard_normal(shape or ()) * 2
        if seed > 1 and np.issubdtype(dtype, np.floating):
            flat = array.reshape(-1)
            places = generator.permutation(flat.size)[: len(SPECIAL) if seed == 2 else None]
            flat[places] = np.resize(SPECIAL, len(places))
        with np.errstate(all="ignore"):
            feeds.append(np.asarray(array).astype(dtype))
    return feeds


def _run(
    rule: Rule, module: ModuleOp, feeds: Sequence[npt.NDArray[Any]]
) -> tuple[npt.NDArray[Any], ...]:
    from ge_dialect.interpreters.functions import run_function

    try:
        return run_function(module, list(feeds))
    except (InterpretationError, ValueError, ArithmeticError) as error:
        raise _refused(rule, f"cannot be run on its example: {error}", _EXAMPLE) from error


def _compare(
    rule: Rule, before: Sequence[npt.NDArray[Any]], after: Sequence[npt.NDArray[Any]]
) -> None:
    import numpy as np

    tolerance = rule.tolerance if isinstance(rule, FusionRule) else 0.0
    for index, (wanted, found) in enumerate(zip(before, after, strict=True)):
        if _agree(wanted, found, tolerance):
            continue
        with np.errstate(all="ignore"):
            differs = ~np.isclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
        places = np.argwhere(differs | (np.signbit(found) != np.signbit(wanted)))
        place = tuple(int(axis) for axis in places[0])
        message = (
            f"gives {found[place]} for {wanted[place]} at {list(place)} of result {index},"
            f" {len(places)} of {wanted.size} elements differ"
        )
        raise _refused(rule, message, "correct the replacement, or say its `tolerance`")


def _agree(wanted: npt.NDArray[Any], found: npt.NDArray[Any], tolerance: float) -> bool:
    """Whether two arrays are equal, NaN and the sign of zero included; with a tolerance less so."""
    import numpy as np

    if wanted.shape != found.shape or wanted.dtype != found.dtype:
        return False
    if tolerance:
        close = np.isclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
        return bool(close.all())
    same = (wanted == found) & (np.signbit(wanted) == np.signbit(found))
    return bool((same | (_is_nan(wanted) & _is_nan(found))).all())


def _is_nan(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array != array  # noqa: PLR0124  # the types of ml_dtypes have no isnan everywhere


def _refused(rule: Rule, problem: str, hint: str | None = None) -> GEError:
    return GEError("GE0429", f"rule '{rule.name}' {problem}", hint=hint)


def content_key(rule: Rule) -> str:
    """Returns a digest of everything that a rule says and does."""
    parts = "\n".join(_content(rule, 0))
    return hashlib.sha256(f"{__version__}\n{parts}".encode()).hexdigest()


def _content(value: object, depth: int) -> Iterator[str]:
    """Yields what a value is made of; of a function its code and what it holds."""
    if depth > 24:
        return
    if is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for one in fields(value):
            yield from _content(getattr(value, one.name), depth + 1)
    elif isinstance(value, tuple | list):
        for item in cast("Sequence[object]", value):
            yield from _content(item, depth + 1)
    elif isinstance(value, dict):
        yield from _content(list(cast("dict[object, object]", value).items()), depth + 1)
    elif isinstance(value, CodeType):
        yield value.co_code.hex() + repr(value.co_names)
        yield from _content(value.co_consts, depth + 1)
    elif callable(value) and not isinstance(value, type):
        yield from _content(getattr(value, "__code__", type(value).__name__), depth + 1)
        cells = getattr(value, "__closure__", None) or ()
        yield from _content([cell.cell_contents for cell in cells], depth + 1)
    else:
        yield value.__qualname__ if isinstance(value, type) else repr(value)


def cache_folder() -> Path | None:
    """Returns the folder for what is kept between runs; None where nothing is."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen is not None:
        return None if chosen in ("off", "") else Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "ge-dialect"
    except RuntimeError:  # no home
        return None


def _is_kept(key: str) -> bool:
    folder = cache_folder()
    return folder is not None and (folder / "rules" / key).is_file()


def _keep(key: str) -> None:
    if (folder := cache_folder()) is not None:
        with suppress(OSError):  # a folder that cannot be written costs time, nothing else
            (folder / "rules").mkdir(parents=True, exist_ok=True)
            (folder / "rules" / key).touch()
