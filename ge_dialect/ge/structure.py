"""Ops that hold other ops, and the one op for everything that has no op of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    EffectInstance,
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    Pure,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from ge_dialect.ge.base import Engine, FusionKind, GEOp, I64Attr, int_attr
from ge_dialect.ge.copied import structure_of
from ge_dialect.ge.dtypes import is_bool
from ge_dialect.ge.in_place import in_place_pairs_of
from ge_dialect.ge.types import RankedTensor, compatible, num_elements, tensor_of


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region of `ge` and gives the values of the op around it.

    Example:
    ```mlir
    ge.yield %y : tensor<4xf32>
    ```
    """

    name = "ge.yield"

    arguments = var_operand_def()

    # HasParent is checked by the parents, which know how many values they need.
    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *arguments: SSAValue | Operation):
        # Not by way of the definition, which costs several times as much: there is one group.
        Operation.__init__(self, operands=[SSAValue.get(value) for value in arguments])


def yield_of(region: Region) -> YieldOp:
    """Returns the terminator of a region with one block.

    Raises:
        VerifyException: The region does not end with `ge.yield`.
    """
    last = region.block.last_op if len(region.blocks) == 1 else None
    if not isinstance(last, YieldOp):
        raise VerifyException("expected one block that ends with 'ge.yield'")
    return last


_PAIRS: WeakKeyDictionary[Region, Sequence[tuple[int, int]]] = WeakKeyDictionary()
"""The pairs of bodies that copies are made of."""


@irdl_op_definition
class FusionOp(GEOp):
    """One kernel made of several ops. The body is the kernel's whole meaning.

    Isolated from above: every tensor it reads is an operand, or a constant in its body.

    Constraints:
    - (C1) The body has one block whose arguments have the types of the operands.
    - (C2) It ends with `ge.yield` of values of the result types.

    Example:
    ```mlir
    %r = ge.fusion "AddReluFusion" (%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %s = ge.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %t = ge.relu %s : (tensor<4xf32>) -> tensor<4xf32>
      ge.yield %t : tensor<4xf32>
    }
    ```
    """

    name = "ge.fusion"
    GE_INPUTS: ClassVar = ("x",)
    FUSION_KIND: ClassVar = FusionKind.OPAQUE

    kernel_name = prop_def(StringAttr)
    rule = opt_prop_def(StringAttr)
    arguments = var_operand_def(RankedTensor)
    res = var_result_def(RankedTensor)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect())

    assembly_format = (
        "$kernel_name `(` $arguments `)` (`rule` $rule^)? attr-dict"
        " `:` functional-type(operands, results) $body"
    )

    def __init__(
        self,
        kernel_name: str,
        arguments: Sequence[SSAValue],
        body: Region,
        rule: str | None = None,
    ):
        results = [value.type for value in yield_of(body).arguments]
        properties: dict[str, Attribute] = {"kernel_name": StringAttr(kernel_name)}
        if rule is not None:
            properties["rule"] = StringAttr(rule)
        # As in `YieldOp`.
        Operation.__init__(
            self,
            operands=arguments,
            result_types=results,
            properties=properties,
            regions=[body],
        )

    def ge_op_type(self) -> str:
        return self.kernel_name.data

    def infer_types(self) -> Sequence[Attribute]:
        return [value.type for value in yield_of(self.body).arguments]

    def flops(self) -> int:
        return sum(op.flops() for op in self.body.block.ops if isinstance(op, GEOp))

    def in_place_pairs(self) -> Sequence[tuple[int, int]]:
        like = structure_of(self.body)
        if like is self.body:
            return in_place_pairs_of(like.block)
        if (known := _PAIRS.get(like)) is None:
            known = _PAIRS[like] = in_place_pairs_of(like.block)
        return known

    def verify_(self) -> None:
        block = self.body.block
        if [arg.type for arg in block.args] != [arg.type for arg in self.arguments]:  # (C1)
            raise VerifyException("expected block arguments of the types of the operands")
        if len(yield_of(self.body).arguments) != len(self.results):  # (C2)
            raise VerifyException(f"expected 'ge.yield' of {len(self.results)} values")
        super().verify_()


_RANDOM = ("Random", "Bernoulli", "Multinomial")


