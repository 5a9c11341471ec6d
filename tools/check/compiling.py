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
from ge_dialect.tools.dynamic_shapes import DynamicShapes, read_arguments, shapes_at


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
    shapes = read_arguments(args)
    checked = args.check_numerics is not None
    watch = _NumericsWatch(args) if checked and not shapes.gears else None
    try:
        plan = api.compile(
            model,
            input_shapes=shapes.shapes,
            dynamic_dims=shapes.gears,
            options=options,
            watch=watch,
        )
        if checked and shapes.gears:
            check_gears(plan, model, args, shapes, options)
        return plan
    except (MemoryFullError, TilesFullError) as error:
        raise explained(error, model, shapes, options) from error
    except GEError as error:
        from ge_dialect.tools.check.crash import FAULTS

        asked = args.reproducer is not None and error.code not in ("GE0902", "GE0903")
        if error.code in FAULTS or (asked and not error.code.startswith(("GE01", "GE02"))):
            raise _with_reproducer(model, args, options, error) from error
        raise


def check_gears(
    plan: api.CompiledPlan,
    model: str,
    args: Namespace,
    shapes: DynamicShapes,
    options: api.CompileOptions,
) -> None:
    """Compares each gear of a plan with the model at its sizes.

    What changed the values is looked for in a compilation for these sizes alone; with `each` there
    is one in any case, compared after every pass.

    Raises:
        GEError: The values are others (GE0902); names the gear.
    """
    from ge_dialect.tools.check.numerics import mismatch_of, reference_of
    from ge_dialect.tools.check.values import is_exact

    exact = is_exact(api.build_passes(options))
    for number, gear in enumerate(shapes.gears):
        sizes = shapes_at(shapes.shapes or {}, gear)
        module, _ = api.load_model(model, sizes)
        reference = reference_of(module, args.numerics_seed, extremes=exact)
        if not reference.results:
            why = next(iter(reference.skipped), "there is no public function of tensors")
            raise GEError("GE0903", f"numerics of gear {number} cannot be checked: {why}")
        found = mismatch_of(plan.module, reference, exact=exact)
        if found is None and args.check_numerics != "each":
            continue
        try:
            api.compile(model, input_shapes=sizes, options=options, watch=_NumericsWatch(args))
        except GEError as error:
            if error.code == "GE0902":
                error.message = f"gear {number}: {error.message}"
            raise
        if found is not None:
            what = f"gear {number}: values changed where gears share a graph; {found.message}"
            raise GEError("GE0902", what, hint="compile that gear alone, and report this")


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
