import os
import subprocess
import sys
from pathlib import Path

import pytest

from cfgen.cli.main import main


def test_the_package_installs_passes_its_test_and_is_found_by_name(tmp_path: Path, capsys):
    folder = tmp_path / "my_planner"
    assert main(["planner", "init", str(folder)]) == 0
    assert "cfgen score bench --planner my-planner" in capsys.readouterr().out
    site = tmp_path / "site"
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q")
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", str(site), str(folder)]
    subprocess.run(pip, check=True, capture_output=True)
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(root)])}
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder / "tests")]
    done = subprocess.run(test, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    listing = [sys.executable, "-m", "cfgen", "planner", "list"]
    names = subprocess.run(listing, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
    assert "my-planner" in names.split()


@pytest.mark.parametrize("name", ["3planner", "sp ace"])
def test_a_name_that_python_cannot_import_is_refused(tmp_path: Path, name: str, capsys):
    assert main(["planner", "init", str(tmp_path / name)]) == 2
    assert "expected a folder name that is a Python name" in capsys.readouterr().err


def test_files_that_are_there_are_kept(tmp_path: Path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.py").touch()
    assert main(["planner", "init", str(tmp_path / "mine")]) == 2
    assert "expected a new or empty folder" in capsys.readouterr().err
