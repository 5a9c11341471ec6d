"""Products of matrices that exporters spell as sums over letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from ge_dialect.ge.constants import array_constant, constant_array, constant_attr
from ge_dialect.ge.contractions import EinsumOp, MatmulOp
from ge_dialect.ge.dtypes import is_float
from ge_dialect.ge.einsum_equation import expand_labels, parse_equation, replace_ellipsis
from ge_dialect.ge.extents import known_product
from ge_dialect.ge.movement import TransposeOp
from ge_dialect.ge.types import MaybeDim, Shape, byte_size, element_type_of, value_shape
from ge_dialect.passes.raising.gemm import MOST_BYTES
from ge_dialect.passes.raising.heads import Chain
from ge_dialect.passes.raising.match import Found, Raise

Labels = tuple[str, ...]


@dataclass
class _Term:
    """One operand: its value, and a letter for each of its dimensions."""

    value: SSAValue
    labels: Labels


@dataclass
class _Contraction(Found):
    """A sum of products as one of matrices.

    Attributes:
        left: The operand with the rows.
        right: The operand with the columns.
        lead: Letters of the result before rows and columns, of either operand or both.
        rows: Letters that only `left` has.
        columns: Letters that only `right` has.
        summed: Letters that both have and the result lacks.
        output: All letters of the result, in its order.
        sizes: Of all letters.
    """

    left: _Term
    right: _Term
    lead: Labels
    rows: Labels
    columns: Labels
    summed: Labels
    output: Labels
    sizes: dict[str, MaybeDim]

    def build(self) -> list[Operation]:
        chain = Chain()
        # Without others, all letters of the rows but the last are leading dimensions of `left`.
        rows = [(label,) for label in self.rows] if not self.lead else [self.rows]
        left = self._operand(chain, self.left, [*rows, self.summed])
        right = self._operand(chain, self.right, [self.summed, self.columns])
        result = chain.add(MatmulOp(left, right))
        made = (*self.lead, *self.rows, *self.columns)
        result = chain.reshape(result, self._shape((label,) for label in made))
        result = _transposed(chain, result, made, self.output)
        chain.reshape(result, value_shape(self.ops[0].results[0]))
        return chain.ops

    def _operand(self, chain: Chain, term: _Term, groups: Sequence[Labels]) -> SSAValue:
        """Returns an operand whose dimensions are leading letters, then groups of letters."""
        order = [label for label in self.lead if label in term.labels]
        order += [label for group in groups for label in group]
        value = chain.reshape(term.value, self._shape((label,) for label in term.labels))
        value = _transposed(chain, value, term.labels, order)
        lead = [(label,) if label in term.labels else () for label in self.lead]
        while lead and not lead[0]:  # a product broadcasts what is not there
            lead.pop(0)
        return chain.reshape(value, self._shape([*lead, *groups]))

    def _shape(self, groups: Iterable[Labels]) -> Shape:
        return tuple(known_product([self.sizes[label] for label in group]) for group in groups)


def _transposed(
    chain: Chain, value: SSAValue, labels: Sequence[str], order: Sequence[str]
) -> SSAValue:
    """Returns a value whose dimensions are `order` instead of `labels`; of a constant another."""
    import numpy as np

    perm = tuple(labels.index(label) for label in order)
    if perm == tuple(range(len(perm))):
        return value
    small = constant_attr(value) is not None and (byte_size(value.type) or 0) <= MOST_BYTES
    if small and (array := constant_array(value)) is not None:
        return chain.add(array_constant(np.ascontiguousarray(array.transpose(perm))))
    return chain.add(TransposeOp(value, perm))


class PlainEinsum(Raise):
    """`einsum "ibnd,jbnd->bnij"(a, b)` -> `matmul(transpose(a), transpose(b))`.

    Where both operands have letters of their own, every letter of one operand is in the result,
    and letters that both have and the result lacks are summed. Not where the rows would have to be
    transposed, and the result back again. Where only the second operand is in the order of rows, it
    is the first factor, as the weights of attention are.
    """

    roots = (EinsumOp,)
    composite: ClassVar = "einsum"

    def find(self, op: Operation) -> Found | None:
        assert isinstance(op, EinsumOp)
        if len(op.arguments) != 2 or not is_float(element_type_of(op.result)):
            return None
        equation = parse_equation(op.equation.data)
        left, right = (
            _Term(value, expand_labels(labels, len(value_shape(value))))
            for labels, value in zip(equation.inputs, op.arguments, strict=True)
        )
        hidden = len(value_shape(op.result)) - len(equation.output) + 1
        output = replace_ellipsis(equation.output, hidden)
        if (sizes := _sizes(left, right)) is None:
            return None
        if output and output[-1] not in right.labels:
            left, right = right, left
        found = _contraction(op, left, right, output, sizes)
        return found and (_in_order(op, left, right, output, sizes) or found)


def _sizes(left: _Term, right: _Term) -> dict[str, MaybeDim] | None:
    """Returns the sizes of all letters; None where one is unknown, repeats or broadcasts."""
    sizes: dict[str, MaybeDim] = {}
    for term in (left, right):
        if len(set(term.labels)) != len(term.labels):
            return None
        for label, dim in zip(term.labels, value_shape(term.value), strict=True):
            if dim is None or sizes.setdefault(label, dim) != dim:
                return None
    return sizes


def _contraction(
    op: EinsumOp, left: _Term, right: _Term, output: Labels, sizes: dict[str, MaybeDim]
) -> _Contraction | None:
    summed = tuple(label for label in left.labels if label not in output)
    if not summed or any(label not in right.labels for label in summed):
        return None
    if any(label not in output and label not in summed for label in right.labels):
        return None
    rows = tuple(label for label in output if label not in right.labels)
    columns = tuple(label for label in output if label not in left.labels)
    if not rows or not columns:
        return None
    lead = tuple(label for label in output if label in left.labels and label in right.labels)
    parts = _in_place(output, rows, columns)
    if parts is None and left.labels != (*lead, *rows, *summed):
        return None  # what comes and what goes would both be transposed
    parts = parts or (lead, rows, columns)
    return _Contraction(left, right, *parts, summed, output, sizes, ops=[op])


def _in_order(
    op: EinsumOp, left: _Term, right: _Term, output: Labels, sizes: dict[str, MaybeDim]
) -> _Contraction | None:
    """Returns the product with the factors swapped where that transposes none but the other.

    Letters of one element are left out: they have no order.
    """
    first, second = (_Term(one.value, _many(one.labels, sizes)) for one in (right, left))
    found = _contraction(op, first, second, _many(output, sizes), sizes)
    if found is None or found.output[-1:] == found.columns[-1:]:
        return None
    lead, summed = found.lead, found.summed
    if first.labels != (*lead, *found.rows, *summed):
        return None
    # As they were, both factors would be transposed.
    both = second.labels != (*lead, *found.columns, *summed)
    return found if both and first.labels != (*lead, *summed, *found.rows) else None


def _many(labels: Labels, sizes: dict[str, MaybeDim]) -> Labels:
    return tuple(label for label in labels if sizes[label] != 1)


def _in_place(
    output: Labels, rows: Labels, columns: Labels
) -> tuple[Labels, Labels, Labels] | None:
    """Returns the result's letters as leading ones, rows and columns where that is their order."""
    end = _start_of(output, columns)
    start = _start_of(output[:end], rows)
    if start == end or end == len(output):
        return None
    return output[:start], output[start:end], output[end:]


def _start_of(labels: Labels, wanted: Labels) -> int:
    """Returns where the last letters begin that are all among some."""
    start = len(labels)
    while start and labels[start - 1] in wanted:
        start -= 1
    return start
