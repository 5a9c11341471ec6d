"""All error codes, a file for each range; `docs/errors.md` is generated from them.

To add a code, append it to the table of its range, with the next free number, and run
`make docs`. A code keeps its meaning for ever: never reuse the number of one that was removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ge_dialect.error_codes.files import FILES
from ge_dialect.error_codes.info import CodeInfo
from ge_dialect.error_codes.internal import INTERNAL
from ge_dialect.error_codes.ir import IR
from ge_dialect.error_codes.om import OM
from ge_dialect.error_codes.onnx import ONNX
from ge_dialect.error_codes.passes import PASSES
from ge_dialect.error_codes.planning import PLANNING
from ge_dialect.error_codes.runtime import RUNTIME
from ge_dialect.error_codes.targets import TARGETS

__all__ = ["CODES", "RANGES", "CodeInfo"]

RANGES: Mapping[str, tuple[str, Mapping[str, CodeInfo]]] = MappingProxyType(
    {
        "GE01": ("Files and arguments", FILES),
        "GE02": ("ONNX import", ONNX),
        "GE03": ("IR, verification and inference", IR),
        "GE04": ("Passes and fusion rules", PASSES),
        "GE05": ("Planning", PLANNING),
        "GE06": ("Compiled models (.om)", OM),
        "GE07": ("Targets", TARGETS),
        "GE08": ("Runtime", RUNTIME),
        "GE09": ("Internal", INTERNAL),
    }
)
"""Title and table of each range, by the first four characters of its codes."""

CODES: Mapping[str, CodeInfo] = MappingProxyType(
    {code: info for _, table in RANGES.values() for code, info in sorted(table.items())}
)
"""All codes, in order."""
