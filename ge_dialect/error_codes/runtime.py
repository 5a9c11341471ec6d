"""Error codes GE08xx: running a compiled model."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

RUNTIME: dict[str, CodeInfo] = {
    "GE0801": CodeInfo(
        title="inputs are missing",
        symptom="A model is run without some of its inputs; the message lists them.",
        cause="The file of inputs lacks them, or no file was given.",
        solution=(
            "Put them into the `.npz` file, or let `ge-run --random-inputs 0` make them;"
            " `ge-run --print-inputs` lists names, shapes and types."
        ),
    ),
    "GE0802": CodeInfo(
        title="name of no input or output",
        symptom="An array is given under a name that the model does not have, or twice.",
        cause="The name was mistyped, or the file belongs to another model.",
        solution="Use a name that the message lists, plain or with `input.` or `output.` before.",
    ),
    "GE0803": CodeInfo(
        title="array of another shape or type",
        symptom="An array has not the shape or element type that the model was compiled for.",
        cause=(
            "A plan is made for one set of shapes and types, and nothing is converted silently:"
            " numpy's default float64 is not float32."
        ),
        solution="Convert the array, as the message says, or compile for the other shape.",
    ),
    "GE0804": CodeInfo(
        title="not a file of arrays",
        symptom="A file of inputs or of references is no `.npz` file, or is damaged.",
        cause="It was written by `numpy.save` or another tool, or was cut.",
        solution="Write it with `numpy.savez('in.npz', x=array)`.",
    ),
    "GE0805": CodeInfo(
        title="pickled objects",
        symptom="An array in a `.npz` file holds pickled Python objects.",
        cause="It was saved with the element type `object`; loading it could run any code.",
        solution="Save numbers, or strings after `.astype('U')`.",
    ),
    "GE0806": CodeInfo(
        title="memory of a plan",
        symptom="The memory that a plan asks for can not be provided, or contradicts its contents.",
        cause="The model is too large for this machine, or the file is damaged.",
        solution="Compile for a smaller batch or sequence, or compile the model again.",
    ),
    "GE0807": CodeInfo(
        title="launch does not fit its kernel",
        symptom="A task launches a kernel that is not there, or takes other buffers.",
        cause="The plan was edited, or written by another tool.",
        solution="Compile the model again. If that does not help, report it as a bug.",
    ),
    "GE0808": CodeInfo(
        title="kernel failed",
        symptom="A kernel can not compute its results; the message names task and node.",
        cause="A value is outside of what the op allows, such as an index out of range.",
        solution="Check the values of the inputs. Random inputs do not suit every model.",
    ),
    "GE0809": CodeInfo(
        title="kernel computed another type",
        symptom="A result has not the shape or element type that the plan has room for.",
        cause="Type inference and reference semantics of an op disagree.",
        solution="Report it as a bug, with the name of the kernel.",
    ),
    "GE0810": CodeInfo(
        title="streams stand still",
        symptom="All streams of a plan wait for events that nobody records.",
        cause="The plan was edited, or written by another tool.",
        solution="Compile the model again. If that does not help, report it as a bug.",
    ),
    "GE0811": CodeInfo(
        title="reference lacks outputs",
        symptom="The file given to `ge-run --compare` does not hold every output of the model.",
        cause="The file belongs to another model, or to an older version of it.",
        solution="Write all outputs into the file, as `y` or `output.y`.",
    ),
    "GE0812": CodeInfo(
        title="object without a value",
        symptom="A task reads an object of the plan before any task has written it.",
        cause="The plan was edited, or written by another tool.",
        solution="Compile the model again. If that does not help, report it as a bug.",
    ),
    "GE0813": CodeInfo(
        title="value that is no array",
        symptom="A sequence, an optional or a map is wanted where a file holds arrays.",
        cause="`.npz` files hold arrays; inputs and outputs of other kinds have no place there.",
        solution="Run the plan through the Python API, which takes and returns lists, None and"
        " dictionaries: `CompiledPlan.run`.",
    ),
    "GE0820": CodeInfo(
        title="size outside its range",
        symptom="A dimension of an input is no size that the plan was compiled for.",
        cause="The plan holds for a range of sizes; the message names symbol, value and range.",
        solution="Compile the model for a range that holds the size, with `--input_shape`.",
    ),
    "GE0821": CodeInfo(
        title="sizes do not fit together",
        symptom="Two dimensions of inputs are each in their range, but not together.",
        cause="An op of the model needs them to be equal, to broadcast, or to divide each other.",
        solution="Give inputs whose sizes fit; the hint names the op that needs it.",
    ),
    "GE0822": CodeInfo(
        title="no gear for the sizes",
        symptom="The sizes of the inputs are those of no gear that the model was compiled for.",
        cause="A model with gears runs at exactly their sizes.",
        solution="Pad the inputs to the next gear, or compile the model with a further gear.",
    ),
}
