"""Third parties' gates: run after ours, named in the records, and part of what a benchmark is."""

import shutil
from pathlib import Path

import pytest

from cfgen.benchmark.gates import load_gates
from cfgen.core.errors import InputError
from cfgen.core.paths import scenarios_dir
from cfgen.storage.store import Store
from tests.benches import run
from tests.plugins import install

CODE = """
from cfgen.records import GateResult

def near(edit):
    assert edit.hazard.kind in ("hazard", "nuisance"), edit.hazard.kind
    value = edit.placement.distance_m
    return GateResult(gate="whatever", passed=value < 500, value=value, bound="< 500 m", reason="")

def never(edit):
    return None

def scribbles(edit):
    edit.augmented[:] = 0

def refuses(edit):
    return GateResult(gate="refuses", passed=False, reason="not to my taste")
"""


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    for path in [scenarios_dir() / "scenes" / "lane_clear_04"]:
        shutil.copytree(path, folder / path.name)
    return folder


def build(scenes: Path, out: Path, *more: str) -> tuple[int, str, str]:
    fixed = ["build", "--n", 1, "--out", out, "--scenes", scenes, "--hazards", "cone_line", "--jobs", 1]
    return run(*fixed, "--seed", 1, "--attempts", 1, "--quiet", *more)


def test_a_gate_is_run_after_ours_and_makes_another_benchmark(scenes, tmp_path, monkeypatch):
    out = tmp_path / "b"
    with monkeypatch.context() as here:
        points = "[cfgen.gates]\nnear = their_gates:near\nnever = their_gates:never\nbroken = nowhere:gate\n"
        install(tmp_path, here, "their_gates", CODE, points)
        code, _, err = build(scenes, out)
        assert code == 0, err
        assert "left out: gate plug-in 'broken' (nowhere:gate) failed to import" in err
        store = Store(out)
        assert store.benchmark.gates == {"near": "their_gates 1.0", "never": "their_gates 1.0"}
        (case,) = store.cases()
        assert [g.gate for g in case.gates] == [
            "outside-mask", "seam", "visibility", "contrast", "base", "height", "seen-again", "near"
        ]  # fmt: skip
        assert case.gates[-1].value == case.placement.distance_m
        assert build(scenes, out)[0] == 0
        with pytest.raises(InputError, match=r"built with that of their_gates 0\.9, found their_gates 1\.0"):
            load_gates({"near": "their_gates 0.9"})
    code, _, err = build(scenes, out)
    assert code == 2
    assert (
        "was built with gates = {'near': 'their_gates 1.0', 'never': 'their_gates 1.0'}, now asked for {}"
        in err
    )
    with pytest.raises(InputError, match="gate 'near' is not known"):
        load_gates(store.benchmark.gates)


def test_what_a_gate_refuses_or_breaks_on_is_no_case(scenes, tmp_path, monkeypatch):
    with monkeypatch.context() as here:
        install(tmp_path, here, "strict_gates", CODE, "[cfgen.gates]\nrefuses = strict_gates:refuses\n")
        assert build(scenes, tmp_path / "a")[0] == 1
    (refused,) = Store(tmp_path / "a").rejections()
    assert (refused.reason, refused.fault) == ("refuses: not to my taste", None)
    install(tmp_path, monkeypatch, "bad_gates", CODE, "[cfgen.gates]\nscribbles = bad_gates:scribbles\n")
    assert build(scenes, tmp_path / "b")[0] == 1
    (broken,) = Store(tmp_path / "b").rejections()
    assert "gate 'scribbles': ValueError('assignment destination is read-only')" in broken.fault.message
