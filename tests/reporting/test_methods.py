"""The paragraph for an appendix names what decided the figures."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import PIL

from cfgen.report import report
from cfgen.storage.store import Store
from cfgen.version import __version__
from tests.reporting.bench import make_bench


def test_every_option_version_and_statistic_is_named(tmp_path: Path):
    make_bench(tmp_path / "b")
    report(tmp_path / "b", tmp_path / "r", panels=0)
    said = json.loads((tmp_path / "r" / "report.json").read_text())["methods"]
    made = Store(tmp_path / "b").benchmark
    assert f"seed {made.seed}, taxonomy {made.taxonomy_hash.removeprefix('sha256:')[:12]}" in said
    for name in ("careful", "blind"):
        assert f"Planner '{name}' was asked in the scenes original, hazard" in said
    assert "horizon 6 s" in said
    assert "Judge offline (rubric" in said
    assert "control scenes: null, nuisance" in said or "control scenes: none" in said
    assert "McNemar's exact test with Holm's correction" in said
    assert f"This report was made by cfgen {__version__} with Python {platform.python_version()}, " in said
    for package in (
        f"OpenCV {version('opencv-python')}",
        f"NumPy {np.__version__}",
        f"Pillow {PIL.__version__}",
    ):
        assert package in said
    assert said.endswith(f"on {platform.system()} {platform.machine()}.")
    assert "network in the last build: not on record; made with: not on record." in said
    tried = [*Store(tmp_path / "b").cases(), *Store(tmp_path / "b").rejections()]
    assert f"Attempts at the {len(tried)} pairs tried: " in said
    assert f"{sum(len(one.attempts) == 1 for one in tried)} took 1" in said
    text = (tmp_path / "r" / "report.md").read_text()
    assert "## Methods, for an appendix" in text
    assert all(paragraph in text for paragraph in said.split("\n\n"))
