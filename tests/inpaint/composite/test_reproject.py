"""A sprite's view moved to another camera: every part where it stands, nearer ones in front, nothing torn."""

import math

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import mounted, project
from cfgen.inpaint.composite import sprites
from cfgen.inpaint.composite.inpainter import MAX_TURN, Composite
from cfgen.inpaint.composite.reproject import reproject
from cfgen.inpaint.composite.sprites import SpriteView
from cfgen.inpaint.edit import EditJob, make_edits
from cfgen.records import Camera, Placement, Size
from tests.inpaint.composite.test_composite import (
    FRONT,
    edit_of,
    make_hazard,
    make_placement,
    make_road,
    make_scene,
)

CAMERA = Camera(width=960, height=540, fx=1400, fy=1400, cx=480, cy=200, T_cam_ego=mounted(1.4))
PPM, AWAY = 60.0, 25.0
EYE = AWAY * math.tan(math.radians(3))
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
#: A red post 2 m nearer than the foot before a blue wall 2 m beyond it: near, left, right, top (m), colour.
POST, WALL = (2.0, -0.15, 0.15, 1.6, RED), (-2.0, -1.2, 1.2, 1.2, BLUE)


def made_view():
    """What the sprite tool would store of post and wall, seen from their front."""
    rows, cols = 200, 260
    foot = (cols / 2, 150.0)
    rgba = np.zeros((rows, cols, 4), np.float32)
    points = np.zeros((rows // 2, cols // 2, 3), np.float32)
    v, u = np.mgrid[:rows, :cols] + 0.5
    half_v, half_u = np.mgrid[: rows // 2, : cols // 2] * 2 + 1.0
    for near, left, right, top, colour in (WALL, POST):
        (y, z), (at_y, at_z) = (
            ((a - foot[0]) * scale, EYE - (b - (foot[1] - PPM * EYE)) * scale)
            for scale in [(AWAY - near) / AWAY / PPM]
            for a, b in ((u, v), (half_u, half_v))
        )
        rgba[(y > left) & (y < right) & (z > 0) & (z < top)] = (*colour, 1.0)
        there = (at_y > left) & (at_y < right) & (at_z > 0) & (at_z < top)
        points[there] = np.stack([np.full_like(at_y, near), at_y, at_z], -1)[there]
    return SpriteView(rgba, foot, PPM, 0.0, math.radians(3), points)


def placed(distance):
    return Placement(
        zone="ego_lane",
        x=distance,
        y=0.0,
        yaw=math.pi,
        size=Size(length=4.2, width=2.4, height=1.6),
        distance_m=distance,
        lateral_m=0.0,
        required_decel=3.0,
        foot_px=(0.0, 0.0),
        box_px=(0.0, 0.0, 1.0, 1.0),
    )


@pytest.mark.parametrize("distance", [9.0, 14.0, 25.0])
@pytest.mark.parametrize(("yaw", "part"), [(0.0, POST), (0.07, POST), (-0.07, POST), (0.0, WALL)])
def test_every_part_comes_where_the_camera_sees_it(distance, yaw, part):
    near, left, right, top, colour = part
    placement = placed(distance).model_copy(update={"yaw": math.pi + yaw})
    drawn = reproject(made_view(), CAMERA, placement)
    shown = (drawn[..., :3] @ (2 * np.array(colour) - 1) > 0.25) & (drawn[..., 3] > 0.5)
    c, s = math.cos(placement.yaw), math.sin(placement.yaw)
    corners = [(near, left, 0), (near, right, 0), (near, left, top), (near, right, top)]
    world = [(distance + c * x - s * y, s * x + c * y, z) for x, y, z in corners]
    px, _ = project(CAMERA, world)
    expected = np.zeros_like(shown)
    (u0, v0), (u1, v1) = px.min(0), px.max(0)
    expected[math.ceil(v0) : math.floor(v1) + 1, math.ceil(u0) : math.floor(u1) + 1] = True
    if part is WALL:  # the post hides its middle
        expected &= ~(drawn[..., 0] > 0.1)
    missing = expected & ~shown
    assert missing.sum() < 0.12 * expected.sum()
    rows, cols = np.nonzero(shown)
    stray = (cols < u0 - 2.5) | (cols > u1 + 2.5) | (rows < v0 - 2.5) | (rows > v1 + 2.5)
    assert stray.sum() < 0.05 * expected.sum()


@pytest.mark.parametrize("yaw", [0.1, 0.17, -0.17])
def test_a_slanted_wall_stays_whole_where_it_turns_towards_the_camera(yaw):
    rows, cols, foot = 200, 260, (130.0, 150.0)
    rgba = np.zeros((rows, cols, 4), np.float32)
    points = np.zeros((rows // 2, cols // 2, 3), np.float32)
    for half in (False, True):
        v, u = np.mgrid[: rows // 2, : cols // 2] * 2 + 1.0 if half else np.mgrid[:rows, :cols] + 0.5
        ray = (u - foot[0]) / PPM / AWAY  # the wall: near = 1.5 y, so y = ray * (AWAY - near)
        y = ray * AWAY / (1 + 1.5 * ray)
        z = EYE - (v - (foot[1] - PPM * EYE)) * (AWAY - 1.5 * y) / AWAY / PPM
        there = (np.abs(y) < 1.2) & (z > 0) & (z < 1.2)
        if half:
            points[there] = np.stack([1.5 * y, y, z], -1)[there]
        else:
            rgba[there] = (*BLUE, 1.0)
    view = SpriteView(rgba, foot, PPM, 0.0, math.radians(3), points)
    drawn = reproject(view, CAMERA, placed(9.0).model_copy(update={"yaw": math.pi + yaw}))
    inner = cv2.erode(cv2.morphologyEx(drawn[..., 3], cv2.MORPH_CLOSE, np.ones((9, 9))), np.ones((5, 5)))
    assert (inner > 0.9).sum() > 15_000
    assert (drawn[..., 3][inner > 0.9] < 0.9).mean() < 1e-3


def test_the_hazard_is_turned_to_a_view_that_its_sprite_has_and_the_mask_leaves_room():
    hazard = make_hazard("van", variant="white")
    sprite = sprites.load("van", "white")
    turned = []
    for yaw in np.linspace(0.0, 0.5, 6):
        placement = make_placement(hazard, 14.0, 0.0, float(yaw))
        edit = edit_of(hazard, placement)
        turn = math.radians(edit.report["inpainter"]["turned_deg"])
        turned.append(abs(turn))
        azimuth = math.pi - (yaw + turn)
        left = math.remainder(azimuth - sprite.seen_from(azimuth, 0.1), math.tau)
        assert abs(left) < 0.01 or turned[-1] == pytest.approx(MAX_TURN, abs=0.01)
        alone = make_edits(
            [
                EditJob(
                    make_scene(),
                    {FRONT: make_road()},
                    hazard,
                    placement,
                    4,
                    {FRONT: np.full((540, 960), 255, np.uint8)},
                )
            ],
            Composite(),
        )[0]
        image, mask = edit.frames[FRONT]
        cut = np.abs(image.astype(int) - alone.frames[FRONT][0]).max(-1) > 40
        assert cut[mask == 0].sum() < 30, "nothing of it is cut off by the mask"
    assert max(turned) > 0.02


@pytest.mark.parametrize("distance", [9.0, 40.0])
def test_of_what_is_just_out_of_view_nothing_is_drawn(distance):
    """Its box reaches into the picture, none of its points does."""
    camera = Camera(width=120, height=68, fx=175, fy=175, cx=60, cy=25, T_cam_ego=mounted(1.4))
    half = distance * camera.width / 2 / camera.fx
    for beside in np.linspace(half - 0.5, half + 2.5, 31):
        placement = placed(distance).model_copy(update={"y": float(beside)})
        drawn = reproject(made_view(), camera, placement)
        assert np.isfinite(drawn).all()
    assert not drawn.any()
