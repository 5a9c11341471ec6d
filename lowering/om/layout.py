"""Where what stands in an `.om` file; shared by its reader and its writer.

```
[header][table][partition 0][partition 1]...
```

The header takes 256 bytes and there are no gaps; all integers are little-endian. The checksum
field of the header holds BLAKE2b-512 of the header (with zeros in that field), the table and every
partition but WEIGHTS_DATA; zeros there mean that the writer left it out.

Source: GE's Apache-licensed `types.h` and `om_file_helper.cc`; what Netron's reader accepts.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

MAGIC = b"IMOD"
HEADER_SIZE = 256
VERSION = 0x20000000
VERSIONS = (0x10000000, VERSION)
MIN_PARTITIONS = 2
"""Netron takes a 64-bit table of one entry for a 32-bit one and shows an empty model."""

MAX_PARTITIONS = 32
"""Netron takes a type of 32 or more for a sign of the other table layout."""

HEADER = struct.Struct("<4sII64sIBBBB32sI32sII20sB3xQBB62x")
ENTRY = {32: struct.Struct("<III"), 64: struct.Struct("<I4xQQ")}
COUNT = {32: struct.Struct("<I"), 64: struct.Struct("<I4x")}
CHECKSUM = slice(12, 76)


class PartitionType(IntEnum):
    """What a partition holds; other numbers occur in files of other compilers."""

    MODEL_DEF = 0
    WEIGHTS_DATA = 1
    TASK_INFO = 2
    TBE_KERNELS = 3
    CUST_AICPU_KERNELS = 4
    PLAN = 9
    """The plan of ge-dialect, under the number of STATIC_TASK_DESC, which viewers skip."""


class Entry(NamedTuple):
    """A partition in a file: `offset` from the start of the file, both in bytes."""

    type: int
    offset: int
    size: int


@dataclass(frozen=True)
class Header:
    """What the header says of the model.

    Attributes:
        name: At most 31 bytes of UTF-8; a longer one is cut.
        dynamic: Whether some dimension is unknown.
        model_version: `ModelDef.version`.
        platform: At most 19 bytes of UTF-8, "" where unknown.
    """

    name: str = ""
    dynamic: bool = False
    model_version: int = 1
    platform: str = ""


class RawHeader(NamedTuple):
    """The header field by field, in the order of the file."""

    magic: bytes
    head_size: int
    version: int
    checksum: bytes
    length: int
    is_encrypted: int
    is_checked: int
    model_type: int
    generation: int
    name: bytes
    ops: int
    user_info: bytes
    model_version: int
    model_count: int
    platform: bytes
    platform_type: int
    model_length: int
    needs_cpu_info: int
    is_dynamic: int


def table_size(count: int, bits: int) -> int:
    """Returns the bytes of a table of `count` entries with offsets of 32 or 64 bits."""
    return COUNT[bits].size + count * ENTRY[bits].size
