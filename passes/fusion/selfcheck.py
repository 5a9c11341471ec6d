"""The check of a rule by running it: pattern and kernel agree on sampled inputs.

What passed is kept by the content of the rule in the user's cache folder, so that a library is
checked once. `GE_DIALECT_CACHE=off` keeps nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import InterpretationError, VerifyException

from ge_dialect.diagnostics import GEError
from ge_dialect.ge.structure import FusionOp
from ge_dialect.passes.fusion.content import content_key
from ge_dialect.passes.fusion.rule import FusionRule, Rule
from ge_dialect.passes.fusion.samples import sample_of, variants_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CACHE_VARIABLE = "GE_DIALECT_CACHE"
"""A folder for what is kept between runs, or `off`."""

SPECIAL = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-40)
"""Mixed into the samples: what rounds, overflows, is lost, or compares with nothing."""

SEEDS = tuple(range(1, 13))
"""The first sample is of common numbers, the second has each special value, the others no other."""

VARIANT_SEEDS = SEEDS[:3]
"""Samples of each further graph that a rule with a replacement is tried on."""

HALF_TOLERANCE = 2e-2
"""Of f16, where a rule has a tolerance: as in `--check-numerics`."""

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
    replaces = isinstance(rule, FusionRule) and rule.replacement is not None
    if (module := firing_sample(rule)) is None:
        if rule.example:
            raise _refused(rule, "does not fire on its example", _EXAMPLE)
        if replaces:
            problem = "has a replacement, and fires on no graph that is made out of its pattern"
            raise _refused(rule, problem, _EXAMPLE)
        return False
    fused = module.clone()
    fires(rule, fused)
    _compare_runs(rule, module, fused, SEEDS if replaces else SEEDS[:1], "")
    if isinstance(rule, FusionRule) and replaces:
        _check_variants(rule)
    return True


def firing_sample(rule: Rule) -> ModuleOp | None:
    """Returns a graph that a rule fires on: its example, or the plainest that is made out of its
    pattern and that its conditions let pass; None where there is none.

    Raises:
        GEError: The rule's own code fails, or what it makes is not valid.
    """
    module = sample_of(rule)
    if module is not None and fires(rule, module.clone()):
        return module
    if rule.example:
        return None
    return next((one for one, _ in variants_of(rule) if fires(rule, one.clone())), None)


def _check_variants(rule: FusionRule) -> None:
    """Tries a replacement on all that the pattern allows, not on the plainest graph alone: on
    optional ops and operands, swapped operands, other attributes, shapes and element types."""
    for module, words in variants_of(rule):
        fused = module.clone()
        try:
            if not fires(rule, fused):
                continue
        except GEError as error:
            message = f"{error.message} (tried {words})" if words else error.message
            raise GEError(error.code, message, hint=f"{error.hint}{_AWAY}") from error
        _compare_runs(rule, module, fused, VARIANT_SEEDS, words)


def _compare_runs(
    rule: Rule, module: ModuleOp, fused: ModuleOp, seeds: Sequence[int], words: str
) -> None:
    for seed in seeds:
        feeds = sample_inputs(module, seed)
        _compare(rule, _run(rule, module, feeds), _run(rule, fused, feeds), words)


_AWAY = "; or keep the rule away by a condition, as element_type('x', 'f32')"

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
            Fuser(function.body.block, quiet=True).apply(rule)
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
    rule: Rule,
    before: Sequence[npt.NDArray[Any]],
    after: Sequence[npt.NDArray[Any]],
    words: str,
) -> None:
    import numpy as np

    for index, (wanted, found) in enumerate(zip(before, after, strict=True)):
        where = f" (tried {words})" if words else ""
        if wanted.shape != found.shape or wanted.dtype != found.dtype:
            kinds = [f"{array.dtype}{list(array.shape)}" for array in (found, wanted)]
            problem = f"gives {kinds[0]} for {kinds[1]} as result {index}{where}"
            raise _refused(rule, problem, "correct the replacement")
        places = np.argwhere(~_agree(wanted, found, _tolerance(rule, wanted.dtype)))
        if not len(places):
            continue
        place = tuple(int(axis) for axis in places[0])
        problem = (
            f"gives {found[place]} for {wanted[place]} at {list(place)} of result {index},"
            f" {len(places)} of {wanted.size} elements differ{where}"
        )
        hint = "correct the replacement, or say its `tolerance`"
        raise _refused(rule, problem, f"{hint}{_AWAY}" if words else hint)


def _tolerance(rule: Rule, dtype: npt.DTypeLike) -> float:
    """Returns how far values may be off: what the rule says is of f32, f16 has fewer digits."""
    import numpy as np

    said = rule.tolerance if isinstance(rule, FusionRule) else 0.0
    return max(said, HALF_TOLERANCE) if said and dtype == np.float16 else said


def _agree(
    wanted: npt.NDArray[Any], found: npt.NDArray[Any], tolerance: float
) -> npt.NDArray[np.bool_]:
    """Returns where arrays are equal, NaN and the sign of zero included; with a tolerance less
    so."""
    import numpy as np

    if tolerance and np.issubdtype(wanted.dtype, np.inexact):
        with np.errstate(all="ignore"):
            return np.isclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    same = (wanted == found) & (np.signbit(wanted) == np.signbit(found))
    return np.asarray(same | (_is_nan(wanted) & _is_nan(found)))


def _is_nan(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array != array  # noqa: PLR0124  # the types of ml_dtypes have no isnan everywhere


def _refused(rule: Rule, problem: str, hint: str | None = None) -> GEError:
    return GEError("GE0429", f"rule '{rule.name}' {problem}", hint=hint)


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
