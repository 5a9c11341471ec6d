"""Methods of dataclasses that are compiled late do what those that `dataclass` makes do."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="Python 3.13 compiles the methods of a class at once"
)

CLASSES = """
import dataclasses, functools, pickle, sys
from dataclasses import FrozenInstanceError, InitVar, dataclass, field, replace
from typing import ClassVar

@dataclass(frozen=True)
class Point:
    x: int
    y: int = 2
    seen: list[int] = field(default_factory=list, compare=False, repr=False)
    count: ClassVar[int] = 0

@dataclass(frozen=True)
class Named(Point):
    self: str = "s"

@dataclass(slots=True, order=True)
class Slotted:
    a: int
    b: InitVar[int] = 5

    def __post_init__(self, b):
        self.a += b

@dataclass
class Plain:
    value: object = None


@dataclass
class Filled:
    a: list[int] = field(default_factory=list[int])
    b: dict[str, int] = field(default_factory=dict[str, int])
    c: object = field(default_factory=lambda: [1])
    d: object = field(default_factory=type("Mine", (), {"__class_getitem__": classmethod(id)}))

@dataclass(eq=False)
class Same:
    value: int = 1

@dataclass(frozen=True, kw_only=True)
class ByName:
    f1: int
    f0: str = "f0"
    assign: list[int] = field(default_factory=list)

@dataclass
class Mixed(Plain):
    unset: int = field(kw_only=True)
    self: int = field(default=3, kw_only=True)
    more: dict[str, int] = field(default_factory=dict)

    def __post_init__(self):
        self.more["seen"] = 1
"""

CHECKS = """
p, q = Point(1), Point(x=1, y=2, seen=[3])
print(p == q, hash(p) == hash(q), p != Point(2), repr(p), p == Named(1), Named(1, self="t"))
print(p.seen, replace(p, y=7), dataclasses.astuple(p), {p: 1}[q], pickle.loads(pickle.dumps(p)))
for attempt in (lambda: setattr(p, "x", 3), lambda: delattr(p, "x"), lambda: Point(),
    lambda: Point(1, 2, [], 4), lambda: Point(1, x=2), lambda: Point(1, z=3), lambda: Same(1, 2),
    lambda: Plain(other=1), lambda: Filled([], {}, 1, 2, 3)):
    try:
        attempt()
    except (FrozenInstanceError, TypeError) as error:
        print(type(error).__name__, error)
s = Slotted(1)
print(s, s < Slotted(2), Slotted(1, b=1), sorted([Slotted(3), Slotted(1)]))
one, other = Filled(), Filled()
one.a.append(1)
print(one.a, other.a, other.b, other.c, type(other.d).__name__, {f.name: f.default_factory
    for f in dataclasses.fields(Filled) if f.name in "ab"})
loop = Plain()
loop.value = loop
print(loop, Plain(1) == Plain(1), Same() == Same(), Same(2))
print(Point.__init__.__name__, Point.__eq__.__qualname__, Named.__hash__.__qualname__)
print(Plain(value=3), Filled(c=1, b={}).c, Point(y=4, x=3))
print([Slotted(n).a for n in range(120)] == [n + 5 for n in range(120)])
print([Point(n, seen=[n]).seen for n in range(120)] == [[n] for n in range(120)], Point(7))
print(ByName(f1=1), ByName(f0=2, f1=1, assign=[1]) == ByName(f1=1, f0=2, assign=[1]))
print(Mixed(unset=1), Mixed(2, {}, unset=5, self=6))
for attempt in (lambda: ByName(1), lambda: ByName(), lambda: Mixed(1), lambda: Mixed(1, 2, 3)):
    try:
        attempt()
    except TypeError as error:
        print(error)
class Child(Point):
    pass
print(Child(4), Child(4) == Child(4), Child(4) == Point(4))
"""


def output_of(start: str) -> str:
    code = start + textwrap.dedent(CLASSES) + CHECKS
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_classes_behave_the_same() -> None:
    start = "from ge_dialect.tools.deferred_methods import defer_methods\ndefer_methods()\n"
    assert output_of(start) == output_of("")


def test_a_method_is_made_once_and_shares_its_code() -> None:
    start = "from ge_dialect.tools.deferred_methods import defer_methods\ndefer_methods()\n"
    code = """
def known():
    return [Point.__dict__[name] for name in ("__init__", "__eq__", "__repr__")]

before = known()
point = Point(1)
after = known()
print([a is b for a, b in zip(before, after)])
point == point
made = known()
print([a is b for a, b in zip(before, made)])
Point(3) == Point(4)
print([a is b for a, b in zip(made, known())])

@dataclass(frozen=True)
class Other:
    a: str
    b: int
    c: list[int] = field(default_factory=list)

print(Other("a", 1), Other("a", b=1) == Other("a", 1, []), Point == Other)
print(Other.__init__.__code__.co_code == Point.__init__.__code__.co_code)
"""
    done = subprocess.run(
        [sys.executable, "-c", start + CLASSES + code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "[False, True, True]",
        "[False, False, True]",
        "[True, True, True]",
        "Other(a='a', b=1, c=[]) True False",
        "True",
    ]


def test_the_library_leaves_dataclasses_alone() -> None:
    code = "import dataclasses\nknown = dataclasses._create_fn\nimport ge_dialect.tools.api\n"
    code += "from ge_dialect.tools import ge_compile\nprint(dataclasses._create_fn is known)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
