"""The command line of `ge-compile`: its own options, and those of ATC."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ge_dialect.diagnostics import GEError
from ge_dialect.passes.policy import Policy
from ge_dialect.tools.arguments import Parser, refuse_unknown
from ge_dialect.tools.atc import UNSUPPORTED, check_unsupported
from ge_dialect.tools.check.options import add_shared_arguments, spelled_out
from ge_dialect.tools.fusion_arguments import add_fusion_arguments

FRAMEWORK_ONNX = 5
_SWITCH = "--display-model-info"
CORE_TIERS = ("l1", "ub", "l0c")
_TIERS = ("hbm", "l2", *CORE_TIERS)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def make_parser() -> Parser:
    """Returns the parser of the command line."""
    parser = Parser(
        prog="ge-compile",
        description="Compile a model to an execution plan (.om).",
        epilog="Flags may be spelled with dashes or underscores.",
        allow_abbrev=False,  # else ATC's --mode would be a --model
    )
    _add_files(parser)
    _add_choices(parser)
    _add_arithmetic(parser)
    _add_fusion(parser)
    _add_reports(parser)
    return parser


def _add_files(parser: Parser) -> None:
    parser.add_argument("input", nargs="?", metavar="MODEL", help="an .onnx or .mlir file")
    parser.add_argument("--model", metavar="MODEL", help="the same, as ATC spells it")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the .om file; ATC's form without .om is accepted"
    )
    parser.add_argument(
        "--framework",
        type=int,
        default=FRAMEWORK_ONNX,
        metavar="N",
        help="5, ONNX, is the only one",
    )
    _add_shapes(parser)
    parser.add_argument(
        "--weight-checksum",
        action="store_true",
        help="also for more than 16 MiB of weights, which a load then reads all of",
    )


def _add_shapes(parser: Parser) -> None:
    parser.add_argument(
        "--input-shape",
        metavar="SPEC",
        help='sizes of inputs, or ranges of them, "ids:1~8,128;mask:1~8,128"; -1 leaves one open',
    )
    parser.add_argument(
        "--input-shape-range",
        metavar="SPEC",
        help="ranges of the dimensions that --input-shape leaves open, in the same form",
    )
    parser.add_argument(
        "--dynamic-batch-size",
        metavar="SIZES",
        help='gears: a plan for each of these sizes of the first dimension, "1,2,4"',
    )
    parser.add_argument(
        "--dynamic-image-size",
        metavar="SIZES",
        help='gears: a plan for each height and width, "416,416;832,832"',
    )
    parser.add_argument(
        "--dynamic-dims",
        metavar="SIZES",
        help='gears: a plan for each set of sizes of the open dimensions, "1,128;1,256"',
    )
    parser.add_argument(
        "--size-histogram",
        metavar="SIZES",
        help='sizes that occur, and how often: compares the range with gears, "1,128=500;4,512=20"',
    )
    parser.add_argument(
        "--gear-count",
        type=int,
        default=4,
        metavar="N",
        help="most gears that --size-histogram chooses (default: 4)",
    )


def _add_choices(parser: Parser) -> None:
    parser.add_argument(
        "--target",
        "--soc-version",
        dest="target",
        metavar="NAME",
        help="chip by name, or a TOML file that describes one (default: the one that an .mlir"
        " model names, else Ascend910B1)",
    )
    parser.add_argument(
        "-O",
        "--level",
        type=int,
        default=2,
        choices=(0, 1, 2, 3),
        help="0 infers types, 1 simplifies, 2 also raises and fuses, 3 also joins parallel products"
        " (default: 2)",
    )
    parser.add_argument(
        "--streams", type=int, default=1, metavar="N", help="at most this many (default: 1)"
    )
    parser.add_argument(
        "--stream-labels",
        default="",
        metavar="LIST",
        help='nodes that get streams of their own, "NODE=LABEL,..."; a NODE may have *',
    )
    parser.add_argument(
        "--enable-single-stream", choices=("true", "false"), help="true: one stream, as in ATC"
    )
    parser.add_argument(
        "--disable-reuse-memory",
        type=int,
        choices=(0, 1),
        default=0,
        help="1: every buffer has bytes of its own",
    )
    _add_memory(parser)


def _add_memory(parser: Parser) -> None:
    parser.add_argument(
        "--memory-limit",
        type=tier_limits,
        default={},
        metavar="BYTES",
        help="of the work arena; with K, M or G in units of 1024. hbm=BYTES,l2=BYTES limits tiers:"
        " with l2, buffers stay there (l2=all: as far as it goes); l1, ub and l0c are those of a"
        " core",
    )
    parser.add_argument(
        "--memory-policy",
        "--ge.memory-policy",
        choices=tuple(Policy),
        help="what comes first, memory or time (default: balanced)",
    )
    parser.add_argument(
        "--memory-alignment",
        type=byte_count,
        metavar="BYTES",
        help="of addresses (default: that of the target)",
    )
    parser.add_argument(
        "--no-reuse-mem",
        default="",
        metavar="NAMES",
        help="nodes and op types whose results share bytes with nothing, with commas; as GE's"
        " OP_NO_REUSE_MEM",
    )
    parser.add_argument(
        "--donate-inputs",
        default="",
        metavar="NAMES",
        help="inputs whose bytes the plan may write over, such as a cache, with commas",
    )
    parser.add_argument(
        "--memory-map", metavar="FILE", help="write where everything lies and when, as JSON"
    )


def tier_limits(text: str) -> dict[str, int | None]:
    """Returns bytes by tier of `64M` (of HBM) or `hbm=1G,l2=all`; None for all that there are.

    Raises:
        ArgumentTypeError: It is neither.
    """
    found: dict[str, int | None] = {}
    for part in text.split(","):
        tier, equals, size = part.strip().rpartition("=")
        tier = tier.strip() if equals else "hbm"
        if tier not in _TIERS or tier in found:
            expected = " or ".join(_TIERS)
            raise argparse.ArgumentTypeError(f"expected {expected}, each once, got '{text[:60]}'")
        found[tier] = None if size.strip() == "all" else byte_count(size.strip())
    return found


def byte_count(text: str) -> int:
    """Returns a number of bytes, `4096` or `64M`.

    Raises:
        ArgumentTypeError: It is none.
    """
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if unit not in _UNITS or not (number.isascii() and number.isdigit() and len(number) <= 18):
        raise argparse.ArgumentTypeError(
            f"expected a number of bytes, as 4096 or 64M, got '{text[:40]}'"
        )
    return int(number) * _UNITS[unit]


def _add_fusion(parser: Parser) -> None:
    parser.add_argument(
        "--rules",
        default="",
        metavar="LIST",
        help="fusion rules to try, and TOML files or Python modules with further ones, with commas",
    )
    parser.add_argument(
        "--disable-rules", default="", metavar="NAMES", help="fusion rules to leave out"
    )
    parser.add_argument(
        "--fusion-switch-file", metavar="FILE", help="GE's file of rules to turn off, text or JSON"
    )
    add_fusion_arguments(parser)


def _add_arithmetic(parser: Parser) -> None:
    parser.add_argument(
        "--precision-mode-v2",
        default="origin",
        choices=("origin", "fp16", "mixed_float16", "mixed_bfloat16", "cube_fp16in_fp32out"),
        metavar="MODE",
        help="origin (default), fp16, mixed_float16, mixed_bfloat16 or cube_fp16in_fp32out",
    )
    parser.add_argument(
        "--fast-math",
        default="",
        metavar="FLAGS",
        help="what results may differ in, with commas: reassociate, no-nans, no-infs,"
        " no-signed-zeros, reciprocal, contract, masks (every query keeps a key), or all",
    )


def _add_reports(parser: Parser) -> None:
    parser.add_argument("--summary", metavar="FILE", help="write the summary as JSON")
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="write the predicted run as a trace for Perfetto or Chrome, JSON",
    )
    parser.add_argument(
        "--fusion-result", metavar="FILE", help="write GE's fusion_result.json, with near misses"
    )
    parser.add_argument(
        "--export-compile-stat",
        choices=("0", "1", "2"),
        default="0",
        help="1 or 2: write fusion_result.json into the current folder, as ATC does",
    )
    add_shared_arguments(parser)
    parser.add_argument("--dump-ir", metavar="FILE", help="write the planned IR as text")
    parser.add_argument(
        _SWITCH,
        type=int,
        choices=(0, 1),
        default=0,
        help="1, or no value: print what the file holds, as ATC does",
    )
    parser.add_argument(
        "--mode",
        type=int,
        choices=(0, 6),
        default=0,
        help="6: compile nothing, print what the file of --om holds; 0, to compile, is the default",
    )
    parser.add_argument("--om", metavar="FILE", help="the .om file of --mode 6")
    parser.add_argument("-v", "--verbose", action="store_true", help="print all near misses")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Returns the arguments of a command line.

    Raises:
        GEError: An option is unknown or wrong (GE0105), or one of ATC that is not supported
            (GE0106).
    """
    parser = make_parser()
    args, unknown = parser.parse_known_args(spelled_out(without_unsupported(dashed(argv))))
    refuse_unknown(parser, unknown, tuple(UNSUPPORTED))
    return args


