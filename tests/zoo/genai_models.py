"""Decoders with random weights, as the model builder of onnxruntime-genai writes them.

Sizes are small; each has a step of several tokens with no cache, and one token behind a cache.
"""

from __future__ import annotations

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

Config = Mapping[str, Any]

_WORDS = 128
_BASE: Config = MappingProxyType({
    "vocab_size": _WORDS, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
})  # fmt: skip
_HEADS: Config = MappingProxyType({"head_dim": 16})
_WINDOW: Config = MappingProxyType({"sliding_window": 4})
_EXPERTS: Config = MappingProxyType({"num_experts_per_tok": 2})

MODELS: Mapping[str, tuple[str, Config]] = MappingProxyType({
    "ernie": ("Ernie4_5", _HEADS),
    "gemma": ("Gemma", _HEADS),
    "gemma2": ("Gemma2", {**_HEADS, **_WINDOW}),
    "gptoss": ("GptOss", {**_HEADS, **_WINDOW, **_EXPERTS, "num_local_experts": 4}),
    "granite": ("Granite", {}),
    "llama": ("Llama", {}),
    "lfm2": ("Lfm2", {}),
    "mistral": ("Mistral", {"sliding_window": None}),
    "mistral-window": ("Mistral", _WINDOW),
    "nemotron": ("Nemotron", {}),
    "olmo": ("Olmo", {}),
    "phi": ("Phi", {}),
    "phi3": ("Phi3", {}),
    "phimoe": ("Phimoe", {**_EXPERTS, "num_local_experts": 4}),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", _HEADS),
    "smollm3": ("SmolLM3", {}),
})  # fmt: skip
"""Classes of transformers, and what is said beside `_BASE`."""

KINDS = MappingProxyType({"genai-fp32": "fp32", "genai-int4": "int4", "half-genai": "fp16"})
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
    getattr(tools, f"{kind}ForCausalLM")(config).save_pretrained(folder)
    table = {f"w{i}": i for i in range(_WORDS)}
    tokenizer = words.Tokenizer(words.models.WordLevel(table, unk_token="w3"))
    special = {"bos_token": "w1", "eos_token": "w2", "pad_token": "w0", "unk_token": "w3"}
    tools.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
    return folder


def _built(name: str, precision: str, work: Path) -> Path:
    """Returns what the builder writes of a model, which is built once."""
    folder = work / f"{name}-{precision}"
    if not (folder / "model.onnx").exists():
        source, cache = str(_saved(name, work / name)), str(work / "cache")
        tool = [sys.executable, "-m", "onnxruntime_genai.models.builder"]
        given = ["-i", source, "-o", str(folder), "-p", precision, "-e", "cpu", "-c", cache]
        made = subprocess.run([*tool, *given], capture_output=True, text=True, check=False)
        if made.returncode:
            raise ValueError(made.stderr.strip().splitlines()[-1])
    return folder / "model.onnx"


def feeds_of(path: Path, tokens: int, before: int) -> dict[str, Any]:
    """Returns inputs of a step: random tokens, a random cache, and nothing masked."""
    rng = np.random.default_rng(0)
    named = {
        "batch_size": 2,
        "sequence_length": tokens,
        "past_sequence_length": before,
        "past_sliding_length": _WINDOW["sliding_window"],
        "total_sequence_length": tokens + before,
        "kv_cache_dim": _HEADS["head_dim"],
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
    """Yields decoders.

    Args:
        work: Where what transformers and the builder write stays.
    """
    for name in MODELS:
        for kind, precision in KINDS.items():
            for step, (tokens, before) in STEPS.items():
                built = partial(_built, name, precision, work)
                yield Case(
                    f"genai-{name}-{step}+{kind}",
                    partial(_copied, built),
                    partial(_feeds, built, tokens, before),
                    dict,
                )


def _copied(built: Callable[[], Path], target: Path) -> None:
    for one in built().parent.glob("model.onnx*"):
        shutil.copy(one, target.with_name(one.name))


def _feeds(built: Callable[[], Path], tokens: int, before: int) -> dict[str, Any]:
    return feeds_of(built(), tokens, before)
