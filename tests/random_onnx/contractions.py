"""Matrix products and their kin."""

from __future__ import annotations

from tests.random_onnx.grower import Grower
from tests.random_onnx.registry import builds
from tests.random_onnx.values import Shape, Value

_EQUATIONS = (
    "ij,jk->ik",
    "ij,jk",
    "bij,bjk->bik",
    "bhqd,bhkd->bhqk",
    "bqhd,bkhd->bhqk",
    "i,i->",
    "i,j->ij",
    "ij->ji",
    "ij->",
    "ii->i",
    "ij,kj->ik",
    "ij,jk,kl->il",
    "...ij,...jk->...ik",
    "i j , j k -> i k",
    "ab,b->ab",
    "Ab,bA->A",
)


def product_shapes(g: Grower) -> tuple[Shape, Shape]:
    """Returns shapes whose product is defined, vectors and broadcast batches among them."""
    rows, inner, columns = g.int(1, 4), g.int(0 if g.rarely() else 1, 5), g.int(1, 4)
    batch = g.shape(0, 2, empty=False)
    left: Shape = (*batch, rows, inner)
    right: Shape = (inner, columns) if g.flag() else (*g.partner(batch), inner, columns)
    match g.int(0, 5):
        case 0:
            left = (inner,)
        case 1:
            right = (inner,)
        case _:
            pass
    return left, right


@builds("MatMul")
def matmul(g: Grower, op_type: str) -> None:
    """A value that there is by one that fits, or two new ones."""
    if g.flag():
        left = g.operand(g.types(op_type), (1, 4), finite=True)
        inner = left.shape[-1]
        right = (inner, g.int(1, 4)) if g.int(0, 3) else (inner,)
        g.emit(op_type, [left, g.fresh(left.dtype, right, "normal")])
        return
    dtype = g.dtype(g.types(op_type))
    g.emit(op_type, [g.fresh(dtype, shape, "normal") for shape in product_shapes(g)])


@builds("Gemm")
def gemm(g: Grower, op_type: str) -> None:
    """With and without transposition, factors and summand."""
    left = g.operand(g.floats(op_type), (2, 2), finite=True)
    trans_a, trans_b = g.flag(), g.flag()
    rows, inner = reversed(left.shape) if trans_a else left.shape
    columns = g.int(1, 4)
    right = g.fresh(left.dtype, (columns, inner) if trans_b else (inner, columns), "normal")
    shapes: list[Shape] = [(), (columns,), (1, columns), (rows, 1), (rows, columns), (1,)]
    summand = g.maybe(g.fresh(left.dtype, g.one_of(shapes), "normal"))
    g.emit(
        op_type,
        [left, right, summand],
        alpha=g.one_of((None, 0.5, 1.0, -2.0)),
        beta=g.one_of((None, 0.25, 1.0)),
        transA=int(trans_a) if trans_a or g.flag() else None,
        transB=int(trans_b) if trans_b or g.flag() else None,
    )


@builds("Einsum")
def einsum(g: Grower, op_type: str) -> None:
    """Equations of all kinds: implicit, traces, batches, spaces."""
    equation = g.one_of(_EQUATIONS)
    sizes = {letter: g.int(1, 4) for letter in sorted(set(equation)) if letter.isalpha()}
    batch = g.shape(0, 1, empty=False)
    dtype = g.dtype(g.floats(op_type))
    operands: list[Value] = []
    for term in equation.split("->")[0].replace(" ", "").split(","):
        letters = term.replace("...", "")
        shape = (*(batch if "..." in term else ()), *(sizes[letter] for letter in letters))
        operands.append(g.fresh(dtype, shape, "normal"))
    g.emit(op_type, operands, equation=equation)


@builds("MatMulInteger")
def matmul_integer(g: Grower, op_type: str) -> None:
    """With zero points of the whole and of columns."""
    left_shape, right_shape = product_shapes(g)
    left = g.fresh(g.dtype(g.types(op_type)), left_shape)
    right = g.fresh(g.dtype(g.types(op_type, 1)), right_shape)
    columns: Shape = (right_shape[-1],) if len(right_shape) == 2 and g.flag() else ()
    zeros = [
        g.maybe(g.fresh(value.dtype, shape, "normal"))
        for value, shape in ((left, ()), (right, columns))
    ]
    g.emit(op_type, [left, right, *zeros])
