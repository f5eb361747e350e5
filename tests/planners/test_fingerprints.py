"""Who answered: an edited planner is another one, which says what changed and gets a run beside the old one."""

import json
import sys
from pathlib import Path

import pytest

import cfgen
from cfgen.planners.fingerprint import changes, file_hash, fingerprint, of_command, weights
from cfgen.planners.registry import open_planner
from cfgen.planners.runtime import Runtime
from cfgen.storage.store import Store
from tests.benches import run
from tests.reporting.bench import make_bench

PLANNER = """
import helper
class Mine:
    needs = {"cameras": [], "frame_times": []}
    weights = "weights.bin"
    def plan(self, observations):
        return [{"text": helper.WORDS, "waypoints": [[k * 2.0, 0.0] for k in range(24)]} for _ in observations]
"""


@pytest.fixture
def out(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "mine.py").write_text(PLANNER)
    (tmp_path / "helper.py").write_text("WORDS = 'first'\n")
    (tmp_path / "weights.bin").write_bytes(b"1")
    monkeypatch.chdir(tmp_path)
    return make_bench(tmp_path / "b", 1, {}, arms=("hazard",)).root


def score(out: Path, *more: str) -> tuple[int, str, str]:
    return run("score", out, "--planner", "mine:Mine", "--name", "p", "--quiet", *more)


def texts(out: Path, planner: str) -> set[str]:
    return {r.text for r in Store(out).rollouts(planner)}


def test_an_edited_planner_says_what_changed_and_gets_a_run_beside_the_old_one(out: Path):
    assert score(out)[0] == 0
    before = json.loads((out / "runs/p/planner.json").read_text())
    assert {"file mine.py", "file helper.py", "weights weights.bin", "python"} <= set(before["fingerprint"])
    assert before["salt"]
    assert before["sight"]
    (out.parent / "helper.py").write_text("WORDS = 'second'\n")
    code, text, err = score(out)
    assert code == 0, err
    assert (
        "planner 'p' is not what it was when it was scored: file helper.py changed; its answers are kept"
        in err
    )
    (beside,) = (path.name for path in (out / "runs").iterdir() if "@" in path.name)
    assert text.startswith(f"{beside}: 3 answers")
    assert beside.startswith("p@")
    assert (texts(out, "p"), texts(out, beside)) == ({"first"}, {"second"})
    code, text, err = score(out)
    assert "is not what it was" not in err, "the second time it is known"
    assert text.startswith(f"{beside}: 3 answers")
    (out.parent / "helper.py").write_text("WORDS = 'first'\n")
    assert score(out)[1].startswith("p: 3 answers"), "what it was before is there still"
    assert [r.planner for r in Store(out).planner_runs()] == ["p", beside]
    assert [f for f in cfgen.verify(out).faults if "runs/" in f or "verdicts/" in f] == []


def test_other_options_under_one_name_are_refused(out: Path):
    assert score(out)[0] == 0
    (out.parent / "mine.py").write_text(PLANNER + "    def __init__(self, gain=1): pass\n")
    code, _, err = score(out, "--planner-options", "gain=2")
    assert (code, err.count("\n")) == (2, 1)
    assert "score it under another name with --name" in err


def test_a_program_is_known_by_its_files_and_their_siblings(tmp_path: Path, monkeypatch):
    program = tmp_path / "mine" / "program.py"
    program.parent.mkdir()
    (tmp_path / "mine" / "settings.json").write_text("{}")
    program.write_text(
        "import json, sys\nimport helper\nfor line in sys.stdin:\n"
        "    print(json.dumps({'needs': {'cameras': []}}), flush=True)\n"
    )
    hashes = []
    for number in (1, 1, 2):
        program.with_name("helper.py").write_text(f"NUMBER = {number}\n")
        planner = open_planner(f"cmd:{sys.executable} {program}")
        planner.close()
        hashes.append(planner.hash)
    assert hashes[0] == hashes[1] != hashes[2]
    monkeypatch.chdir(tmp_path)
    for command in (f"-u {program} --out log", "-m mine.program"):
        names = set(of_command(f"{sys.executable} {command}")) - {Path(sys.executable).name}
        assert names == {"program.py", "helper.py"}


def test_another_python_makes_another_planner(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text("WORDS = ''\n")
    (tmp_path / "mine.py").write_text(PLANNER)
    planners = [open_planner("mine:Mine", runtime=Runtime(python=p)) for p in ((), (sys.executable,))]
    for planner in planners:
        planner.close()
    assert changes(planners[0].fingerprint, planners[1].fingerprint) == ["--python is new"]


def test_weights_count_by_what_is_in_them_or_by_name(tmp_path: Path):
    class Holds:
        weights = (tmp_path / "model", "org/name@abc", 7)

    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.bin").write_bytes(b"1")
    first = weights(Holds())
    assert set(first) == {"weights model/a.bin", "weights org/name@abc"}
    (tmp_path / "model" / "a.bin").write_bytes(b"2")
    assert changes(first, weights(Holds())) == ["weights model/a.bin changed"]
    assert changes({"a": "1", "b": "1"}, {"b": "2", "c": "1"}) == ["a is gone", "b changed", "c is new"]
    assert weights(object()) == {}


def test_a_large_file_is_known_by_its_length_and_pieces_of_it(tmp_path: Path, monkeypatch):
    import cfgen.planners.fingerprint as module

    monkeypatch.setattr(module, "_WHOLE", 1000)
    monkeypatch.setattr(module, "_PIECE", 10)
    path = tmp_path / "large"
    path.write_bytes(bytes(5000))
    first = file_hash(path)
    assert first.startswith("pieces of sha256:")
    path.write_bytes(bytes(5001))
    assert file_hash(path) != first
    path.write_bytes(bytes(4995) + b"12345")
    assert file_hash(path) != first
    assert file_hash(tmp_path / "none") == "missing"


def test_of_cfgen_itself_only_the_adapter_counts():
    from cfgen.planners.cheating import Cheating

    found = fingerprint("cfgen.planners.cheating:Cheating", Cheating(looks=False))
    assert [name for name in found if "cfgen" in name] == ["file cfgen/planners/cheating.py"]
    assert "package numpy" in found
