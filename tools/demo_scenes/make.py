"""Render demo scenes: `python -m tools.demo_scenes.make [--out DIR] [--only NAME ...] [--samples 8]`.

Needs bpy 4.5. A scene whose scene.json exists is left alone, so a stopped run goes on where it was.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import bpy
import cv2
import numpy as np

from . import develop as film
from . import dress, places, sky, vehicles
from .bodywork import KINDS
from .camera import Camera, Studio, world_from_ego
from .ground import Site
from .kinds_of_place import PLACES
from .lorry import lorry
from .motion import FUTURE_T, HISTORY_T, Ride, rows
from .road_map import road_map, written
from .scenes import SCENES
from .shape import put

SMALL = (640, 360)  # history frames are rendered so and enlarged
HELD = {0: -2.0, 2: -1.5, 4: -1.0, 6: -0.5}


def build(spec, scratch):
    """Build the whole scene in an empty Blender file; returns (site, ego ride, movers, light settings)."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    spec = {**PLACES[spec["place"]], **spec}
    rng = np.random.default_rng(spec["seed"])
    site = Site(spec, rng, scratch)
    light = sky.light_up(spec["light"], spec.get("azimuth", 60), spec["seed"], spec.get("elevation"))
    places.surface(site)
    site.edges()
    site.terrain()
    places.furnish(site, dress.Nursery(rng, spec.get("season", "summer")), spec["light"], scratch)
    ego = Ride(site.road, 0.0, spec["ego_t"], spec["speed"])
    movers = [_vehicle(site, one, spec["light"]) for one in spec.get("traffic", ())]
    return site, ego, [m for m in movers if m], light


def _vehicle(site, one, light):
    """One vehicle of the spec: (kind, colour, s, t, speed or None when parked[, direction[, 'side']])."""
    kind, colour, s, t, speed, *rest = one
    direction = rest[0] if rest else 1
    road = site.side if "side" in rest else site.road
    night = light in ("dusk", "fog", "wet") and speed is not None
    braking = "brake" in rest
    mesh = lorry(colour, night) if kind == "lorry" else vehicles.car(kind, colour, night, braking)
    length = 7.5 if kind == "lorry" else KINDS[kind][0]
    if speed is None and any(
        a - 2 < s < b + 2 for a, b in getattr(site, "drives", {}).get(int(np.sign(t)), [])
    ):
        return None
    return put(mesh), Ride(road, s, t, [(0.0, speed or 0.0)], direction), length


def place_movers(movers, beams, ego, t):
    """Move the traffic, and the ego's own headlights, to time t."""
    for obj, ride, _ in movers:
        x, y, z, heading, _ = ride.pose(t)
        obj.location, obj.rotation_euler = (x, y, z), (0, 0, heading)
    world = world_from_ego(ego.pose(t))
    for lamp, side in beams:
        lamp.location = (world @ [3.4, side, 0.65, 1])[:3]
        aim = world[:3, :3] @ np.array([1.0, 0.02 * side - 0.02, -0.028])
        lamp.rotation_euler = sky._aim(tuple(-aim))


