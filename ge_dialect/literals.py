"""String literals of MLIR's text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache


def quoted(text: str | bytes) -> str:
    """Returns a string literal of a text, or of bytes.

    >>> quoted('a "b"')
    '"a \\\\22b\\\\22"'
    """
    if isinstance(text, str):
        if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
            return f'"{text}"'
        text = text.encode()
    return f'"{text.decode("latin-1").translate(_escapes())}"'


def quoted_list(texts: Sequence[str]) -> str:
    """Returns the string literals of some texts with commas between them.

    >>> quoted_list(["a", "b"])
    '"a", "b"'
    """
    if texts and _is_plain("".join(texts)):
        return '"' + '", "'.join(texts) + '"'
    return ", ".join(map(quoted, texts))


def _is_plain(text: str) -> bool:
    """Whether a literal holds a text as it is."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


@cache
def _escapes() -> dict[int, str]:
    """Returns what stands for each byte that a literal cannot hold as it is."""
    printable = set(range(0x20, 0x7F)) - {0x22, 0x5C}
    return {byte: f"\\{byte:02X}" for byte in range(256) if byte not in printable} | {0x5C: "\\\\"}
