"""Error codes GE05xx: streams, memory and plans."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

PLANNING: dict[str, CodeInfo] = {
    "GE0501": CodeInfo(
        title="malformed table of buffers",
        symptom="A memory problem in CSV form is not understood; the message names the line.",
        cause="A column is missing, a number is none, or a lifetime ends before it begins.",
        solution="Give the columns `id,lower,upper,size`, with whole numbers and lower < upper.",
    ),
    "GE0502": CodeInfo(
        title="model does not fit, proved",
        symptom="More memory is needed than there is, and no plan can need less.",
        cause=(
            "The buffers that are alive at the peak exceed the memory of the tier or the limit, or"
            " a search has shown that no arrangement of them fits."
        ),
        solution=(
            "Raise the limit, or reduce batch or sequence length. The message lists the largest"
            " buffers at the peak: fusing the ops around them keeps them out of this memory."
        ),
    ),
    "GE0503": CodeInfo(
        title="no plan found that fits",
        symptom="The best plan that was found needs more memory than there is.",
        cause="The buffers fit at each moment, but no arrangement was found that fits always.",
        solution="Raise the limit a little, use fewer streams, or reduce batch or sequence length.",
    ),
    "GE0504": CodeInfo(
        title="reserved places overlap",
        symptom="Two buffers were given places that overlap while both are alive.",
        cause="Reservations or fixed addresses contradict each other.",
        solution="Move one of the two buffers in the message, or leave its place to the planner.",
    ),
    "GE0505": CodeInfo(
        title="plan of memory is wrong",
        symptom="The check that follows planning finds an overlap, a misalignment or an excess.",
        cause="A fault of the planner; for a plan made by hand, a wrong offset.",
        solution="Report it as a bug, with the model; correct the offset of a plan made by hand.",
    ),
    "GE0506": CodeInfo(
        title="tasks wait for each other",
        symptom="A schedule is refused; the message names tasks in a ring.",
        cause="The order of a stream contradicts what its tasks depend on.",
        solution="Reorder the tasks of the stream, or drop the dependency.",
    ),
    "GE0507": CodeInfo(
        title="too few events on the target",
        symptom="The schedule needs more events than the device has.",
        cause="Many dependencies cross streams at a time.",
        solution="Compile for fewer streams.",
    ),
    "GE0508": CodeInfo(
        title="alignment that is not possible",
        symptom="Memory is not planned; the message names the alignment.",
        cause="An alignment is no power of two, or less than what the device transfers at once.",
        solution="Leave the alignment to the target, or give a power of two as the message says.",
    ),
    "GE0509": CodeInfo(
        title="no such address",
        symptom="The memory map is asked for an address that no arena of the plan has.",
        cause="The name of the arena is another one, or the address lies behind its end.",
        solution="Take an arena of the plan, and an address below its size; both are in the map.",
    ),
    "GE0510": CodeInfo(
        title="kernel does not fit on the chip",
        symptom="Not even the smallest tile of a kernel of one op fits into the memory of a core.",
        cause="A limit of L1, UB or L0C was set, of which rows, or blocks of them, need more.",
        solution="Raise the limit of the level in the message; `ge-compile` names what works.",
    ),
    "GE0520": CodeInfo(
        title="inputs without sizes",
        symptom="Memory can not be planned; the message names dimensions of inputs.",
        cause="An input of the model has a dynamic dimension that was given no size and no range.",
        solution=(
            'Give sizes or ranges, as `--input_shape "ids:1,128;mask:1,1~128"`; the hint has the'
            " inputs of this very model."
        ),
    ),
    "GE0521": CodeInfo(
        title="op without a kernel",
        symptom="An op can not be lowered to a kernel; the message names it and its node.",
        cause="The op is neither of the `ge` dialect nor one that the lowering knows.",
        solution=(
            "Convert ops of other dialects to `ge` before lowering, or keep them out of the"
            " function that is compiled."
        ),
    ),
    "GE0522": CodeInfo(
        title="range without an upper bound",
        symptom="Memory can not be planned: a dimension of an input may be any size.",
        cause="Its range has no end, as in `1~-1`. A plan has bytes for the greatest size.",
        solution='Give an upper end, as `--input_shape "ids:1~8,1~512"`.',
    ),
    "GE0523": CodeInfo(
        title="two ports of one name",
        symptom="A function has two inputs, or two outputs, of one name; the message says which.",
        cause="`ge.name` is the same for both, or that of one is what another has by position.",
        solution="Give each a `ge.name` of its own: arrays come and go by these names.",
    ),
    "GE0530": CodeInfo(
        title="number of streams is not possible",
        symptom="A plan is asked for on fewer than one stream, or on more than the target has.",
        cause="The option `streams` was given a number that is too small or too large.",
        solution="Give at least 1 and at most what the message says; one is always possible.",
    ),
    "GE0531": CodeInfo(
        title="too many tasks on a stream",
        symptom="A stream of the plan has more tasks, records and waits than the device takes.",
        cause="The target has `limits.tasks`, and the plan is longer than that.",
        solution="Compile for more streams, or take the limit out of the target's file.",
    ),
    "GE0532": CodeInfo(
        title="stream label that fits nothing",
        symptom="A stream label is refused; the message says which.",
        cause="It is not of the form NODE=LABEL, or no task of the plan comes from such a node.",
        solution="Name a node of the model, or a pattern such as `encoder/*=encoder`.",
    ),
    "GE0540": CodeInfo(
        title="plan is not sound",
        symptom="The check of a plan finds a hazard: the message names tasks, bytes and nodes.",
        cause=(
            "Two accesses to the same bytes are not ordered, an event is missing, or a buffer lies"
            " outside of its arena. A plan of `ge-compile` passes this check always; one that was"
            " edited, or written by another tool, may not."
        ),
        solution="Compile the model again. If that does not help, report it as a bug.",
    ),
}
