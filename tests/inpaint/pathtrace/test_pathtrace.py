"""The path tracer: its cameras here, its renders where an interpreter with bpy is named in CFGEN_BLENDER_PYTHON."""

import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from cfgen.core.errors import MissingExtraError
from cfgen.geometry.camera import cropped, mounted, project
from cfgen.inpaint.edit import Edit, EditJob, make_edits
from cfgen.inpaint.pathtrace.inpainter import PathTrace, _pinhole
from cfgen.records import Camera, Frame, Hazard, Motion, Placement, Scene, Size

CAMERA = Camera(width=640, height=400, fx=620, fy=600, cx=320, cy=190, T_cam_ego=mounted(1.4, 0.03, 0.1))
CURVED = CAMERA.model_copy(update={"model": "opencv", "distortion": (-0.2, 0.03, 0.001, 0.0, 0.0)})
WIDE = CAMERA.model_copy(
    update={"model": "fisheye", "fx": 330.0, "fy": 330.0, "distortion": (0.01, 0.0, 0.0, 0.0)}
)
needs_bpy = pytest.mark.skipif(
    not os.environ.get("CFGEN_BLENDER_PYTHON"), reason="no interpreter with bpy in CFGEN_BLENDER_PYTHON"
)


@pytest.mark.parametrize("camera", [CAMERA, CURVED, WIDE], ids=lambda c: c.model)
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_pinhole_and_its_maps_put_points_where_the_camera_sees_them(camera, scale):
    part = cropped(camera, 350, 120, 200, 150)
    lens, (columns, rows) = _pinhole(part, scale)
    fx, fy, cx, cy, width, height = lens["lens"]
    points = np.array([(9.0, -1.5, 0.2), (12.0, -2.5, 1.0), (20.0, -5.0, 0.0)])
    px, _ = project(part, points)
    local = (points - lens["eye"]) @ np.array(lens["turn"]).T
    picture = local[:, :2] / local[:, 2:] * (fx, fy) + (cx - 0.5, cy - 0.5)
    for (u, v), (x, y) in zip(px, picture, strict=True):
        i, j = round(v), round(u)
        assert 0 <= i < 150
        assert 0 <= j < 200
        mapped = (
            columns[i, j] + (u - j) * (columns[i, j + 1] - columns[i, j]),
            rows[i, j] + (v - i) * (rows[i + 1, j] - rows[i, j]),
        )
        assert mapped == pytest.approx((x, y), abs=0.05)
    assert columns.min() >= 0
    assert columns.max() <= width - 1
    assert rows.min() >= 0
    assert rows.max() <= height - 1


@pytest.mark.skipif(find_spec("bpy") is not None, reason="bpy is installed in this environment")
def test_without_bpy_the_error_names_the_install_command():
    tracer = PathTrace(python=sys.executable)
    with pytest.raises(MissingExtraError, match=r"pip install \"\.\[pathtrace\]\""):
        tracer.can_draw(_hazard(tracer=None))


def _hazard(tracer):
    size = {"length": 0.5, "width": 0.5, "height": 0.7}
    hazard = Hazard(
        id="cone", name="cone", cluster="c", why="w", size=size, zones=("ego_lane",), model="cone"
    )
    return hazard.model_copy(update={"size": tracer.sizes(hazard)[0]}) if tracer else hazard


def _job(hazard, x, y):
    placement = Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=0.0,
        size=hazard.size,
        distance_m=x,
        lateral_m=y,
        required_decel=3,
        foot_px=(0, 0),
        box_px=(0, 0, 1, 1),
    )
    scene = Scene(
        scene_id="s",
        cameras=(CURVED,),
        frames=(Frame(t=0, image="x.png"),),
        history=Motion(t=(-1.0, 0.0), poses=((-5, 0, 0), (0, 0, 0)), v=(5, 5)),
    )
    return EditJob(scene, {("front", 0.0): np.full((400, 640, 3), 200, np.uint8)}, hazard, placement, 1)


@needs_bpy
def test_a_rendered_cone_stands_at_its_foot_with_its_metric_height():
    tracer = PathTrace(samples=8)
    hazard = _hazard(tracer)
    first, second = make_edits([_job(hazard, 9.0, -1.0)] * 2, tracer)
    assert isinstance(first, Edit)
    image, mask = first.frames["front", 0.0]
    assert np.array_equal(image, second.frames["front", 0.0][0]), "same seed, same bytes"
    assert (image[mask == 0] == 200).all()
    (foot, top), _ = project(CURVED, [(9.0, -1.0, 0.0), (9.0, -1.0, hazard.size.height)])
    rows, columns = np.nonzero(np.abs(image.astype(int) - 200).max(-1) > 60)
    assert (columns.min() + columns.max()) / 2 == pytest.approx(foot[0], abs=2)
    assert rows.min() == pytest.approx(top[1], abs=2)
    assert rows.max() == pytest.approx(foot[1], abs=4)


@needs_bpy
def test_no_shadow_falls_on_the_horizon():
    tracer = PathTrace(samples=8)
    tall = _hazard(tracer).model_copy(update={"size": Size(length=0.5, width=3.0, height=3.0)})
    edit = make_edits([_job(tall, 9.0, 0.0)], tracer)[0]
    image, mask = edit.frames["front", 0.0]
    (far, near), _ = project(CURVED, [(2000.0, 0.0, 0.0), (75.0, 0.0, 0.0)])
    rows = slice(round(far[1]) - 4, round(near[1]))
    assert (mask[rows] > 0).sum() > 100
    assert np.abs(image[rows].astype(int) - 200)[mask[rows] > 0].max() <= 6
