"""The sweep in miniature: it draws, builds, verifies, and tells how to reproduce what breaks."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import sweep

ROOT = Path(__file__).resolve().parents[1]


def test_two_builds_of_a_known_seed_hold():
    asked = ["--seed", "2", "--builds", "2", "--demo"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.sweep", *asked], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("2 builds")


@pytest.mark.parametrize("what", ["exit", "faults", "nothing", "hang"])
def test_what_breaks_is_named_with_its_command(what, tmp_path, monkeypatch, capsys):
    """A build that ends with 2, records faults, says it is done with nothing, or never ends."""

    def ran(command):
        bench = Path(command[command.index("--out") + 1])
        bench.mkdir(parents=True)
        if what == "faults":
            (bench / "build.json").write_text('{"faults": [{"where": "case 1"}]}')
        return {"exit": (2, "cfgen: error: x"), "hang": (124, "not done")}.get(what, (0, ""))

    monkeypatch.setattr(sweep, "ran", ran)
    monkeypatch.setattr(sweep, "knows_strict", lambda: True)
    monkeypatch.setattr(sweep.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["sweep", "--seed", "3", "--demo"])
    assert sweep.main() == 1
    told = capsys.readouterr().out
    assert "build 0 broke" in told
    assert "--strict" in told
    assert "python -m benchmarks.sweep --seed 3 --first 0 --builds 1 --demo" in told
    assert list(tmp_path.glob("0000/scenes/*/scene.json"))
