"""A build from the scenes that meet a condition."""

import json
import shutil
from pathlib import Path

from tests.benches import build_arguments, run


def test_a_build_records_the_condition_that_its_scenes_meet(real: Path, tmp_path: Path):
    out = tmp_path / "b"
    few = tmp_path / "real"
    for scene in sorted((real / "udacity_hmb3" / "scenes").iterdir())[5:29:3]:
        shutil.copytree(scene, few / "udacity_hmb3" / "scenes" / scene.name)
    assert (
        run(*build_arguments(few, out, 2, "--where", "speed > 16", "--jobs", "1", "--decel-band", "1,6"))[0]
        == 0
    )
    kept = json.loads((out / "benchmark.json").read_text())
    frame = kept["sampling"]
    assert (frame["found"], frame["where"]) == (8, "speed > 16")
    assert len(kept["scenes"]) == frame["matched"] < 8
    code, _, error = run(*build_arguments(few, out, 2, "--where", "speed > 17", "--decel-band", "1,6"))
    assert code == 2
    assert "was built with sampling" in error
