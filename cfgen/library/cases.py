"""One accepted case of a benchmark: its frames as arrays, where the hazard stands, and its plain facts."""

from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.files import read_image
from cfgen.library import html
from cfgen.planners.protocol import Requirements
from cfgen.records import Case, Hazard, Placement, Scene
from cfgen.rollouts.inputs import RolloutInput, RolloutInputs
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store


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
        images = self._inputs.observation(question, Requirements((camera,), times)).images[camera]
        return {image.t: image.pixels for image in images}

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
        return html.case(repr(self), self.original, self.augmented)
