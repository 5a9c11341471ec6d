"""Versions of the plan partition, and the way of an older plan to the newest.

A change that older or newer readers cannot bridge raises the major version, an addition the minor
one. A reader takes every minor version of its major up to its own: the text of an older plan goes
through one upgrade for each minor version in between. Each released version has a file in
`tests/golden`, which every later reader has to read as its own did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

Version: TypeAlias = tuple[int, int]
Upgrade: TypeAlias = Callable[[str], str]

PLAN_VERSION: Version = (1, 0)
"""What is written, as major and minor."""

UPGRADES: Mapping[Version, Upgrade] = {}
"""Makes the text of a plan of a minor version one of the next; of each below `PLAN_VERSION`."""


def upgraded(
    text: str,
    version: Version,
    newest: Version = PLAN_VERSION,
    upgrades: Mapping[Version, Upgrade] = UPGRADES,
) -> str:
    """Returns the text of a plan as the newest version would have it.

    Args:
        text: Of a plan.
        version: It is of; of the major version of `newest`, and not above it.
        newest: The version that is wanted.
        upgrades: One for each minor version below `newest`.
    """
    for minor in range(version[1], newest[1]):
        text = upgrades[newest[0], minor](text)
    return text
