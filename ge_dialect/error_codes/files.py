"""Error codes GE01xx: files and arguments."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

FILES: dict[str, CodeInfo] = {
    "GE0101": CodeInfo(
        title="file can not be read",
        symptom="An input file can not be opened or read.",
        cause="It does not exist, is a folder, or may not be read.",
        solution="Check the path in the message and the permissions of the file.",
    ),
    "GE0102": CodeInfo(
        title="unknown error code",
        symptom="`ge-opt --explain` is asked for a code that does not exist.",
        cause="The code was mistyped, or belongs to another version of ge-dialect.",
        solution="Copy the code from the error message; `docs/errors.md` lists all of them.",
    ),
    "GE0103": CodeInfo(
        title="file can not be written",
        symptom="An output file can not be written; a file that was there before is unchanged.",
        cause="The folder does not exist or is write-protected, or the disk is full.",
        solution="Create the folder, or choose another output path.",
    ),
    "GE0104": CodeInfo(
        title="pipeline is not understood",
        symptom="The text of `-p` names an unknown pass or option, or does not parse.",
        cause="A name was mistyped, or an option has a value of the wrong kind.",
        solution=(
            "`ge-opt --help` lists all passes. Options are written `pass{name=1 other=true}`, and"
            " a number with an exponent needs a point: `1.0e-3`."
        ),
    ),
    "GE0105": CodeInfo(
        title="wrong arguments",
        symptom="A tool is called with an argument missing, one too many, or of a wrong value.",
        cause="The command line is incomplete, or an option of ATC is used that does not apply.",
        solution="Follow the hint in the message; `--help` shows all arguments of the tool.",
    ),
    "GE0106": CodeInfo(
        title="option of ATC that is not supported",
        symptom="`ge-compile` knows an option of ATC by name, but does not do what it asks for.",
        cause=(
            "The option has no counterpart yet. Values that ask for what is done anyway, such as"
            " `--precision_mode=must_keep_origin_dtype`, are accepted; others are never ignored"
            " silently."
        ),
        solution="Follow the hint in the message; `ge-compile --help` lists what there is.",
    ),
    "GE0107": CodeInfo(
        title="options that exclude each other",
        symptom="Two ways of making sizes dynamic are given at once; ATC calls this E10009.",
        cause="A range and gears, or gears of two kinds, are asked for.",
        solution="Give one of `--input_shape_range`, `--dynamic_batch_size`, `--dynamic_image_size`"
        " and `--dynamic_dims`.",
    ),
    "GE0108": CodeInfo(
        title="malformed gears",
        symptom="Gears or ranges are refused; the message says what is expected.",
        cause="They are no whole numbers, too few, or do not fit the dimensions that are open.",
        solution="Write -1 in `--input_shape` for what differs, and a size for each in every gear:"
        ' `--input_shape "ids:-1,-1" --dynamic_dims "1,128;1,256"`.',
    ),
}
