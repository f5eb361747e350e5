"""``cfgen build --inpainter sdxl --guide composite`` from end to end, with gates, on demo scenes and tiny weights."""

import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.core.files import read_image
from cfgen.core.interrupts import Interrupted
from cfgen.core.paths import scenarios_dir
from cfgen.inpaint.diffusion.sdxl import Sdxl
from cfgen.storage.store import Store
from tests.benches import run, tree

#: one step with next to no noise: the insert is repainted and still stands
GENTLE = {
    "resolution": 128,
    "steps": 100,
    "repaint": 0.0101,
    "guidance": 1,
    "scheduler": "euler",
    "batch_size": 1,
}
HAZARDS = "work_barrier,debris_tyres,car_on_fire,deer"
SCENES = (
    "forest_wet_03",
    "lane_low_sun_03",
    "residential_overcast_06",
    "rural_day_01",
    "rural_winter_06",
    "street_day_02",
)
KEPT = ("cases/**/*", "rejected/**/*.json", "scenes/**/*", "benchmark.json", "plan.jsonl")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Path:
    """Demo scenes that each have room for one of HAZARDS at least."""
    folder = tmp_path_factory.mktemp("scenes")
    for name in SCENES:
        shutil.copytree(scenarios_dir() / "scenes" / name, folder / name)
    return folder


def arguments(model: Path, scenes: Path, out: Path, n: int = 2, *more: str, **options) -> list[str]:
    given = [f"{key}={value}" for key, value in {"model": model, **GENTLE, **options}.items()]
    return [
        *("build", "--n", str(n), "--scenes", str(scenes), "--out", str(out), "--quiet", "--seed", "3"),
        *("--hazards", HAZARDS, "--inpainter", "sdxl", *more),
        *(word for pair in given for word in ("--inpainter-options", pair)),
    ]


def read_mask(folder: Path) -> np.ndarray:
    return cv2.imread(str(folder / "mask.png"), cv2.IMREAD_GRAYSCALE) > 0


def guided(*given, **options) -> list[str]:
    return [*arguments(*given, **options), "--guide", "composite"]


@pytest.fixture(scope="module")
def bench(clear, scenes, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("guided") / "b"
    code, _, err = run(*guided(clear, scenes, out, 5, "--controls", "null", "--engine", "serial"))
    assert code == 0, err
    return out


def test_guided_cases_pass_the_gates_and_hold_the_insert_where_the_compositor_put_it(bench):
    for case in Store(bench).cases():
        assert all(g.passed for g in case.gates)
        folder = Store(bench).case_dir(case.case_id)
        original, augmented = (read_image(folder / f"{n}.png") for n in ("original", "augmented"))
        mask = read_mask(folder)
        assert np.array_equal(original[~mask], augmented[~mask])
        changed = (np.abs(augmented.astype(int) - original).max(-1) > 25).astype(np.uint8)
        changed = cv2.morphologyEx(changed, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
        x0, y0, x1, y1 = case.placement.box_px
        inside = changed[round(y0) : round(y1) + 1, round(x0) : round(x1) + 1]
        assert inside.mean() > 0.1, "the object fills its place"
        above = changed[: max(round(y0 - 0.15 * (y1 - y0)) - 3, 0)]
        assert not above.any(), "and reaches no higher than it is"


def test_the_mask_is_the_object_its_ring_and_shadow(bench, clear, scenes, tmp_path):
    drawn = tmp_path / "composite"
    assert run(*composite(scenes, drawn))[0] == 0
    wide = {c.case_id: (Store(drawn).case_dir(c.case_id), c) for c in Store(drawn).cases()}
    shared = [c for c in Store(bench).cases() if c.case_id in wide]
    assert shared
    for case in shared:
        other, plain = wide[case.case_id]
        assert plain.placement.size == case.placement.size, "sizes come from the guide"
        if plain.placement == case.placement:
            narrow, whole = (read_mask(f) for f in (Store(bench).case_dir(case.case_id), other))
            assert narrow.sum() < whole.sum()


def composite(scenes: Path, out: Path) -> list[str]:
    return [
        *("build", "--n", "4", "--scenes", str(scenes), "--out", str(out), "--quiet", "--seed", "3"),
        *("--hazards", HAZARDS, "--jobs", "1"),
    ]


def test_an_interrupted_build_goes_on_to_the_same_end_in_stages(bench, clear, scenes, tmp_path, monkeypatch):
    """Serially at first, then two processes that place and look, and one that holds the model."""
    out = tmp_path / "b"
    again = guided(clear, scenes, out, 5, "--controls", "null")
    paint, calls = Sdxl.paint, []

    def dies(self, engine, tasks):
        calls.append(len(tasks))
        if len(calls) > 3:
            raise Interrupted
        return paint(self, engine, tasks)

    monkeypatch.setattr(Sdxl, "paint", dies)
    assert run(*again, "--engine", "serial")[0] != 0
    assert len(Store(out).cases()) < 4
    painted = len(calls)
    assert run(*again, "--jobs", "2", "--perception", "colour")[0] == 0
    assert len(calls) == painted, "not in this process"
    assert tree(out, *KEPT) == tree(bench, *KEPT)


def test_noise_is_refused_by_the_gates_with_reasons(tiny, scenes, tmp_path):
    """Random weights paint a patch of nothing: every attempt is recorded, none becomes a case."""
    options = {"resolution": 64, "steps": 2, "batch_size": 4}
    code, _, err = run(*arguments(tiny, scenes, tmp_path / "b", 1, "--attempts", "2", **options))
    assert code == 1
    assert "0 of 1 cases" in err
    rejections = list(Store(tmp_path / "b").rejections())
    assert rejections
    assert all(len(r.attempts) == 2 for r in rejections if "no placement" not in r.reason)
    assert any("seam" in r.reason or "base" in r.reason for r in rejections)
