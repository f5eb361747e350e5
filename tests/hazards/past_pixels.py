"""A look at the pixels of the 2 s before: is the hazard drawn in every frame in which its place is in view?"""

from collections.abc import Mapping

import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import at_pose, project
from cfgen.geometry.frames import pose_at
from cfgen.records import Placement, Scene

Box = tuple[float, float, float, float]
#: Less of the box than this in the frame, or fewer pixels, need not show.
IN_FRAME, LEAST_PX = 0.25, 40.0
#: A pixel that differs by more than this (8 bit) is changed; this share of the box's is when something is drawn there.
DIFFERS, DRAWN = 10, 0.04
#: A real thing hides the hazard when its box covers this share of the hazard's, both ways, and stands lower.
COVERS = 0.9


def looks(
    scene: Scene,
    originals: Mapping[float, np.ndarray],
    edited: Mapping[float, np.ndarray],
    placement: Placement,
    things: Mapping[float, list[Box]] | None = None,
) -> dict[float, str]:
    """By time: "shows", "behind" a nearer thing, out of the frame ("out"), or "missing".

    Args:
        originals, edited: (H, W, 3) uint8 of the front camera by s relative to t0; frames not edited may lack.
        things: boxes x0, y0, x1, y1, px, of real things by time.
    """
    return {
        t: _look(scene, t, image, edited.get(t, image), placement.at(t), (things or {}).get(t, []))
        for t, image in sorted(originals.items())
    }


def _look(scene, t, original, edited, placement: Placement, things: list[Box]) -> str:
    camera = at_pose(scene.front, tuple(pose_at(scene.history, t))) if t else scene.front
    corners = box_corners(placement.x, placement.y, placement.yaw, placement.size)[0]
    px, valid = project(camera, corners)
    if not valid.all():
        return "out"
    low, high = px.min(0), px.max(0)
    (x0, y0), (x1, y1) = (np.clip(p, 0, (camera.width, camera.height)) for p in (low, high))
    area = (x1 - x0) * (y1 - y0)
    if area < max(IN_FRAME * np.prod(high - low), LEAST_PX):
        return "out"
    part = np.s_[int(y0) : int(np.ceil(y1)), int(x0) : int(np.ceil(x1))]
    change = np.abs(edited[part].astype(int) - original[part]).max(2)
    if (change > DIFFERS).mean() > DRAWN:
        return "shows"
    for left, top, right, bottom in things:
        across = (min(right, x1) - max(left, x0)) / (x1 - x0)
        down = (min(bottom, y1) - max(top, y0)) / (y1 - y0)
        if bottom > y1 and min(across, down) >= COVERS:
            return "behind"
    return "missing"
