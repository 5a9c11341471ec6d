"""A compilation under watch, as `ge-compile` asks for it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.memory.heuristics import MemoryFullError
from ge_dialect.lowering.tile_kernels import TilesFullError
from ge_dialect.tools import api
from ge_dialect.tools.dynamic_shapes import DynamicShapes, read_arguments


class _NumericsWatch(api.Watch):
    def __init__(self, args: Namespace):
        self.args = args

    def begin(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        from ge_dialect.tools.check.numerics import NumericsCheck

        each, seed = self.args.check_numerics == "each", self.args.numerics_seed
        self.check = NumericsCheck(api.make_context(), passes, each, seed, self.args.reproducer)
        self.check.begin(module)

    def after_pass(self, module: ModuleOp) -> None:
        self.check.after(module)

    def end(self, module: ModuleOp) -> None:
        self.check.end(module)


def compile_guarded(model: str, args: Namespace, options: api.CompileOptions) -> api.CompiledPlan:
    """Compiles a model; checks its numerics and writes reproducers as the command line asks.

    Args:
        model: Path of the file.
        args: Of the command line.
        options: Of the compilation.

    Raises:
        GEError: As `compile`; names the reproducer where one was written.
    """
    watch = None if args.check_numerics is None else _NumericsWatch(args)
    shapes = read_arguments(args)
    if shapes.gears and watch is not None:
        raise GEError(
            "GE0107",
            "--check_numerics and gears exclude each other: it follows one function",
            hint="check each gear alone, with its sizes as --input_shape",
        )
    try:
        return api.compile(
            model,
            input_shapes=shapes.shapes,
            dynamic_dims=shapes.gears,
            options=options,
            watch=watch,
        )
    except (MemoryFullError, TilesFullError) as error:
        raise explained(error, model, shapes, options) from error
    except GEError as error:
        from ge_dialect.tools.check.crash import FAULTS

        asked = args.reproducer is not None and error.code not in ("GE0902", "GE0903")
        if error.code in FAULTS or (asked and not error.code.startswith(("GE01", "GE02"))):
            raise _with_reproducer(model, args, options, error) from error
        raise


def explained(
    error: MemoryFullError | TilesFullError,
    model: str,
    asked: DynamicShapes,
    options: api.CompileOptions,
) -> GEError:
    """Returns the error of a model that does not fit, with what would make it fit.

    Gears are not planned again: the error names the one that is too large by its plan.
    """
    from ge_dialect.tools.remedies import Trials, with_limits, with_remedies

    if asked.gears:
        return error
    shapes = {name: tuple(dims) for name, dims in (asked.shapes or {}).items()}
    trials = Trials(model, shapes, options)
    if isinstance(error, TilesFullError):
        return with_limits(error, trials)
    return with_remedies(error, trials)


def _with_reproducer(
    model: str, args: Namespace, options: api.CompileOptions, error: GEError
) -> GEError:
    from ge_dialect.tools.check.crash import PassFailedError, reproduced, write_failure

    def load() -> ModuleOp:
        return api.load_model(model, read_arguments(args).shapes)[0]

    step = error.step if isinstance(error, PassFailedError) else None
    ctx = api.make_context()
    passes = list(api.build_passes(options))
    return reproduced(error, write_failure(ctx, load, passes, step, error, args.reproducer))
