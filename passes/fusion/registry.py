"""Where the rules of a compilation come from: the built-in library, installed ones, and files."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.fusion.installed import entry_points_of
from ge_dialect.passes.fusion.rule import Rule, RuleRegistry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "ge_dialect.operator_library"
"""The group of entry points that give rules: an iterable of rules, or a function without
arguments that returns one."""


def built_in_rules() -> tuple[Rule, ...]:
    """Returns the rules of the built-in operator library."""
    from ge_dialect.passes.fusion import library

    return tuple(rule for family in library.families() for rule in family.RULES)


@cache
def growing_rules() -> frozenset[str]:
    """Returns the rules whose kernels automatic fusion may make part of larger ones.

    Those of the built-in library: what others register is a kernel that exists as it is.
    """
    return frozenset(rule.name for rule in built_in_rules())


@cache
def default_registry() -> RuleRegistry:
    """Returns the registry of the built-in rules, which tests check, not each compilation."""
    return RuleRegistry({rule.name: rule for rule in built_in_rules()})


def registry_of(library: tuple[str, ...] = (), *, tried: bool = True) -> RuleRegistry:
    """Returns the registry of a compilation.

    Args:
        library: TOML files and Python modules with further rules.
        tried: Whether further rules are tried on samples, so that one that is wrong is an error.

    Raises:
        GEError: A file or module cannot be read, or one of its rules is refused.
    """
    from ge_dialect.passes.fusion.article import registered

    outside = (*installed_rules(), *registered())
    if not library and not outside:
        return default_registry()
    from ge_dialect.passes.fusion.selfcheck import check_rules
    from ge_dialect.passes.fusion.sources import load_rules

    loaded = [rule for source in library for rule in load_rules(source)]
    # A module may register its rules in the course of being imported: each counts once.
    rules = list({id(rule): rule for rule in (*outside, *loaded)}.values())
    registry = RuleRegistry(dict(default_registry().rules))
    for rule in rules:
        registry.register(rule)
    if tried:
        check_rules(rules)
    return registry


@cache
def installed_rules() -> tuple[Rule, ...]:
    """Returns the rules of the operator libraries that are installed beside this package.

    Raises:
        GEError: One of them cannot be loaded (GE0428).
    """
    return tuple(rule for point in entry_points_of(ENTRY_POINTS) for rule in _rules_of(point))


def _rules_of(point: EntryPoint) -> tuple[Rule, ...]:
    from ge_dialect.passes.fusion.sources import as_rules

    try:
        loaded = point.load()
    except (Exception, SystemExit) as error:  # also of one that ends the process
        what = f"{type(error).__name__}: {error}"
        raise GEError(
            "GE0428",
            f"the operator library '{point.name}' ({point.value}) fails when it is loaded: {what}",
            hint="correct or uninstall it",
        ) from error
    return as_rules(loaded, f"the operator library '{point.name}'")
