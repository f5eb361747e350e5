"""The fixed crops of tools/gpu_smoke.py: demo scenes with the compositor's inserts, which the painters repaint."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.paths import scenarios_dir
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.edit import Edit, EditJob, make_edits
from cfgen.inpaint.protocol import Inpainter
from cfgen.inpaint.region import seen_by
from cfgen.inpaint.registry import create_inpainter
from cfgen.records import Placement
from cfgen.scenes.folder import load_scene
from tools.gpu_smoke_state import whole

#: Scene, hazard and place (m ahead, m to the left) of each picture; the seed is its number.
CROPS = (("arterial_overcast_01", "work_barrier", 17.0, 0.0), ("highway_day_01", "car_stopped", 24.0, 0.0))
#: What the compositor's own inserts are called in files.
GUIDE = "composite"


@cache
def jobs() -> tuple[EditJob, ...]:
    """The fixed crops: each hazard at its place, facing along the road, in the front frame at t0."""
    taxonomy = load_taxonomy()
    made = []
    for seed, (name, kind, x, y) in enumerate(CROPS):
        folder = load_scene(scenarios_dir() / "scenes" / name)
        scene, hazard = folder.scene, next(h for h in taxonomy.hazards if h.id == kind)
        plain = Placement(
            zone="ego_lane", x=x, y=y, yaw=0.0, size=hazard.size, distance_m=x, lateral_m=y,
            required_decel=scene.speed**2 / (2 * x), foot_px=(0, 0), box_px=(0, 0, 1, 1),
        )  # fmt: skip
        placement = seen_by(scene.front, plain)
        assert placement is not None, "the crops' places are in view"
        frames = {(scene.front.name, 0.0): folder.image()}
        made.append(EditJob(scene, frames, hazard, placement, seed))
    return tuple(made)


def sized(made: Sequence[EditJob], guide: Inpainter) -> list[EditJob]:
    """The jobs with a size that the guide has of each hazard."""
    found = []
    for job in made:
        size = (*guide.sizes(job.hazard), job.hazard.size)[0]
        placement = seen_by(job.scene.front, job.placement.model_copy(update={"size": size}))
        assert placement is not None
        hazard = job.hazard.model_copy(update={"size": size})
        found.append(replace(job, hazard=hazard, placement=placement))
    return found


def picture(out: Path, name: str, number: int) -> Path:
    return out / "pictures" / f"{name}-{number}.png"


def keep(out: Path, name: str, number: int, edit: Edit) -> tuple[np.ndarray, np.ndarray]:
    """Store the edited front frame at t0; returns it and its mask."""
    image, mask = next(pair for (_, t), pair in edit.frames.items() if t == 0)
    path = picture(out, name, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), image[..., ::-1])
    return image, mask


def guided(out: Path) -> list[EditJob]:
    """The jobs, once the compositor's inserts and their cover are stored."""
    guide = create_inpainter(GUIDE)
    made = sized(jobs(), guide)
    if not whole(*(picture(out, name, n) for name in (GUIDE, "cover") for n in range(len(made)))):
        for number, edit in enumerate(make_edits(made, guide, strict=True)):
            assert isinstance(edit, Edit), edit
            keep(out, GUIDE, number, edit)
            cv2.imwrite(str(picture(out, "cover", number)), edit.layer[..., 3])
    return made


def window(job: EditJob) -> tuple[slice, slice]:
    """The part of a frame around its hazard that detector and sheet show."""
    x0, y0, x1, y1 = job.placement.box_px
    side = max(3 * max(x1 - x0, y1 - y0), 256)
    height, width = job.scene.front.height, job.scene.front.width
    top, left = ((a + b) / 2 - side / 2 for a, b in ((y0, y1), (x0, x1)))
    return slice(max(int(top), 0), min(int(top + side), height)), slice(
        max(int(left), 0), min(int(left + side), width)
    )
