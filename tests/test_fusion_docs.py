"""The examples in docs/fusion_rules.md are right, and its tables complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from ge_dialect.passes.fusion import selfcheck, toml_conditions, toml_pattern, toml_rules
from ge_dialect.passes.fusion.article import FusionRuleRegistry
from ge_dialect.passes.fusion.registry import registry_of
from ge_dialect.passes.fusion.rule import FusionRule
from ge_dialect.passes.fusion.selfcheck import check_rule
from ge_dialect.passes.fusion.sources import load_rules
from ge_dialect.remarks import ReasonClass
from ge_dialect.tools.fusion_switch import read_switch_file


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(selfcheck.CACHE_VARIABLE, "off")
    yield
    FusionRuleRegistry.clear()


@pytest.fixture
def page(root: Path) -> str:
    return (root / "docs" / "fusion_rules.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_rules_in_python_load(page: str, tmp_path: Path):
    names: list[str] = []
    for index, text in enumerate(blocks(page, "python")):
        path = tmp_path / f"example_{index}.py"
        path.write_text(text)
        names += [rule.name for rule in load_rules(str(path))]
    assert names == ["MyAddLayerNorm", "SubOfNeg", "AttentionNormDropoutAdd"]
    assert "SubOfNeg" in registry_of().rules


def test_the_rules_in_toml_load_and_fire(page: str, tmp_path: Path):
    text = next(text for text in blocks(page, "toml") if "[[rule]]" in text)
    path = tmp_path / "example.toml"
    path.write_text(text)
    (rule,) = load_rules(str(path))
    assert rule.name == "MyAddNorm"
    assert check_rule(rule)


def test_the_switch_files_are_read(page: str, tmp_path: Path):
    (form,) = blocks(page, "json")
    (tmp_path / "switch.json").write_text(form)
    graph = read_switch_file(str(tmp_path / "switch.json")).sections["GraphFusion"]
    assert graph == {"ALL": False, "FlashAttentionLayerNormFusionPass": True}


def test_every_class_key_and_kind_is_in_the_tables(page: str):
    keys = [
        *ReasonClass,
        *toml_rules.KEYS,
        *toml_pattern.LEAVES,
        *toml_pattern.OP_KEYS,
        *toml_pattern.WORDS,
        *toml_conditions.KINDS,
        *(field.name for field in fields(FusionRule)),
    ]
    assert [key for key in keys if not re.search(rf"\b{key}\b", page)] == []
