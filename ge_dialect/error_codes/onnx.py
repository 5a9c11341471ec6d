"""Error codes GE02xx: import of ONNX models."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

ONNX: dict[str, CodeInfo] = {
    "GE0201": CodeInfo(
        title="model can not be opened",
        symptom="The path of a model can not be opened for reading.",
        cause="It does not exist, is a folder or no regular file, or may not be read.",
        solution="Give the path of the `.onnx` file itself, and check its permissions.",
    ),
    "GE0202": CodeInfo(
        title="not an ONNX model",
        symptom="A file is read, and is not a valid ONNX model.",
        cause="It is of another kind (text, archive, checkpoint), is empty, or is damaged.",
        solution=(
            "Give a binary ModelProto, as `torch.onnx.export` or `onnx.save` writes it; copy or"
            " export a damaged file again."
        ),
    ),
    "GE0203": CodeInfo(
        title="truncated ONNX model",
        symptom="An ONNX file ends in the middle of a field.",
        cause="It was cut while it was copied or downloaded, or is a pointer of Git LFS.",
        solution="Copy or download the file again.",
    ),
    "GE0204": CodeInfo(
        title="incomplete graph",
        symptom="A model holds no graph, a graph without outputs, or a node without an op type.",
        cause="The exporter or a tool that edited the model left it incomplete.",
        solution="Export the model again, or repair the part that the message names.",
    ),
    "GE0205": CodeInfo(
        title="opset is missing or not supported",
        symptom=(
            "A model imports no opset, one below 1 or newer than the installed onnx package, or one"
            " domain twice."
        ),
        cause="`opset_import` is incomplete, or comes from a newer exporter.",
        solution=(
            "Update the onnx package, convert the model with `onnx.version_converter`, or complete"
            " `opset_import`."
        ),
    ),
    "GE0206": CodeInfo(
        title="malformed tensor",
        symptom="Shape, element type and data of a tensor contradict each other.",
        cause="A tool wrote the tensor wrongly, or the file was damaged.",
        solution="Export the model again, or repair the tensor that the message names.",
    ),
    "GE0207": CodeInfo(
        title="external data outside of the folder of the model",
        symptom="A tensor refers to a file that is not below the folder of the model.",
        cause=(
            "The location is absolute, holds `..`, or is a link that leaves the folder. Such"
            " models could read any file of the machine, and are refused."
        ),
        solution="Put the file beside the model, and save the model with relative locations.",
    ),
    "GE0208": CodeInfo(
        title="file of weights is missing",
        symptom="A file that holds weights can not be opened.",
        cause="The file was not copied along with the model, or was moved or renamed since.",
        solution="Put the file beside the model, under the name the model was saved with.",
    ),
    "GE0209": CodeInfo(
        title="file of weights is too short",
        symptom="A file that holds weights ends before a tensor does.",
        cause="The file was cut, was replaced, or belongs to another model.",
        solution="Copy the file again, together with its model.",
    ),
    "GE0210": CodeInfo(
        title="nodes form a cycle",
        symptom="A node uses a value that is computed from its own results.",
        cause="A tool that edited the model joined the wrong values. Nodes that are merely out of "
        "order are sorted.",
        solution="Break the cycle, or export the model again.",
    ),
    "GE0211": CodeInfo(
        title="undefined value",
        symptom="A node or an output of the graph uses a name that nothing defines.",
        cause="A node or initializer was removed or renamed, and its users were not.",
        solution="Repair the users that the message names, or export the model again.",
    ),
    "GE0212": CodeInfo(
        title="duplicate name",
        symptom="Two values, inputs, outputs, initializers or attributes of a node have one name.",
        cause="Graphs were merged, or edited, without renaming.",
        solution="Give them different names, as with `onnx.compose.add_prefix`.",
    ),
    "GE0213": CodeInfo(
        title="unsupported feature of ONNX",
        symptom="A model uses sparse tensors.",
        cause="Sparse initializers and constants have no counterpart in `ge`.",
        solution="Store the tensor densely.",
    ),
    "GE0214": CodeInfo(
        title="local function can not be inlined",
        symptom="Inlining the local functions of a model fails.",
        cause=(
            "The functions call each other in a circle, grow beyond all bounds, or are written for"
            " an opset that can not be converted."
        ),
        solution="Export the model without local functions, for one opset.",
    ),
    "GE0215": CodeInfo(
        title="malformed constant",
        symptom="A `Constant` node has no value, several, or one of an unexpected type.",
        cause="The exporter or a tool that edited the model wrote the node wrongly.",
        solution="Give each `Constant` exactly one of the value attributes of ONNX.",
    ),
    "GE0216": CodeInfo(
        title="malformed input shape",
        symptom="The text of `--input_shape` is not understood.",
        cause="It is not of the form `name:dim,dim;name:dim`, or a range runs backwards.",
        solution='Write `"x:1,3,224,224;ids:1,1~128"`; `-1` is any size.',
    ),
    "GE0217": CodeInfo(
        title="unknown input",
        symptom="A shape or an array is given for an input that the model does not have.",
        cause="The name was mistyped, or the exporter renamed the input.",
        solution="Use one of the names that the message lists.",
    ),
    "GE0218": CodeInfo(
        title="contradicting input shapes",
        symptom="Shapes given for inputs contradict the model or each other.",
        cause=(
            "The rank or a fixed dimension differs from the model, or one symbol would get two"
            " sizes."
        ),
        solution="Give shapes that agree with the model, and one size to each symbol.",
    ),
    "GE0220": CodeInfo(
        title="unsupported operators",
        symptom="A model uses operators that can not be imported; the message lists all of them.",
        cause=(
            "They are of another vendor's domain, are no operators of the model's opset, have a"
            " body or work on maps in a way that nothing implements, or belong to training."
        ),
        solution=(
            "Export the model with operators of ONNX itself, or with local functions that are made"
            " of them; those are inlined."
        ),
    ),
    "GE0221": CodeInfo(
        title="node does not fit its operands",
        symptom="Operands or attributes of a node contradict the operator; the message says how.",
        cause=(
            "The exporter or a tool that edited the model made it inconsistent, or input shapes"
            " were given for which the model is not made."
        ),
        solution="Check the node that the message names, and the shapes given for the inputs.",
    ),
    "GE0222": CodeInfo(
        title="value of an unknown type",
        symptom="An input or a constant has no type that `ge` knows, or elements of none.",
        cause="Sparse tensors, opaque values and some narrow floats have no counterpart in `ge`.",
        solution="Export the model with values of other types as inputs, outputs and constants.",
    ),
    "GE0223": CodeInfo(
        title="type of a value is not known",
        symptom="ONNX can not infer even the element type of what a node gives.",
        cause="The operator has no shape inference, and the model does not declare the type.",
        solution="Declare the type in `value_info`, as `onnx.shape_inference` does.",
    ),
    "GE0224": CodeInfo(
        title="value that no array can be",
        symptom="The dimensions of a value multiply to more elements than 64 bits can address.",
        cause="The model is damaged, or sizes given for its inputs are far too large.",
        solution="Check the shape that the message shows, and the shapes given for inputs.",
    ),
}
