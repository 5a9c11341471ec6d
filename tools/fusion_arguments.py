"""Arguments about fusion that `ge-opt` and `ge-compile` share."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ge_dialect.tools.contracts import (
    FUSION_PASS,
    check_baseline,
    check_required,
    required_rules,
    requirement,
)

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from ge_dialect.remarks import Remark


class Arguments(Protocol):
    """Where arguments are added: a parser or a group of one."""

    def add_argument(
        self,
        *names: str,
        metavar: str = ...,
        action: str = ...,
        default: object = ...,
        help: str = ...,
    ) -> argparse.Action:
        """Adds one."""
        ...


def add_fusion_arguments(parser: Arguments) -> None:
    """Adds what both tools take."""
    parser.add_argument(
        "--require-fusion",
        metavar="RULE:N",
        action="append",
        default=[],
        help="fail unless this fusion rule fires N times at least, and tell the nearest misses",
    )
    parser.add_argument(
        "--fusion-baseline",
        metavar="FILE",
        help="write how often each fusion rule fires; if FILE exists, fail where one fires less",
    )
    parser.add_argument(
        "--why-not",
        metavar="RULES",
        default="",
        help="tell, to stderr, every place at which these fusion rules did not fire, and why",
    )


def add_rule_arguments(parser: Arguments) -> None:
    """Adds what `ge-opt` takes about rules."""
    parser.add_argument(
        "--rules",
        metavar="LIST",
        default="",
        help="fusion rules to try, and TOML files or Python modules with further ones",
    )
    parser.add_argument(
        "--disable-rules", default="", metavar="NAMES", help="fusion rules to leave out"
    )
    parser.add_argument(
        "--list-rules",
        action="store_true",
        help="print all fusion rules in the order they are tried, and stop",
    )
    parser.add_argument(
        "--lint-rules",
        action="store_true",
        help="print what is wrong with the fusion rules themselves, and stop",
    )
    add_fusion_arguments(parser)


def names(text: str) -> tuple[str, ...]:
    """Returns the names in a list with commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def split_rules(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the rule names, and the files and modules of rules, in a list with commas."""
    from ge_dialect.passes.fusion.sources import is_source

    given = names(text)
    sources = tuple(name for name in given if is_source(name))
    return tuple(name for name in given if name not in sources), sources


def with_fusion_arguments(pass_: ModulePass, args: argparse.Namespace) -> ModulePass:
    """Returns a pass of a pipeline with what the arguments say added, if it fuses by rules."""
    asked = (*names(args.why_not), *required_rules(args.require_fusion))
    if pass_.name != FUSION_PASS or not (args.rules or args.disable_rules or asked):
        return pass_
    from ge_dialect.passes.fusion.fuse_rules import FuseRulesPass

    assert isinstance(pass_, FuseRulesPass)
    chosen, sources = split_rules(args.rules)
    return replace(
        pass_,
        rules=(*pass_.rules, *chosen),
        disable=(*pass_.disable, *names(args.disable_rules)),
        library=(*pass_.library, *sources),
        why_not=tuple(dict.fromkeys((*pass_.why_not, *asked))),
    )


def needs_remarks(args: argparse.Namespace) -> bool:
    """Whether the arguments ask for something that remarks or counts answer."""
    return bool(args.require_fusion or args.why_not or args.fusion_baseline)


def is_asked(remark: Remark, why_not: str) -> bool:
    """Whether a remark says why one of these rules did not fire."""
    return remark.kind == "missed" and remark.rule in names(why_not)


def check_fusions(
    args: argparse.Namespace,
    counts: Mapping[tuple[str, str], int],
    remarks: Sequence[Remark],
) -> str | None:
    """Checks what was asked of the fusions of a run; returns a line about the baseline.

    Raises:
        GEError: A fusion is missing (GE0440, GE0441).
    """
    fired = fired_rules(counts)
    _, sources = split_rules(args.rules)
    check_required(args.require_fusion, fired, remarks, sources)
    if args.fusion_baseline is None:
        return None
    return check_baseline(args.fusion_baseline, fired, remarks)


def check_requirements(args: argparse.Namespace) -> None:
    """Checks the form of what is required, before the work.

    Raises:
        GEError: One is no `RULE:N` (GE0105).
    """
    for text in args.require_fusion:
        requirement(text)


def fired_rules(counts: Mapping[tuple[str, str], int]) -> dict[str, int]:
    """Returns how often each rule fired, out of the statistics of the passes."""
    return {what: times for (name, what), times in counts.items() if name == FUSION_PASS}


def list_text(rules: str) -> str:
    """Returns all rules, one a line, in the order they are tried: name, kernel, priority, and the
    machines and opsets that one is for only."""
    from ge_dialect.passes.fusion.gates import opsets
    from ge_dialect.passes.fusion.registry import registry_of

    chosen, sources = split_rules(rules)
    lines: list[str] = []
    for rule in registry_of(sources, tried=False).ordered(chosen):
        line = f"{rule.name}: kernel {rule.kernel}, priority {rule.priority}"
        if rule.targets:
            line += f", on {', '.join(rule.targets)}"
        if rule.min_opset is not None or rule.max_opset is not None:
            line += f", opset {opsets(rule)}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def lint_text(rules: str) -> tuple[str, int]:
    """Returns what is wrong with all rules, one a line, and the exit code."""
    from ge_dialect.passes.fusion.lint import lint, newest_opset
    from ge_dialect.passes.fusion.registry import registry_of

    chosen, sources = split_rules(rules)
    registry = registry_of(sources, tried=False)  # what is wrong with one rule hides no other
    registry.ordered(chosen)
    findings = lint(registry, newest_opset())
    if chosen:
        findings = [finding for finding in findings if finding.rule in chosen]
    lines = [str(finding) for finding in findings]
    errors = sum(finding.is_error for finding in findings)
    lines.append(f"{len(registry.rules)} rules, {errors} errors, {len(findings) - errors} warnings")
    return "\n".join(lines) + "\n", 1 if errors else 0
