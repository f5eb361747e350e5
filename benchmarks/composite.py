"""Cases a second of the compositor, gates included, against one ``cv2.seamlessClone`` a frame in the same run.

A case is the front frame at t0 and four of its history, 960 x 540, made up here; two processes, one thread each.
Prints wall-clock and processor time, as other work on the machine slows the first.
Usage: python benchmarks/composite.py [N]
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import cv2
import numpy as np

from cfgen.benchmark.gates import GateInput, own_gates, run_gates
from cfgen.geometry.camera import mounted
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.inpaint.edit import Edit, EditJob, make_edits
from cfgen.records import Camera, Frame, Motion, Placement, Scene

TIMES = (-2.0, -1.5, -1.0, -0.5, 0.0)
CAMERA = Camera(width=960, height=540, fx=900, fy=900, cx=480, cy=270, T_cam_ego=mounted(1.4, 0.02))
PROCESSES = 2


def frames() -> dict[tuple[str, float], np.ndarray]:
    """A grey road with lane paint under a blue sky, with grain."""
    image = np.full((540, 960, 3), (98, 98, 102), np.float32)
    image[:262] = (120, 160, 215)
    for foot in (180, 780):
        cv2.line(image, (480, 262), (foot, 540), (210, 210, 205), 8)
    noise = np.random.default_rng(0).normal(0, 2.5, (540, 960, 1))
    return {("front", t): np.clip(image + noise, 0, 255).astype(np.uint8) for t in TIMES}


def jobs(n: int) -> list[EditJob]:
    poses = tuple((9 * t, 0.0, 0.0) for t in TIMES)
    scene = Scene(
        scene_id="plain",
        cameras=(CAMERA,),
        frames=tuple(Frame(t=t, image="x.png") for t in TIMES),
        history=Motion(t=TIMES, poses=poses, v=(9,) * 5),
    )
    images, inpainter = frames(), Composite()
    hazards = [h for h in load_taxonomy().hazards if inpainter.can_draw(h)]
    made = []
    for i in range(n):
        hazard = hazards[i % len(hazards)]
        x = 11.0 + 7 * (i % 3)
        size = (inpainter.sizes(hazard) or [hazard.size])[0]
        placement = Placement(
            zone="ego_lane",
            x=x,
            y=0.2,
            yaw=0.4 * (i % 7),
            size=size,
            distance_m=x,
            lateral_m=0.2,
            required_decel=3.0,
            foot_px=(0.0, 0.0),
            box_px=(0.0, 0.0, 1.0, 1.0),
        )
        made.append(EditJob(scene, images, hazard, placement, i))
    return made


def composite(part: tuple[int, int]) -> tuple[float, float, int]:
    """Wall-clock and processor seconds for ``part`` = (first, step) of n cases, and how many there were."""
    cv2.setNumThreads(1)
    todo = jobs(part[1])[part[0] :: PROCESSES]
    inpainter = Composite()
    make_edits(todo[:1], inpainter)
    gates = own_gates()
    wall, busy = time.perf_counter(), time.process_time()
    for job in todo:
        edit = make_edits([job], inpainter)[0]
        assert isinstance(edit, Edit)
        image, mask = edit.frames["front", 0.0]
        placed = edit.placements["front", 0.0]
        run_gates(GateInput(job.images["front", 0.0], image, mask, CAMERA, placed, job.hazard), gates)
    return time.perf_counter() - wall, time.process_time() - busy, len(todo)


def clone(part: tuple[int, int]) -> tuple[float, float, int]:
    """The same number of frames, one seamlessClone of a small patch each."""
    cv2.setNumThreads(1)
    images = list(frames().values())
    patch = np.random.default_rng(0).integers(0, 256, (120, 90, 3), np.uint8)
    whole = np.full(patch.shape, 255, np.uint8)
    cases = len(range(part[0], part[1], PROCESSES))
    wall, busy = time.perf_counter(), time.process_time()
    for _ in range(cases):
        for image in images:
            cv2.seamlessClone(patch, image, whole, (480, 330), cv2.NORMAL_CLONE)
    return time.perf_counter() - wall, time.process_time() - busy, cases


def measure(n: int) -> dict[str, tuple[float, float]]:
    """Cases a second, and ms of processor time a case, of the compositor and of the alternative."""
    found = {}
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for name, work in (("composite", composite), ("seamlessClone", clone)):
            parts = list(pool.map(work, [(i, n) for i in range(PROCESSES)]))
            found[name] = n / max(p[0] for p in parts), 1000 * sum(p[1] for p in parts) / n
    return found


def main() -> None:
    for name, (rate, busy) in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 60).items():
        print(f"{name:14} {rate:6.1f} cases/s  ({busy:5.1f} ms of processor time a case)")


if __name__ == "__main__":
    main()
