"""A build from scenes that were drawn: its frame, its strata, and rates weighted back in the report."""

import json
import shutil
from pathlib import Path

from tests.benches import build_arguments, run


def test_a_build_with_quotas_records_its_frame(real: Path, tmp_path: Path):
    out = tmp_path / "b"
    few = tmp_path / "real"
    for scene in sorted((real / "udacity_hmb3" / "scenes").iterdir())[5:29:3]:
        shutil.copytree(scene, few / "udacity_hmb3" / "scenes" / scene.name)
    command = build_arguments(
        few, out, 2, "--where", "speed > 16", "--quota", "speed > 20.5:1", "--jobs", "1"
    )
    code, text, _ = run(*command)
    assert code == 0
    assert "scenes that match" in text
    kept = json.loads((out / "benchmark.json").read_text())
    frame = kept["sampling"]
    assert (frame["found"], frame["where"]) == (8, "speed > 16")
    fast, others = frame["strata"]
    assert (fast["condition"], fast["cases"], others["cases"]) == ("speed > 20.5", 1, 1)
    assert fast["scenes"] + others["scenes"] == frame["matched"] < 8
    assert set(kept["scenes"]) == {*fast["usable"], *others["usable"]}
    built = json.loads((out / "build.json").read_text())
    for row in built["strata"]:
        assert (row["cases"], row["with_case"], row["wanted"]) == (1, 1, 1)
        assert row["p_selected"] == row["tried"] / row["scenes"]
        assert row["p_refused"] == 1 - 1 / row["tried"]
    code, _, error = run(*build_arguments(few, out, 2, "--where", "speed > 16"))
    assert code == 2
    assert "was built with sampling" in error
    assert run("score", out, "--planner", "cruise", "--quiet")[0] == 0
    assert run("report", out, "--panels", "0")[0] == 0
    page = (tmp_path / "b-report" / "report.md").read_text()
    assert "scenes meet 'speed > 16'" in page
    assert "| cruise | offline | waypoints | 0.0 | 0.0 |" in page
