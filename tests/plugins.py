"""Third parties' packages, as they look once installed, for this process and those it starts."""

from pathlib import Path

import pytest


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, points: str) -> None:
    """A package ``name`` 1.0 with one module of that name; ``points`` is its ``entry_points.txt``."""
    site = folder / f"site-{name}"
    site.mkdir()
    (site / f"{name}.py").write_text(code)
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(str(site))
