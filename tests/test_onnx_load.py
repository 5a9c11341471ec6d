"""Opening ONNX models: weights stay where they are, and what is wrong is said by name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.frontends.onnx.load import LoadedModel, load_onnx, load_proto
from ge_dialect.frontends.onnx.notes import notes_of
from ge_dialect.frontends.onnx.tensors import packed_bytes
from ge_dialect.frontends.onnx.wire import strip
from ge_dialect.weights import MemoryWeight, WeightSource

if TYPE_CHECKING:
    from collections.abc import Callable

ZOO = Path(__file__).parents[2] / "shared" / "zoo"
ZOO_MODELS = (
    "bert.dynamo-dyn", "bert.ts-static", "control-flow.ts-static", "efficientnet.dynamo-static",
    "flash-block.dynamo23-static", "llama-fp16.dynamo-static", "lstm.ts-dyn", "mamba.ts-static",
    "ssdlite.ts-static", "swin.ts-static", "yolo-head.dynamo-static",
)  # fmt: skip


def value(name: str, *dims: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def model_of(
    nodes: list[onnx.NodeProto],
    initializers: list[TensorProto] | None = None,
    outputs: tuple[str, ...] = ("y",),
    opsets: tuple[tuple[str, int], ...] = (("", 17),),
) -> onnx.ModelProto:
    """A model with one input `x[4]` and the given nodes."""
    results = [value(name, 4) for name in outputs]
    graph = helper.make_graph(nodes, "main", [value("x", 4)], results, initializers or [])
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets]
    return helper.make_model(graph, opset_imports=imports)


def add_model(weight: TensorProto) -> onnx.ModelProto:
    return model_of([helper.make_node("Add", ["x", weight.name], ["y"], name="add")], [weight])


def random_tensor(name: str, *dims: int) -> TensorProto:
    values = np.random.default_rng(0).standard_normal(dims).astype(np.float32)
    return numpy_helper.from_array(values, name)


def parse(path: Path) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(path.read_bytes())


def array_of(loaded: LoadedModel, tensor: TensorProto) -> npt.NDArray[Any]:
    """The values of a tensor as onnx reads them, from the bytes of its weight."""
    if tensor.data_type == TensorProto.STRING:
        return numpy_helper.to_array(tensor)
    raw = loaded.weight(tensor).view().tobytes()
    dims = list(tensor.dims)
    return numpy_helper.to_array(TensorProto(data_type=tensor.data_type, dims=dims, raw_data=raw))


def refused(code: str, load: Callable[[], object]) -> str:
    """Runs `load`, which must raise `code`, and returns the message."""
    with pytest.raises(GEError) as caught:
        load()
    assert caught.value.code == code, str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Files


@pytest.mark.parametrize("name", ZOO_MODELS)
def test_real_models_keep_every_initializer(name: str):
    path = ZOO / "small" / name / "model.onnx"
    if not path.exists():
        pytest.skip(f"no zoo at {ZOO}")
    loaded, expected = load_onnx(path), parse(path)
    assert len(loaded.model.graph.node) == len(expected.graph.node)
    for found, wanted in zip(
        loaded.model.graph.initializer, expected.graph.initializer, strict=True
    ):
        assert found.name == wanted.name
        assert bytes(loaded.weights[wanted.name].view()) == wanted.raw_data
        assert loaded.weight(found) == loaded.weights[wanted.name]


def test_a_7b_graph_shares_one_weight_file(tmp_path: Path):
    path = ZOO / "llama7b" / "dynamo23-static" / "model.onnx"
    if not path.exists():
        pytest.skip(f"no zoo at {ZOO}")
    shutil.copy(path, tmp_path)
    (tmp_path / "weights.bin").touch()
    os.truncate(tmp_path / "weights.bin", 524_288_000)
    loaded = load_onnx(tmp_path / "model.onnx")
    external = [
        weight
        for weight in loaded.weights.values()
        if isinstance(weight, WeightSource) and weight.path.endswith("weights.bin")
    ]
    assert len(external) == 226
    assert len({id(weight) for weight in external}) == len(set(external))
    embedding = loaded.weights["module.model.embed_tokens.weight"]
    assert embedding.length == 32000 * 4096 * 4


def test_big_tensors_stay_in_the_file(tmp_path: Path):
    big, small = random_tensor("big", 300, 4), random_tensor("small", 4)
    nodes = [
        helper.make_node("Add", ["x", "big"], ["a"]),
        helper.make_node("Constant", [], ["c"], name="const", value=random_tensor("", 300)),
        helper.make_node("Add", ["a", "small"], ["y"]),
    ]
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(nodes, [big, small]).SerializeToString())
    loaded = load_onnx(path)
    assert isinstance(source := loaded.weights["big"], WeightSource)
    assert source.path == str(path)
    assert source.view().tobytes() == big.raw_data
    assert loaded.weights["small"] == MemoryWeight(small.raw_data)
    constant = loaded.model.graph.node[1].attribute[0].t
    assert not constant.HasField("raw_data")
    assert loaded.weights["const/value"] == loaded.weight(constant)
    assert loaded.model.ByteSize() < 1000


@given(st.lists(st.integers(0, 600), max_size=6), st.integers(0, 3), st.sampled_from((100, 1024)))
@settings(max_examples=40, deadline=None)
def test_stripping_loses_nothing(sizes: list[int], depth: int, threshold: int):
    model = model_of([helper.make_node("Identity", ["x"], ["y"])])
    graph = model.graph
    for level in range(depth):
        body = helper.make_graph([], f"body{level}", [], [])
        graph.node.append(helper.make_node("If", ["x"], ["z"], then_branch=body))
        graph = graph.node[-1].attribute[0].g
    # Looks like the beginning of the data of a tensor of 2048 bytes.
    lure = onnx.TensorProto(data_type=onnx.TensorProto.UINT8, dims=[24], raw_data=b"J\x80\x10" * 8)
    for i, size in enumerate(sizes):
        graph.initializer.extend((lure, random_tensor(f"w{i}", size)))
    data = model.SerializeToString()
    stripped = strip(data, "m", threshold)
    cut = [data[r.offset : r.offset + r.length] for r in stripped.ranges]
    assert cut == [t.raw_data for t in graph.initializer if len(t.raw_data) > threshold]
    found = onnx.ModelProto.FromString(stripped.model)
    found_graph = found.graph
    for _ in range(depth):
        found_graph = found_graph.node[-1].attribute[0].g
    for tensor in found_graph.initializer:
        if tensor.external_data:
            tensor.raw_data = cut[int(tensor.external_data[0].value)]
            tensor.ClearField("external_data")
    assert found == model


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 300), st.integers(0, 20000)), max_size=8
    ),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_notes_of_nodes_are_left_out(sizes: list[tuple[int, int, int]], described: bool):
    model = model_of([], [helper.make_tensor("w", TensorProto.FLOAT, [300], [0.0] * 300)])
    for index, (name, doc, note) in enumerate(sizes):
        node = model.graph.node.add(op_type="Relu", name="n" * name, input=["x"], output=["y"])
        node.attribute.append(helper.make_attribute("ints", list(range(1 + name % 50))))
        if index % 3 == 0:
            node.domain = "acme"
        if index % 3 < 2:
            node.doc_string = "d" * doc
        node.metadata_props.add(key="scope", value="J\n" * note)
        if described:
            model.graph.value_info.append(value(f"v{index}", name))
    stripped = strip(model.SerializeToString(), "m")
    found = onnx.ModelProto.FromString(stripped.model)
    rest = onnx.GraphProto.FromString(stripped.value_info)
    assert rest == onnx.GraphProto(value_info=model.graph.value_info)
    for mine, wanted in zip(found.graph.node, model.graph.node, strict=True):
        is_usual = not (wanted.domain and wanted.HasField("doc_string"))
        assert not (mine.metadata_props and is_usual) or wanted.ByteSize() > 16000
        for node in (mine, wanted):
            node.ClearField("metadata_props")
            node.ClearField("doc_string")
    model.graph.ClearField("value_info")
    assert found == model


def notes_by_hand(data: bytes, start: int, end: int) -> int:
    """As `notes_of`, of one node, field by field."""
    position, notes = start, end
    while position < end:
        tag, length, begin = data[position], data[position + 1], position + 2
        if length > 127:
            length, begin = length - 128 + (data[begin] << 7), begin + 1
        is_note = tag in (0x32, 0x4A)
        if tag not in (0x0A, 0x12, 0x1A, 0x22, 0x2A, 0x32, 0x3A, 0x42, 0x4A):
            return -1
        if data[position + 1] > 127 and data[position + 2] > 127:
            return -1
        if notes < end and not is_note:
            return -1
        if is_note and notes == end:
            notes = position
        position = begin + length
    return notes if position == end else -1


FIELDS = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 4, 5, 7, 8]) | st.sampled_from([6, 9, 9, 10]),
        st.integers(0, 300) | st.just(0),
        st.sampled_from([2, 2, 2, 2, 2, 2, 2, 0]),
    ),
    max_size=8,
)


@given(st.lists(FIELDS, min_size=1, max_size=6), st.integers(-2, 2), st.booleans())
def test_notes_are_where_each_node_by_itself_has_them(
    nodes: list[list[tuple[int, int, int]]], cut: int, is_long: bool
):
    data, spans = b"", list[tuple[int, int]]()
    for fields in nodes:
        start = len(data)
        for number, length, wire in fields:
            size = bytes((length & 127 | 128, length >> 7)) if length > 127 else bytes((length,))
            data += bytes((number << 3 | wire,)) + size + b"\x0a" * length
        data += b"\x0a\x80\x80\x01" if is_long else b""
        spans.append((start, max(start, len(data) + cut)))
    data += b"\0" * 600
    assert notes_of(data, spans) == [notes_by_hand(data, *span) for span in spans]


def test_types_of_values_are_read_when_they_are_asked_for(tmp_path: Path):
    model = add_model(random_tensor("w", 300, 4))
    model.graph.value_info.extend((value("a", 4), value("b", -1)))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    loaded = load_onnx(path)
    assert not loaded.bare.graph.value_info
    found = {one.name: one.type.tensor_type.shape.dim[0] for one in loaded.model.graph.value_info}
    assert found["a"].dim_value == 4
    assert found["b"].WhichOneof("value") is None
    assert len(loaded.model.graph.value_info) == 2
    path.write_bytes(path.read_bytes().replace(b"\x01b\x12", b"\x01\xff\x12"))
    assert "not UTF-8" in refused("GE0202", lambda: load_onnx(path).model)


def test_declared_types_of_a_file_are_used(tmp_path: Path):
    nodes = [helper.make_node("Det", ["x"], ["a"]), helper.make_node("Add", ["a", "w"], ["y"])]
    model = model_of(nodes, [random_tensor("w", 300, 4)])
    model.graph.input[0].type.tensor_type.ClearField("shape")
    model.graph.value_info.append(value("a", 300, 1))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    for source in (path, parse(path)):
        assert "(tensor<300x1xf32>, tensor<300x4xf32>) -> " in str(import_onnx(source))


def test_loading_from_memory_leaves_the_model_alone():
    model = add_model(random_tensor("w", 300, 4))
    before = model.SerializeToString()
    loaded = load_proto(model)
    assert model.SerializeToString() == before
    assert loaded.weights["w"] == MemoryWeight(model.graph.initializer[0].raw_data)
    assert [v.name for v in loaded.inputs] == ["x"]


def test_missing_files_and_folders_are_told_apart(tmp_path: Path):
    message = refused("GE0201", lambda: load_onnx(tmp_path / "none.onnx"))
    assert "No such file" in message
    assert "is a folder" in refused("GE0201", lambda: load_onnx(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    assert "regular" in refused("GE0201", lambda: load_onnx(tmp_path / "pipe"))
    refused("GE0201", lambda: load_onnx("a\0b"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"PK\x03\x04" + bytes(40), "zip archive"),
        (b"hello, world", "bytes 68 65"),
        (b"\x08\x08\x3a\x02\xff\xff", "not a valid"),
        (b"\x08\x08\x0f", "wire type 7"),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes, words: str):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    assert words in refused("GE0202", lambda: load_onnx(path))


def test_a_cut_file_is_truncated(tmp_path: Path):
    path = tmp_path / "m.onnx"
    data = add_model(random_tensor("w", 300, 4)).SerializeToString()
    path.write_bytes(data[: len(data) // 2])
    assert "truncated" in refused("GE0203", lambda: load_onnx(path))


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damage_never_escapes_as_another_exception(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    content = bytearray(add_model(random_tensor("w", 300, 4)).SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, min(200, len(content) - 1)))] = data.draw(
            st.integers(0, 255)
        )
    del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path_factory.getbasetemp() / "damaged.onnx"
    path.write_bytes(content)
    try:
        load_onnx(path)
    except GEError as error:
        assert error.code.startswith("GE02")


# Tensors


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("count", [5, 2000])
@pytest.mark.parametrize(
    "name",
    ["FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16",
     "UINT32", "UINT64", "BOOL", "INT4", "UINT4", "INT2", "UINT2", "COMPLEX64", "FLOAT8E4M3FN",
     "FLOAT8E5M2", "FLOAT4E2M1"],
)  # fmt: skip
def test_every_element_type_is_read(name: str, count: int, raw: bool):
    data_type = TensorProto.DataType.Value(name)
    dtype = helper.tensor_dtype_to_np_dtype(data_type)
    values = (np.arange(count) % 4).astype(dtype)
    if raw:
        tensor = numpy_helper.from_array(values, "w")
    else:
        tensor = helper.make_tensor("w", data_type, [count], values)
        assert not tensor.HasField("raw_data")
    loaded = load_proto(add_model(tensor))
    found = loaded.model.graph.initializer[0]
    assert loaded.weights["w"].length == packed_bytes(data_type, [count])
    np.testing.assert_array_equal(array_of(loaded, found), values)
    assert found.HasField("raw_data") == (loaded.weights["w"].length <= 1024)


def test_strings_stay_in_the_model():
    tensor = helper.make_tensor("w", TensorProto.STRING, [2], np.array(["a", "b"]))
    loaded = load_proto(add_model(tensor))
    assert "w" not in loaded.weights
    assert array_of(loaded, loaded.model.graph.initializer[0]).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dims": [5]}, "16 bytes of data, expected 20 for FLOAT[5]"),
        ({"dims": [-4]}, "dimension is -4"),
        ({"dims": [1] * 65}, "rank is 65"),
        ({"data_type": 99}, "element type 99"),
        ({"data_type": 0}, "UNDEFINED"),
        ({"float_data": [1.0] * 4}, "more than one field"),
        ({"raw_data": None, "double_data": [1.0] * 4}, "'double_data' with element type FLOAT"),
        ({"raw_data": None}, "no data"),
        ({"segment": TensorProto.Segment(begin=0)}, "segments"),
    ],
)
def test_malformed_tensors_are_named(changes: dict[str, Any], words: str):
    tensor = random_tensor("w", 4)
    for key in changes:
        tensor.ClearField(key)
    tensor.MergeFrom(TensorProto(**{k: v for k, v in changes.items() if v is not None}))
    message = refused("GE0206", lambda: load_proto(add_model(tensor)))
    assert words in message
    assert "tensor 'w'" in message


# External data


@pytest.fixture
def external(tmp_path: Path) -> Callable[..., Path]:
    def save(**keys: str) -> Path:
        """Saves a model whose weight `w[300, 4]` lies in a file, with some keys changed."""
        path = tmp_path / "m.onnx"
        model = add_model(random_tensor("w", 300, 4))
        tensor = model.graph.initializer[0]
        (tmp_path / "w.bin").write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, text in ({"location": "w.bin", "offset": "0", "length": "4800"} | keys).items():
            if text != "absent":
                tensor.external_data.add(key=key, value=text)
        path.write_bytes(model.SerializeToString())
        return path

    return save


@pytest.mark.parametrize("keys", [{}, {"length": "absent"}, {"offset": "absent"}])
def test_external_data_is_found(external: Callable[..., Path], keys: dict[str, str]):
    loaded = load_onnx(external(**keys))
    expected = random_tensor("w", 300, 4).raw_data
    assert loaded.weights["w"].view().tobytes() == expected


@pytest.mark.parametrize(
    ("keys", "code", "words"),
    [
        ({"location": "../w.bin"}, "GE0207", "leaves the model's folder"),
        ({"location": "a/../../w.bin"}, "GE0207", "leaves"),
        ({"location": "/etc/passwd"}, "GE0207", "leaves"),
        ({"location": "C:\\w.bin"}, "GE0207", "leaves"),
        ({"location": "gone.bin"}, "GE0208", "gone.bin' does not exist (tensor 'w')"),
        ({"location": "absent"}, "GE0206", "without 'location'"),
        ({"location": "."}, "GE0208", "not a regular file"),
        ({"offset": "4096"}, "GE0209", "has 4800 bytes, expected at least 8896"),
        ({"offset": "-1"}, "GE0206", "'offset' of '-1'"),
        ({"offset": "9" * 5000}, "GE0206", "'offset'"),
        ({"length": "4796"}, "GE0206", "4796 bytes of data, expected 4800"),
        ({"length": "1e3"}, "GE0206", "'length' of '1e3'"),
        ({"ge.stripped": "0"}, "GE0206", "more than one field"),
        ({"ge.stripped": "7"}, "GE0206", "field"),
    ],
)
def test_bad_external_data_is_refused(
    external: Callable[..., Path], keys: dict[str, str], code: str, words: str
):
    assert words in refused(code, lambda: load_onnx(external(**keys)))


def test_links_out_of_the_folder_are_refused(external: Callable[..., Path], tmp_path: Path):
    path = external()
    outside = tmp_path.parent / f"{tmp_path.name}-outside.bin"
    shutil.move(tmp_path / "w.bin", outside)
    os.symlink(outside, tmp_path / "w.bin")
    assert "is a link" in refused("GE0207", lambda: load_onnx(path))


def test_a_download_cache_of_links_is_read(external: Callable[..., Path], tmp_path: Path):
    path = external()
    snapshot, blobs = tmp_path / "snapshot", tmp_path / "blobs"
    snapshot.mkdir()
    blobs.mkdir()
    for name in ("m.onnx", "w.bin"):
        shutil.move(path.parent / name, blobs / f"hash-{name}")
        os.symlink(f"../blobs/hash-{name}", snapshot / name)
    assert load_onnx(snapshot / "m.onnx").weights["w"].length == 4800


def test_external_data_in_memory_needs_a_folder(external: Callable[..., Path]):
    path = external()
    model = parse(path)
    assert "without a folder" in refused("GE0208", lambda: load_proto(model))
    assert load_proto(model, path.parent).weights["w"].length == 4800


# Structure


def relu(source: str, result: str, name: str = "") -> onnx.NodeProto:
    return helper.make_node("Relu", [source], [result], name=name)


@pytest.mark.parametrize(
    ("nodes", "code", "words"),
    [
        ([relu("b", "a", "first"), relu("a", "b", "second"), relu("a", "y")], "GE0210",
         "cycle (node 'first' (Relu) -> node 'second' (Relu) -> node 'first' (Relu))"),
        ([relu("y", "y", "own")], "GE0210", "node 'own' (Relu) -> node 'own' (Relu)"),
        ([relu("q", "a"), relu("q", "y")], "GE0211",
         "'q' is not defined (node 0 (Relu), node 1 (Relu))"),
        ([relu("x", "a")], "GE0211", "'y' is not defined (graph output)"),
        ([relu("x", "y", "one"), relu("x", "y", "two")], "GE0212",
         "'y' is defined again (node 'two' (Relu))"),
        ([relu("x", "x"), relu("x", "y")], "GE0212", "'x' is defined again"),
        ([helper.make_node("Foo", ["x"], ["y"], domain="acme")], "GE0205",
         "domain 'acme' is not imported (node 0 (Foo))"),
        ([helper.make_node("", ["x"], ["y"])], "GE0204", "no op type"),
    ],
)  # fmt: skip
def test_bad_graphs_name_their_nodes(nodes: list[onnx.NodeProto], code: str, words: str):
    assert words in refused(code, lambda: load_proto(model_of(nodes)))


def test_nodes_out_of_order_are_sorted_and_keep_their_order_otherwise():
    nodes = [relu("b", "y", "last"), relu("x", "a", "first"), relu("x", "c"), relu("a", "b", "mid")]
    found = load_proto(model_of(nodes))
    assert [row.name for row in found.nodes] == ["first", "", "mid", "last"]
    assert [node.name for node in found.model.graph.node] == ["first", "", "mid", "last"]


def test_bodies_and_functions_are_sorted():
    branch = helper.make_graph(
        [relu("s", "t", "late"), relu("x", "s", "early")], "branch", [], [value("t", 4)]
    )
    choose = helper.make_node("If", ["x"], ["y"], "if", then_branch=branch, else_branch=branch)
    function = helper.make_function(
        "acme", "F", ["p"], ["q"], [relu("r", "q", "late"), relu("p", "r", "early")], []
    )
    model = model_of([choose])
    model.functions.append(function)
    found = load_proto(model).model
    bodies = [attribute.g for attribute in found.graph.node[0].attribute]
    for nodes in (bodies[0].node, bodies[1].node, found.functions[0].node):
        assert [node.name for node in nodes] == ["early", "late"]


def test_an_output_is_listed_once():
    twice = model_of([relu("x", "y")], outputs=("y", "y"))
    assert "two outputs are named 'y'" in refused("GE0212", lambda: load_proto(twice))


def test_subgraphs_see_outer_values_and_nothing_later():
    def branch(source: str, result: str) -> onnx.GraphProto:
        return helper.make_graph([relu(source, result)], "branch", [], [value(result, 4)])

    def choose(source: str) -> onnx.NodeProto:
        then, other = branch(source, "t"), branch("x", "t")
        return helper.make_node("If", ["x"], ["y"], "if", then_branch=then, else_branch=other)

    load_proto(model_of([relu("x", "a"), choose("a")]))
    found = load_proto(model_of([choose("a"), relu("x", "a")]))
    assert [row.kind.op_type for row in found.nodes] == ["Relu", "If"]
    assert "cycle" in refused("GE0210", lambda: load_proto(model_of([choose("y")])))
    assert "'nope'" in refused("GE0211", lambda: load_proto(model_of([choose("nope")])))


def test_all_problems_of_a_kind_come_at_once():
    nodes = [relu(f"q{i}", f"r{i}") for i in range(8)]
    message = refused("GE0211", lambda: load_proto(model_of([*nodes, relu("x", "y")])))
    assert "'q0'" in message
    assert "'q4'" in message
    assert "and 3 more" in message


@pytest.mark.parametrize(
    ("opsets", "words"),
    [
        ((), "no opset"),
        ((("", 0),), "opset is 0, expected 1 to"),
        ((("", 9999),), "opset is 9999"),
        ((("", 17), ("ai.onnx", 18)), "versions 17 and 18"),
    ],
)
def test_opsets_are_checked(opsets: tuple[tuple[str, int], ...], words: str):
    model = model_of([relu("x", "y")])
    model.ClearField("opset_import")
    model.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in opsets)
    assert words in refused("GE0205", lambda: load_proto(model))


def test_the_default_domain_has_one_spelling():
    loaded = load_proto(model_of([relu("x", "y")], opsets=(("ai.onnx", 17), ("acme", 1))))
    assert loaded.opset == {"": 17, "acme": 1}


def test_a_model_without_graph_or_output_is_refused():
    assert "no graph" in refused("GE0204", lambda: load_proto(onnx.ModelProto(ir_version=8)))
    assert "no output" in refused("GE0204", lambda: load_proto(model_of([], outputs=())))


def test_sparse_initializers_are_refused():
    model = model_of([relu("x", "y")])
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("", TensorProto.INT64, [1], [0])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    assert "'s'" in refused("GE0213", lambda: load_proto(model))


def test_initializers_are_no_inputs():
    model = add_model(random_tensor("w", 4))
    model.graph.input.append(value("w", 4))
    assert [v.name for v in load_proto(model).inputs] == ["x"]


def test_placeholders_of_dimensions_are_no_names():
    # Paddle writes -1 and `?`: equal spellings are different dimensions.
    proto = helper.make_model(
        helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [-1, 3, "?", "?"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        )
    )
    dims = load_proto(proto).model.graph.input[0].type.tensor_type.shape.dim
    assert [dim.WhichOneof("value") for dim in dims] == [None, "dim_value", None, None]


def test_long_lists_of_attributes_are_passed_over_as_one():
    count = 1_500_000  # more fields than a file may have, were each counted
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml")
    for name in ("nodes_treeids", "nodes_nodeids"):
        node.attribute.add(name=name, type=onnx.AttributeProto.INTS, ints=[300] * count)
    node.attribute.add(name="nodes_values", type=onnx.AttributeProto.FLOATS, floats=[0.5] * count)
    words = [b"LEAF", b"BRANCH_LEQ"] * 10
    node.attribute.add(name="nodes_modes", type=onnx.AttributeProto.STRINGS, strings=words)
    proto = helper.make_model(helper.make_graph([node], "g", [], []))
    data = proto.SerializeToString()
    assert strip(data, "model").model == data
