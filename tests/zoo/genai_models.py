"""Decoders with random weights, as the model builder of onnxruntime-genai writes them.

Sizes are small; each has a step of several tokens with no cache, and one token behind a cache.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx

from tests.zoo.export_architectures import run

Config = Mapping[str, Any]

_WORDS = 128
_BASE: Config = MappingProxyType({
    "vocab_size": _WORDS, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
})  # fmt: skip
_HEADS: Config = MappingProxyType({"head_dim": 16})
_WIDE: Config = MappingProxyType({"hidden_size": 128})
"""Where half of a head turns, of which onnxruntime wants 16 features or a multiple."""
_WINDOW: Config = MappingProxyType({"sliding_window": 4})
_CONVOLUTION: Config = MappingProxyType({"layer_types": ["conv", "full_attention"]})
_LINEAR: Config = MappingProxyType({
    "layer_types": ["linear_attention", "full_attention"], "linear_num_key_heads": 2,
    "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
    "head_dim": 64,
    "rope_parameters": {
        "rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.25,
        "mrope_section": [3, 3, 2],
    },
})  # fmt: skip
_SPEECH: Config = MappingProxyType({
    "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
    "max_target_positions": 32, "decoder_start_token_id": 1,
})  # fmt: skip
_EXPERTS: Config = MappingProxyType({"num_experts_per_tok": 2})

MODELS: Mapping[str, tuple[str, Config]] = MappingProxyType({
    "ernie": ("Ernie4_5", _HEADS),
    "gemma": ("Gemma", _HEADS),
    "gemma2": ("Gemma2", {**_HEADS, **_WINDOW}),
    "gptoss": ("GptOss", {**_HEADS, **_WINDOW, **_EXPERTS, "num_local_experts": 4}),
    "granite": ("Granite", {}),
    "llama": ("Llama", {}),
    "lfm2": ("Lfm2", _CONVOLUTION),
    "lfm2moe": ("Lfm2Moe", {**_CONVOLUTION, **_EXPERTS, "num_experts": 4, "num_dense_layers": 0}),
    "mistral": ("Mistral", {"sliding_window": None}),
    "mistral-window": ("Mistral", _WINDOW),
    "nemotron": ("Nemotron", _WIDE),
    "olmo": ("Olmo", {}),
    "phi": ("Phi", _WIDE),
    "phi3": ("Phi3", {"max_position_embeddings": 4096}),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", _HEADS),
    "qwen35": ("Qwen3_5", {"text_config": {**_BASE, **_LINEAR}}),
    "smollm3": ("SmolLM3", {}),
    "whisper": ("Whisper", _SPEECH),
})  # fmt: skip
"""Classes of transformers, and what is said beside `_BASE`."""

_CONDITIONAL = ("Qwen3_5", "Whisper")

KINDS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "genai-fp32": ("fp32", "cpu"), "genai-int4": ("int4", "cpu"), "half-genai": ("fp16", "cpu"),
    "half-cuda": ("fp16", "cuda"),
})  # fmt: skip
"""Precision and kind of device of what is built."""
STEPS = MappingProxyType({"prefill": (7, 0), "decode": (1, 5)})
"""Tokens of a step, and keys of the cache."""


@dataclass(frozen=True)
class Case:
    """A model to make.

    Attributes:
        name: Of its folder.
        make: Writes it.
        feeds: Returns inputs, once it is made.
        outputs: Returns outputs of what it was made from; none where nothing was.
    """

    name: str
    make: Callable[[Path], None]
    feeds: Callable[[], Mapping[str, Any]]
    outputs: Callable[[], Mapping[str, Any]]


def _saved(name: str, folder: Path) -> Path:
    """Returns the folder with the weights and a tokenizer of words, which is made once."""
    if (folder / "config.json").exists():
        return folder
    torch: Any = import_module("torch")
    tools: Any = import_module("transformers")
    words: Any = import_module("tokenizers")
    kind, options = MODELS[name]
    torch.manual_seed(0)
    config = getattr(tools, f"{kind}Config")(**{**_BASE, **options})
    task = "ConditionalGeneration" if kind in _CONDITIONAL else "CausalLM"
    getattr(tools, f"{kind}For{task}")(config).save_pretrained(folder)
    table = {f"w{i}": i for i in range(_WORDS)}
    tokenizer = words.Tokenizer(words.models.WordLevel(table, unk_token="w3"))
    special = {"bos_token": "w1", "eos_token": "w2", "pad_token": "w0", "unk_token": "w3"}
    tools.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    return folder


def _built(name: str, precision: str, device: str, work: Path) -> Path:
    """Returns the folder with what the builder writes of a model, which is built once."""
    folder = work / f"{name}-{precision}-{device}"
    if not (folder / "genai_config.json").exists():
        source, cache = str(_saved(name, work / name)), str(work / "cache")
        tool = [sys.executable, "-m", "onnxruntime_genai.models.builder"]
        given = ["-i", source, "-o", str(folder), "-p", precision, "-e", device, "-c", cache]
        made = subprocess.run([*tool, *given], capture_output=True, text=True, check=False)
        if made.returncode:
            raise ValueError(made.stderr.strip().splitlines()[-1])
    return folder


def feeds_of(path: Path, tokens: int, before: int) -> dict[str, Any]:
    """Returns inputs of a step: random tokens, a random cache, and nothing masked."""
    rng = np.random.default_rng(0)
    config = json.loads(path.with_name("genai_config.json").read_text())
    named = {
        "batch_size": 2,
        "sequence_length": tokens,
        "past_sequence_length": before,
        "past_sliding_length": _WINDOW["sliding_window"],
        "total_sequence_length": tokens + before,
        "kv_cache_dim": config["model"]["decoder"]["head_size"],
    }
    found: dict[str, Any] = {}
    for value in onnx.ModelProto.FromString(path.read_bytes()).graph.input:
        kind = value.type.tensor_type
        dims = [dim.dim_value or named[dim.dim_param] for dim in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if value.name == "position_ids":
            numbers = np.broadcast_to(np.arange(before, before + tokens), dims)
        elif value.name == "attention_mask":
            numbers = np.ones(dims)
        elif np.issubdtype(dtype, np.integer):
            numbers = rng.integers(0, _WORDS, dims)
        else:
            numbers = rng.normal(size=dims)
        found[value.name] = np.asarray(numbers).astype(dtype)
    return found


def genai_models(work: Path) -> Iterator[Case]:
    """Yields decoders, and an encoder.

    Args:
        work: Where what transformers and the builder write stays.
    """
    for name in MODELS:
        for kind, (precision, device) in KINDS.items():
            built = partial(_built, name, precision, device, work)
            wide = partial(_built, name, *KINDS["genai-fp32"], work)
            if name == "whisper":
                yield _case(f"genai-{name}-encoder+{kind}", built, wide, "encoder", (7, 0))
            part = "decoder" if name == "whisper" else "model"
            for step, sizes in STEPS.items():
                yield _case(f"genai-{name}-{step}+{kind}", built, wide, part, sizes)


def _case(
    name: str,
    built: Callable[[], Path],
    wide: Callable[[], Path],
    part: str,
    sizes: tuple[int, int],
) -> Case:
    """Returns the case of one file of a folder; in f32 it is in the folder `wide`."""

    def copy(target: Path) -> None:
        for one in built().glob(f"{part}.onnx*"):
            # Weights beside the graph keep their name, which the graph holds.
            new = target.name if one.suffix == ".onnx" else one.name
            shutil.copy(one, target.with_name(new))

    def feeds() -> dict[str, Any]:
        return feeds_of(built() / f"{part}.onnx", *sizes)

    def outputs() -> dict[str, Any]:
        path, given = wide() / f"{part}.onnx", feeds()
        found = run(path, {k: x.astype("f4") if x.dtype == "f2" else x for k, x in given.items()})
        return {k.removeprefix("output."): x for k, x in found.items() if k.startswith("output.")}

    return Case(name, copy, feeds, outputs if "half" in name else dict)
