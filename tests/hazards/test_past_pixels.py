"""What is drawn into the past frames, looked at in their pixels: no hazard is missing where its place is in view."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import at_pose, project
from cfgen.geometry.frames import pose_at
from cfgen.hazards.placement import find_placements
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.hazards.zones import Response
from cfgen.inpaint.edit import EditJob, make_edits
from cfgen.inpaint.registry import create_inpainter
from cfgen.perception.registry import create_perceiver
from cfgen.perception.views import Views
from cfgen.records import Placement, Scene, Size
from cfgen.scenes.folder import load_scene
from tests.hazards import drawn
from tests.hazards.past_pixels import looks

CAR = Size(length=4.5, width=1.8, height=1.5)
TIMES = tuple(round(-2 + 0.25 * i, 2) for i in range(9))
SPEED = 10.0
TAXONOMY = load_taxonomy()


@cache
def world(traffic: str):
    """A straight drive, its pictures, and the boxes of its traffic: "ahead" pulls away in the own lane, "oncoming"."""
    scene = drawn.scene(SPEED, frames=TIMES)
    images, things = {}, {}
    for i, t in enumerate(TIMES):
        image = drawn.road(seed=i)
        if traffic:
            x, y = (16.0 + 14 * (t + 2), 0.0) if traffic == "ahead" else (28.0 - 12 * t, 3.5)
            image = drawn.put(image, x - SPEED * t, y, CAR)
            camera = at_pose(scene.front, tuple(pose_at(scene.history, t)))
            px, _ = project(camera, box_corners(x, y, 0.0, CAR)[0])
            things[t] = [(*px.min(0), *px.max(0))]
        images["front", t] = image
    return scene, images, things


def edited(scene: Scene, images, hazard_id: str, placement: Placement) -> dict[float, np.ndarray]:
    job = EditJob(scene=scene, images=images, hazard=TAXONOMY.get(hazard_id), placement=placement, seed=1)
    [edit] = make_edits([job], create_inpainter("composite"), strict=True)
    return {t: image for (_, t), (image, _) in edit.frames.items()}


def place(scene: Scene, images, hazard_id: str, views=None) -> Placement | None:
    front = images[scene.front.name, 0.0]
    rng = np.random.default_rng(0)
    near = Response((1.5, 6.0), math.inf, 0.0)
    found = find_placements(scene, front, TAXONOMY.get(hazard_id), rng, near, frames=images, views=views)
    return None if isinstance(found, str) else found[0]


@pytest.mark.parametrize("traffic", ["", "ahead", "oncoming"])
@pytest.mark.parametrize("hazard_id", ["suitcase", "pedestrian_crossing"])
def test_no_frame_lacks_the_hazard(traffic: str, hazard_id: str):
    scene, images, things = world(traffic)
    placement = place(scene, images, hazard_id)
    if placement is None:  # the car ahead drove through every place that is near enough
        assert traffic == "ahead"
        return
    seen = looks(
        scene,
        {t: image for (_, t), image in images.items()},
        edited(scene, images, hazard_id, placement),
        placement,
        things,
    )
    assert "missing" not in seen.values()
    assert list(seen.values()).count("shows") >= 3


def test_the_look_finds_what_is_missing():
    scene, images, _ = world("")
    placement = place(scene, images, "suitcase").model_copy(update={"visible_since": -0.7})
    pictures = edited(scene, images, "suitcase", placement)
    seen = looks(scene, {t: image for (_, t), image in images.items()}, pictures, placement)
    assert {t for t, how in seen.items() if how == "missing"} == {t for t in TIMES if t < -0.7}
    over = {t: [(0.0, 0.0, 640.0, 400.0)] for t in TIMES}
    assert (
        "missing"
        not in looks(scene, {t: images["front", t] for t in TIMES}, pictures, placement, over).values()
    )


@pytest.mark.parametrize(("name", "hazard_id"), [("hmb3_01420", "cone_line")])
def test_no_frame_of_a_real_drive_lacks_the_hazard(real: Path, models: Path, name: str, hazard_id: str):
    network = models / "twinlitenet.onnx"
    folder = load_scene(real / "udacity_hmb3" / "scenes" / name)
    scene = folder.scene
    images = {(f.camera, f.t): folder.image(f) for f in scene.frames}
    views = Views.of(create_perceiver("twinlitenet", {"path": str(network)})).scene(scene, images)
    placement = place(scene, images, hazard_id, views)
    assert placement is not None
    originals = {t: image for (_, t), image in images.items()}
    assert set(looks(scene, originals, edited(scene, images, hazard_id, placement), placement).values()) == {
        "shows"
    }
