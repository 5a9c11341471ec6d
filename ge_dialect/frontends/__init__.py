"""Readers of foreign model formats, one package or module a format."""

from __future__ import annotations

from xdsl.utils.frontend import Frontend


def text_frontend() -> type[Frontend]:
    """Returns the frontend of IR text."""
    from ge_dialect.frontends.mlir import TextFrontend

    return TextFrontend
