"""Error codes GE03xx: the IR, its verification and inference."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

IR: dict[str, CodeInfo] = {
    "GE0301": CodeInfo(
        title="types can not be inferred",
        symptom="The types of an op's operands do not fit together; the message says which.",
        cause="The model is inconsistent, or input shapes were given that do not fit it.",
        solution="Check the node that the message names, and the shapes given for the inputs.",
    ),
    "GE0310": CodeInfo(
        title="text can not be parsed",
        symptom="A module in textual form does not parse; the message says where.",
        cause="A syntax error, or an op of a dialect that is not registered.",
        solution=(
            "Correct the place in the message. `--allow-unregistered-dialect` lets ops of unknown"
            " dialects through, in generic form."
        ),
    ),
    "GE0311": CodeInfo(
        title="module is not valid",
        symptom="A module parses, and breaks a rule of one of its ops.",
        cause="The constraint that the message names does not hold for that op.",
        solution="Correct the op; the documentation of each op lists its constraints.",
    ),
    "GE0320": CodeInfo(
        title="elided constant",
        symptom="The value of a constant is needed, and the text it came from does not hold it.",
        cause=(
            "Large constants are printed as a handle (length and digest) without their bytes, and"
            " a module that was printed and parsed again has lost them."
        ),
        solution=(
            "Print with `--embed-constants`, or run all passes in one process, so that the module"
            " is never printed in between."
        ),
    ),
    "GE0330": CodeInfo(
        title="sizes that the model does not take",
        symptom=(
            "A range of sizes is refused; the message names a symbol, its sizes that work, and the"
            " op that needs them."
        ),
        cause=(
            "An op asks two dimensions to be equal or to broadcast, and one of them is a constant,"
            " such as the target of a reshape or a table of positions."
        ),
        solution="Declare the sizes that work, or export the model without the constant.",
    ),
    "GE0331": CodeInfo(
        title="gear that the model does not take",
        symptom="A set of sizes is refused; the message names the gear and the reason.",
        cause="The sizes contradict each other or an op of the model, or one is missing.",
        solution="Correct or drop the gear; the others are fine where the hint says so.",
    ),
    "GE0390": CodeInfo(
        title="a pass left the module invalid",
        symptom="The module was valid before a pass and is not after it.",
        cause="A fault of the pass that the message names.",
        solution="Report it as a bug, with input and pipeline; leave the pass out until then.",
    ),
    "GE0391": CodeInfo(
        title="printed module does not parse back",
        symptom="`--verify-roundtrip` finds that the printed result parses to another module.",
        cause="A fault of the printer or parser of one of the ops.",
        solution="Report it as a bug, with the input; the other form may still be usable.",
    ),
}
