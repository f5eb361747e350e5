"""Depth and normals of ground and hazard by geometry, and a ControlNet that is shown it beside SDXL."""

from dataclasses import replace

import numpy as np
import pytest

from cfgen.geometry.camera import project, resized, rotation, to_camera
from cfgen.inpaint.diffusion.control import depth, normals
from cfgen.inpaint.diffusion.sdxl import Sdxl
from cfgen.records import Size
from tests.inpaint.diffusion.asked import apart, guided, request
from tests.inpaint.diffusion.tiny_sdxl import diffusers, tiny_unet, torch
from tests.inpaint.test_inpaint import make_placement, make_scene


def whole(**more):
    """A request for the whole frame."""
    scene = make_scene()
    camera = scene.front
    asked = request(height=camera.height, width=camera.width)
    return replace(
        asked, camera=camera, placement=make_placement(**{"x": 15.0, "y": 0.0, "yaw": 0.0, **more})
    )


def test_depth_is_that_of_the_ground_and_of_the_boxs_near_face():
    asked = whole()
    found = depth(asked)
    for x, y in ((8.0, 2.0), (30.0, -4.0), (60.0, 6.0)):
        (u, v) = np.rint(project(asked.camera, [(x, y, 0.0)])[0][0]).astype(int)
        assert found[v, u] == pytest.approx(to_camera(asked.camera, [(x, y, 0.0)])[0, 2], rel=0.06)
    size = asked.placement.size
    face = (15.0 - size.length / 2, 0.0, 0.6 * size.height)
    (u, v) = np.rint(project(asked.camera, [face])[0][0]).astype(int)
    assert found[v, u] == pytest.approx(to_camera(asked.camera, [face])[0, 2], abs=0.03)
    assert np.isinf(found[0]).all(), "the sky"
    turned = depth(whole(yaw=np.pi / 4))
    assert turned[v, u] < found[v, u], "a corner is nearer than a face"


def at(camera, point):
    u, v = np.rint(project(camera, [point])[0][0]).astype(int)
    return v, u


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_normals_are_those_of_the_ground_and_of_the_boxs_faces(turn):
    """A road faces up; a box is seen by its back, its lid and, turned to the left, its left side."""
    asked = whole(yaw=turn)
    size = Size(length=4.0, width=2.0, height=0.5)
    asked = replace(asked, placement=asked.placement.model_copy(update={"size": size}))
    camera, found = asked.camera, normals(asked)
    own = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    half = np.array([size.length / 2, size.width / 2, size.height])
    places = {
        (-1, 0, 0): half * [-1, 0, 0.5],
        (0, 0, 1): half * [0, 0, 1],
        **({(0, 1, 0): half * [0, 1, 0.5]} if turn else {}),
    }
    wanted = {face: own @ place + [15.0, 0, 0] for face, place in places.items()}
    for face, point in wanted.items():
        assert found[at(camera, point)] == pytest.approx(rotation(camera) @ own @ face, abs=1e-6), face
    assert found[at(camera, (8.0, 2.0, 0.0))] == pytest.approx(rotation(camera) @ [0, 0, 1], abs=1e-6)
    assert not found[0].any(), "the sky"
    length = np.linalg.norm(found, axis=-1)
    assert np.allclose(length[length > 0], 1)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    torch.manual_seed(1)
    made = diffusers.ControlNetModel.from_unet(tiny_unet(4), conditioning_channels=3)
    for weight in made.parameters():  # its last layers begin at nothing
        if not weight.any():
            torch.nn.init.normal_(weight, std=0.5)
    folder = tmp_path_factory.mktemp("net")
    made.save_pretrained(folder)
    return folder


def test_a_controlnet_is_shown_the_depth_and_counts(tiny, tmp_path, net):
    camera = resized(make_scene().front, 48, 48)
    placed = {"camera": camera, "placement": make_placement(x=5.0)}
    asked = [request(seed=1, **placed), guided(request(seed=2, **placed))]
    given = {"model": str(tiny), "resolution": 64, "steps": 3}
    plain = Sdxl(**given).inpaint(asked)
    shown = Sdxl(**given, control=str(net), control_scale=2.0, batch_size=2).inpaint(asked)
    off = Sdxl(**given, control=str(net), control_scale=0.0).inpaint(asked)
    for before, after in zip(plain, shown, strict=True):
        assert apart(before.image, after.image) > 2
    assert apart(off[0].image, shown[0].image) > 2
    told = shown[0].report
    assert told["pipeline"] == "StableDiffusionXLControlNetInpaintPipeline"
    assert (told["control"]["shows"], told["control"]["scale"]) == ("depth", 2.0)
    assert told["control"]["revision"].startswith("sha256:")
    assert "control" not in plain[0].report
    single = Sdxl(**given, control=str(net), control_scale=2.0, batch_size=1).inpaint(asked[:1])[0]
    assert apart(single.image, shown[0].image) <= 2
    facing = Sdxl(**given, control=str(net), control_scale=2.0, control_shows="normals").inpaint(asked[:1])[0]
    assert not np.array_equal(facing.image, single.image)
    assert facing.report["control"]["shows"] == "normals"
    nearer = replace(asked[0], placement=make_placement(x=2.5))
    moved = Sdxl(**given, control=str(net), control_scale=2.0).inpaint([nearer])[0]
    assert not np.array_equal(moved.image, single.image), "the place counts"
