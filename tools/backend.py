"""ONNX's backend interface: `prepare` compiles a model to an `.om` file, `run` executes it.

Everything that reads `onnx.backend.base.Backend` can use the compiler through this, ONNX's own
conformance tests among it:

>>> from ge_dialect.tools.backend import GEBackend
>>> GEBackend.supports_device("CPU")
True
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper
from onnx.backend.base import Backend, BackendRep

from ge_dialect.diagnostics import GEError
from ge_dialect.frontends.onnx.importer import import_onnx
from ge_dialect.tools.api import CompileOptions, compile
from ge_dialect.tools.runtime.executor import Executor, load_plan
from ge_dialect.tools.runtime.gears import make_executor

_DEVICE = "CPU"


class GERep(BackendRep):
    """A model, ready to run on the reference runtime.

    A model whose inputs have static shapes is compiled at once; any other for each set of shapes
    that arrives, when it arrives first.

    Args:
        model: The model.
        options: How to compile it.

    Raises:
        GEError: It cannot be compiled.
    """

    def __init__(self, model: onnx.ModelProto, options: CompileOptions):
        self._model = model
        self._options = options
        given = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in given]
        self.inputs: Sequence[str] = [value.name for value in inputs]
        """Names, in the order that `run` takes values."""
        self.outputs: Sequence[str] = [value.name for value in model.graph.output]
        """Names, in the order that `run` returns values."""
        self._dynamic = [value.name for value in inputs if _is_dynamic(value.type)]
        self._executors: dict[tuple[tuple[int, ...], ...], Executor] = {}
        if not self._dynamic:
            self._executor({})

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Returns the outputs, in the order of the model.

        Args:
            inputs: Values in the order of the model, or by name; numpy scalars are arrays without
                dimensions.
            kwargs: As `Executor.run` takes them.

        Raises:
            GEError: They do not fit the model (GE0801 to GE0803), the model cannot be compiled for
                their shapes, or a kernel fails.
        """
        feeds = {name: _as_value(value) for name, value in self._named(inputs).items()}
        if missing := [name for name in self.inputs if name not in feeds]:
            raise GEError(
                "GE0801",
                f"{len(missing)} of {len(self.inputs)} inputs are missing: {', '.join(missing)}",
                hint="give one value an input, in the order of the model or by name",
            )
        outputs = self._executor(feeds).run(feeds, **kwargs)
        return tuple(outputs[name] for name in self.outputs)

    def _named(self, inputs: Any) -> dict[str, Any]:
        if isinstance(inputs, Mapping):
            return dict(cast("Mapping[str, Any]", inputs))
        values = list(inputs)
        if len(values) > len(self.inputs):
            names = ", ".join(f"'{name}'" for name in self.inputs) or "none"
            raise GEError(
                "GE0802",
                f"expected {len(self.inputs)} inputs, got {len(values)}",
                hint=f"the inputs of the model are: {names}",
            )
        return dict(zip(self.inputs, values, strict=False))

    def _executor(self, feeds: Mapping[str, Any]) -> Executor:
        """Returns what runs the model at the shapes of its dynamic inputs."""
        shapes = {name: np.shape(feeds[name]) for name in self._dynamic}
        key = tuple(shapes.values())
        if (found := self._executors.get(key)) is None:
            found = self._executors[key] = self._compile(shapes)
        return found

    def _compile(self, shapes: Mapping[str, Sequence[int]]) -> Executor:
        plan = compile(self._model, input_shapes=shapes or None, options=self._options)
        with tempfile.TemporaryDirectory(prefix="ge-") as folder:
            path = Path(folder, "model.om")
            plan.save(path)
            loaded = load_plan(str(path))  # mapped, so that the name may go
        return make_executor(loaded.module, loaded.weights)


class GEBackend(Backend):
    """The compiler and its reference runtime, as a backend of ONNX."""

    rep: ClassVar[type[GERep]] = GERep
    """What `prepare` returns one of."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = _DEVICE, **kwargs: Any) -> bool:
        """Whether a model can be imported; `prepare` says why not."""
        try:
            import_onnx(model)
        except GEError:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = _DEVICE, **kwargs: Any) -> GERep:
        """Compiles a model.

        Args:
            model: The model.
            device: "CPU", which is where the reference runtime runs.
            kwargs: Fields of `CompileOptions`, by name.

        Raises:
            GEError: The model cannot be compiled; says what, where and what to do.
            ValueError: There is no such device.
            TypeError: `kwargs` names no option.
        """
        if not cls.supports_device(device):
            raise ValueError(f"expected device '{_DEVICE}', got '{device}'")
        return cls.rep(model, replace(CompileOptions(), **kwargs))

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = _DEVICE,
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Compiles and runs a model of one node.

        Args:
            node: The node.
            inputs: One array for each input that is present.
            device: As of `prepare`.
            outputs_info: Element type and shape of each output; ONNX infers them otherwise.
            kwargs: As of `prepare`, and `opset_version`; the newest where it is absent.

        Raises:
            GEError: As of `prepare` and `GERep.run`.
        """
        version = kwargs.pop("opset_version", None)
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in dict.fromkeys(node.input) if name]
        graph = helper.make_graph(
            [node],
            node.op_type,
            [_value_info(n, a.dtype, a.shape) for n, a in zip(names, arrays, strict=True)],
            _outputs(node, outputs_info),
        )
        opset = helper.make_opsetid(node.domain, version or _newest(node.domain))
        model = helper.make_model(graph, opset_imports=[opset])
        return cls.prepare(onnx.shape_inference.infer_shapes(model), device, **kwargs).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether `device` is "CPU", with or without a number."""
        return device.partition(":")[0] == _DEVICE


def _is_dynamic(type_: onnx.TypeProto) -> bool:
    """Whether a tensor has a dimension that only a run tells."""
    if not type_.HasField("tensor_type"):
        return False
    tensor = type_.tensor_type
    return not tensor.HasField("shape") or not all(
        dim.HasField("dim_value") for dim in tensor.shape.dim
    )


def _as_value(value: Any) -> Any:
    """Returns an array for a scalar, also within a sequence; an absent value stays absent."""
    if isinstance(value, list | tuple):
        return [_as_value(item) for item in cast("Sequence[Any]", value)]
    if value is None or isinstance(value, Mapping):
        return cast(Any, value)
    return np.asarray(value)


def _outputs(
    node: onnx.NodeProto, info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None
) -> list[onnx.ValueInfoProto]:
    names = [name for name in node.output if name]
    if info is None:
        return [onnx.ValueInfoProto(name=name) for name in names]
    return [_value_info(name, *said) for name, said in zip(names, info, strict=True)]


def _value_info(name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> onnx.ValueInfoProto:
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, element, shape)


def _newest(domain: str) -> int:
    """Returns the newest operator set of a domain that the installed ONNX knows."""
    if not domain:
        return onnx.defs.onnx_opset_version()
    schemas = onnx.defs.get_all_schemas_with_history()
    return max((schema.since_version for schema in schemas if schema.domain == domain), default=1)
