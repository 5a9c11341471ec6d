"""Error codes GE09xx: faults of the compiler itself."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

INTERNAL: dict[str, CodeInfo] = {}
