"""Netron's JavaScript, out of its wheel; kept in `.cache/netron`."""

from __future__ import annotations

from pathlib import Path

from tests.wheels import folder_of_wheel

NETRON = "9.3.3"


def javascript() -> Path | None:
    """Returns the folder of Netron's JavaScript, fetched when first needed; None where pip cannot
    fetch it."""
    return folder_of_wheel("netron", NETRON, "netron")
