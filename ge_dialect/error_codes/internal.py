"""Error codes GE09xx: faults of the compiler itself."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

INTERNAL: dict[str, CodeInfo] = {
    "GE0901": CodeInfo(
        title="a pass failed",
        symptom="A pass raises an exception that is no error of the input; the message names both.",
        cause="The pass has a fault: it did not expect what it found in the IR.",
        solution=(
            "Report it as a bug with the reproducer that the message names; it holds the IR before"
            " the pass, and `ge-opt --run-reproducer FILE` fails the same way. Leave the pass out"
            " until then."
        ),
    ),
    "GE0902": CodeInfo(
        title="a pass changed values",
        symptom=(
            "`--check-numerics` finds that a function gives other values than before; the message"
            " names the pass, the rule, which of its matches, and the op."
        ),
        cause="A fault of that rule, or roundings beyond the tolerance of the element type.",
        solution=(
            "Report it as a bug with the reduced module that the message names. Leave the pass or"
            " the rule out until then."
        ),
    ),
    "GE0903": CodeInfo(
        title="numerics cannot be checked",
        symptom="`--check-numerics` finds no function that runs on random arguments.",
        cause=(
            "The module has no public function of tensors, or its ops do not take the arguments:"
            " an index out of range, an op without reference semantics."
        ),
        solution="Give a module whose functions run, or leave the check out.",
    ),
    "GE0904": CodeInfo(
        title="nothing to bisect",
        symptom="`ge-opt --bisect COMMAND` does not look for a rewrite.",
        cause="The command fails already on the input, or succeeds on the result of all passes.",
        solution="Give a command that succeeds on the input and fails on the result.",
    ),
    "GE0905": CodeInfo(
        title="rewrite found by bisection",
        symptom="`ge-opt --bisect COMMAND` names the rewrite after which the command fails.",
        cause="The rewrite that the message names; without it the command succeeds.",
        solution="Look at the rule, or leave it out; `--max-rewrites` shows the IR around it.",
    ),
}