class HostCallEffects(MemoryEffect):
    """A host call is pure, but for the random ones: those may be neither merged nor dropped."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, HostCallOp)
        if op.op_type.startswith(_RANDOM):
            return {EffectInstance(MemoryEffectKind.WRITE)}
        return set()


@irdl_op_definition
class HostCallOp(GEOp):
    """An ONNX op that has no op of its own in `ge`; runs on the host, as GE's AICPU ops do.

    `callee` is `domain::OpType` (the default domain is spelled `ai.onnx`), `version` the version of
    its domain's operator set, `attrs` the node's attributes. `absent` lists the operand slots that
    the node leaves empty. Types follow ONNX's own inference, values `onnx.reference`. Operands and
    results are tensors, sequences, optionals or maps.

    Constraints:
    - (C1) `callee` has a domain and an op type.

    Example:
    ```mlir
    %y = ge.host_call "ai.onnx::Det" version 22 (%x) : (tensor<3x3xf32>) -> tensor<f32>
    ```
    """

    name = "ge.host_call"
    GE_INPUTS: ClassVar = ("x",)
    ENGINE: ClassVar = Engine.HOST

    callee = prop_def(StringAttr)
    version = prop_def(I64Attr)
    attrs = opt_prop_def(DictionaryAttr)
    absent = opt_prop_def(AnyAttr())
    arguments = var_operand_def()
    res = var_result_def()

    traits = traits_def(HostCallEffects())

    assembly_format = (
        "$callee `version` $version `(` $arguments `)` (`absent` $absent^)? (`attrs` $attrs^)?"
        " attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        callee: str,
        version: int,
        arguments: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        attrs: DictionaryAttr | None = None,
        absent: Attribute | None = None,
    ):
        super().__init__(
            [list(arguments)],
            {
                "callee": StringAttr(callee),
                "version": int_attr(version),
                "attrs": attrs,
                "absent": absent,
            },
            result_types=result_types,
            num_results=len(result_types),
        )

    @property
    def domain(self) -> str:
        """The ONNX domain, `ai.onnx` for the default one."""
        return self.callee.data.partition("::")[0]

    @property
    def op_type(self) -> str:
        """The ONNX op type, without its domain."""
        return self.callee.data.partition("::")[2]

    def ge_op_type(self) -> str:
        return self.op_type

    def infer_types(self) -> Sequence[Attribute]:
        # What ONNX infers is asked at import; afterwards the declared types stand.
        return [result.type for result in self.results]

    def verify_(self) -> None:
        domain, separator, op_type = self.callee.data.partition("::")
        if not (domain and separator and op_type):  # (C1)
            raise VerifyException(f"expected 'callee' as domain::OpType, got {self.callee.data}")


@irdl_op_definition
class IfOp(GEOp):
    """Runs one of two regions, by a truth value; the regions may use values from outside.

    Constraints:
    - (C1) `condition` is one `i1`.
    - (C2) Both regions yield values that fit the result types.

    Example:
    ```mlir
    %y = ge.if %c : tensor<i1> -> tensor<4xf32> then {
      ge.yield %a : tensor<4xf32>
    } else {
      ge.yield %b : tensor<4xf32>
    }
    ```
    """

    name = "ge.if"
    GE_TYPE: ClassVar = "If"
    GE_INPUTS: ClassVar = ("cond",)
    ENGINE: ClassVar = Engine.HOST

    condition = operand_def(RankedTensor)
    res = var_result_def()
    then_region = region_def("single_block")
    else_region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    assembly_format = (
        "$condition `:` type($condition) `->` type($res)"
        " `then` $then_region `else` $else_region attr-dict"
    )

    def __init__(
        self,
        condition: SSAValue,
        result_types: Sequence[Attribute],
        then_region: Region,
        else_region: Region,
    ):
        super().__init__(
            [condition],
            result_types=result_types,
            num_results=len(result_types),
            regions=[then_region, else_region],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return [result.type for result in self.results]

    def verify_(self) -> None:
        condition = tensor_of(self.condition)
        if not is_bool(condition.element_type) or num_elements(condition) not in (1, None):  # (C1)
            raise VerifyException(f"expected 'condition' of one i1, got {condition}")
        for region in self.regions:  # (C2)
            expect_yield(region, [result.type for result in self.results])


@irdl_op_definition
class LoopOp(GEOp):
    """ONNX `Loop`: runs its body at most `trip_count` times while a condition holds.

    The body takes the iteration number, the condition and the carried values; it yields the next
    condition, the carried values, and one slice for each scan result. Results are the carried
    values after the last iteration, then the scan results with the iterations as dimension 0.

    Constraints:
    - (C1) The body has 2 + carried arguments and yields 1 + results values.

    Example:
    ```mlir
    %y = ge.loop %n, %c carried (%x) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
      %w = ge.add %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      ge.yield %go, %w : tensor<i1>, tensor<4xf32>
    }
    ```
    """

    name = "ge.loop"
    GE_TYPE: ClassVar = "Loop"
    ENGINE: ClassVar = Engine.HOST

    trip_count = operand_def(RankedTensor)
    condition = operand_def(RankedTensor)
    carried = var_operand_def()
    res = var_result_def()
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    assembly_format = (
        "$trip_count `,` $condition `carried` `(` $carried `)` attr-dict"
        " `:` functional-type(operands, results) $body"
    )

    def __init__(
        self,
        trip_count: SSAValue,
        condition: SSAValue,
        carried: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Region,
    ):
        super().__init__(
            [trip_count, condition, list(carried)],
            result_types=result_types,
            num_results=len(result_types),
            regions=[body],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return [result.type for result in self.results]

    def verify_(self) -> None:
        arguments, yielded = len(self.body.block.args), len(yield_of(self.body).arguments)
        if arguments != 2 + len(self.carried) or yielded != 1 + len(self.results):  # (C1)
            raise VerifyException(
                f"expected a body of {2 + len(self.carried)} arguments that yields "
                f"{1 + len(self.results)} values, got {arguments} and {yielded}"
            )


def expect_yield(region: Region, types: Sequence[Attribute]) -> None:
    """Checks that a region yields values of `types`.

    Raises:
        VerifyException: It does not.
    """
    yielded = [value.type for value in yield_of(region).arguments]
    if len(yielded) != len(types) or not all(
        compatible(declared, found) for declared, found in zip(types, yielded, strict=True)
    ):
        shown = ", ".join(str(type_) for type_ in yielded)
        raise VerifyException(f"expected 'ge.yield' of the result types, got {shown}")


def region_of(ops: Sequence[Operation], results: Sequence[SSAValue]) -> Region:
    """Returns a region of one block without arguments that holds `ops` and yields `results`."""
    return Region(Block([*ops, YieldOp(*results)]))
