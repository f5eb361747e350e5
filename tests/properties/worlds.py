"""Cameras of every lens, scenes around them, and places at and beyond every edge of their pictures."""

import math
import os
from functools import lru_cache

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from benchmarks.lenses import WIDEST, lens
from cfgen.geometry.camera import centre, ground_points, mounted, rotation, unproject
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.records import Camera, Frame, Hazard, Motion, Placement, Scene, Size

_MORE = int(os.environ.get("CFGEN_EXAMPLES", "1"))
TIMES = (-2.0, -1.0, 0.0)
TAXONOMY = load_taxonomy(None)
DRAWABLE = tuple(h for h in TAXONOMY.hazards if Composite().can_draw(h))


def examples(count: int) -> settings:
    """The same ``count`` examples each time, or ``CFGEN_EXAMPLES`` times as many new ones."""
    return settings(
        max_examples=count * _MORE,
        derandomize=_MORE == 1,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate),  # shrinking pictures takes minutes
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def lenses(draw: st.DrawFn, sizes=((160, 90), (96, 96), (64, 120))) -> Camera:
    """A lens of any model and field of view."""
    model = draw(st.sampled_from(sorted(WIDEST)))
    fov = math.radians(draw(st.sampled_from([15, 35, 60, 90, 120, 150, WIDEST[model]])))
    return lens(model, fov, *draw(st.sampled_from(sizes)), draw(st.sampled_from([0.0, -1.0, 1.0])))


@st.composite
def cameras(draw: st.DrawFn, sizes=((160, 90), (96, 96), (64, 120))) -> Camera:
    """A lens on a car: low and high, looking up and down, ahead, aside and back."""
    pose = mounted(
        draw(st.sampled_from([0.3, 1.2, 1.6, 3.5])),
        math.radians(draw(st.sampled_from([0, 2, 2, 5, -25, 35]))),
        math.radians(draw(st.sampled_from([0, 0, 0, 0, 5, 90, 180]))),
        math.radians(draw(st.sampled_from([0, 0, 4]))),
        x=draw(st.sampled_from([0.0, 1.7])),
    )
    return draw(lenses(sizes)).model_copy(update={"T_cam_ego": pose})


def scene_of(camera: Camera, speed: float = 9.0, times=TIMES, **more) -> Scene:
    """A drive along a gentle bend with a frame at each of ``times``."""
    poses = tuple((speed * t, 0.3 * t, -0.03 * t) for t in TIMES)
    return Scene(
        scene_id="drawn",
        cameras=(camera,),
        frames=tuple(Frame(camera=camera.name, t=t, image=f"{t}.png") for t in times),
        history=Motion(t=TIMES, poses=poses, v=(speed,) * len(TIMES)),
        **more,
    )


@lru_cache(maxsize=32)
def _noise(height: int, width: int) -> np.ndarray:
    return np.random.default_rng(3).normal(0, 3, (height, width, 3))


def picture(camera: Camera, kind: str = "road") -> np.ndarray:
    """(H, W, 3) uint8: grey road below a sky, or one flat tone."""
    flat = {"black": 0, "white": 255, "grey": 128}
    shape = (camera.height, camera.width, 3)
    if kind in flat:
        return np.full(shape, flat[kind], np.uint8)
    image = np.full(shape, 95.0)
    image[: camera.height // 2] = (150, 180, 215)
    return np.clip(image + _noise(*shape[:2]), 0, 255).astype(np.uint8)


PICTURES = st.sampled_from(["road", "road", "road", "black", "white"])
#: Share of the way across a picture: within, on and beyond every edge.
_SHARES = st.sampled_from([-1.5, -0.2, -0.01, 0.0, 0.01, 0.2, 0.4, 0.5, 0.55, 0.7, 0.97, 1.0, 1.01, 1.2, 2.5])


@st.composite
def placements(draw: st.DrawFn, camera: Camera, hazard: Hazard) -> Placement:
    """The hazard where a pixel on or beyond the picture sees the ground, at any distance, or behind the camera."""
    size = draw(st.sampled_from(Composite().sizes(hazard)))
    x, y = draw(st.one_of(_under_a_pixel(camera), _away(camera, size)))
    speed = draw(st.sampled_from([0.0, 0.0, 1.5, 12.0]))
    way = draw(st.floats(-math.pi, math.pi))
    return Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=draw(st.floats(-math.pi, math.pi)),
        vx=speed * math.cos(way),
        vy=speed * math.sin(way),
        moving_since=draw(st.sampled_from([None, None, -0.6])),
        visible_since=draw(st.sampled_from([None, None, -1.0])),
        size=size,
        distance_m=math.hypot(x, y),
        lateral_m=y,
        required_decel=3.0,
        foot_px=(0.0, 0.0),
        box_px=(0.0, 0.0, 1.0, 1.0),
    )


@st.composite
def _under_a_pixel(draw: st.DrawFn, camera: Camera) -> tuple[float, float]:
    px = draw(_SHARES) * camera.width - 0.5, draw(_SHARES) * camera.height - 0.5
    ground, seen = ground_points(camera, [px])
    return (
        draw(_away(camera, Size(length=1, width=1, height=1))) if not seen[0] else tuple(ground[0].tolist())
    )


@st.composite
def _away(draw: st.DrawFn, camera: Camera, size: Size) -> tuple[float, float]:
    """As far away as makes the hazard 0.3 to 3,000 pixels high, in any direction."""
    focal = camera.fw_poly[1] if camera.model == "ftheta" else camera.fx
    pixels = draw(st.sampled_from([0.3, 1.0, 4.0, 20.0, 80.0, 300.0, 1000.0, 3000.0]))
    away = focal * size.height / pixels
    rays, seen = unproject(camera, [(draw(_SHARES) * camera.width - 0.5, camera.cy)])
    way = rays[0] @ rotation(camera) if seen[0] else -rotation(camera)[2]
    bearing = math.atan2(way[1], way[0]) + draw(st.sampled_from([0.0] * 6 + [math.pi / 2, math.pi]))
    eye = centre(camera)
    return float(eye[0] + away * math.cos(bearing)), float(eye[1] + away * math.sin(bearing))
