"""Exact road masks of demo scenes kept out of training: `python -m tools.road_net.demo_masks OUT`.

Needs bpy 4.5. One 320x180 PNG a scene, 255 where the front frame at t0 shows road that may be driven on; the tests read
them in tests/perception/road_masks. Only scenes that today's recipe made are asked for, so that mask and picture fit.
"""

import argparse
import tempfile
from pathlib import Path

import bpy
import cv2
import numpy as np

from tools.demo_scenes import make
from tools.demo_scenes.camera import Camera
from tools.demo_scenes.recipe import recipe_hash, stored
from tools.demo_scenes.scenes import SCENES

from .render import ROAD, SIZE, MaskStudio

HELD_OUT = (
    *(
        "arterial_clear_06",
        "forest_low_sun_06",
        "freeway_day_05",
        "highway_wet_05",
        "lane_wet_05",
        "residential_day_09",
    ),
    *(
        "residential_fog_08",
        "rural_day_11",
        "street_dusk_05",
        "street_morning_07",
        "urban_day_06",
        "urban_low_sun_07",
    ),
)


def mask(name: str) -> np.ndarray:
    """(180, 320) uint8 of one scene."""
    if stored()[name]["recipe"] != recipe_hash(name):
        raise SystemExit(f"{name}: its picture was made by another recipe; leave it out of HELD_OUT")
    spec, scratch = SCENES[name], Path(tempfile.mkdtemp(prefix="road-"))
    _site, ego, movers, _light = make.build(spec, scratch)
    for obj in bpy.data.objects:
        obj.pass_index = int(obj.name.split(".")[0] in ROAD)
    make.place_movers(movers, [], ego, 0.0)
    studio = MaskStudio(Camera(*SIZE, *spec.get("camera", (70, 1.4, 2.0))), scratch, 1)
    studio.scene.cycles.use_denoising = False
    _, _, index = studio.frame(studio.camera, ego.pose(0.0), 1, 1, 0.0)
    return (index == 1).astype(np.uint8) * 255


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("out", type=Path)
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in HELD_OUT:
        if not (args.out / f"{name}.png").exists():
            cv2.imwrite(str(args.out / f"{name}.png"), mask(name))


if __name__ == "__main__":
    main()
