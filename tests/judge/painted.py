"""Cases made by hand: a box of known size painted into a real frame, with its shadow, at a known place."""

import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from cfgen.geometry.camera import project
from cfgen.geometry.path import EgoPath, path_of_plan
from cfgen.judge.protocol import JudgeItem
from cfgen.planners.answer import to_plan
from cfgen.planners.protocol import Observation, Truth
from cfgen.planners.responders import Responder
from cfgen.records import Camera, Hazard, Motion, Placement, Size

SIZES = {
    "pedestrian walking into the lane": Size(length=0.5, width=0.6, height=1.75),
    "broken-down car in the lane": Size(length=4.4, width=1.8, height=1.5),
    "cardboard boxes scattered in the lane": Size(length=0.9, width=1.3, height=0.6),
    "deer crossing the road": Size(length=1.6, width=0.5, height=1.4),
}

WHOLE = ((-0.5, 0.5, -0.5, 0.5, 0.0, 1.0),)
#: What a thing is made of: from and to along its length, width and height, as shares of its size.
PARTS = {
    "pedestrian walking into the lane": (
        (-0.5, -0.2, -0.5, -0.15, 0.0, 0.5),
        (0.2, 0.5, 0.15, 0.5, 0.0, 0.5),
        (-0.3, 0.3, -0.4, 0.4, 0.45, 0.8),
        (-0.15, 0.15, -0.15, 0.15, 0.75, 1.0),
    ),
    "deer crossing the road": (
        (-0.5, -0.35, -0.5, -0.2, 0.0, 0.6),
        (0.2, 0.35, 0.2, 0.5, 0.0, 0.6),
        (-0.5, 0.35, -0.5, 0.5, 0.5, 0.8),
        (0.3, 0.5, -0.15, 0.15, 0.7, 1.0),
    ),
}


@dataclass(frozen=True)
class Painted:
    original: np.ndarray
    modified: np.ndarray
    camera: Camera
    history: Motion
    future: Motion
    hazard: Hazard
    placement: Placement

    @property
    def truth(self) -> Truth:
        return Truth(self.hazard, self.placement)

    def observation(self, truth: Truth, seed: int = 1) -> Observation:
        return Observation("t", seed, {}, {}, self.history, truth=truth, logged=self.future)

    def answers(self, kind: str, seed: int = 1) -> tuple[str, str]:
        planner = Responder(kind)
        before, after = planner.plan(
            [self.observation(Truth(None, None), seed), self.observation(self.truth, seed)]
        )
        return before, after

    def item(self, before: str, after: str) -> JudgeItem:
        blank = np.zeros((8, 8, 3), np.uint8)
        (before, plan_a), (after, plan_b) = to_plan(before), to_plan(after)
        return JudgeItem(
            "k", self.original, self.modified, blank, blank, "", before, after, plan_a, plan_b, self.camera
        )


def load(folder: Path) -> tuple[np.ndarray, Camera, Motion, Motion]:
    data = json.loads((folder / "scene.json").read_text())
    frame = cv2.cvtColor(cv2.imread(str(folder / data["image"])), cv2.COLOR_BGR2RGB)
    k, transform = data["intrinsics"], np.array(data["extrinsics"]["T_cam_ego"])
    u, _, v = np.linalg.svd(transform[:3, :3])  # the file's four decimals are not quite a rotation
    transform[:3, :3] = u @ v
    camera = Camera(
        width=data["width"],
        height=data["height"],
        fx=k["fx"],
        fy=k["fy"],
        cx=k["cx"],
        cy=k["cy"],
        T_cam_ego=tuple(map(tuple, transform)),
    )
    return frame, camera, _motion(data, "history"), _motion(data, "future")


def _motion(data: dict, name: str) -> Motion:
    rows = np.array(data[name])
    return Motion(
        t=tuple(data[f"{name}_t"]),
        poses=tuple(map(tuple, rows[:, :3].tolist())),
        v=tuple(rows[:, 3].tolist()),
    )


def paint(
    folder: Path, name: str, seed: int, lateral: float | None = None, decel: float = 3.0
) -> Painted | None:
    """Textured boxes of the named thing's size and parts, to stop for at ``decel`` m/s^2; None when out of view."""
    frame, camera, history, future = load(folder)
    rng = np.random.default_rng(seed)
    size = SIZES[name]
    path = path_of_plan(np.array(future.poses))
    distance = float(np.clip(history.v[-1] ** 2 / (2 * decel) + 5, 14, 60))
    offset = float(rng.uniform(-1.5, 1.5)) if lateral is None else lateral
    placement = place(path, camera, distance, offset, size, rng)
    if not 40 < placement.foot_px[0] < camera.width - 40:
        return None
    return Painted(
        frame,
        _painted(frame, camera, placement, rng, PARTS.get(name, WHOLE)),
        camera,
        history,
        future,
        hazard(name, size),
        placement,
    )


def hazard(name: str, size: Size) -> Hazard:
    return Hazard(id="h", name=name, cluster="c", why="w", size=size, zones=("ego_lane",))


def place(
    path: EgoPath, camera: Camera, s: float, lateral: float, size: Size, rng: np.random.Generator
) -> Placement:
    x, y, heading = (float(v) for v in path.at(s, lateral))
    px, _ = project(camera, [[x, y, 0.0]])
    return Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=heading + float(rng.choice([0.0, np.pi / 2])),
        size=size,
        distance_m=s,
        lateral_m=lateral,
        required_decel=3.0,
        foot_px=tuple(px[0].tolist()),
        box_px=(0, 0, 1, 1),
    )


def _painted(
    frame: np.ndarray, camera: Camera, at: Placement, rng: np.random.Generator, parts=WHOLE
) -> np.ndarray:
    c, s = np.cos(at.yaw), np.sin(at.yaw)
    turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    base = (at.x, at.y, 0.0)
    size = (at.size.length, at.size.width, at.size.height)
    boxes = [np.array([(i, j, k) for i in p[:2] for j in p[2:4] for k in p[4:]]) * size for p in parts]
    shade = np.array([[1, 0, 0], [0, 1, 0], [0.1, 0.5, 0]])
    shadow, body = np.zeros(frame.shape[:2], np.float32), np.zeros(frame.shape[:2], np.float32)
    for corners in boxes:
        np.maximum(shadow, _hull(camera, corners @ shade @ turn + base, frame.shape), out=shadow)
        np.maximum(body, _hull(camera, corners @ turn + base, frame.shape), out=body)
    out = frame.astype(np.float32)
    out *= 1 - 0.45 * cv2.GaussianBlur(shadow, (0, 0), 1.5)[..., None]
    coat = rng.uniform(20, 235, 3) + rng.normal(0, 18, frame.shape)
    body = cv2.GaussianBlur(body, (0, 0), 0.7)[..., None]
    out = out * (1 - body) + np.clip(coat, 0, 255) * body
    return np.clip(out, 0, 255).astype(np.uint8)


def _hull(camera: Camera, points: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    px, _ = project(camera, points)
    mask = np.zeros(shape[:2], np.float32)
    cv2.fillConvexPoly(mask, cv2.convexHull(px.astype(np.float32)).round().astype(np.int32), 1.0)
    return mask