def dashed(argv: Sequence[str]) -> list[str]:
    """Returns arguments with `--flag_name` as `--flag-name`; values stay as they are."""
    found: list[str] = []
    for argument, following in zip(argv, (*argv, "")[1:], strict=True):
        name, separator, value = argument.partition("=")
        if argument.startswith("--"):
            argument = name.replace("_", "-") + separator + value
        if argument == _SWITCH and following not in ("0", "1"):
            argument = f"{_SWITCH}=1"
        found.append(argument)
    return found


def without_unsupported(argv: Sequence[str]) -> list[str]:
    """Returns arguments without ATC's options that change nothing.

    Args:
        argv: Flags with dashes.

    Raises:
        GEError: One of them asks for something that is not done (GE0106).
    """
    found: list[str] = []
    waiting = list(reversed(argv))
    while waiting:
        name, separator, value = (argument := waiting.pop()).partition("=")
        if name not in UNSUPPORTED:
            found.append(argument)
            continue
        given = value if separator else None
        if given is None and waiting and not waiting[-1].startswith("-"):
            given = waiting.pop()
        check_unsupported(name, given)
    return found


def model_path(args: argparse.Namespace) -> str:
    """Returns the model to compile.

    Raises:
        GEError: None is named, two are, or it is of another framework.
    """
    named: list[str] = [path for path in (args.input, args.model) if path is not None]
    if len(named) != 1:
        what = "no model" if not named else "two models"
        hint = "ge-compile MODEL -o OUT.om"
        raise GEError("GE0105", f"expected one model, got {what}", hint=hint)
    if args.framework != FRAMEWORK_ONNX:
        raise GEError(
            "GE0105",
            f"expected --framework=5 (ONNX), got {args.framework}",
            hint="export the model to ONNX first",
        )
    return named[0]


def output_path(args: argparse.Namespace) -> str:
    """Returns the file to write; ATC's `--output name` means `name.om`.

    Raises:
        GEError: None is named, or a folder is.
    """
    if args.output is None:
        raise GEError("GE0105", "expected an output file", hint="ge-compile MODEL -o OUT.om")
    path: str = args.output
    if path.endswith("/"):
        raise GEError("GE0103", f"cannot write '{path}': is a directory", hint="name a file")
    return path if path.endswith(".om") else f"{path}.om"
