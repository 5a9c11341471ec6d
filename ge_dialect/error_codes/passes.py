"""Error codes GE04xx: passes and fusion rules."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

PASSES: dict[str, CodeInfo] = {
    "GE0401": CodeInfo(
        title="rewriting does not end",
        symptom="A pass stops after its budget of rewrites and names two patterns.",
        cause="The two patterns undo each other, so that rewriting would go on for ever.",
        solution=(
            "Disable one of the two. Where both are built in, report it as a bug, with the"
            " reproducer that `ge-opt` wrote."
        ),
    ),
    "GE0410": CodeInfo(
        title="unknown composite",
        symptom="`ge-raise` is asked for a composite that it does not know.",
        cause="The option `composites` has another name than those in the message.",
        solution="Use names of the message, or leave the option out to raise all composites.",
    ),
    "GE0420": CodeInfo(
        title="duplicate fusion rule",
        symptom="Registering a fusion rule fails, since another has the same name.",
        cause="Two operator libraries define the rule, or one is registered twice.",
        solution="Rename one of the rules, or register the library once.",
    ),
    "GE0421": CodeInfo(
        title="unknown fusion rule",
        symptom="A fusion rule is asked for by name and does not exist.",
        cause="The name was mistyped, or the library that defines it was not loaded.",
        solution="Use one of the names that the message lists.",
    ),
    "GE0422": CodeInfo(
        title="fusion rule leaves an attribute open",
        symptom="A rule is refused: it does not say what an attribute of a matched op may be.",
        cause=(
            "Rules are strict: an attribute that a rule does not mention could change the meaning"
            " of the op without the rule noticing."
        ),
        solution="Constrain the attribute, keep it in the result, or say that any value will do.",
    ),
    "GE0423": CodeInfo(
        title="sibling rule reads too much",
        symptom="A rule that fuses siblings is refused: its ops read several computed values.",
        cause=(
            "Siblings become one kernel where the first of them stands; what the others read"
            " besides the shared operand may not be computed there yet. Constants may be moved."
        ),
        solution="Let the pattern be one shared `Any` and then `Weight` only.",
    ),
    "GE0430": CodeInfo(
        title="unknown optimisation level",
        symptom="A pipeline is asked for a level that does not exist.",
        cause="The option `level` has another value than those in the message.",
        solution="Use one of the levels in the message; the default suits most models.",
    ),
}