def render(name, spec, out, args):
    """One scene folder, complete or not at all."""
    start, cpu = time.time(), time.process_time()
    scratch = Path(tempfile.mkdtemp(prefix="demo-"))
    _site, ego, movers, light = build(spec, scratch)
    cam = Camera(960, 540, *spec.get("camera", (70, 1.4, 2.0)))
    studio = Studio(cam, scratch, args.threads)
    beams = (
        [(sky.spot((0, 0, 0), (1, 0, 0), 450, 62, (1, 0.93, 0.8), 0.08), s) for s in (-0.6, 0.6)]
        if spec["light"] == "dusk"
        else []
    )
    folder = out / name
    size, gain = 0, None
    shots = [(None, 0.0)] + ([] if args.still else list(HELD.items()))
    for index, t in shots:
        place_movers(movers, beams, ego, t)
        now = index is None
        samples, small = (args.samples, None) if now else (max(4, args.samples // 2), SMALL)
        rgb, depth = studio.shoot(ego.pose(t), samples, spec["seed"] + (index or 9), small)
        rgb = film.haze(rgb, depth, spec.get("haze", light["haze"]))
        gain = gain or film.exposure(rgb, spec.get("key", light["key"]))
        look = {
            "warm": spec.get("warm", 0.0),
            "saturation": spec.get("saturation", 1.05),
            "blur": spec.get("blur", 0.6),
            "noise": spec.get("noise", 1.3 if spec["light"] == "dusk" else 0.6),
        }
        image = film.develop(rgb, gain, np.random.default_rng([spec["seed"], index or 9]), **look)
        path = folder / ("frame.jpg" if index is None else f"hist/{index:02d}.jpg")
        size += film.save(path, image, 88 if index is None else 80)
    (folder / "scene.json").write_text(written({**record(name, spec, cam, ego, movers), **road_map(spec)}))
    if args.check:
        overlay(folder / "frame.jpg", cam, ego, args.check / f"{name}.png")
    took = f"{time.time() - start:.0f} s, {time.process_time() - cpu:.0f} s of processor time"
    print(f"{name}: {took}, {size // 1024} KB", flush=True)


def record(name, spec, cam, ego, movers):
    """scene.json: exact motion, calibration, what the scene shows, where the other vehicles are at t0."""
    traffic = []
    for obj, ride, length in movers:
        x, y, _, heading, v = ride.pose(0.0)
        traffic.append(
            {
                "kind": obj.name.split("-")[0],
                "x": round(float(x), 2),
                "y": round(float(y), 2),
                "theta": round(float(heading), 4),
                "v": round(float(v), 2),
                "length_m": length,
            }
        )
    return {
        "scene_id": name,
        "source": "cfgen demo scenes, path-traced",
        "license": "Apache-2.0",
        "dt": 0.25,
        "road": [spec["place"], "junction"] if "junction" in spec else spec["place"],
        "weather": {"wet": "rain", "fog": "fog", "overcast": "overcast"}.get(spec["light"], "fair"),
        "time_of_day": {"dusk": "dusk", "low_sun": "low sun", "morning": "morning"}.get(spec["light"], "day"),
        "sun": sky.sun_direction(spec["light"], spec.get("azimuth", 60), spec.get("elevation")),
        "columns": ["x", "y", "theta", "v"],
        "origin": "on the road under the rear axle",
        "speed_t0": round(float(ego.pose(0.0)[4]), 4),
        "history_t": HISTORY_T.tolist(),
        "history": rows(ego, HISTORY_T),
        "future_t": FUTURE_T.tolist(),
        "future": rows(ego, FUTURE_T),
        "image": "frame.jpg",
        "width": cam.size[0],
        "height": cam.size[1],
        "history_images": [f"hist/{i:02d}.jpg" if i in HELD else None for i in range(8)],
        **cam.record(),
        "traffic": traffic,
    }


def overlay(frame, cam, ego, path):
    """Draw the future path (the car's width) and a 1 m grid of the road ahead on the frame."""
    image = cv2.imread(str(frame))
    for x in range(5, 41):
        cols = [(120, 200, 120), (120, 200, 120)]
        for a, b in (((x, -4, 0), (x, 4, 0)), *tuple(((x, y, 0), (x + 1, y, 0)) for y in range(-4, 5))):
            p = cam.project([a, b])
            if np.isfinite(p).all():
                cv2.line(image, *np.round(p).astype(int).tolist(), cols[0], 1, cv2.LINE_AA)
    fut = np.array([ego.pose(t)[:5] for t in np.arange(0, 6.01, 0.05)])
    for side in (-0.9, 0.9):
        x, y = fut[:, 0] - np.sin(fut[:, 3]) * side, fut[:, 1] + np.cos(fut[:, 3]) * side
        p = cam.project(np.stack([x, y, fut[:, 2]], 1))
        p = np.round(p[np.isfinite(p).all(1)]).astype(np.int32)
        cv2.polylines(image, [p], False, (40, 40, 255), 2, cv2.LINE_AA)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), image)


def main():
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", type=Path, default=Path("scenarios/scenes"))
    ap.add_argument("--only", nargs="*", default=[], help="scene names")
    ap.add_argument("--samples", type=int, default=8)
    ap.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    ap.add_argument("--still", action="store_true", help="the frame at t0 only, for a look")
    ap.add_argument("--check", type=Path, help="folder for frames with the path and a grid drawn on them")
    args = ap.parse_args()
    for name, spec in SCENES.items():
        if (not args.only or name in args.only) and not (args.out / name / "scene.json").exists():
            render(name, spec, args.out, args)


if __name__ == "__main__":
    main()
