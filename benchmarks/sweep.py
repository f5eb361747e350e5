"""Builds of benchmarks drawn at random, until one breaks: what no one thought of.

    python -m benchmarks.sweep --minutes 3 [--seed S] [--builds N]

Each build takes a few real drives ($CFGEN_REAL, ../shared/real) or demo scenes, some with another lens, pose or size or
with mangled frames, and hazards, controls, distances, seeds and jobs at random; it runs with --strict, then through
``cfgen bench verify``. A build that falls short is fine. At the first that breaks, the command that reproduces it is
printed, its scenes are kept, and the exit code is 1. The seed of the clock is printed; the same seed draws the same
builds.
"""

import argparse
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from benchmarks.lenses import WIDEST, lens, seen_through
from cfgen.geometry.camera import angles, centre, cropped, mounted, resized
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.records import Camera, Scene
from cfgen.scenes.folder import find_scenes, load_scene, write_scene

ROOT = Path(__file__).resolve().parents[1]
#: s that a build of three may take; longer is a fault.
PATIENCE_S = 600
#: Width of most frames, pixels.
SMALL = 360
#: Pixels along a side that a scene's camera has at least.
_FEWEST = 8
Rng = np.random.Generator
#: What is drawn of a scene: the record and its frames (H, W, 3) uint8 by path.
Drive = tuple[Scene, dict[str, np.ndarray]]


@dataclass
class Tally:
    builds: int = 0
    cases: int = 0
    refused: int = 0
    short: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0, help="start no build after so long (default 3)")
    parser.add_argument("--seed", type=int, default=None, help="default: of the clock")
    parser.add_argument("--builds", type=int, default=None, help="no more builds than this")
    parser.add_argument("--first", type=int, default=0, help="number of the first build, to draw one again")
    parser.add_argument("--demo", action="store_true", help="demo scenes only, whatever drives are there")
    asked = parser.parse_args()
    seed = time.time_ns() % 10**9 if asked.seed is None else asked.seed
    print(f"sweep --seed {seed}", flush=True)
    tally, start = Tally(), time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="cfgen-sweep-"))
    number = asked.first
    while time.monotonic() - start < 60 * asked.minutes and tally.builds != asked.builds:
        folder = root / f"{number:04d}"
        command = draw(np.random.default_rng([seed, number]), folder, sources(asked.demo))
        before = time.monotonic()
        wrong = broken(command, folder / "bench", tally)
        print(f"build {number}: {time.monotonic() - before:.0f} s", flush=True)
        if wrong:
            again = f"python -m benchmarks.sweep --seed {seed} --first {number} --builds 1"
            print(f"{summary(tally, start)}\nbuild {number} broke: {wrong}\n")
            print(f"reproduce:  {shlex.join(command)}\n       or:  {again}{' --demo' if asked.demo else ''}")
            return 1
        shutil.rmtree(folder)
        number += 1
    shutil.rmtree(root)
    print(summary(tally, start))
    return 0


def summary(tally: Tally, start: float) -> str:
    return (
        f"{tally.builds} builds ({tally.short} fell short), {tally.cases} cases, {tally.refused} refused, "
        f"{time.monotonic() - start:.0f} s"
    )


# --- one build --------------------------------------------------------------------------------------------


def draw(rng: Rng, folder: Path, pool: list[Path]) -> list[str]:
    """Write scenes to ``folder`` and give the command of a build from them."""
    for number in range(int(rng.integers(1, 4))):
        drive = changed(opened(pool[rng.integers(len(pool))]), rng)
        scene = drive[0].model_copy(update={"scene_id": f"s{number}"})
        write_scene(folder / "scenes" / scene.scene_id, scene, drive[1])
    command = [sys.executable, "-m", "cfgen", "build", "--n", "3", "--seed", str(rng.integers(1000))]
    command += ["--scenes", str(folder / "scenes"), "--out", str(folder / "bench"), "--quiet"]
    command += ["--jobs", str(rng.integers(1, 3)), "--attempts", str(rng.integers(1, 5))]
    names = drawable()
    options = {
        "--hazards": ",".join(rng.choice(names, int(rng.integers(1, 9)), replace=False)),
        "--controls": str(rng.choice(["null", "nuisance", "null,nuisance"])),
        "--distances": ",".join(f"{f:.2f}" for f in np.exp(rng.uniform(-1.5, 1.5, rng.integers(1, 3)))),
        "--decel-band": str(rng.choice(["0.2,20", "0.01,100", "3,4", "1.5,6"])),
    }
    for option, value in options.items():
        if rng.uniform() < 0.6:
            command += [option, value]
    return command + (["--strict"] if knows_strict() else [])


