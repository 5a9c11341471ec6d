"""JSON as every report is written."""

from __future__ import annotations


def json_text(value: object, *, indent: int = 2, sort_keys: bool = False) -> str:
    """Returns a value as JSON and a line end; names stand as they are, in whatever script."""
    import json

    return json.dumps(value, indent=indent, sort_keys=sort_keys, ensure_ascii=False) + "\n"
