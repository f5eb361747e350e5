"""Depth of ground and hazard by geometry, and a ControlNet that is shown it beside SDXL."""

from dataclasses import replace

import numpy as np
import pytest

from cfgen.core.errors import SetupError
from cfgen.geometry.camera import project, resized, to_camera
from cfgen.inpaint.diffusion.depth import depth, depth_picture
from cfgen.inpaint.diffusion.sdxl import Sdxl
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


def test_the_guides_outline_cuts_the_box_and_the_null_edit_has_none():
    asked = whole()
    plain, box = (
        depth(a) for a in (replace(asked, hazard=asked.hazard.model_copy(update={"kind": "null"})), asked)
    )
    on_box = box < plain
    assert on_box.any()
    alpha = np.zeros(on_box.shape, np.float32)
    alpha[:, : on_box.shape[1] // 2] = 1
    cut = depth(replace(asked, guide=asked.image, guide_alpha=alpha)) < plain
    assert np.array_equal(cut, on_box & (alpha > 0))
    picture = depth_picture(asked, (270, 480))
    assert picture.shape == (270, 480, 3)
    assert picture[-1].max() == 255
    assert picture[0].max() == 0


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
    nearer = replace(asked[0], placement=make_placement(x=2.5))
    moved = Sdxl(**given, control=str(net), control_scale=2.0).inpaint([nearer])[0]
    assert not np.array_equal(moved.image, single.image), "the place counts"


def test_what_is_no_controlnet_is_refused_in_words(tiny):
    with pytest.raises(SetupError, match=r"control '.*' cannot be loaded .*; give a folder or a Hub name"):
        Sdxl(model=str(tiny), resolution=64, control=str(tiny)).inpaint([request()])
