"""The messages of `ge.proto` and `domi`, built when first used.

The tables state `number name type`, one field after another; types are scalars of proto3,
message names, `repeated TYPE` and `map TYPE` (from a string). Field numbers: GE's Apache-licensed
`ge_ir.proto`, `om.proto` and `task.proto`.
"""

import functools
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, TypeAlias

from ge_dialect.diagnostics import GEError

MessageName: TypeAlias = Literal[
    "ge.proto.ModelDef",
    "ge.proto.GraphDef",
    "ge.proto.OpDef",
    "ge.proto.AttrDef",
    "ge.proto.TensorDescriptor",
    "ge.proto.TensorDef",
    "domi.ModelTaskDef",
    "domi.TaskDef",
]

_GE: Mapping[str, str] = {
    "ShapeDef": "1 dim repeated int64",
    "TensorDescriptor": """
        1 name string; 2 dtype int32; 3 shape ShapeDef; 4 layout string; 5 attr map AttrDef;
        9 has_out_attr bool; 10 size int64; 11 weight_size int64; 12 reuse_input bool;
        13 output_tensor bool; 14 device_type string; 15 input_tensor bool; 16 real_dim_cnt int64;
        17 reuse_input_index int64; 18 data_offset int64; 19 cmps_size int64; 20 cmps_tab string;
        21 cmps_tab_offset int64""",
    "TensorDef": "1 desc TensorDescriptor; 2 data bytes",
    "NamedAttrs": "1 name string; 2 attr map AttrDef",
    "ListInt": "1 list_i repeated int64",
    "ListListInt": "1 list_list_i repeated ListInt",
    "ListFloat": "1 list_f repeated float",
    "ListListFloat": "1 list_list_f repeated ListFloat",
    "ListValue": """
        2 s repeated bytes; 3 i repeated int64; 4 f repeated float; 5 b repeated bool;
        7 bt repeated bytes; 8 td repeated TensorDescriptor; 9 t repeated TensorDef;
        10 g repeated GraphDef; 11 na repeated NamedAttrs; 12 dt repeated int64;
        20 val_type int32""",
    "AttrDef": """
        1 list ListValue; 2 s bytes; 3 i int64; 4 f float; 5 b bool; 7 bt bytes;
        10 func NamedAttrs; 11 td TensorDescriptor; 12 t TensorDef; 13 g GraphDef;
        14 list_list_int ListListInt; 15 dt int64; 16 list_list_float ListListFloat""",
    "OpDef": """
        1 name string; 2 type string; 5 input repeated string; 10 attr map AttrDef;
        20 has_out_attr bool; 21 id int64; 22 stream_id int64; 23 input_name repeated string;
        24 src_name repeated string; 25 src_index repeated int64; 26 dst_name repeated string;
        27 dst_index repeated int64; 28 input_i repeated int64; 29 output_i repeated int64;
        30 workspace repeated int64; 31 workspace_bytes repeated int64;
        32 is_input_const repeated bool; 33 input_desc repeated TensorDescriptor;
        34 output_desc repeated TensorDescriptor; 35 subgraph_name repeated string""",
    "GraphDef": """
        1 name string; 4 input repeated string; 5 output repeated string; 6 op repeated OpDef;
        11 attr map AttrDef""",
    "ModelDef": """
        1 name string; 2 version uint32; 3 custom_version string; 7 graph repeated GraphDef;
        11 attr map AttrDef""",
}

_DOMI: Mapping[str, str] = {
    "KernelContext": """
        1 kernel_type uint32; 2 op_id uint32; 3 kernel_func_id uint32; 4 op_index uint32;
        5 is_flowtable bool; 6 args_offset bytes; 7 args_count uint32;
        8 origin_op_index repeated uint32""",
    "KernelDef": """
        1 context KernelContext; 10 stub_func string; 11 block_dim uint32; 12 args_size uint32;
        13 args bytes; 14 sm_desc bytes; 15 flowtable bytes; 16 so_name string;
        17 kernel_name string; 18 kernel_ext_info bytes; 19 kernel_ext_info_size uint32""",
    "KernelDefWithHandle": """
        1 context KernelContext; 10 handle uint64; 11 dev_func string; 12 block_dim uint32;
        13 args_size uint32; 14 args bytes; 15 sm_desc bytes; 16 original_kernel_key string;
        17 node_info string""",
    "KernelExDef": """
        1 flags uint32; 4 op_index uint32; 12 args_size uint32; 13 args bytes; 14 task_info bytes;
        15 task_info_size uint32; 16 kernel_ext_info bytes; 17 kernel_ext_info_size uint32""",
    "KernelHcclDef": "8 op_index uint32; 9 hccl_type string",
    "EventExDef": "1 op_index uint32; 2 event_type uint32",
    "LogTimeStampDef": "1 logid uint64; 2 notify bool; 3 flat uint32",
    "MemcpyAsyncDef": """
        1 dst uint64; 2 dst_max uint64; 3 src uint64; 4 count uint64; 5 kind uint32;
        6 op_index uint32""",
    "StreamSwitchDef": """
        1 op_index uint32; 2 true_stream_id uint32; 3 value int64; 4 value_ptr uint64;
        5 data_type int64""",
    "StreamSwitchNDef": """
        1 op_index uint32; 2 size uint32; 3 target_value repeated int64;
        4 true_stream_id repeated uint32; 5 element_size uint32; 6 data_type int64""",
    "StreamActiveDef": "1 op_index uint32; 2 active_stream_id uint32",
    "LabelSetDef": "1 op_index uint32; 2 label_id uint32; 3 model_id uint32",
    "LabelGotoExDef": "1 op_index uint32; 2 label_id uint32; 3 model_id uint32",
    "LabelSwitchByIndexDef": "1 op_index uint32; 2 label_max uint32",
    "TaskDef": """
        1 id uint32; 2 type uint32; 10 stream_id uint32; 11 event_id uint32; 20 kernel KernelDef;
        21 kernel_ex KernelExDef; 25 kernel_hccl KernelHcclDef; 26 event_ex EventExDef;
        28 log_timestamp LogTimeStampDef; 30 label_id uint32; 31 memcpy_async MemcpyAsyncDef;
        32 stream_switch StreamSwitchDef; 33 stream_active StreamActiveDef; 34 private_def bytes;
        35 ops_kernel_store_ptr uint64; 36 stream_switch_n StreamSwitchNDef;
        37 label_set LabelSetDef; 38 label_goto_ex LabelGotoExDef;
        39 label_switch_by_index LabelSwitchByIndexDef;
        40 kernel_with_handle KernelDefWithHandle""",
    "ModelTaskDef": """
        1 version string; 9 attr map string; 10 task repeated TaskDef; 11 memory_size uint64;
        12 stream_num uint32; 13 event_num uint32; 14 weight_size uint64; 15 op repeated bytes;
        16 base_addr uint64; 17 weight_addr uint64; 18 batch_num uint32""",
}

