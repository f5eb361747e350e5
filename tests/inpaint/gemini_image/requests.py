"""Inpaint requests without a benchmark."""

import cv2
import numpy as np

from cfgen.inpaint.protocol import InpaintRequest, Setting
from cfgen.inpaint.region import FrameView, crop_box, project_mask, seen_by
from cfgen.inpaint.registry import create_inpainter
from cfgen.records import Hazard, Size
from tests.inpaint.test_inpaint import make_placement, make_scene


def hazard(**more):
    given = {
        "id": "work_barrier",
        "name": "road-work barrier across the lane",
        "cluster": "Construction",
        "why": "it blocks the lane",
        "size": Size(length=0.8, width=0.8, height=1.5),
        "zones": ("ego_lane",),
        "prompt": "an orange and black striped barrier standing on the road",
        "heading": "facing",
    }
    return Hazard(**given | more)


def photo(seed=0):
    """(540, 960, 3) uint8 with the textures of a road scene."""
    rng = np.random.default_rng(seed)
    layers = [
        cv2.resize(rng.normal(0, 1, (h, w, 3)).astype(np.float32), (960, 540), interpolation=cv2.INTER_CUBIC)
        for h, w in ((34, 60), (180, 320))
    ]
    ramp = np.linspace(170, 90, 540)[:, None, None]
    return np.clip(ramp + 18 * layers[0] + 8 * layers[1], 0, 255).astype(np.uint8)


def request(seed=1, x=15.0, **more):
    """One request as cfgen makes them, for a box on the road."""
    camera = make_scene().front
    image, needs = photo(seed), create_inpainter("nano-banana").needs
    placement = seen_by(camera, make_placement(x=x, yaw=3.1))
    mask = project_mask(camera, placement, needs.shadow)
    x0, y0, x1, y1 = crop = crop_box(mask, needs)
    view = FrameView(("front", 0.0), camera, placement, crop, mask[y0:y1, x0:x1])
    given = {
        "image": view.cut(image),
        "mask": view.mask,
        "camera": view.crop_camera,
        "hazard": hazard(),
        "placement": placement,
        "setting": Setting(image, camera, placement),
        "seed": seed,
    }
    return InpaintRequest(**given | more)
