"""Who walks keeps in step with the way they go, so that feet do not slide over the history."""

import json
import math
import shutil

import numpy as np
import pytest

from cfgen.geometry.camera import at_pose, project
from cfgen.geometry.frames import pose_at
from cfgen.inpaint.composite import inpainter, sprites
from cfgen.inpaint.composite.inpainter import in_step
from cfgen.inpaint.protocol import InpaintRequest, Setting
from cfgen.records import HazardMotion
from tests.inpaint.composite.test_composite import (
    FRONT,
    PINHOLE,
    TIMES,
    edit_of,
    make_hazard,
    make_placement,
    make_road,
    make_scene,
)

MODEL, STRIDE = "pedestrian_walking", 1.36


@pytest.fixture
def walker(tmp_path, monkeypatch):
    """A folder of sprites in which a walking man has a gait, each phase of it told by its height."""
    shipped = sprites.assets_dir()
    phases = {"man": (MODEL, "man", 0)} | {
        f"man_{step}": (f"{MODEL}_gait", f"man_{step}", i + 1)
        for i, step in enumerate(("1", "2", "3", "stand"))
    }
    for model, variant, taller in phases.values():
        (tmp_path / model).mkdir(exist_ok=True)
        meta = json.loads((shipped / MODEL / "man.json").read_text())
        meta |= {"model": model, "variant": variant, "params": {"stride": STRIDE, "phase": 0}}
        meta["ppm"] *= 1 - 0.002 * taller
        (tmp_path / model / f"{variant}.json").write_text(json.dumps(meta))
        shutil.copy(shipped / MODEL / "man.zip", tmp_path / model / f"{variant}.zip")
    monkeypatch.setattr(sprites, "assets_dir", lambda: tmp_path)
    return tmp_path


def make_request(t, vy, since=None):
    hazard = make_hazard()
    placement = make_placement(hazard, vy=vy, moving_since=since).at(t)
    image = make_road()
    mask = np.zeros(image.shape[:2], np.uint8)
    return InpaintRequest(image, mask, PINHOLE, hazard, placement, Setting(image, PINHOLE, placement), 0, t)


@pytest.mark.parametrize(
    ("params", "vy", "since", "step"),
    [
        ({}, 1.4, None, ""),
        ({"stride": STRIDE, "phase": 0}, 0.0, None, ""),
        ({"stride": STRIDE, "phase": 0}, 1.4, -0.5, "stand"),
        ({"stride": STRIDE, "phase": 0}, 1.4, -1.5, "3"),
        ({}, 1.4, -0.5, "stand"),
    ],
    ids=["no gait", "stands", "has not set off", "walks", "rides, has not set off"],
)
def test_only_who_walks_steps(params, vy, since, step):
    assert in_step(params, make_request(-1.2, vy, since)) == step


def crossing(walker):
    hazard = make_hazard(MODEL, variant="man", motion=HazardMotion(kind="crossing", speed=(1.4, 1.4)))
    placement = make_placement(hazard, 22.0, 0.2, math.pi / 2, vy=1.4)
    images = {("front", t): make_road() for t in TIMES}
    return placement, edit_of(hazard, placement, images=images)


def test_the_history_shows_the_gait_and_t0_the_pose_it_had(walker, monkeypatch):
    drawn = []
    real = inpainter.draw
    monkeypatch.setattr(
        inpainter, "draw", lambda s, *a: drawn.append((s.meta["model"], s.meta["variant"])) or real(s, *a)
    )
    _, edit = crossing(walker)
    assert drawn[0] == (MODEL, "man")
    assert len(set(drawn)) >= 2
    shutil.rmtree(walker / f"{MODEL}_gait")
    _, frozen = crossing(walker)
    assert np.array_equal(edit.frames[FRONT][0], frozen.frames[FRONT][0])
    changed = [k for k in edit.frames if not np.array_equal(edit.frames[k][0], frozen.frames[k][0])]
    assert len(changed) >= 2


def test_in_every_phase_height_is_within_3_percent_and_the_foot_within_2_pixels(walker):
    placement, edit = crossing(walker)
    scene = make_scene()
    for (_, t), (image, _) in edit.frames.items():
        camera, then = at_pose(PINHOLE, pose_at(scene.history, t)), placement.at(t)
        (foot, head), _ = project(camera, [(then.x, then.y, 0.0), (then.x, then.y, placement.size.height)])
        body = np.abs(image.astype(int) - make_road()).sum(-1) > 60
        body[: int(head[1]) - 20] = False
        rows = np.where(body.any(1))[0]
        tall = foot[1] - head[1]
        assert abs(rows[0] - head[1]) <= 0.03 * tall + 2
        assert abs(rows[-1] - foot[1]) <= 2 + 0.03 * tall
