"""External data of ONNX tensors: files beside the model that hold the bytes."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from typing import NamedTuple

from ge_dialect.diagnostics import GEError

_COUNT = re.compile("[0-9]{1,19}")


class ExternalRange(NamedTuple):
    """A tensor's bytes in a file beside the model; `length` None means the tensor's own size."""

    path: str
    offset: int
    length: int | None


@dataclass
class ExternalFiles:
    """Finds the files beside one model; each is looked at once.

    Attributes:
        model: Path of the model file, or None for a model that came from no file.
        folder: Where locations start from, or None where external data cannot be resolved.
    """

    model: str | None
    folder: str | None
    _sizes: dict[str, int | GEError] = field(default_factory=dict[str, int | GEError])
    _paths: dict[str, str] = field(default_factory=dict[str, str])

    def resolve(self, entries: dict[str, str]) -> ExternalRange:
        """Reads the keys `location`, `offset` and `length` of a tensor.

        Raises:
            GEError: The keys are malformed (GE0206), or the location leaves the folder (GE0207).
        """
        if not (location := entries.get("location")):
            raise GEError("GE0206", "external data without 'location'")
        if self.folder is None:
            raise GEError(
                "GE0208",
                f"external data file '{location}' belongs to a model in memory without a folder",
                hint="pass the path of the model, or the folder of its external data",
            )
        offset = _read_number(entries, "offset")
        if (path := self._paths.get(location)) is None:
            path = self._paths[location] = self._inside(location)
        return ExternalRange(path, offset or 0, _read_number(entries, "length"))

    def size(self, path: str) -> int:
        """Returns the size in bytes of a file beside the model.

        Raises:
            GEError: It is missing or no regular file (GE0208), or is a link to a file elsewhere
                (GE0207).
        """
        if (known := self._sizes.get(path)) is None:
            try:
                known = self._look(path)
            except GEError as error:
                known = error
            self._sizes[path] = known
        if isinstance(known, GEError):
            raise GEError(known.code, known.message, hint=known.hint)
        return known

    def _inside(self, location: str) -> str:
        """Returns the path of a location, which must name a file below the folder."""
        parts = re.split(r"[\\/]", location)
        absolute = parts[0] == "" or re.match(r"[A-Za-z]:", location) is not None
        if absolute or ".." in parts or "\0" in location:
            raise GEError(
                "GE0207",
                f"external data location '{location!s}' leaves the model's folder",
                hint="use a path relative to the model, without '..'",
            )
        return os.path.join(self.folder or "", location)

    def _look(self, path: str) -> int:
        try:
            found = os.stat(path)
        except OSError as error:
            reason = "does not exist" if isinstance(error, FileNotFoundError) else error.strerror
            raise GEError(
                "GE0208",
                f"external data file '{path}' {reason}",
                hint="put it beside the model, under the name the model was saved with",
            ) from None
        if not stat.S_ISREG(found.st_mode):
            raise GEError("GE0208", f"external data file '{path}' is not a regular file")
        if not self._links_stay(path):
            raise GEError(
                "GE0207",
                f"external data file '{path}' is a link that leaves the model's folder",
                hint="copy the file itself beside the model",
            )
        return found.st_size

    def _links_stay(self, path: str) -> bool:
        """Whether a file really lies below the model's folder, or below the model's real one.

        The second case is that of download caches, where model and data are both links into one
        folder of blobs.
        """
        real = os.path.realpath(path)
        roots = [os.path.realpath(self.folder or ".")]
        if self.model is not None:
            roots.append(os.path.dirname(os.path.realpath(self.model)))
        return any(os.path.commonpath((real, root)) == root for root in roots)


def _read_number(entries: dict[str, str], key: str) -> int | None:
    """Reads an optional count of bytes."""
    if (text := entries.get(key)) is None:
        return None
    if not _COUNT.fullmatch(text):
        raise GEError(
            "GE0206", f"external data with '{key}' of {text[:24]!r}, expected a count of bytes"
        )
    return int(text)
