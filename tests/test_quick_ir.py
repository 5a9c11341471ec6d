"""The cheaper methods of the IR return what those of xDSL return."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "bert_tiny.onnx"

CODE = """
import sys
if sys.argv[1] == "quick":
    from ge_dialect.tools.quick_ir import quicken_ir
    quicken_ir()
from xdsl.dialects.builtin import IntAttr, IntegerAttr, ModuleOp, StringAttr, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from ge_dialect.ge.binary import AddOp
from ge_dialect.ge.base import float_attr
from ge_dialect.ge.normalization import RMSNormOp
from ge_dialect.ge.pieces import ConcatOp
from ge_dialect.ge.structure import FusionOp, YieldOp
from ge_dialect.ge.activations import GeluOp
from ge_dialect.ge.types import tensor_type
from xdsl.dialects.builtin import f32

kind = tensor_type(f32, (4,))
block = Block(arg_types=[kind, kind])
x, y = block.args
x.name_hint, y.name_hint = "x_1_2", None
first = AddOp(x, y)
second = AddOp(first.result, first.result)
second.result.name_hint = first.result.name_hint = "sum_3"
end = ReturnOp(second.result)
block.add_ops([first, second, end])
module = ModuleOp([FuncOp("main", ([kind, kind], [kind]), Region(block))])
print(module, x.name_hint, second.result.name_hint)
print([op.name for op in block.ops], [op.name for op in module.walk()])
print([op.name for op in module.walk(reverse=True)])
print([op.name for op in module.walk(region_first=True)])
three = AddOp.create(operands=[x, y, x], result_types=[kind, kind])
for values in (three.operands, three.results):
    print(len(values), values[0].type == kind, values[-1] in (x, three.results[1]), len(values[1:]))
    print(type(values[:1]).__name__, values[0:2].types == (kind, kind))
    for index in (3, -4, "0", 1.5):
        try:
            values[index]
        except (IndexError, TypeError) as error:
            print(type(error).__name__)
three.operands[1] = x
print(list(three.operands) == [x, x, x], three.operands == three.operands, three.operands == [x])
three.operands = [y]
print([value is y for value in three.operands], y.uses.get_length(), x.uses.get_length())
three.operands = []
print(first.next_op is second, second.prev_op is first, end.next_op, x.owner is block)
print(first.result.owner is first, first.result.type == kind, [u.index for u in x.uses])
print([(u.operation is second, u.index) for u in first.result.uses])
print(first == first, first == second, first != second, x == y, len({first, second, first, x, y}))
ahead = iter(block.ops)
block.insert_op_before(third := AddOp(x, y), first)
print([op is third for op in ahead], [op is third for op in block.ops])
third.detach()
third.erase()
for op in block.ops:  # an op may go while it is looked at
    if op is second:
        end.operands[0] = first.result
        second.detach()
        second.erase()
print([op.name for op in block.ops], first.result.uses.get_length())
copied = module.clone()
print(copied.is_structurally_equivalent(module))
for attempt in (lambda: setattr(x, "name_hint", "1 bad"), lambda: Strange()):
    class Strange(Attribute):
        name = "strange"
    try:
        attempt()
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
fresh = AddOp.create(operands=[x, x], result_types=[kind, kind])
print([(one.first_use, one.name_hint, one.index, one.op is fresh) for one in fresh.results])
for turn in range(2):  # the last use of a value is the first of its list
    print([use.index for use in x.uses if use.operation is fresh], y.uses.get_length())
    fresh.operands[turn] = y
print([use.index for use in y.uses if use.operation is fresh], x.uses.get_length())
home = Block()
home.add_ops([one := TestOp(), two := TestOp(), four := TestOp(regions=[Region(Block())])])
one.detach()
home.add_op(one)
print([home.ops.first is two, two.prev_op, one.next_op, one.prev_op is four, home.last_op is one])
around = TestOp(regions=[Region(holder := Block())])
for block_, op in ((home, one), (home, four), (holder, around), (holder, two)):
    try:
        block_.add_op(op)
    except ValueError as error:
        print(error)
counter = iter(range(100))
def numbered(*regions):
    return TestOp(attributes={"n": IntAttr(next(counter))}, regions=list(regions))
def of(*blocks):
    return Region([Block(ops) for ops in blocks])
two_blocks = of([numbered(of([numbered()])), numbered()], [numbered()])
inner = numbered(two_blocks, Region(), of([numbered()]))
outer = numbered(of([numbered(), inner, numbered(of([])), numbered(of([numbered(), numbered()]))]))
print([op.attributes["n"].data for op in outer.walk()])
print([op.attributes["n"].data for op in inner.walk()])
print([op.attributes["n"].data for op in inner.regions[0].walk()])
seen = []
for op in outer.walk():  # one may go, and what is in it with it
    seen.append(op.attributes["n"].data)
    if op is inner:
        inner.detach()
