"""A short run of the fuzzer; `make fuzz` is the long one."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.mutate import mutate_bytes, mutate_om, mutate_text
from tests.fuzz.run import execute, fuzz
from tests.fuzz.seeds import om_files, plan_texts
from tests.fuzz.targets import TARGETS

SMOKE = {"om": 600, "plan": 300, "message": 500, "rules": 300, "onnx": 250}


@pytest.mark.parametrize("name", TARGETS)
def test_mutants_give_clean_errors(name: str):
    tally = fuzz(name, SMOKE[name], seed=1, jobs=1, seconds=120)
    assert tally.findings == {}
    assert tally.executions > 0


@pytest.mark.parametrize("name", TARGETS)
def test_what_mutation_starts_from_is_right(name: str, tmp_path_factory: pytest.TempPathFactory):
    target = TARGETS[name]
    path = tmp_path_factory.mktemp("seeds") / f"seed{target.suffix}"
    outcomes: list[str] = []
    for seed in target.seeds():
        path.write_bytes(seed)
        outcome, finding = execute(target, path)
        assert finding == ""
        outcomes.append(outcome)
    # A partition is decoded as both messages, and is right as one of them only.
    assert "loaded" in outcomes or name == "message"
    assert name == "message" or set(outcomes) == {"loaded"}


def test_the_same_seed_makes_the_same_mutants():
    om, text = om_files()[0], plan_texts()[0]
    for mutate, start in ((mutate_om, om), (mutate_bytes, om), (mutate_text, text)):
        first, second = Random(5), Random(5)
        mutants = [mutate(start, first) for _ in range(50)]  # pyright: ignore[reportArgumentType]
        assert mutants == [mutate(start, second) for _ in range(50)]  # pyright: ignore[reportArgumentType]
        assert len(set(mutants)) > 40
