"""Error codes GE07xx: machine descriptions."""

from __future__ import annotations

from ge_dialect.error_codes.info import CodeInfo

TARGETS: dict[str, CodeInfo] = {}
