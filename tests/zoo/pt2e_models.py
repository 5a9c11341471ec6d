"""Models that PyTorch's export-time quantisation (pt2e, by torchao) writes as ONNX.

They have random weights; their observers see one random batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.zoo.genai_models import Case

_AO = "torchao.quantization.pt2e"


class _Models:
    """Builds models, each with its input."""

    def __init__(self) -> None:
        self.torch: Any = import_module("torch")
        self.nn: Any = import_module("torch.nn")

    def mlp(self) -> tuple[Any, Any]:
        """Two products with a GELU between them."""
        nn = self.nn
        return nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 10)), (4, 16)

    def cnn(self) -> tuple[Any, Any]:
        """Convolutions with batch norms, a pool and a product."""
        nn = self.nn
        layers = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1)]
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(16, 10)), (2, 3, 16, 16)

    def encoder(self) -> tuple[Any, Any]:
        """A layer of a transformer."""
        layer = self.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
        return layer, (2, 7, 32)


def _given(name: str) -> tuple[Any, Any]:
    models = _Models()
    models.torch.manual_seed(0)
    module, shape = getattr(models, name)()
    return module.eval(), models.torch.randn(*shape)


def _write(name: str, target: Path) -> None:
    torch: Any = import_module("torch")
    steps: Any = import_module(f"{_AO}.quantize_pt2e")
    quantizers: Any = import_module(f"{_AO}.quantizer.x86_inductor_quantizer")
    module, x = _given(name)
    quantizer = quantizers.X86InductorQuantizer()
    quantizer.set_global(quantizers.get_default_x86_inductor_quantization_config())
    prepared = steps.prepare_pt2e(torch.export.export(module, (x,)).module(), quantizer)
    prepared(x)
    converted = torch.export.export(steps.convert_pt2e(prepared), (x,))
    torch.onnx.export(converted, (x,), str(target), dynamo=True, external_data=False)


def _feeds(name: str) -> dict[str, Any]:
    x = _given(name)[1].numpy()
    return dict.fromkeys(("x", "input", "src"), x)  # as the arguments of modules are called


def pt2e_models() -> Iterator[Case]:
    """Yields each model."""
    for name in ("mlp", "cnn", "encoder"):
        yield Case(f"torch-{name}+qdq-pt2e", partial(_write, name), partial(_feeds, name), dict)
