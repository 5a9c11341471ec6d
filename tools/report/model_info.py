"""What an `.om` file holds, in the form of ATC's `--display_model_info`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from ge_dialect import __version__
from ge_dialect.lowering.om.file import OmFile, read_om
from ge_dialect.lowering.om.layout import PartitionType

RULE = "============"


def model_info(path: str, argv: Sequence[str] | None) -> str:
    """Returns the text about a file: versions, memory, streams, and sizes in bytes.

    Args:
        path: Of the `.om` file.
        argv: The command line that made it, without the program; None where it is not known, since
            files hold none: the same model gives the same bytes under any name.

    Raises:
        GEError: The file cannot be read.
    """
    with read_om(path) as file:
        return "\n".join(_lines(file, argv)) + "\n"


def _lines(file: OmFile, argv: Sequence[str] | None) -> Iterator[str]:
    model = file.model

    def size(kind: PartitionType) -> int:
        entry = file.container.find(kind)
        return 0 if entry is None else entry.size

    yield f"{RULE} Display Model Info start {RULE}"
    command = "unknown" if argv is None else shlex.join(["ge-compile", *argv])
    yield f"Original Atc command line: {command}"
    yield (
        f"system   info: atc_version[ge-dialect {__version__}],"
        f" soc_version[{model.attrs.get('soc_version', '')}], framework_type[5]."
    )
    yield (
        f"resource info: memory_size[{model.memory_size} B], weight_size[{model.weight_size} B],"
        f" stream_num[{model.stream_num}], event_num[{model.event_num}]."
    )
    yield (
        f"om       info: modeldef_size[{size(PartitionType.MODEL_DEF)} B],"
        f" weight_data_size[{size(PartitionType.WEIGHTS_DATA)} B],"
        f" tbe_kernels_size[{size(PartitionType.TBE_KERNELS)} B],"
        f" cust_aicpu_kernel_store_size[{size(PartitionType.CUST_AICPU_KERNELS)} B],"
        f" task_info_size[{size(PartitionType.TASK_INFO)} B], so_store_size[0 B]."
    )
    yield f"{RULE} Display Model Info end   {RULE}"
