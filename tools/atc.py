"""Options of ATC that `ge-compile` knows by name but does not have: what to do instead.

A value that asks for what is done anyway is accepted, so that scripts written for ATC go on to
work; any other is refused, never ignored. Source: the list of options in ATC's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ge_dialect.diagnostics import GEError

_SHAPES = "compile once for each shape, with --input-shape"
_TYPES = "element types stay those of the model: convert the model before"
_SWITCHES = "leave single rules out with --disable-rules, or lower the level with -O"
_STREAMS = "give the number of streams with --streams"
_CORES = "describe the chip in a TOML file and give it as --target"
_NO_KERNELS = "no kernels are compiled: leave it out"
_INSPECT = "ge-opt and ge-run show what is in a model"
_INTERFACE = "change inputs and outputs in the model itself"


class Unsupported(NamedTuple):
    """An option without an effect of its own.

    Attributes:
        hint: What to do instead.
        harmless: Values that ask for what is done anyway.
    """

    hint: str
    harmless: tuple[str, ...] = ()


UNSUPPORTED: Mapping[str, Unsupported] = {
    "--ac-parallel-enable": Unsupported(_STREAMS, ("0",)),
    "--aicore-num": Unsupported(_CORES),
    "--allow-hf32": Unsupported(_TYPES, ("false",)),
    "--atomic-clean-policy": Unsupported("no kernel asks for cleared memory: leave it out"),
    "--buffer-optimize": Unsupported("leave it out", ("l2_optimize", "off_optimize")),
    "--core-type": Unsupported(_CORES, ("AiCore",)),
    "--customize-dtypes": Unsupported(_TYPES),
    "--debug-dir": Unsupported(_NO_KERNELS),
    "--deterministic": Unsupported("plans are deterministic always", ("0", "1")),
    "--dump-mode": Unsupported(_INSPECT),
    "--dynamic-batch-size": Unsupported(_SHAPES),
    "--dynamic-dims": Unsupported(_SHAPES),
    "--dynamic-image-size": Unsupported(_SHAPES),
    "--enable-scope-fusion-passes": Unsupported(_SWITCHES),
    "--external-weight": Unsupported("weights are part of the .om file", ("0",)),
    "--host-env-cpu": Unsupported("a plan runs on any host: leave it out"),
    "--host-env-os": Unsupported("a plan runs on any host: leave it out"),
    "--input-format": Unsupported("ONNX says the layout itself", ("NCHW", "ND")),
    "--input-fp16-nodes": Unsupported(_TYPES),
    "--input-shape-range": Unsupported(_SHAPES),
    "--insert-op-conf": Unsupported("make preprocessing a part of the model"),
    "--is-input-adjust-hw-layout": Unsupported(_INTERFACE, ("false",)),
    "--is-weight-clip": Unsupported(_TYPES, ("0",)),
    "--jit-compile": Unsupported(_NO_KERNELS, ("0",)),
    "--json": Unsupported(_INSPECT),
    "--keep-dtype": Unsupported(_TYPES),
    "--log": Unsupported("leave it out", ("debug", "info", "warning", "error", "null")),
    "--mdl-bank-path": Unsupported(_NO_KERNELS),
    "--modify-mixlist": Unsupported(_TYPES),
    "--multi-stream-parallel-mode": Unsupported(_STREAMS),
    "--oo-constant-folding": Unsupported("-O 0 leaves it out", ("true",)),
    "--oo-dead-code-elimination": Unsupported("-O 0 leaves it out", ("true",)),
    "--oo-level": Unsupported("give the level with -O", ("O3",)),
    "--op-bank-path": Unsupported(_NO_KERNELS),
    "--op-compiler-cache-dir": Unsupported(_NO_KERNELS),
    "--op-compiler-cache-mode": Unsupported(_NO_KERNELS, ("disable",)),
    "--op-debug-level": Unsupported(_NO_KERNELS, ("0",)),
    "--op-name-map": Unsupported(_INTERFACE),
    "--op-precision-mode": Unsupported(_TYPES),
    "--op-select-implmode": Unsupported(_TYPES, ("high_precision",)),
    "--optimization-switch": Unsupported(_SWITCHES),
    "--optypelist-for-implmode": Unsupported(_TYPES),
    "--out-nodes": Unsupported(_INTERFACE),
    "--output-type": Unsupported(_INTERFACE),
    "--precision-mode": Unsupported(
        "give the mode with --precision-mode-v2", ("must_keep_origin_dtype",)
    ),
    "--quant-dumpable": Unsupported(_INSPECT, ("0",)),
    "--raw-ge-options": Unsupported("use the options that --help lists"),
    "--raw-ge-options-ignore-unsupported": Unsupported("use the options that --help lists"),
    "--singleop": Unsupported("write a model of one op"),
    "--static-model-ops-lower-limit": Unsupported(_SHAPES),
    "--status-check": Unsupported(_NO_KERNELS, ("0",)),
    "--topo-sorting-mode": Unsupported("tasks keep the order of the model: leave it out"),
    "--virtual-type": Unsupported(_CORES, ("0",)),
    "--weight": Unsupported("weights are part of an ONNX model: leave it out"),
}
"""By name, with dashes."""


def check_unsupported(name: str, value: str | None) -> None:
    """Checks an option of `UNSUPPORTED`.

    Args:
        name: With dashes.
        value: None where it was given none.

    Raises:
        GEError: The value asks for something that is not done (GE0106).
    """
    option = UNSUPPORTED[name]
    if value in option.harmless:
        return
    given = name if value is None else f"{name}={value[:60]}"
    accepted = f" (only {' or '.join(option.harmless)})" if option.harmless else ""
    raise GEError("GE0106", f"'{given}' of ATC is not supported{accepted}", hint=option.hint)
