"""A small scene that is right; tests break one thing at a time."""

import json
from pathlib import Path

import cv2
import pytest
from PIL import Image

from tests.hazards import drawn


def content() -> dict:
    """scene.json as somebody would write it by hand."""
    v, step = 10.0, 0.25
    return {
        "scene_id": "hand_1",
        "image": "frame.png",
        "width": 160,
        "height": 90,
        "intrinsics": {"fx": 120, "fy": 120, "cx": 79.5, "cy": 44.5},
        "extrinsics": {"camera_height_m": 1.5, "pitch_deg": 2.0},
        "history": [[i * step * v, 0, 0, v] for i in range(-8, 1)],
        "history_images": [None] * 4 + [f"hist/{i}.png" for i in range(4)],
        "future": [[i * step * v, 0, 0, v] for i in range(1, 25)],
    }


def write(folder: Path, fields: dict) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scene.json").write_text(json.dumps(fields))
    for seed, name in enumerate(["frame.png", *(f"hist/{i}.png" for i in range(4))]):
        (folder / name).parent.mkdir(exist_ok=True)
        seen = drawn.road(shade=(8 + 2 * seed, 10 + 2 * seed), seed=seed)
        Image.fromarray(cv2.resize(seen, (160, 90), interpolation=cv2.INTER_AREA)).save(folder / name)
    return folder


@pytest.fixture
def hand(tmp_path):
    """hand(**changes) writes the scene with some fields changed; None drops the field."""

    def make(name: str = "scene", **changes) -> Path:
        fields = {key: value for key, value in (content() | changes).items() if value is not None}
        return write(tmp_path / name, fields)

    return make
