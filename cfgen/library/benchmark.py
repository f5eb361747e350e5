"""A benchmark directory as an object: cases with their frames as arrays, what was refused, and the runs on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cfgen import records
from cfgen.core.errors import InputError
from cfgen.core.files import read_image, read_record
from cfgen.library import html
from cfgen.library.runs import Run
from cfgen.planners.protocol import Requirements
from cfgen.records import BuildReport, Case, Fault, Hazard, Placement, Planned, Rejection, Scene, faults_in
from cfgen.rollouts.inputs import RolloutInput, RolloutInputs
from cfgen.scenes.folder import load_scene
from cfgen.store import Store


class Benchmark:
    """One benchmark directory. Nothing is kept of what is read, so that it shows what is there now.

    Iterating gives :class:`BenchmarkCase` in the order of their ids; ``bench[0]`` and ``bench["<case id>"]`` one.

    Raises:
        StoreError: ``path`` is no benchmark directory.
    """

    def __init__(self, path: str | Path) -> None:
        self.store = Store(Path(path).expanduser())
        self._inputs = RolloutInputs(self.store, self.store.benchmark.seed)

    @property
    def path(self) -> Path:
        return self.store.root

    @property
    def record(self) -> records.Benchmark:
        """What it was built with: seed, scenes, inpainter, controls, ..."""
        return self.store.benchmark

    @property
    def built(self) -> BuildReport | None:
        """What came of the last build; None where none has ended yet."""
        path = self.path / "build.json"
        return read_record(path, BuildReport) if path.is_file() else None

    @property
    def shortfall(self) -> str:
        """What the last build fell short of, in words; "" when it has what was asked for."""
        built = self.built
        if built is None:
            return "no build has ended here yet; run it again"
        if built.stopped:
            return f"{built.accepted} of {built.wanted} cases, the rest is open: {built.stopped}"
        if built.accepted < built.wanted:
            lost = (
                f"{built.lost} pairs were lost to faults (--retry-faults tries them again) and "
                f"{sum(built.reasons.values())} refused"
            )
            why = lost if built.lost else "the others were refused"
            return (
                f"{built.accepted} of {built.wanted} cases; {why}. Add scenes, or allow more hazards or another "
                "--decel band, and run it again"
            )
        return ""

    @property
    def cases(self) -> list["BenchmarkCase"]:
        return [BenchmarkCase(self.store, self._inputs, case) for case in self.store.cases()]

    @property
    def planned(self) -> tuple[Planned, ...]:
        return self.record.planned

    @property
    def rejections(self) -> list[Rejection]:
        """Planned cases that are none, each with its reason and attempts."""
        return self.store.rejections()

    @property
    def faults(self) -> list[Fault]:
        """Everything that broke in a build, in accepted cases and in refused ones."""
        return faults_in([*self.store.cases(), *self.store.rejections()])

    @property
    def planners(self) -> list[str]:
        """Names of those that were scored."""
        return sorted(path.name for path in self.path.glob("runs/*") if path.is_dir())

    @property
    def judges(self) -> list[str]:
        """Names of those that gave verdicts."""
        return sorted(path.name for path in self.path.glob("verdicts/*") if path.is_dir())

    def run(self, planner: str, judge: str | None = None) -> Run:
        """What ``planner`` answered and how ``judge`` judged it; None takes the judge with the most verdicts.

        Raises:
            InputError: no such planner here, or no verdict of that judge on it.
        """
        return Run.open(self, planner, judge)

    @property
    def runs(self) -> list[Run]:
        return [self.run(planner) for planner in self.planners]

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict a case, for ``pandas.DataFrame``."""
        return [case.row() for case in self]

    def __iter__(self) -> Iterator["BenchmarkCase"]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.store.case_ids())

    def __getitem__(self, which: int | str) -> "BenchmarkCase":
        ids = self.store.case_ids()
        if isinstance(which, str) and which not in ids:
            raise InputError(f"{self.path}: expected one of its {len(ids)} case ids, found '{which}'")
        found = self.store.case(which if isinstance(which, str) else ids[which])
        return BenchmarkCase(self.store, self._inputs, found)

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Benchmark({str(self.path)!r}): {len(self)} cases, {len(self.rejections)} refused"

    def _repr_html_(self) -> str:
        return html.benchmark(repr(self), self.cases)


