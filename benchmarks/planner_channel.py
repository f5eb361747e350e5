"""Frames a second that cross into a planner's process: cfgen's channel against a pickle pipe, in the same run.

    python -m benchmarks.planner_channel [--frames 200] [--size 1920x1080] [--python VENV/bin/python]

Each question holds one frame of its own; the planner looks at one pixel of it and answers with 24 waypoints. The pickle
pipe is ``multiprocessing``'s, with the same frames and answers. Rounds take turns; the best of each way counts.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.planners.process import PlannerProcess
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.runtime import Runtime, python_of
from cfgen.records import Motion

_STILL = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(8.0,))


class Looks:
    """Answers at once; needs no cfgen, so that any environment will do."""

    needs = {"cameras": ["front"], "frame_times": [0.0]}  # noqa: RUF012

    def plan(self, observations: Sequence[Any]) -> list[dict[str, Any]]:
        return [self._one(o.images["front"][0].pixels) for o in observations]

    def _one(self, pixels: np.ndarray) -> dict[str, Any]:
        return {"text": str(pixels[-1, -1, 0]), "waypoints": [[k * 2.0, 0.0] for k in range(1, 25)]}


def _pickled(pipe: Connection) -> None:
    planner = Looks()
    while (asked := pipe.recv()) is not None:
        pipe.send(planner.plan(asked))


def measure(frames: int, width: int, height: int, python: str = "", rounds: int = 3) -> tuple[float, float]:
    """Frames a second through the channel and through a pickle pipe."""
    chance = np.random.default_rng(0)
    pictures = [chance.integers(0, 256, (height, width, 3), np.uint8) for _ in range(4)]
    questions = [
        Observation(f"q{k}", k, {"front": (TimedImage(0.0, picture),)}, {}, _STILL)
        for k, picture in enumerate(pictures)
    ]
    runtime = Runtime(python=python_of(python)) if python else Runtime()
    planner = PlannerProcess("benchmarks.planner_channel:Looks", {}, 60.0, runtime=runtime)
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    other = multiprocessing.get_context("spawn").Process(target=_pickled, args=(theirs,), daemon=True)
    other.start()

    def pickled(asked: Sequence[Observation]) -> Any:
        ours.send(list(asked))
        return ours.recv()

    ways: tuple[Callable[[Sequence[Observation]], Any], ...] = (planner.plan, pickled)
    best = [0.0, 0.0]
    for _ in range(rounds):
        for number, ask in enumerate(ways):
            ask(questions[:1])
            start = time.perf_counter()
            for k in range(frames):
                ask([questions[k % 4]])
            best[number] = max(best[number], frames / (time.perf_counter() - start))
    ours.send(None)
    other.join()
    planner.close()
    return best[0], best[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--python", default="", type=lambda text: str(Path(text).absolute()) if text else "")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    channel, pickled = measure(given.frames, width, height, given.python)
    ratio = channel / pickled
    print(
        f"{given.size}: channel {channel:.0f} frames/s, pickle pipe {pickled:.0f} frames/s, {ratio:.2f} times"
    )


if __name__ == "__main__":
    main()
