"""Whether a package that is installed here gives fusion rules.

`importlib.metadata` takes 0.02 s to import, as it reads mail headers; mostly there is nothing to
find, which the few bytes of `entry_points.txt` beside each package say.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.metadata import EntryPoint

_INFO = (".dist-info", ".egg-info")


def entry_points_of(group: str) -> Sequence[EntryPoint]:
    """Returns the entry points of a group, sorted by name."""
    if not _may_exist(group.encode()):
        return ()
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda point: point.name)


def _may_exist(group: bytes) -> bool:
    """Whether the group is named where packages are installed; True where that cannot be seen."""
    others = [finder for finder in sys.meta_path if finder is not PathFinder]
    if any(hasattr(finder, "find_distributions") for finder in others):
        return True
    for folder in dict.fromkeys(sys.path):
        if os.path.isfile(folder) or folder.endswith(".egg"):
            return True  # an archive, or a folder with the metadata inside
        if any(group in text for text in _texts(folder or ".")):
            return True
    return False


def _texts(folder: str) -> Iterator[bytes]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.path for entry in entries if entry.name.endswith(_INFO)]
    except OSError:
        return
    for path in names:
        try:
            with open(os.path.join(path, "entry_points.txt"), "rb") as file:
                yield file.read()
        except OSError:  # it has none; an `.egg-info` may be a single file
            continue
