"""Rules from outside: a TOML file, or a Python module that the user names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import cast

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.fusion.match import blame
from ge_dialect.passes.fusion.rule import FusionRule, Rule, SiblingRule


def is_source(text: str) -> bool:
    """Whether a text names a file or module, not a rule: it has a point or a slash in it."""
    return "." in text or "/" in text


def load_rules(source: str) -> tuple[Rule, ...]:
    """Returns the rules of a file or module.

    Args:
        source: Path of a `.toml` file, which is only read; or of a `.py` file, or the dotted name
            of a module, which is run.

    Raises:
        GEError: It cannot be read (GE0101), is malformed (GE0427), or fails (GE0428).
    """
    if source.lower().endswith(".toml"):
        from ge_dialect.passes.fusion.toml_rules import read_rules

        return read_rules(source)
    from ge_dialect.passes.fusion.article import registered

    before = len(registered())
    module = _run(source)
    own = getattr(module, "RULES", None)
    if own is not None:
        return as_rules(own, f"'RULES' of '{source}'")
    if new := registered()[before:]:
        return new
    return _of_module(module, source)


_FORMS = "give a .toml or .py file, or the dotted name of a module that Python finds"


def _of_module(module: ModuleType, source: str) -> tuple[Rule, ...]:
    """Returns the rules that a module registered when it was imported before."""
    from ge_dialect.passes.fusion.article import registered_by

    if not (rules := registered_by(module.__name__)):
        raise GEError(
            "GE0428",
            f"'{source}' has no fusion rules",
            hint="give them in a tuple RULES, or register them as docs/fusion_rules.md shows",
        )
    return rules


def _run(source: str) -> ModuleType:
    try:
        if source.lower().endswith(".py"):
            return _from_file(source)
        if "/" in source:
            raise GEError("GE0428", f"'{source}' is no file of fusion rules", hint=_FORMS)
        return import_module(source)
    except GEError:
        raise
    except (Exception, SystemExit) as error:  # a module that ends the process is no library
        what = f"{type(error).__name__}: {error}"
        raise GEError(
            "GE0428",
            f"the rules in '{source}' cannot be loaded: {what}",
            hint=_FORMS,
        ) from error


def _from_file(path: str) -> ModuleType:
    name = f"ge_rules_{Path(path).stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise GEError("GE0101", f"cannot read '{path}': no such file", hint="check the path")
    module = module_from_spec(spec)
    sys.modules[name] = module  # for dataclasses in it, which look their module up
    spec.loader.exec_module(module)
    return module


def as_rules(found: object, where: str) -> tuple[Rule, ...]:
    """Returns rules out of a rule, an iterable of rules, or a function that returns one.

    Raises:
        GEError: It is something else (GE0428).
    """
    if callable(found):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            problem = f"{where} cannot be asked for its rules: {blame(error)}"
            raise GEError("GE0428", problem, hint="correct it") from error
    if isinstance(found, FusionRule | SiblingRule):
        return (found,)
    if isinstance(found, Iterable):
        rules = tuple(cast("Iterable[object]", found))
        if all(isinstance(rule, FusionRule | SiblingRule) for rule in rules):
            return cast("tuple[Rule, ...]", rules)
    raise GEError(
        "GE0428",
        f"expected {where} to be fusion rules",
        hint="give an iterable of FusionRule and SiblingRule",
    )
