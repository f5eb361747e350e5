"""Requests for the diffusers inpainters: small crops of a smooth picture with a mask in the middle."""

from dataclasses import replace

import cv2
import numpy as np

from cfgen.inpaint.protocol import InpaintRequest, Setting
from tests.inpaint.test_inpaint import make_hazard, make_placement, make_scene


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """(height, width, 3) uint8: soft colours with some edges and grain."""
    rng = np.random.default_rng(seed)
    soft = cv2.resize(
        rng.integers(40, 216, (6, 8, 3), np.uint8), (width, height), interpolation=cv2.INTER_CUBIC
    )
    cv2.rectangle(soft, (width // 5, height // 3), (width // 3, height - 3), (230, 225, 210), -1)
    return np.clip(soft + rng.normal(0, 3, soft.shape), 0, 255).astype(np.uint8)


def request(
    height: int = 48, width: int = 48, seed: int = 0, prompt: str = "a box", **more
) -> InpaintRequest:
    scene = make_scene()
    frame = picture(540, 960, seed)
    mask = np.zeros((height, width), np.uint8)
    mask[height // 4 : 3 * height // 4, width // 4 : 3 * width // 4] = 255
    asked = InpaintRequest(
        image=picture(height, width, seed),
        mask=mask,
        camera=scene.front,
        hazard=make_hazard(prompt),
        placement=make_placement(),
        setting=Setting(frame, scene.front, make_placement()),
        seed=seed,
    )
    return replace(asked, **more)


def guided(asked: InpaintRequest) -> InpaintRequest:
    """The same with a bright block as the guide's insert."""
    guide = asked.image.copy()
    guide[asked.mask > 0] = (210, 60, 40)
    return replace(asked, guide=guide)


def apart(one: np.ndarray, other: np.ndarray) -> int:
    """The largest difference of two pictures, 8-bit levels."""
    return int(np.abs(one.astype(int) - other).max())
