"""Frames a second that cross into a planner's process: cfgen's channel against a pickle pipe, in the same run.

    python -m benchmarks.planner_channel [--frame-times 200] [--size 1920x1080] [--python VENV/bin/python]

Each question holds one frame of its own; the planner looks at one pixel of it and answers with 24 waypoints. The pickle
pipe is ``multiprocessing``'s, with the same frames and answers. Rounds take turns; the best of each way counts, by the
clock and by processor time of both sides together, which other work on the machine hardly changes. Question and answer
wait for each other, so that one core that has nothing else to do carries as many as processor time says. Decoding
a picture of that size, before it crosses, is told apart.
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

import cv2
import numpy as np

from benchmarks.looks import SimilarityIndex
from cfgen.planners.process import PlannerProcess
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.runtime import Runtime, python_of
from cfgen.records import Motion

_STILL = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(8.0,))


def _pickled(pipe: Connection) -> None:
    planner = SimilarityIndex()
    while (asked := pipe.recv()) is not None:
        pipe.send(planner.plan(asked))


@dataclass(frozen=True)
class Carried:
    """Frames a second by the clock, and s of processor time a frame on both sides together."""

    by_clock: float = 0.0
    cpu_s: float = float("inf")

    def better(self, other: "Carried") -> "Carried":
        return Carried(max(self.by_clock, other.by_clock), min(self.cpu_s, other.cpu_s))

    def __str__(self) -> str:
        return (
            f"{self.by_clock:.0f} frames/s by the clock, {self.cpu_s * 1000:.2f} ms of processor time a frame"
        )


def measure(
    frames: int, width: int, height: int, python: str = "", rounds: int = 3
) -> tuple[Carried, Carried]:
    """The channel and a pickle pipe."""
    pictures = _pictures(width, height)
    questions = [
        Observation(f"q{k}", k, {"front": (TimedImage(0.0, picture),)}, {}, _STILL)
        for k, picture in enumerate(pictures)
    ]
    runtime = Runtime(python=python_of(python)) if python else Runtime()
    planner = PlannerProcess("benchmarks.looks:SimilarityIndex", {}, 60.0, runtime=runtime)
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    other = multiprocessing.get_context("spawn").Process(target=_pickled, args=(theirs,), daemon=True)
    other.start()

    def channel(asked: Sequence[Observation]) -> float:
        (answer,) = planner.plan(asked)
        return float(answer.report["cpu_s"])  # type: ignore[union-attr]

    def pickled(asked: Sequence[Observation]) -> float:
        ours.send(list(asked))
        return float(ours.recv()[0]["report"]["cpu_s"])

    best = [Carried(), Carried()]
    for _ in range(rounds):
        for number, ask in enumerate((channel, pickled)):
            before = ask(questions[:1]) + time.process_time()
            start = time.perf_counter()
            for k in range(frames):
                last = ask([questions[k % 4]])
            took = time.perf_counter() - start
            cpu = last + time.process_time() - before
            best[number] = best[number].better(Carried(frames / took, cpu / frames))
    ours.send(None)
    other.join()
    planner.close()
    return best[0], best[1]


def _pictures(width: int, height: int) -> list[np.ndarray]:
    chance = np.random.default_rng(0)
    return [chance.integers(0, 256, (height, width, 3), np.uint8) for _ in range(4)]


def decoding(width: int, height: int, rounds: int = 5) -> dict[str, float]:
    """s of processor time to decode a smooth picture with some grain, by kind of file."""
    rows = np.linspace(40, 200, height)[:, None, None] + np.linspace(0, 30, width)[None, :, None]
    grain = np.random.default_rng(0).normal(0, 2, (height, width, 3))
    picture = np.clip(rows + grain, 0, 255).astype(np.uint8)
    found = {}
    for kind in (".png", ".jpg"):
        data = cv2.imencode(kind, picture)[1]
        start = time.process_time()
        for _ in range(rounds):
            cv2.imdecode(data, cv2.IMREAD_COLOR)
        found[kind] = (time.process_time() - start) / rounds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frame-times", type=int, default=200)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--python", default="")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    channel, pickled = measure(given.frames, width, height, given.python)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg()[:2])
    print(f"{given.size}, load {load}:")
    print(f"channel:     {channel}: a core of its own carries {1 / channel.cpu_s:.0f} frames/s")
    print(f"pickle pipe: {pickled}")
    for kind, cpu_s in decoding(width, height).items():
        print(f"decoding {kind}, not part of the above: {cpu_s * 1000:.1f} ms of processor time")


if __name__ == "__main__":
    main()
