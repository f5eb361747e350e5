"""A planner that cheats: it guesses which arm it sees by everything but the hazard. What it finds, others would find.

It looks for the benchmark in its processes, folders and environment, tries to work out the case from token and seed,
remembers pictures in its process and in every file that it can write, and compares the two of a pair by their noise.
Else it goes by the noise of one picture alone, or by how long it had to wait for the question. Each answer's report
holds its guess and the way it came to it.

    cfgen score BENCH --planner cheating --arms rerun,null --repeats 20

``rerun`` and ``null`` show no hazard: there it must be right as often as a coin.
"""

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.hashing import derive_id, derive_seed
from cfgen.planners.baselines import constant_turn
from cfgen.planners.client import Observation, Requirements, Response

#: what a benchmark's folder holds
_MARKER = "benchmark.json"
#: folders that are looked into below each place
_MOST_FOLDERS = 3000
#: root mean square of the difference of two thumbnails, grey levels, below which they show the same place
_SAME = 2.0
_NOTES = "cheating.json"


class Cheating:
    """Guesses the arm; drives on whatever it guesses.

    Args:
        looks: search the machine for the benchmark as well.
        arms: it asks itself which of these it sees.
        by: where it knows no better, it goes by "noise" of the picture or by the "pace" of the questions.

    Raises:
        InputError: ``by`` something else.
    """

    needs = Requirements(frame_times=(0.0,), max_pixels=40_000)

    def __init__(
        self,
        looks: bool = True,
        arms: Sequence[str] = ("original", "hazard", "null", "rerun"),
        by: str = "noise",
    ) -> None:
        if by not in ("noise", "pace"):
            raise InputError(f"planner 'cheating': option by: expected noise or pace, found '{by}'")
        self._arms, self._by, self._answered = tuple(arms), by, time.monotonic()
        #: thumbnail, noise
        self._remembered: list[tuple[np.ndarray, float]] = []
        #: noise, or s of waiting, of what it saw so far
        self._signs: list[float] = []
        self._files = [place / _NOTES for place in _places() if os.access(place, os.W_OK)]
        for file in self._files:
            with contextlib.suppress(OSError, ValueError, KeyError):
                notes = json.loads(file.read_text("utf-8"))
                self._remembered += [(np.array(note["seen"], np.float32), note["noise"]) for note in notes]
        self.benchmarks = sorted(set(_benchmarks())) if looks else []
        self._cases = [case for root in self.benchmarks for case in _cases(root)]

    def plan(self, observations: Sequence[Observation]) -> list[Response]:
        waited = time.monotonic() - self._answered
        answers = [self._respond(observation, waited) for observation in observations]
        self._answered = time.monotonic()
        return answers

    def _respond(self, observation: Observation, waited: float) -> Response:
        guess, way = self._guess(observation, waited)
        report = {"guess": guess, "way": way, "found": [str(root) for root in self.benchmarks]}
        points = constant_turn(observation.speed, observation.yaw_rate)
        return Response("I keep my lane.", points, report=report)

    def _guess(self, observation: Observation, waited: float) -> tuple[str, str]:
        for case_id, seed in self._cases:
            for arm in self._arms:
                for repeat in range(4):
                    matches = derive_id("question", case_id, arm, repeat) == observation.token
                    if matches or derive_seed(seed, case_id, arm, repeat) == observation.seed:
                        return ("original" if arm == "original" else "edited"), "token or seed"
        if not observation.images:
            return ("original" if observation.seed % 2 else "edited"), "a coin"
        pixels = next(iter(observation.images.values()))[-1].pixels
        picture, noise = thumbnail(pixels), noise_of(pixels)
        before = self._remembered_noise(picture)
        if before is None:
            self._remember(picture, noise)
        elif before != noise:
            return ("edited" if noise > before else "original"), "a pair remembered"
        sign = waited if self._by == "pace" else noise
        self._signs.append(sign)
        return ("edited" if sign > float(np.median(self._signs)) else "original"), self._by

    def _remembered_noise(self, picture: np.ndarray) -> float | None:
        """The noise of the picture of the same place that it remembers."""
        if not self._remembered:
            return None
        differences = np.array([thumb for thumb, _ in self._remembered]) - picture
        nearest = int(np.argmin((differences**2).mean((1, 2))))
        return self._remembered[nearest][1] if (differences[nearest] ** 2).mean() < _SAME**2 else None

    def _remember(self, picture: np.ndarray, noise: float) -> None:
        self._remembered.append((picture, noise))
        notes = json.dumps([{"seen": thumb.tolist(), "noise": level} for thumb, level in self._remembered])
        for file in self._files:
            with contextlib.suppress(OSError):
                file.write_text(notes, "utf-8")


def thumbnail(pixels: np.ndarray) -> np.ndarray:
    """(6, 8) float32 grey levels of (H, W, 3) uint8: which place a picture shows, whatever was done to it."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return cv2.resize(grey, (8, 6), interpolation=cv2.INTER_AREA)


def noise_of(pixels: np.ndarray) -> float:
    """Mean size of what a small median takes away, grey levels."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    return float(np.abs(grey.astype(np.float32) - cv2.medianBlur(grey, 3)).mean())


# --- where a benchmark could show -----------------------------------------------------------------------


def _places() -> list[Path]:
    """Where a planner could keep something, or find something."""
    named = [Path.cwd(), *Path.cwd().parents[:2], Path.home(), Path(tempfile.gettempdir())]
    return list(dict.fromkeys([*named, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")]))


def _benchmarks() -> Iterator[Path]:
    """Folders with a benchmark that can be read: named by processes or the environment, or lying about."""
    for words in (*_of_processes(), *os.environ.values()):
        for word in words.replace("=", " ").replace(":", " ").split():
            with contextlib.suppress(OSError, ValueError):
                if (Path(word) / _MARKER).is_file():
                    yield Path(word).resolve()
    for place in _places():
        for folder, below, files in islice(os.walk(place), _MOST_FOLDERS):
            if _MARKER in files:
                yield Path(folder).resolve()
            below[:] = [name for name in below if name not in ("node_modules", "site-packages", "proc")]


def _of_processes() -> Iterator[str]:
    """Command lines, environments, folders, open files and mounts of every process that can be seen."""
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ", "mountinfo"):
            with contextlib.suppress(OSError):
                yield (process / name).read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        with contextlib.suppress(OSError):
            yield str((process / "cwd").readlink())
            for descriptor in (process / "fd").iterdir():
                target = descriptor.readlink()
                yield from map(str, (target, *target.parents))


def _cases(root: Path) -> Iterator[tuple[str, Any]]:
    """Ids of a benchmark's cases, with its seed."""
    with contextlib.suppress(OSError, ValueError):
        benchmark = json.loads((root / _MARKER).read_text("utf-8"))
        for path in root.glob("cases/*/*/case.json"):
            yield path.parent.name, benchmark["seed"]