_ONEOF = {"AttrDef": "value"}
"""Messages whose fields exclude each other, with the name of the choice."""

_SCALARS = ("string", "bytes", "bool", "float", "int32", "int64", "uint32", "uint64")


def new(name: MessageName) -> Any:
    """Returns an empty message."""
    return _classes(name.rpartition(".")[0])[name]()


def parse(name: MessageName, data: bytes | memoryview) -> Any:
    """Returns the message in `data`.

    Raises:
        GEError: GE0611, where the bytes are no such message.
    """
    decode_error: type[Exception] = import_module("google.protobuf.message").DecodeError
    message = new(name)
    try:
        message.ParseFromString(bytes(data))
    except decode_error as error:
        raise GEError(
            "GE0611",
            f"expected a '{name}' message in {len(data)} bytes: {_one_line(error)}",
            hint="the file is damaged: copy it again or compile the model again",
        ) from error
    return message


def serialise(message: Any) -> bytes:
    """Returns the bytes of a message, the same for equal messages (maps sorted by key)."""
    return message.SerializeToString(deterministic=True)


def embedded(number: int, size: int) -> bytes:
    """Returns what stands before a message of `size` bytes in the field `number` of another one.

    Both are varints: seven bits a byte, the lowest first, the last byte below 128.

    >>> embedded(7, 300)
    b':\\xac\\x02'
    """
    head: list[int] = []
    for value in (number << 3 | 2, size):
        rest = value
        while rest > 127:
            head.append(rest & 127 | 128)
            rest >>= 7
        head.append(rest)
    return bytes(head)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


@functools.cache
def _classes(package: str) -> Mapping[str, Any]:
    """Builds the classes of a package in a pool of its own, so as not to meet other users' ones."""
    pool: Any = import_module("google.protobuf.descriptor_pool").DescriptorPool()
    tables = _GE if package == "ge.proto" else _DOMI
    pool.AddSerializedFile(_file(package, tables).SerializeToString())
    message_class: Any = import_module("google.protobuf.message_factory").GetMessageClass
    return {
        f"{package}.{name}": message_class(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in tables
    }


def _file(package: str, tables: Mapping[str, str]) -> Any:
    """Describes a `.proto` file of the messages in `tables`."""
    file = import_module("google.protobuf.descriptor_pb2").FileDescriptorProto()
    file.name, file.package, file.syntax = f"{package}.proto", package, "proto3"
    for name, table in tables.items():
        message = file.message_type.add()
        message.name = name
        if name in _ONEOF:
            message.oneof_decl.add().name = _ONEOF[name]
        for number, field, kind in _fields(table):
            described = _add_field(message, package, number, field, kind)
            if name in _ONEOF:
                described.oneof_index = 0
    return file


def _fields(table: str) -> Iterator[tuple[int, str, str]]:
    for field in table.split(";"):
        number, name, kind = field.split(maxsplit=2)
        yield int(number), name, kind


def _add_field(message: Any, package: str, number: int, name: str, kind: str) -> Any:
    """Adds one field to a described message; a map also adds the message of its entries."""
    field = message.field.add()
    field.name, field.number = name, number
    if kind.startswith("map "):
        entry = message.nested_type.add()
        entry.name = f"{name.capitalize()}Entry"
        entry.options.map_entry = True
        _add_field(entry, package, 1, "key", "string")
        _add_field(entry, package, 2, "value", kind.removeprefix("map "))
        kind = f"repeated {message.name}.{entry.name}"
    repeated = kind.startswith("repeated ")
    kind = kind.removeprefix("repeated ")
    field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
    if kind in _SCALARS:
        field.type = getattr(field, f"TYPE_{kind.upper()}")
    else:
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{package}.{kind}"
    return field