def broken(command: list[str], bench: Path, tally: Tally) -> str:
    """Run the build and verify what it made; what is wrong with it, or ""."""
    tally.builds += 1
    code, told = ran(command)
    if code not in (0, 1) or "Traceback" in told:
        return f"exit code {code}\n{told}"
    tally.short += code
    report = bench / "build.json"
    faults = json.loads(report.read_text(encoding="utf-8")).get("faults") if report.is_file() else None
    if faults:
        return f"faults in {report}: {json.dumps(faults)[:2000]}"
    cases = len(list(bench.glob("cases/*/*/case.json")))
    tally.cases += cases
    tally.refused += len(list((bench / "rejected").glob("*")))
    if code == 0 and cases < 3:
        return f"exit code 0 with {cases} of 3 cases"
    code, told = ran([*command[:3], "bench", "verify", str(bench)])
    return f"verify: exit code {code}\n{told}" if code else ""


def ran(command: list[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, f"not done after {PATIENCE_S} s"
    return done.returncode, (done.stdout + done.stderr)[-6000:]


@cache
def knows_strict() -> bool:
    return "--strict" in ran([sys.executable, "-m", "cfgen", "build", "--help"])[1]


@cache
def drawable() -> list[str]:
    return [hazard.id for hazard in load_taxonomy(None).hazards if Composite().can_draw(hazard)]


# --- scenes -----------------------------------------------------------------------------------------------


@cache
def sources(demo_only: bool) -> list[Path]:
    """Folders of scenes to draw from: as many real ones, where they are, as demo ones."""
    demo = find_scenes(ROOT / "scenarios" / "scenes")
    real = Path(os.environ.get("CFGEN_REAL", ROOT.parent / "shared" / "real"))
    if demo_only or not real.is_dir():
        return demo
    found = find_scenes(real)
    return demo * max(1, len(found) // len(demo)) + found


def opened(path: Path) -> Drive:
    folder = load_scene(path)
    return folder.scene, {frame.image: folder.image(frame) for frame in folder.scene.frames}


def changed(drive: Drive, rng: Rng) -> Drive:
    """The drive as it is, or changed in one way or two; mostly made small first, so that more are tried."""
    if rng.uniform() < 0.85:
        drive = _cameras(drive, _small)
    for _ in range(int(rng.choice([0, 1, 1, 2]))):
        drive = CHANGES[rng.integers(len(CHANGES))](drive, rng)
    return drive


def _cameras(
    drive: Drive, change: Callable[[Camera], tuple[Camera, Callable[[np.ndarray], np.ndarray]]]
) -> Drive:
    """Every camera changed, and its frames with it."""
    scene, images = drive
    made = {camera.name: change(camera) for camera in scene.cameras}
    shown = {frame.image: made[frame.camera][1](images[frame.image]) for frame in scene.frames}
    cameras = tuple(made[camera.name][0] for camera in scene.cameras)
    return scene.model_copy(update={"cameras": cameras}), {**images, **shown}


def _small(camera: Camera) -> tuple[Camera, Callable[[np.ndarray], np.ndarray]]:
    scale = min(1.0, SMALL / camera.width)
    size = round(scale * camera.width), max(1, round(scale * camera.height))
    return resized(camera, *size), lambda image: cv2.resize(image, size, interpolation=cv2.INTER_AREA)


def another_lens(drive: Drive, rng: Rng) -> Drive:
    """Another model, field of view and size, looking the same way or another."""
    model = str(rng.choice(sorted(WIDEST)))
    fov = math.radians(float(rng.choice([15, 30, 60, 90, 120, 150, WIDEST[model]])))
    width, height = ((160, 90), (320, 180), (480, 480), (640, 360), (90, 400))[rng.integers(5)]
    plain = lens(model, fov, width, height, float(rng.choice([-1, 0, 1])))
    tip, turn = rng.choice([0.0, 0.0, 0.0, -0.4, 0.3, 1.2]), rng.choice([0.0, 0.0, 0.0, 0.5, 1.6, 3.1])

    def change(camera: Camera) -> tuple[Camera, Callable[[np.ndarray], np.ndarray]]:
        pitch, yaw, roll = angles(camera)
        x, y, z = centre(camera)
        pose = mounted(z, pitch + float(tip), yaw + float(turn), roll, x, y)
        other = plain.model_copy(update={"name": camera.name, "T_cam_ego": pose})
        return other, lambda image: seen_through(image, camera, other)

    return _cameras(drive, change)


def another_size(drive: Drive, rng: Rng) -> Drive:
    width, height = (int(rng.choice([24, 64, 200, 500, 1000])) for _ in range(2))
    return _cameras(
        drive, lambda c: (resized(c, width, height), lambda image: cv2.resize(image, (width, height)))
    )


def a_part(drive: Drive, rng: Rng) -> Drive:
    """Frames cut to a part of themselves, down to a strip."""
    low, high = rng.uniform(0, 0.6, 2), rng.uniform(0.05, 1, 2)

    def change(camera: Camera) -> tuple[Camera, Callable[[np.ndarray], np.ndarray]]:
        (x, w), (y, h) = (
            _span(side, float(low[i]), float(high[i])) for i, side in enumerate((camera.width, camera.height))
        )
        return cropped(camera, x, y, w, h), lambda image: np.ascontiguousarray(image[y : y + h, x : x + w])

    return _cameras(drive, change)


def _span(side: int, low: float, high: float) -> tuple[int, int]:
    """Where a part begins, and how long it is: no camera has fewer pixels than that."""
    length = min(side, max(_FEWEST, int(high * (1 - low) * side)))
    return min(int(low * side), side - length), length


def another_height(drive: Drive, rng: Rng) -> Drive:
    """The same frames, said to be taken from elsewhere."""
    z, tip = float(rng.choice([0.15, 0.5, 3.5, 20.0])), float(rng.choice([0.0, -0.1, 0.2]))

    def change(camera: Camera) -> tuple[Camera, Callable[[np.ndarray], np.ndarray]]:
        pitch, yaw, roll = angles(camera)
        x, y, _ = centre(camera)
        return camera.model_copy(update={"T_cam_ego": mounted(z, pitch + tip, yaw, roll, x, y)}), np.copy

    return _cameras(drive, change)


def another_tone(drive: Drive, rng: Rng) -> Drive:
    """Frames of one tone, of noise, or nearly black or white."""
    kind = int(rng.integers(5))

    def shown(image: np.ndarray) -> np.ndarray:
        if kind < 2:
            return np.full_like(image, 255 * kind)
        if kind == 2:
            return np.random.default_rng(image.size).integers(0, 256, image.shape, np.uint8)
        return (image // 16 if kind == 3 else 255 - image // 16).astype(np.uint8)

    return _cameras(drive, lambda camera: (camera, shown))


def another_past(drive: Drive, rng: Rng) -> Drive:
    """Fewer past frames, no future, or another speed."""
    scene, images = drive
    kind, speed = int(rng.integers(4)), float(rng.choice([0.0, 0.4, 3.0, 45.0]))
    if kind == 0:
        first = scene.front.name
        kept = tuple(f for f in scene.frames if f.t == 0 or (f.camera == first and rng.uniform() < 0.3))
        if {f.camera for f in kept} == {c.name for c in scene.cameras}:
            scene = scene.model_copy(update={"frames": kept})
    elif kind == 1:
        scene = scene.model_copy(update={"future": None})
    elif kind == 2:
        v = (*scene.history.v[:-1], speed)
        scene = scene.model_copy(update={"history": scene.history.model_copy(update={"v": v})})
    else:
        standing = scene.history.model_copy(
            update={"poses": ((0.0, 0.0, 0.0),) * len(scene.history.t), "v": (0.0,) * len(scene.history.t)}
        )
        scene = scene.model_copy(update={"history": standing})
    return scene, {frame.image: images[frame.image] for frame in scene.frames}


def another_light(drive: Drive, rng: Rng) -> Drive:
    """What the source says of the sun, or nothing."""
    scene, images = drive
    told = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.01], [-0.6, 0.0, 0.8], None)[rng.integers(4)]
    without = {key: value for key, value in scene.extra.items() if key != "sun"}
    extra = without if rng.uniform() < 0.4 else {**without, "sun": told}
    return scene.model_copy(update={"extra": extra}), images


CHANGES = (
    another_lens,
    another_lens,
    another_lens,
    another_size,
    a_part,
    another_height,
    another_tone,
    another_past,
    another_light,
)


if __name__ == "__main__":
    sys.exit(main())