print(seen, [op.attributes["n"].data for op in outer.regions[0].block.walk()])
number = Block(arg_types=[i32]).args[0]
for op_class, operands, results, properties in (
    (AddOp, [x, y], [kind], {}),
    (AddOp, [x], [kind], {}),
    (AddOp, [x, y], [], {}),
    (AddOp, [x, y, y], [kind], {}),
    (AddOp, [x, number], [kind], {}),
    (AddOp, [x, y], [i32], {}),
    (AddOp, [x, y], [kind], {"more": i32}),
    (GeluOp, [x], [kind], {"approximate": StringAttr("none")}),
    (GeluOp, [x], [kind], {"approximate": i32}),
    (GeluOp, [x], [kind], {}),
    (ConcatOp, [x, y], [tensor_type(f32, (8,))], {"axis": IntegerAttr(0, i64)}),
    (ConcatOp, [x, number], [kind], {"axis": IntegerAttr(0, i64)}),
    (ConcatOp, [], [kind], {"axis": IntegerAttr(0, i64)}),
    (ConcatOp, [x], [], {"axis": IntegerAttr(0, i64)}),
    (RMSNormOp, [x], [kind], {"axis": IntegerAttr(-1, i64), "epsilon": float_attr(1e-5)}),
    (RMSNormOp, [x, y], [kind], {"axis": IntegerAttr(-1, i64), "epsilon": float_attr(1e-5)}),
    (RMSNormOp, [x, y, y], [kind], {"axis": IntegerAttr(-1, i64), "epsilon": float_attr(1e-5)}),
    (RMSNormOp, [], [kind], {"axis": IntegerAttr(-1, i64), "epsilon": float_attr(1e-5)}),
    (FusionOp, [x], [kind], {"kernel_name": StringAttr("k")}),
    (ReturnOp, [x, y], [], {}),
    (ReturnOp, [x, y], [kind], {}),
):
    made = op_class.create(operands=operands, result_types=results, properties=properties)
    try:
        made.verify()
        print("verified")
    except Exception as error:
        print(type(error).__name__, error)
print(module.verify())
for read, ops in ((0, 1), (1, 1), (2, 1), (0, 2)):
    body = Block(arg_types=[kind])
    inside = AddOp(body.args[0], body.args[0])
    body.add_ops([inside, *[AddOp(inside.result, y) for _ in range(ops - 1)]])
    body.add_op(YieldOp((body.args[0], x, inside.result)[read]))
    fusion = FusionOp("k", [x], Region(body))
    try:
        fusion.verify()
        print("verified")
    except Exception as error:
        print(type(error).__name__, error)
wrong = AddOp.create(operands=[x, number], result_types=[kind])
lost = Block([gone := AddOp(x, y), AddOp(gone.result, y), wrong, ReturnOp()])
gone.detach()
gone.erase(safe_erase=False)
for op in lost.ops:
    try:
        print(op.verify())
    except Exception as error:
        print(type(error).__name__, error)
class Mine(AddOp):
    name = "ge.mine"
things = (first, x, first.result, block, module, kind, StringAttr("a"), Mine, 1)
classes = (AddOp, Mine, ModuleOp, Operation, Attribute, StringAttr, SSAValue, OpResult, Block)
print([[isinstance(one, kind_) for kind_ in classes] for one in things])
print([[issubclass(one, other) for other in classes] for one in classes])
try:
    Attribute()
except TypeError as error:
    print(error)
twin = tensor_type.__wrapped__(f32, (4,))
print(twin is kind, twin == kind, hash(twin) == hash(kind), {kind: 1}[twin])
print(StringAttr("a") == StringAttr("a"), hash(IntegerAttr(1, i32)) == hash(IntegerAttr(1, i32)))
"""


def output_of(kind: str) -> str:
    command = [sys.executable, "-c", CODE, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_methods_return_stays_the_same() -> None:
    assert output_of("quick") == output_of("plain")


def test_plans_stay_the_same_to_the_byte(tmp_path: Path) -> None:
    code = "import ge_dialect, sys; ge_dialect.compile(sys.argv[1]).save(sys.argv[2])"
    library, tool = tmp_path / "library.om", tmp_path / "tool.om"
    run = [sys.executable, "-m", "ge_dialect.tools.ge_compile", "--quiet"]
    subprocess.run([sys.executable, "-c", code, str(EXAMPLE), str(library)], check=True)
    subprocess.run([*run, str(EXAMPLE), "-o", str(tool)], check=True)
    assert tool.read_bytes() == library.read_bytes()


def test_the_library_leaves_xdsl_alone() -> None:
    code = "from xdsl.ir import Operation\nknown = Operation.__init__\nimport ge_dialect\n"
    code += f"ge_dialect.compile({str(EXAMPLE)!r})\nprint(Operation.__init__ is known)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
