"""Models and tasks: what is encoded is decoded, and rules are kept."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_dialect.diagnostics import GEError
from ge_dialect.lowering.om.attributes import AttrValue, OmTensor, OmWeight, api_dtype
from ge_dialect.lowering.om.model import (
    OmGraph,
    OmModel,
    OmOp,
    check_graph,
    const_op,
    decode_model_def,
    encode_model_def,
    encode_task_info,
)
from ge_dialect.lowering.om.schema import new, parse, serialise
from ge_dialect.lowering.om.tasks import (
    OmTask,
    TaskInfo,
    TaskType,
    decode_tasks,
    encode_tasks,
)

X = OmTensor("x", "f16", (2, 4), size=16)
W = OmTensor("w", "f32", (2, 2), size=16)


def model_of(*ops: OmOp, weight_size: int = 0) -> OmModel:
    return OmModel("m", (OmGraph("main", ops),), weight_size=weight_size)


def small_model() -> OmModel:
    ops = (
        OmOp("x", "Data", output_descs=(X,), attrs={"index": 0}, output_offsets=(0,)),
        const_op("w", OmWeight(W, 512, 16), source_nodes=("init",)),
        OmOp(
            "mm",
            "MatMulV2",
            inputs=("x:0", "", "w:0"),
            input_descs=(X, None, W),
            output_descs=(X,),
            attrs={"transpose_x1": True},
            id=1,
            stream_id=1,
            input_offsets=(0, 0, 512),
            output_offsets=(1024,),
            workspaces=((2048, 64), (4096, 32)),
            source_nodes=("/mm", "/add"),
        ),
        OmOp("out", "NetOutput", ("mm:0", "w:-1"), (X,), id=2),
    )
    return OmModel(
        "small",
        (OmGraph("main", ops),),
        (OmTask(TaskType.KERNEL, 1, op_index=1, kernel="mm", args=(0, 512, 1024)),),
        memory_size=8192,
        weight_size=1024,
        stream_num=2,
        event_num=1,
        attrs={"soc_version": "Ascend310P3"},
    )


# Models.


def test_a_model_is_read_back() -> None:
    model = small_model()
    assert decode_model_def(encode_model_def(model)) == replace(model, tasks=())


def test_the_message_says_what_readers_of_the_format_expect() -> None:
    message = parse("ge.proto.ModelDef", encode_model_def(small_model()))
    assert message.attr["memory_size"].i == 8192
    assert message.attr["stream_num"].i == 2
    x, w, mm, out = message.graph[0].op
    assert message.graph[0].input == ["x:0"]
    assert message.graph[0].output == ["mm:0", "w:-1"]
    assert list(x.dst_name) == ["mm"]
    assert list(zip(w.dst_name, w.dst_index, strict=True)) == [("mm", 2), ("out", -1)]
    assert w.attr["value"].t.desc.data_offset == 512
    assert w.attr["value"].t.desc.weight_size == 16
    assert list(mm.is_input_const) == [False, False, True]
    assert len(mm.input_desc) == 3
    assert list(mm.workspace) == [2048, 4096]
    assert list(mm.attr["_datadump_original_op_names"].list.s) == [b"/mm", b"/add"]
    assert list(out.src_index) == [0, -1]


def test_rank_zero_has_a_shape_and_an_unknown_rank_is_minus_two() -> None:
    results = (OmTensor("", "i64", ()), OmTensor("", "i64", None))
    data = encode_model_def(model_of(OmOp("x", "Data", output_descs=results)))
    scalar, unknown = parse("ge.proto.ModelDef", data).graph[0].op[0].output_desc
    assert scalar.HasField("shape")
    assert list(scalar.shape.dim) == []
    assert list(unknown.shape.dim) == [-2]
    assert decode_model_def(data).graphs[0].ops[0].output_descs == results


@pytest.mark.parametrize("dtype", ["f8E4M3FN", "ui4", "f8E8M0FNU"])
def test_a_type_that_viewers_do_not_know_keeps_its_name(dtype: str) -> None:
    tensor = OmTensor("", dtype, (1,))
    data = encode_model_def(model_of(OmOp("x", "Data", output_descs=(tensor,))))
    assert parse("ge.proto.ModelDef", data).graph[0].op[0].output_desc[0].dtype < 32
    assert decode_model_def(data).graphs[0].ops[0].output_descs == (tensor,)


def test_the_two_enums_of_element_types_differ() -> None:
    assert (api_dtype("i64"), api_dtype("f32"), api_dtype("f8E5M2")) == (9, 0, 28)


names = st.text(max_size=8)
floats = st.floats(width=32, allow_nan=False)
ints = st.integers(-(2**63), 2**63 - 1)
scalars = st.booleans() | ints | floats | names | st.binary(max_size=8)
values: st.SearchStrategy[AttrValue] = st.one_of(
    scalars,
    st.lists(st.booleans(), max_size=3).map(tuple),
    st.lists(ints, max_size=3).map(tuple),
    st.lists(floats, max_size=3).map(tuple),
    st.lists(names, max_size=3).map(tuple),
    st.lists(st.binary(max_size=4), max_size=3).map(tuple),
    st.lists(st.lists(ints, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple),
)
tensors = st.builds(
    OmTensor,
    names,
    st.sampled_from(["f16", "bf16", "i1", "ui2", "string", "f8E5M2"]),
    st.none() | st.lists(st.integers(-1, 9), max_size=3).map(tuple),
    st.sampled_from(["ND", "NCHW"]),
    st.integers(0, 2**40),
)


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), values, max_size=4),
    st.lists(tensors, max_size=3).map(tuple),
    st.lists(names, max_size=2).map(tuple),
)
def test_any_op_is_read_back(
    attrs: dict[str, AttrValue], results: tuple[OmTensor, ...], nodes: tuple[str, ...]
) -> None:
    model = model_of(OmOp("x", "T", output_descs=results, attrs=attrs, source_nodes=nodes))
    assert decode_model_def(encode_model_def(model)) == model


def test_numbers_of_two_kinds_make_a_list_of_floats() -> None:
    data = encode_model_def(model_of(OmOp("x", "T", attrs={"scales": (1, 0.5), "nan": math.nan})))
    attrs = decode_model_def(data).graphs[0].ops[0].attrs
    assert attrs["scales"] == (1.0, 0.5)
    assert isinstance(attrs["nan"], float)
    assert math.isnan(attrs["nan"])


@pytest.mark.parametrize("value", [(1, "a"), (True, 2), ((1,), 2), 2**63, (b"a", "a")])
def test_a_value_that_has_no_message_is_refused(value: AttrValue) -> None:
    with pytest.raises(ValueError, match=r"expected|range"):
        encode_model_def(model_of(OmOp("x", "T", attrs={"a": value})))


def test_attributes_of_other_compilers_are_left_out() -> None:
    message = new("ge.proto.ModelDef")
    message.attr["f"].func.name = "f"
    message.attr["td"].td.name = "td"
    message.attr["tds"].list.td.add()
    message.attr["tds"].list.val_type = 6
    message.attr["g"].g.name = "g"
    message.attr["dt"].dt = 9
    message.attr["memory_size"].s = b"\xff"
    model = decode_model_def(serialise(message))
    assert model.attrs == {"dt": 9}
    assert model.memory_size == 0


def consumer(**changes: object) -> OmOp:
    op = OmOp("mm", "MatMulV2", ("x:0", "w:0"), (X, W), (X,), id=1)
    return replace(op, **changes)


@pytest.mark.parametrize(
    ("op", "problem"),
    [
        (consumer(name="x"), "names of their own"),
        (consumer(name=""), "names of their own"),
        (consumer(inputs=("x:0",)), "expected 1 input_descs"),
        (consumer(inputs=("x:-1", "x:0", "w:0")), "after its operands"),
        (consumer(inputs=("y:0", "w:0")), "no such result"),
        (consumer(inputs=("x:1", "w:0")), "no such result"),
        (consumer(inputs=("x:a", "w:0")), "no such result"),
        (consumer(inputs=("x:0", "w:0", "y:-1")), "no such op"),
        (consumer(input_descs=(None, W)), "expected f16, got None"),
        (consumer(input_descs=(replace(X, dtype="f32"), W)), "expected f16, got f32"),
        (consumer(input_descs=(replace(X, shape=(2, 5)), W)), r"expected shape \(2, 4\)"),
        (consumer(input_descs=(replace(X, shape=(-1, 8)), W)), r"expected shape \(2, 4\)"),
        (consumer(attrs={"relu_flag": True}), "viewers need that name"),
        (const_op("c", OmWeight(W, 1008, 32)), "bytes 1008 to 1040"),
        (replace(const_op("c", OmWeight(W, 0, 16)), output_descs=(X,)), "as its result"),
        (OmOp("c", "Const", output_descs=(W,)), "to be a weight"),
    ],
)
def test_what_viewers_refuse_is_never_written(op: OmOp, problem: str) -> None:
    ops = (OmOp("x", "Data", output_descs=(X,)), const_op("w", OmWeight(W, 0, 16)), op)
    with pytest.raises(ValueError, match=problem):
        encode_model_def(model_of(*ops, weight_size=1024))


def test_a_reshaped_operand_is_fine() -> None:
    op = consumer(input_descs=(replace(X, shape=(8,)), W))
    ops = (OmOp("x", "Data", output_descs=(X,)), const_op("w", OmWeight(W, 0, 16)), op)
    assert list(check_graph(OmGraph("main", ops), 16)) == []


# Tasks.

u32 = st.integers(0, 2**32 - 1)
u64 = st.integers(0, 2**64 - 1)
tasks = st.one_of(
    st.builds(
        OmTask,
        st.just(TaskType.KERNEL),
        u32,
        u32,
        kernel=names,
        args=st.lists(u64, max_size=4).map(tuple),
        blocks=u32,
        origin_ops=st.lists(u32, max_size=3).map(tuple),
    ),
    st.builds(OmTask, st.sampled_from([TaskType.EVENT_RECORD, TaskType.EVENT_WAIT]), u32, u32, u32),
    st.builds(
        OmTask,
        st.just(TaskType.MEMCPY_ASYNC),
        u32,
        u32,
        source=u64,
        destination=u64,
        count=u64,
    ),
    st.builds(OmTask, st.just(TaskType.STREAM_ACTIVE), u32, u32, target_stream=u32),
)


@given(st.builds(TaskInfo, st.lists(tasks, max_size=4).map(tuple), u64, u64, u32, u32))
def test_any_tasks_are_read_back(info: TaskInfo) -> None:
    assert decode_tasks(encode_tasks(info)) == info


def test_task_info_is_never_empty_and_repeats_the_sizes() -> None:
    assert encode_tasks(TaskInfo(())) != b""
    info = decode_tasks(encode_task_info(small_model()))
    assert (info.memory_size, info.weight_size, info.stream_num, info.event_num) == (
        8192,
        1024,
        2,
        1,
    )
    assert info.tasks == small_model().tasks


def test_tasks_of_other_compilers_are_kept_by_number() -> None:
    message = new("domi.ModelTaskDef")
    task = message.task.add()
    task.type, task.kernel_ex.op_index = 5, 3
    assert decode_tasks(serialise(message)).tasks == (OmTask(5, 0, op_index=3),)
    with pytest.raises(ValueError, match="got 5"):
        encode_tasks(TaskInfo((OmTask(5, 0),)))


@settings(max_examples=200)
@given(st.binary(max_size=60), st.integers(0, 10**6))
def test_damaged_messages_raise_nothing_else(junk: bytes, position: int) -> None:
    for data, decode in (
        (encode_model_def(small_model()), decode_model_def),
        (encode_task_info(small_model()), decode_tasks),
    ):
        at = position % len(data)
        for damaged in (junk, data[:at] + junk + data[at + len(junk) :]):
            try:
                decode(damaged)
            except GEError as error:
                assert error.code == "GE0611"
                assert "\n" not in str(error)


def test_the_bytes_are_the_same_in_another_process() -> None:
    code = (
        "from ge_dialect.lowering.om.model import *;"
        "from ge_dialect.lowering.om.attributes import *;"
        "t = OmTensor('x', 'f16', (2,));"
        "o = OmOp('x', 'Data', output_descs=(t,), attrs={c: c for c in 'hgfedcba'});"
        "print(encode_model_def(OmModel('m', (OmGraph('g', (o,)),), attrs={'z': 1, 'b': 2})).hex())"
    )
    printed: set[str] = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed.add(done.stdout)
    assert len(printed) == 1
