"""Matrix products and their kin."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ge_dialect.frontends.onnx.convert.node import Node, converts
from ge_dialect.ge import contractions, integer_contractions


@converts("MatMul")
def matmul(node: Node) -> SSAValue:
    """`MatMul`."""
    return node.emit(contractions.MatmulOp(node[0], node[1]))


@converts("Gemm")
def gemm(node: Node) -> SSAValue:
    """`Gemm`."""
    return node.emit(
        contractions.GemmOp(
            node[0],
            node[1],
            node.optional(2),
            node.get_float("alpha", 1.0),
            node.get_float("beta", 1.0),
            node.get_flag("transA"),
            node.get_flag("transB"),
        )
    )


@converts("Einsum")
def einsum(node: Node) -> SSAValue:
    """`Einsum`."""
    operands = [node[slot] for slot in range(len(node.operands))]
    return node.emit(contractions.EinsumOp(node.get_string("equation"), operands))


@converts("MatMulInteger")
def matmul_integer(node: Node) -> SSAValue:
    """`MatMulInteger`."""
    return node.emit(
        integer_contractions.MatmulIntegerOp(node[0], node[1], node.optional(2), node.optional(3))
    )
