"""Why a rule that the user asks about did not fire: found out before any rule takes an op.

What a rule finds later is what others left: it would see kernels where the model has ops, and
nothing at all where another rule took the op that it starts from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from ge_dialect import remarks
from ge_dialect.passes.fusion.explain import (
    NAME,
    Miss,
    is_near,
    report,
    tell,
    verified,
)
from ge_dialect.passes.fusion.gates import Setting
from ge_dialect.passes.fusion.match import Failure, Match
from ge_dialect.passes.fusion.order import Stopped, waits_on
from ge_dialect.passes.fusion.rule import FusionRule, Rule
from ge_dialect.passes.fusion.trial import saved_bytes
from ge_dialect.remarks import ReasonClass

MAX_DISABLED = 4
"""Rules that are left out together, to find those in whose absence another one fires."""


@dataclass(frozen=True)
class Question:
    """A place at which a rule may fire, as the block was before all rules.

    Attributes:
        miss: The rule, the best match, and what does not fit; nothing where it would fire if it
            came first.
        saves: The bytes that it would save, where that is known.
        asked: Whether the user asks about the rule, or it only says that it was too late.
    """

    miss: Miss
    saves: int | None
    asked: bool


@dataclass
class Questions:
    """The places of all rules that are asked about, in one block.

    Attributes:
        block: The block, of which no rule has taken anything yet.
        found: The places, in the order of the rules.
        absent: Rules that have nothing to start from.
        taken: Which rule took an op.
        fired: The rules that fired, with the op that the result is of.
    """

    block: Block
    found: list[Question] = field(default_factory=list[Question])
    absent: list[Rule] = field(default_factory=list[Rule])
    taken: dict[Operation, str] = field(default_factory=dict[Operation, str])
    fired: set[tuple[str, Operation]] = field(default_factory=set[tuple[str, Operation]])
    stopped: Stopped = field(init=False)

    def __post_init__(self) -> None:
        self.stopped = Stopped(remarks.so_far())

    def ask(self, rule: Rule, match: Match, failures: Sequence[Failure], asked: bool) -> None:
        """Keeps a place at which a rule may fire.

        Args:
            rule: The rule.
            match: The best match.
            failures: What does not fit.
            asked: Whether the user asks about the rule.
        """
        miss = Miss(rule, match.ops[0], match, failures)
        if not asked:
            if not failures or is_near(miss):
                self.found.append(Question(miss, None, False))
            return
        if not match.structural:
            chain = [waits_on(one, self.stopped) or one for one in failures]
            miss = Miss(rule, match.ops[0], match, chain)
        saves = saved_bytes(match) if not failures and isinstance(rule, FusionRule) else None
        self.found.append(Question(verified(miss), saves, True))

    def took(self, rule: Rule, root: Operation, ops: Iterable[Operation]) -> None:
        """Notes that a rule fired, and what it took."""
        self.fired.add((rule.name, root))
        self.taken.update((op, rule.name) for op in ops)

    def tell(self, snapshot: Snapshot | None) -> None:
        """Makes the remarks.

        Args:
            snapshot: The block as it was, to try what helps; None where nobody asks.
        """
        for question in self.found:
            miss = question.miss
            if (miss.rule.name, miss.root) in self.fired:
                continue
            if miss.failures and question.asked:
                tell(miss, miss.failures)
            elif miss.failures:
                report(miss, self.stopped)
            elif question.asked or miss.root.parent is not None:
                self._tell_late(question, snapshot)

    def _tell_late(self, question: Question, snapshot: Snapshot | None) -> None:
        """Says which rule took an op that the rule wants as well."""
        rule, match, root = question.miss.rule, question.miss.match, question.miss.root
        lost = next((op for op in match.ops if op in self.taken), None)
        if lost is None:  # the limit on rewrites
            return
        winner = self.taken[lost]
        fix = f"disable '{winner}', or give '{rule.name}' a higher priority"
        without = None if snapshot is None else snapshot.without(rule, match, winner)
        if without is not None:
            them = " and ".join(f"'{name}'" for name in without)
            saves = "" if question.saves is None else f" and saves {question.saves} bytes"
            fix = f"disable {them}, or give '{rule.name}' a higher priority"
            fix += f"; verified: without {them} it fires{saves}"
        remarks.missed(
            NAME,
            rule.name,
            root,
            f"'{winner}' took '{lost.name}' first",
            reason=ReasonClass.OVERLAP,
            found=winner,
            wanted=rule.name,
            fix=fix,
        )


@dataclass
class Snapshot:
    """A function before its ops are fused, and what fires in it without some of the rules.

    Attributes:
        rules: All rules, in the order they are tried.
        setting: What they are asked against.
        module: A copy.
        places: Where in it an op is.
    """

    rules: Sequence[Rule]
    setting: Setting
    module: ModuleOp
    places: dict[Operation, int]
    tried: dict[tuple[str, frozenset[str]], tuple[set[int], dict[int, str]]] = field(init=False)

    def __post_init__(self) -> None:
        self.tried = {}

    def without(self, rule: Rule, match: Match, winner: str) -> Sequence[str] | None:
        """Returns rules in whose absence a rule fires; None where that is not found out.

        Args:
            rule: The one that came too late.
            match: The ops that it wants.
            winner: The rule that took one of them.
        """
        left_out = [winner]
        places = [self.places[op] for op in match.ops if op in self.places]
        while len(places) == len(match.ops) and len(left_out) <= MAX_DISABLED:
            fired, taken = self._try(rule, match.ops[0], frozenset(left_out))
            if places[0] in fired:
                return left_out
            another = next((taken[place] for place in places if place in taken), None)
            if another is None or another in left_out:
                return None
            left_out.append(another)
        return None

    def _try(
        self, rule: Rule, root: Operation, left_out: Collection[str]
    ) -> tuple[set[int], dict[int, str]]:
        """Returns where a rule fires without some others, and which rule takes what else."""
        from ge_dialect.passes.fusion.fuser import Fuser

        key = (rule.name, frozenset(left_out))
        if (known := self.tried.get(key)) is not None:
            return known
        module = self.module.clone()
        ops = list(_function_of(module).walk())
        block = ops[self.places[root]].parent
        assert block is not None
        places = {op: place for place, op in enumerate(ops)}
        fuser = Fuser(block, replace(self.setting, module=module), quiet=True)
        fuser.questions = Questions(block)
        for one in self._until(rule):
            if one.name not in left_out:
                fuser.apply(one)
        fired = {places[op] for name, op in fuser.questions.fired if name == rule.name}
        taken = {places[op]: name for op, name in fuser.questions.taken.items()}
        self.tried[key] = fired, taken
        return fired, taken

    def _until(self, rule: Rule) -> Iterator[Rule]:
        for one in self.rules:
            yield one
            if one is rule:
                return


def snapshot_of(block: Block, rules: Sequence[Rule], setting: Setting) -> Snapshot | None:
    """Returns a copy of the function around a block; None where there is none."""
    around = block.parent_op()
    while around is not None and not isinstance(around, FuncOp):
        around = around.parent_op()
    if around is None:
        return None
    places = {op: place for place, op in enumerate(around.walk())}
    top = around.parent_op()
    attributes = dict(top.attributes) if isinstance(top, ModuleOp) else {}
    return Snapshot(rules, setting, ModuleOp([around.clone()], attributes), places)


def _function_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.body.block.ops if isinstance(op, FuncOp))
