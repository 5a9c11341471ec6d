"""Error codes GE06xx: compiled models (`.om`)."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

OM: dict[str, CodeInfo] = {
    "GE0601": CodeInfo(
        title="truncated file",
        symptom="A compiled model is shorter than its own header or table says.",
        cause="The file was cut while it was copied or downloaded, or the disk was full.",
        solution="Copy the file again, in binary mode, or compile the model again.",
    ),
    "GE0602": CodeInfo(
        title="file changed by a transfer in text mode",
        symptom="A compiled model holds converted line ends.",
        cause="FTP in text mode, or git with `autocrlf`, took the binary file for text.",
        solution="Transfer it in binary mode; for git put `*.om binary` into `.gitattributes`.",
    ),
    "GE0603": CodeInfo(
        title="not a compiled model",
        symptom="A file does not start with the magic number of `.om` files.",
        cause="It is a file of another kind, often the ONNX model itself.",
        solution="Compile the model with `ge-compile model.onnx -o model.om` and give that file.",
    ),
    "GE0604": CodeInfo(
        title="plan of a newer version",
        symptom="The plan in a compiled model has a newer version, or flags that are not known.",
        cause="The file was written by a newer ge-dialect.",
        solution="Update ge-dialect, or compile the model again with the version at hand.",
    ),
    "GE0605": CodeInfo(
        title="plan of an older major version",
        symptom="The plan in a compiled model has an older major version.",
        cause="The format of plans changed since the file was written.",
        solution="Compile the model again with this version of ge-dialect.",
    ),
    "GE0606": CodeInfo(
        title="damaged container",
        symptom="Header, partition table and size of a compiled model contradict each other.",
        cause="The file was damaged, or was written by a faulty tool.",
        solution="Copy the file again, or compile the model again.",
    ),
    "GE0607": CodeInfo(
        title="compiled model can not be written",
        symptom="Writing a `.om` file fails; nothing is left behind.",
        cause=(
            "The folder does not exist or is write-protected, the disk is full, or a file of"
            " weights changed during compilation."
        ),
        solution="Check folder, permissions and free space of the path in the message.",
    ),
    "GE0608": CodeInfo(
        title="no plan of ge-dialect",
        symptom="A `.om` file opens, and its plan partition is of an unknown kind.",
        cause="The file was compiled by another compiler, such as ATC.",
        solution="Compile the model with `ge-compile`; other files can only be displayed.",
    ),
    "GE0609": CodeInfo(
        title="checksum does not match",
        symptom="The contents of a compiled model differ from the checksum stored with them.",
        cause="The file was damaged or edited after it was written.",
        solution="Copy the file again, or compile the model again.",
    ),
    "GE0610": CodeInfo(
        title="plan too large",
        symptom="The text of the plan in a compiled model is larger than the reader allows.",
        cause="The model is extraordinarily large, or the file is made to exhaust memory.",
        solution="Where the file can be trusted, raise the limit of the reader.",
    ),
    "GE0611": CodeInfo(
        title="unreadable message in a compiled model",
        symptom="A partition of a `.om` file is not the protobuf message it should be.",
        cause="The file was damaged, or was written by a faulty tool.",
        solution="Copy the file again, or compile the model again.",
    ),
    "GE0612": CodeInfo(
        title="unsupported kind of compiled model",
        symptom="A `.om` file holds several models, or a model of another kind.",
        cause="It was written by another compiler for features that ge-dialect does not have.",
        solution="Use a file that `ge-compile` wrote.",
    ),
    "GE0613": CodeInfo(
        title="compiled model can not be read",
        symptom="Opening a `.om` file fails.",
        cause="It does not exist, is a folder, or may not be read.",
        solution="Check the path and the permissions of the file.",
    ),
    "GE0620": CodeInfo(
        title="module without a plan",
        symptom="A module can not be written as a compiled model, as it holds no plan, or several.",
        cause="The module was not lowered.",
        solution="Run the pass `ge-lower` before the target `om`, or use `ge-compile`.",
    ),
    "GE0621": CodeInfo(
        title="weights out of place",
        symptom="A weight is planned at another byte than the file stores it at.",
        cause="A plan was edited, or weights were changed after memory was planned.",
        solution="Plan the memory again, with `ge-plan-memory`.",
    ),
    "GE0622": CodeInfo(
        title="plan can not be used",
        symptom="The plan in a compiled model is read, and does not parse or verify.",
        cause="The file was edited, or was written by a faulty or another version.",
        solution="Compile the model again with this version of ge-dialect.",
    ),
    "GE0623": CodeInfo(
        title="binary output needs a file",
        symptom="The target `om` is asked to print to standard output.",
        cause="A compiled model is binary; a terminal or a pipe of text would damage it.",
        solution="Name a file, with `-o model.om`.",
    ),
}
