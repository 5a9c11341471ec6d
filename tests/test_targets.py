"""Machine descriptions: figures, spellings, and files that are wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import pytest

from ge_dialect.diagnostics import GEError
from ge_dialect.targets import load_target, target_names
from ge_dialect.targets.target import CONFIDENCES


def text_of(name: str) -> str:
    return files("ge_dialect.targets").joinpath(f"{name}.toml").read_text(encoding="utf-8")


def test_the_package_brings_four_chips_and_a_gpu():
    assert target_names() == ("A100", "Ascend310P3", "Ascend910A", "Ascend910B1", "Ascend910B3")


@pytest.mark.parametrize(
    ("name", "tflops", "l2", "ub"),
    [
        ("Ascend310P3", 69.5, 16, 256),
        ("Ascend910A", 262.1, 32, 256),
        ("Ascend910B1", 363.7, 192, 192),
        ("Ascend910B3", 294.9, 192, 192),
    ],
)
def test_figures_are_those_of_the_data_sheet(name: str, tflops: float, l2: int, ub: int):
    target = load_target(name)
    assert target.name == name
    assert target.peak("cube", "f16") == pytest.approx(tflops * 1e12, rel=1e-3)
    assert target.peak("cube", "i8") == 2 * target.peak("cube", "f16")
    assert target.peak("vector", "f32") * 2 == target.peak("vector", "f16")
    assert target.l2.size == l2 << 20
    assert target.ub.size == ub << 10
    assert (target.l2.per_core, target.ub.per_core) == (False, True)
    assert target.hbm.alignment == 512
    assert target.hbm.bandwidth < target.l2.bandwidth < target.l1.bandwidth


def test_rates_per_cycle_become_rates_of_the_device():
    target = load_target("Ascend910B1")
    assert target.l2.bandwidth == pytest.approx(110 * 24 * 1.85e9)
    assert target.l2.write_bandwidth == pytest.approx(86 * 24 * 1.85e9)
    assert target.limits.streams == 1984
    assert target.overhead.event_us == 2.0


@pytest.mark.parametrize("spelling", ["ascend910b1", "ASCEND910B1", " Ascend910B1 "])
def test_names_do_not_depend_on_the_case(spelling: str):
    assert load_target(spelling).name == "Ascend910B1"


@pytest.mark.parametrize("name", target_names())
def test_every_confidence_is_a_known_word_and_assumptions_are_listed(name: str):
    target = load_target(name)
    assert set(target.confidences.values()) <= set(CONFIDENCES)
    assert all("assumed" in target.sources[figure] for figure in target.assumed)
    assert (name == "A100") != ({"overhead_us.launch", "overhead_us.event"} <= set(target.assumed))


@pytest.mark.parametrize("name", target_names())
def test_every_figure_has_a_source_and_a_confidence(name: str):
    target = load_target(name)
    assert set(target.sources) == set(target.confidences)
    for figure in figures(tomllib.loads(text_of(name))):
        assert target.confidence(figure) is not None, figure


def figures(table: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths of the numbers and truth values of a file."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from figures(cast("dict[str, Any]", value), f"{path}{key}.")
        elif not isinstance(value, str) and key != "per_core":
            yield f"{path}{key}"


def test_a_table_stands_for_its_figures():
    target = load_target("Ascend910B1")
    assert target.confidence("tiers.l2.size") == target.confidence("tiers.l2") == "high"
    assert target.confidence("cube_mkn.f16") == "high"
    assert target.confidence("cube_mkn.f32") == "assumed"
    assert target.confidence("name") is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Ascend910B", "did you mean Ascend910B1 or Ascend910B3?"),
        ("Ascend310P", "did you mean Ascend310P3?"),
        ("Ascend91OA", "did you mean Ascend910A?"),
        ("h800", "or give a path of a .toml file"),
        ("", "or give a path of a .toml file"),
    ],
)
def test_an_unknown_name_lists_the_known(name: str, hint: str):
    with pytest.raises(GEError, match="Ascend310P3, Ascend910A, Ascend910B1") as raised:
        load_target(name)
    assert (raised.value.code, raised.value.hint) == ("GE0701", hint)


def test_a_file_of_ones_own_is_read(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(text_of("Ascend910A").replace('name = "Ascend910A"', 'name = "Mine"'))
    assert load_target(path).name == load_target(str(path)).name == "Mine"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cube_cores = 32", "", "expected 'cube_cores', a count; it is missing"),
        ("cube_cores = 32", "cube_cores = 0", "'cube_cores' to be an integer > 0, got 0"),
        ("cube_cores = 32", "cube_cores = true", "'cube_cores' to be an integer > 0, got True"),
        ("cube_cores = 32", "cube_coers = 32\ncube_cores = 32", "unknown 'cube_coers'"),
        ("streams = 2048", 'streams = "many"', "'limits.streams' to be an integer > 0"),
        ("event = 2.0", "event = nan", "'overhead_us.event' to be a number >= 0, got nan"),
        ("event = 2.0", "event = -1", "'overhead_us.event' to be a number >= 0, got -1"),
        ("hbm = 0.92", "hbm = 1.5", "'efficiency.hbm' to be a fraction up to 1, got 1.5"),
        ("f16 = [16, 16, 16]", "f16 = [16, 16]", "'cube_mkn.f16' to be three counts"),
        ("ub = 32", "ub = 33", "'alignment.ub' to be a power of two, got 33"),
        ("split_cores = false", "split_cores = 0", "'split_cores' to be true or false, got 0"),
        ('schema = "ge.target/1"', 'schema = "ge.target/2"', "'schema' to be 'ge.target/1'"),
        ("[limits]", "[limit]", "expected 'limits', a table; it is missing"),
        ("[limits]", "[limits", "is not TOML"),
        ("size = 33_554_432", "size = 33_554_432\nways = 4", "unknown 'tiers.l2.ways'"),
        ("streams = 2048", "streams = 2048\ntasks = 0", "'limits.tasks' to be an integer > 0"),
        ('clock_hz = "high"', 'clock_hz = "sure"', "'confidence.clock_hz' to be one of high"),
        ('clock_hz = "high"', 'clok = "high"', "'confidence.clok' to be about a figure"),
        ('arch = "AIC-C-100"', 'arch = "a\\nb"', "'arch' to be one line of text"),
    ],
)
def test_a_wrong_file_names_the_key(tmp_path: Path, old: str, new: str, message: str):
    text = text_of("Ascend910A")
    assert old in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(GEError, match=message) as raised:
        load_target(path)
    assert raised.value.code == "GE0703"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(GEError, match=f"cannot read target '{path}'") as raised:
            load_target(path)
        assert raised.value.code == "GE0702"
    (tmp_path / "big.toml").write_bytes(b"#" * (1 << 21))
    with pytest.raises(GEError, match="larger than"):
        load_target(tmp_path / "big.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(GEError, match="not UTF-8"):
        load_target(tmp_path / "bytes.toml")


def test_an_unknown_engine_has_no_peak():
    with pytest.raises(ValueError, match="one of cube, vector, got 'dma'"):
        load_target("Ascend910A").peak("dma", "f16")