class BenchmarkCase:
    """One accepted case. Arrays are uint8 and read when asked for."""

    def __init__(self, store: Store, inputs: RolloutInputs, record: Case) -> None:
        self.record = record
        self.path = store.case_dir(record.case_id)
        self._store, self._inputs = store, inputs

    @property
    def case_id(self) -> str:
        return self.record.case_id

    @property
    def hazard(self) -> Hazard:
        return self.record.hazard

    @property
    def placement(self) -> Placement:
        """Where the hazard stands: metres in the ego frame at t0, and its box in pixels."""
        return self.record.placement

    @property
    def arms(self) -> tuple[str, ...]:
        """Arms that planners can be asked: the original, a rerun of it, and those with frames of their own."""
        return ("original", "rerun", *self.record.arms)

    @property
    def scene(self) -> Scene:
        """Cameras, the ego's history and its recorded future."""
        return load_scene(self._store.scene_dir(self.record.scene_id)).scene

    @property
    def original(self) -> np.ndarray:
        """(H, W, 3) RGB: the front frame at t0."""
        return self._read("original.png", "RGB")

    @property
    def augmented(self) -> np.ndarray:
        """(H, W, 3) RGB: the same with the hazard."""
        return self._read("augmented.png", "RGB")

    @property
    def mask(self) -> np.ndarray:
        """(H, W): above 0 where the two may differ."""
        return self._read("mask.png", "L")

    @property
    def layer(self) -> np.ndarray:
        """(H, W, 4) RGBA: the hazard alone."""
        return self._read("layer.png", "RGBA")

    def frames(self, arm: str = "hazard", camera: str = "front") -> dict[float, np.ndarray]:
        """Seconds relative to t0 -> (H, W, 3) RGB: every frame of a camera up to t0, as planners get them.

        Raises:
            InputError: the scene has no such camera, or the case no such arm.
        """
        if arm not in self.arms:
            raise InputError(
                f"case '{self.case_id}': expected an arm of {', '.join(self.arms)}, found '{arm}'"
            )
        scene = self.scene
        name = scene.front.name if camera == "front" else camera
        times = tuple(sorted(f.t for f in scene.frames if f.camera == name and f.t <= 1e-3))
        question = RolloutInput(self.record, arm, 0)
        seen = self._inputs.observation(question, Requirements((camera,), times)).images[camera]
        return {image.t: image.pixels for image in seen}

    def row(self) -> dict[str, Any]:
        """The plain facts, for a table."""
        record, place = self.record, self.placement
        return {
            "case_id": record.case_id,
            "scene_id": record.scene_id,
            "hazard": record.hazard.id,
            "cluster": record.hazard.cluster,
            "zone": place.zone,
            "x_m": place.x,
            "y_m": place.y,
            "distance_m": place.distance_m,
            "lateral_m": place.lateral_m,
            "required_decel": place.required_decel,
            "speed_mps": self.scene.speed,
            "inpainter": record.provenance.inpainter,
            "attempts": len(record.attempts),
            "arms": ",".join(record.arms),
        }

    def _read(self, name: str, mode: str) -> np.ndarray:
        return read_image(self.path / name, mode)

    def __repr__(self) -> str:
        place = self.placement
        return (
            f"BenchmarkCase({self.case_id}): {self.hazard.name}, {place.distance_m:.1f} m ahead in "
            f"{self.record.scene_id}"
        )

    def _repr_html_(self) -> str:
        return html.case(self)
