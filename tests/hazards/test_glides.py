"""A place goes with the road under it: textured ground filmed by a camera whose way is known, or told wrongly."""

import math

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import ground_points
from cfgen.geometry.frames import camera_at
from cfgen.hazards.glides import slid_m
from cfgen.perception.view import SceneView
from tests.hazards import drawn

RNG = np.random.default_rng(3)
#: 8-bit road, 0.1 m a cell, 60 m by 16 m, with spots as long as rows far off are apart.
TEXTURE = 110 + 6 * cv2.GaussianBlur(RNG.normal(0, 60, (600, 160)).astype(np.float32), (0, 0), 2, sigmaY=9)


def film(scene, t: float, rises: float = 0.0) -> np.ndarray:
    """(H, W) uint8: the road as the camera sees it at ``t``; ``rises``: it climbs by this slope from 10 m on."""
    camera = camera_at(scene, "front", t)
    v, u = np.mgrid[: camera.height, : camera.width]
    px = np.column_stack([u.ravel(), v.ravel()]).astype(float)
    ground, valid = ground_points(camera, px)
    eye = np.linalg.inv(np.array(camera.T_cam_ego))[:3, 3]
    if rises:  # where the sight line meets z = rises * (x - 10)
        flat = np.where(valid[:, None], ground, 1e6)
        way = np.column_stack([flat, np.zeros(len(flat))]) - eye
        share = (eye[2] - rises * (eye[0] - 10)) / (rises * way[:, 0] - way[:, 2])
        met = eye + share[:, None] * way
        ground = np.where((met[:, 2] > 0)[:, None], met[:, :2], flat)
    at = np.nan_to_num(np.where(valid[:, None], ground, 1e4)) * 10 + (0, 80)
    rows, cols = (at[:, i].reshape(v.shape).astype(np.float32) for i in (0, 1))
    found = cv2.remap(TEXTURE, cols, rows, cv2.INTER_LINEAR, borderValue=128)
    return np.clip(found, 0, 255).astype(np.uint8)


def slid(scene, told, spot=(25.0, 0.5), **how) -> float | None:
    whole = np.ones((100, 160), bool)
    view = SceneView(whole, ~whole, (drawn.CAMERA.width, drawn.CAMERA.height), None, {})
    now, then = film(scene, 0.0, **how), film(scene, -0.25, **how)
    return slid_m(now, then, told.front, camera_at(told, "front", -0.25), np.array(spot), view)


def test_a_place_whose_way_is_told_stays():
    scene = drawn.scene(12.0)
    assert slid(scene, scene) == pytest.approx(0.0, abs=0.04)


@pytest.mark.parametrize("turned", [0.02, -0.02])
def test_a_turn_that_is_told_wrongly_slides_it(turned):
    """By the angle times its distance then, 27 m from the camera."""
    scene = drawn.scene(12.0)
    poses = [
        (x, y, turned if t == -0.25 else th)
        for t, (x, y, th) in zip(scene.history.t, scene.history.poses, strict=True)
    ]
    told = scene.model_copy(update={"history": scene.history.model_copy(update={"poses": tuple(poses)})})
    assert slid(scene, told) == pytest.approx(turned * 27, rel=0.2)


def test_a_road_that_climbs_slides_what_stands_beside_the_way():
    scene = drawn.scene(12.0)
    assert abs(slid(scene, scene, spot=(22.0, 4.0), rises=0.04)) > 0.06
    assert math.isclose(slid(scene, scene, spot=(22.0, 4.0)), 0.0, abs_tol=0.03)


def test_a_road_without_texture_tells_nothing():
    scene, whole = drawn.scene(12.0), np.ones((100, 160), bool)
    plain = np.full((drawn.CAMERA.height, drawn.CAMERA.width), 90, np.uint8)
    view = SceneView(whole, ~whole, (640, 400), None, {})
    then = camera_at(scene, "front", -0.25)
    assert slid_m(plain, plain, scene.front, then, np.array([25.0, 0.0]), view) is None
    assert (
        slid_m(film(scene, 0.0), film(scene, -0.25), scene.front, then, np.array([-9.0, 0.0]), view) is None
    )
