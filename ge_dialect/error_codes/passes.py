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
    "GE0411": CodeInfo(
        title="unknown op to legalize",
        symptom="A legalization is asked for an op that it does not know.",
        cause="The option `ops` has another name than those in the message.",
        solution="Use names of the message, or leave the option out to expand all ops.",
    ),
    "GE0412": CodeInfo(
        title="unknown value of an option",
        symptom="A pass is asked for a kind of arithmetic or a precision that does not exist.",
        cause="The option in the message was given another value than those listed there.",
        solution="Use one of the values that the message lists.",
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
    "GE0424": CodeInfo(
        title="malformed fusion rule",
        symptom="A rule is refused: its pattern, condition, option or example cannot be right.",
        cause=(
            "It names an operand, result, output or option that does not exist, swaps operands of"
            " an op that has not two, or its example does not parse or verify."
        ),
        solution="Correct the part that the message names; docs/fusion_rules.md shows the form.",
    ),
    "GE0425": CodeInfo(
        title="unknown op type in a fusion rule",
        symptom="A rule names an op type that does not exist.",
        cause="The name was mistyped, or the op has no op of its own in `ge`.",
        solution="Use the name of an op in docs/dialects.md, or GE's name of its type.",
    ),
    "GE0426": CodeInfo(
        title="condition without a verdict",
        symptom="A condition of a fusion rule fails, or returns something else than a verdict.",
        cause=(
            "It raises an error on ops that the pattern fits; or it returns a bare truth value, so"
            " that a miss could not be explained."
        ),
        solution="Correct it at the line in the message; return `Verdict(holds, found, wanted)`.",
    ),
    "GE0427": CodeInfo(
        title="malformed file of fusion rules",
        symptom="A TOML file of rules is refused; the message names the line.",
        cause="It is no TOML, a key is missing, unknown or of the wrong kind, or it is too large.",
        solution="Correct the line; docs/fusion_rules.md lists keys and values.",
    ),
    "GE0428": CodeInfo(
        title="operator library cannot be loaded",
        symptom="A module or an installed operator library gives no fusion rules.",
        cause="It is not found, fails while it is imported, or has no `RULES`.",
        solution="Correct what the message says; or name a .toml file instead.",
    ),
    "GE0429": CodeInfo(
        title="fusion rule is wrong",
        symptom="A rule is refused after it was tried: what it makes computes something else.",
        cause=(
            "Its replacement gives other values than the ops it matched, on sampled inputs with"
            " NaN, infinities, signed zeros and large numbers; or its example does not make it"
            " fire, so that it could not be tried."
        ),
        solution=(
            "Correct the replacement; where rounding differs by intention say `tolerance`; give"
            " an `example` that it fires on."
        ),
    ),
    "GE0430": CodeInfo(
        title="unknown optimisation level",
        symptom="A pipeline is asked for a level that does not exist.",
        cause="The option `level` has another value than those in the message.",
        solution="Use one of the levels in the message; the default suits most models.",
    ),
    "GE0431": CodeInfo(
        title="unknown scheduling policy",
        symptom="`ge-schedule` stops before it changes anything.",
        cause="The option `policy` has another value than those in the message.",
        solution="Use one of the policies in the message; the default suits most models.",
    ),
    "GE0440": CodeInfo(
        title="required fusion is missing",
        symptom="`--require-fusion` asks for a fusion that happened less often than it says.",
        cause="The model, the passes before, or the rule changed; the nearest misses say what.",
        solution="Follow the fix of the nearest miss, or lower the number.",
    ),
    "GE0441": CodeInfo(
        title="fusions disappeared",
        symptom="A rule fires less often than when the baseline was written.",
        cause="The model, the passes before, or the rule changed; the nearest misses say what.",
        solution=(
            "Follow the fix of the nearest miss; where fewer is right, delete the baseline and"
            " compile once more."
        ),
    ),
    "GE0442": CodeInfo(
        title="malformed fusion baseline",
        symptom="The file of `--fusion-baseline` is not one that the tool wrote.",
        cause="It was edited, cut, or is another file.",
        solution="Delete it and compile once, to write it anew.",
    ),
    "GE0443": CodeInfo(
        title="malformed fusion switch file",
        symptom="A fusion switch file is neither of GE's two forms.",
        cause=(
            "A line is not `Name:on` or `Name:off`, or the JSON has not the tables"
            " `Switch`, `GraphFusion` and `UBFusion` of names with `on` or `off`."
        ),
        solution="Correct the line in the message; docs/fusion_rules.md shows both forms.",
    ),
    "GE0444": CodeInfo(
        title="replacement of a fusion rule fails",
        symptom="The function that makes the body of a rule's kernel gives no body.",
        cause=(
            "It raises an error, returns something else than new ops in order, reads ops that it"
            " replaces, or its last op has not the results of the matched root."
        ),
        solution="Correct the function as the message says; docs/fusion_rules.md shows one.",
    ),
}
