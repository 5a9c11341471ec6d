"""Masks of symbolic sizes: what passes make of them, against the ops they were, at random sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from ge_dialect.ge.symbolic import bind_values
from ge_dialect.passes.canonicalization.canonicalize import CanonicalizePass
from ge_dialect.passes.raising.raise_composites import RaisePass
from ge_dialect.symbols import evaluate, parse_dim
from ge_dialect.tools.api import make_context
from ge_dialect.tools.check.numerics import mismatch_of, reference_of
from ge_dialect.tools.gear_sharing import related_symbols

COMPARISONS = ("less_equal", "less", "greater_equal", "greater", "equal")
LENGTHS = ("S", "S + 2", "P + 1", "5")
SYMBOLS = 'ge.symbols = {P = #ge.symbol<1, 9, 1, "">, S = #ge.symbol<1, 9, 1, "">}'
SIZES = st.fixed_dictionaries({"S": st.integers(1, 9), "P": st.integers(1, 9)})
STARTS = st.integers(-3, 5)
STEPS = st.sampled_from([-1, 0, 1, 2])


def typed(dims: Sequence[str], element: str) -> str:
    """A tensor type with numbers and expressions for dimensions."""
    shown = "x".join(dim if dim.isdecimal() else "?" for dim in dims)
    open_ = ", ".join(f'"{dim}"' for dim in dims if not dim.isdecimal())
    return f"tensor<{shown}x{element}{f', #ge.dims<{open_}>' if open_ else ''}>"


def grid(name: str, length: str, start: int, step: int, row: bool) -> str:
    """Positions as a row or as a column, `%name`."""
    flat, whole = typed([length], "i64"), typed(["1", length] if row else [length, "1"], "i64")
    return (
        f"%{name}0 = ge.range start {start} : i64 delta {step} : i64 : {flat}\n"
        f"%{name} = ge.reshape %{name}0 : ({flat}) -> {whole}\n"
    )


def comparison(op: str, keys: str, queries: str, ops: str) -> str:
    """`%c` of keys in a row, `%j`, and queries in a column, `%i`."""
    row, column = typed(["1", keys], "i64"), typed([queries, "1"], "i64")
    both = typed([queries, keys], "i1")
    return f"{ops}%c = ge.{op} %j, %i : ({row}, {column}) -> {both}\n"


def same_at(text: str, passes: Sequence[ModulePass], sizes: Mapping[str, int]) -> ModuleOp:
    """Runs passes on a module with symbols, and compares both at some sizes, to the bit."""
    before = Parser(make_context(), text).parse_module()
    after = before.clone()
    for one in passes:
        one.apply(make_context(), after)
    after.verify()
    bound = [module.clone() for module in (before, after)]
    for module in bound:
        for function in module.body.block.ops:
            assert isinstance(function, FuncOp)
            bind_values(function, sizes)
            function.update_function_type()
    reference = reference_of(bound[0], 0, extremes=False)
    assert reference.results, reference.skipped
    found = mismatch_of(bound[1], reference, exact=True)
    assert found is None, found.message
    return after


@given(
    st.sampled_from(COMPARISONS),
    st.sampled_from(LENGTHS),
    st.sampled_from(LENGTHS),
    st.tuples(STARTS, STEPS),
    st.tuples(STARTS, STEPS),
    SIZES,
)
def test_comparisons_of_grids_are_what_they_were(
    op: str,
    keys: str,
    queries: str,
    key: tuple[int, int],
    query: tuple[int, int],
    sizes: Mapping[str, int],
) -> None:
    ops = grid("j", keys, *key, row=True) + grid("i", queries, *query, row=False)
    body = comparison(op, keys, queries, ops)
    mask = typed([queries, keys], "i1")
    text = (
        f"func.func @f(%m: {mask}) -> {mask} attributes {{{SYMBOLS}}} {{\n{body}"
        f"%a = ge.and %m, %c : ({mask}, {mask}) -> {mask}\n"
        f"%n = ge.logical_not %c : ({mask}) -> {mask}\n"
        f"%o = ge.or %a, %n : ({mask}, {mask}) -> {mask}\nfunc.return %o : {mask}\n}}"
    )
    same_at(text, [CanonicalizePass()], sizes)


@given(
    st.sampled_from(COMPARISONS[:4]),
    st.sampled_from(LENGTHS),
    st.sampled_from(LENGTHS),
    st.integers(-1, 2),
    st.sampled_from(["", "zero_nan ", "nan_guard "]),
    st.sampled_from([None, "-3.4028235e38", "0xFF800000"]),
    SIZES,
)
def test_attention_with_a_computed_mask_is_what_it_was(
    op: str,
    keys: str,
    queries: str,
    start: int,
    guard: str,
    low: str | None,
    sizes: Mapping[str, int],
) -> None:
    ops = grid("j", keys, 0, 1, row=True) + grid("i", queries, start, 1, row=False)
    body = comparison(op, keys, queries, ops)
    mask, name = typed([queries, keys], "i1"), "%c"
    if low is not None:
        floats = typed([queries, keys], "f32")
        body += (
            "%zero = ge.constant dense<0.0> : tensor<f32>\n"
            f"%low = ge.constant dense<{low}> : tensor<f32>\n"
            f"%s = ge.select %c, %zero, %low : ({mask}, tensor<f32>, tensor<f32>) -> {floats}\n"
        )
        mask, name = floats, "%s"
    q, k = typed(["1", "2", queries, "4"], "f32"), typed(["1", "2", keys, "4"], "f32")
    text = (
        f"func.func @f(%q: {q}, %k: {k}) -> {q} attributes {{{SYMBOLS}}} {{\n{body}"
        f"%o = ge.flash_attention %q, %k, %k mask {name} scale 1.0 {guard}: "
        f"({q}, {k}, {k}, {mask}) -> {q}\nfunc.return %o : {q}\n}}"
    )
    same_at(text, [CanonicalizePass(), RaisePass()], sizes)


def test_a_triangle_is_no_mask() -> None:
    ops = grid("j", "S", 0, 1, row=True) + grid("i", "S", 0, 1, row=False)
    q, mask = typed(["1", "2", "S", "4"], "f32"), typed(["S", "S"], "i1")
    text = (
        f"func.func @f(%q: {q}) -> {q} attributes {{{SYMBOLS}}} {{\n"
        f"{comparison('less_equal', 'S', 'S', ops)}"
        f"%o = ge.flash_attention %q, %q, %q mask %c scale 1.0 : "
        f"({q}, {q}, {q}, {mask}) -> {q}\nfunc.return %o : {q}\n}}"
    )
    after = same_at(text, [RaisePass(), CanonicalizePass()], {"S": 5, "P": 1})
    assert "causal" in str(after)
    assert "ge.range" not in str(after)


@given(
    st.dictionaries(
        st.sampled_from("abcd"), st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=1
    )
)
def test_related_symbols_are_so_in_all_gears(values: dict[str, list[int]]) -> None:
    related = related_symbols(values)
    for name, dim in related.items():
        for number, size in enumerate(values[name]):
            sizes = {other: sizes[number] for other, sizes in values.items()}
            assert evaluate(dim, sizes) == size
    assert not any(name in str(dim) for name in related for dim in related.values())
    assert related_symbols({"past": [4, 8], "total": [5, 9]}) == {"total": parse_dim("past + 1")}
