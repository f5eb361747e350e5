import os
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from cfgen.cli.main import main
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.client import check


def test_the_package_installs_passes_its_test_and_is_found_by_name(tmp_path: Path, capsys):
    folder = tmp_path / "my_planner"
    assert main(["planner", "init", str(folder)]) == 0
    assert "cfgen score bench --planner my-planner" in capsys.readouterr().out
    site = tmp_path / "site"
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q")
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", str(site), str(folder)]
    subprocess.run(pip, check=True, capture_output=True)
    root = Path(__file__).resolve().parents[2]
    alone = {**os.environ, "PYTHONPATH": str(site)}
    without_cfgen = (
        "import sys; sys.modules['cfgen'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    test = [sys.executable, "-c", without_cfgen, "-q", "-p", "no:cacheprovider", str(folder / "tests")]
    done = subprocess.run(test, cwd=folder, env=alone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(root)])}
    listing = [sys.executable, "-m", "cfgen", "list", "planners"]
    names = subprocess.run(listing, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert "my-planner" in names.split()


class Wrong:
    needs: ClassVar[dict] = {"frame_times": (-0.5, 0.0)}

    def __init__(self, answer):
        self.answer = answer

    def plan(self, observations):
        assert [image.t for image in observations[0].images["front"]] == [-0.5, 0.0]
        return [self.answer for _ in observations]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"waypoints": np.zeros((23, 2))}, "waypoints without t: expected 24, found 23"),
        ({"waypoints": np.full((24, 2), np.nan)}, "expected finite x and y"),
        ({"waypoints": np.zeros((2, 2)), "t": [0.5, 1.0]}, "expected a plan of 2 s or more, found 1 s"),
        ("I brake.", "a text needs 24 <wp>"),
    ],
)
def test_the_check_of_a_package_refuses_what_scoring_would(answer, words: str):
    with pytest.raises(AssertionError, match=re.escape(words)):
        check(Wrong(answer))
    if isinstance(answer, dict) and answer["waypoints"].shape[1] == 2:
        with pytest.raises(PlanFaultError):
            to_plan(answer)


def test_a_name_that_python_cannot_import_is_refused_and_files_that_are_there_are_kept(
    tmp_path: Path, capsys
):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.py").touch()
    for name, words in (("3planner", "that is a Python name"), ("mine", "expected a new or empty folder")):
        assert main(["planner", "init", str(tmp_path / name)]) == 2
        assert words in capsys.readouterr().err
