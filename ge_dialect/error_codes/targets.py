"""Error codes GE07xx: machine descriptions."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

TARGETS: dict[str, CodeInfo] = {
    "GE0701": CodeInfo(
        title="unknown target",
        symptom="No target has the name; the message lists those that exist.",
        cause="The name is misspelled, names a family of chips, or the chip is not described yet.",
        solution="Use one of the listed names, or give a path of a .toml file of your own.",
    ),
    "GE0702": CodeInfo(
        title="target file can not be read",
        symptom="The file of a target is missing, a directory, not readable, or too large.",
        cause="The path is wrong, or the file is something else.",
        solution="Check the path, and that the file is a TOML file of a few kilobytes.",
    ),
    "GE0703": CodeInfo(
        title="malformed target file",
        symptom="The file of a target is refused; the message names the key.",
        cause="A key is missing, unknown, or its value is of the wrong kind or out of range.",
        solution="Copy a file out of `ge_dialect/targets/` and change its figures.",
    ),
    "GE0704": CodeInfo(
        title="malformed target in the IR",
        symptom="The target that a module names is refused; the message names the entry.",
        cause=(
            "`ge.target` or `dlti.target_system_spec` of the module was edited or written by"
            " another tool: an entry is missing, unknown, or of the wrong kind."
        ),
        solution="Set the target anew: `ge-opt -p 'ge-set-target{target=Ascend910B1}'`.",
    ),
    "GE0705": CodeInfo(
        title="limit above what the target has",
        symptom="A limit of L1, UB or L0C is refused; the message says how many bytes there are.",
        cause="A core of the target has less of that memory, or the limit is negative.",
        solution="Give a smaller limit, or describe another machine in a TOML file.",
    ),
}
