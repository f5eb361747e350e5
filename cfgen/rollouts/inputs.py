"""From a stored case to what a planner is asked and what a judge is shown, with nothing that tells the arm."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from cfgen.cases.builder import frame_path
from cfgen.core.errors import InputError, StoreError, did_you_mean
from cfgen.core.files import read_image
from cfgen.core.hashing import derive_seed
from cfgen.geometry.camera import resized
from cfgen.judge.protocol import FrameFile, Shown
from cfgen.planners.outputs import token_of
from cfgen.planners.protocol import Observation, Requirements, TimedImage, Truth
from cfgen.records import Camera, Case, Frame, Motion
from cfgen.scenes.folder import SceneFolder, load_scene
from cfgen.store import Store


@dataclass(frozen=True)
class RolloutInput:
    """One arm of one case, asked for the ``repeat``-th time."""

    case: Case
    arm: str
    repeat: int


def arm_inputs(store: Store, arms: Sequence[str], repeats: int) -> list[RolloutInput]:
    """Every question of a benchmark: the original and those of ``arms`` that a case has, in the order of the cases.

    Raises:
        InputError: no case has an arm that was asked for.
        StoreError: the benchmark holds no case.
    """
    cases = store.cases()
    if not cases:
        raise StoreError(f"{store.root}: holds no accepted case; run: cfgen build --out {store.root}")
    built = {"original", "rerun"}.union(*(c.arms for c in cases))
    missing = sorted(set(arms) - built)
    if missing:
        for arm in missing:
            if why := next((c.arms_missing[arm] for c in cases if arm in c.arms_missing), ""):
                raise InputError(f"arms: no case has the arm '{arm}' ({why}); leave it out of --arms")
        raise InputError(
            f"arms: expected any of {', '.join(sorted(built))}, found {', '.join(missing)}"
            f"{did_you_mean(missing[0], built)}; "
            "controls and distances come from the build (--controls, --distances)"
        )
    return [
        RolloutInput(case, arm, repeat)
        for case in cases
        for arm in dict.fromkeys(("original", *arms))
        if arm in ("original", "rerun", *case.arms)
        for repeat in range(repeats)
    ]


class RolloutInputs:
    """Builds observations and frames from one benchmark directory."""

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        self._seed = seed
        self._folder = lru_cache(maxsize=16)(self._load)

    def check(self, questions: Sequence[RolloutInput], needs: Requirements) -> None:
        """Some scene has what the planner needs; one that lacks it is a fault of its questions alone.

        Raises:
            InputError: no scene has the cameras and frames.
        """
        lacking: InputError | None = None
        for scene_id in {q.case.scene_id: None for q in questions}:
            try:
                folder = self._folder(scene_id)
                for name in needs.cameras:
                    _frames(folder, name, needs)
                return
            except InputError as error:
                lacking = lacking or error
        if lacking is not None:
            raise lacking

    def seed(self, question: RolloutInput) -> int:
        """The rerun arm measures the planner's own noise: the same question under another seed."""
        draw = "rerun" if question.arm == "rerun" else "paired"
        return derive_seed(self._seed, question.case.case_id, question.repeat, draw)

    def observation(
        self, question: RolloutInput, needs: Requirements, replays_log: bool = False
    ) -> Observation:
        """What the planner gets.

        Raises:
            InputError: the scene has no such camera or no frame at a wanted time.
        """
        case, arm = question.case, question.arm
        folder = self._folder(case.scene_id)
        images: dict[str, tuple[TimedImage, ...]] = {}
        cameras: dict[str, Camera] = {}
        for name in needs.cameras:
            shown, camera = self._images(question, folder, name, needs)
            images[name], cameras[name] = shown, camera
        return Observation(
            token=token_of(case.case_id, arm, question.repeat),
            seed=self.seed(question),
            images=images,
            cameras=cameras,
            history=folder.scene.history,
            instruction=str(folder.scene.extra.get("instruction", "")),
            truth=_truth(case, arm) if needs.truth else None,
            logged=self._logged(folder) if replays_log or needs.truth else None,
        )

    def front(self, case: Case, arm: str) -> np.ndarray:
        """(H, W, 3) uint8 RGB: the front frame at t0 of an arm."""
        folder = self._folder(case.scene_id)
        return self._pixels(case, arm, folder, folder.front_frame())

    def front_file(self, case: Case, arm: str) -> Shown:
        """The same frame, unread where the case stores it."""
        named = {"original": "original.png", "rerun": "original.png", "hazard": "augmented.png"}
        frame = self._folder(case.scene_id).front_frame()
        name = named.get(arm, frame_path(arm, frame.camera, frame.t))
        if name in case.files:
            return FrameFile(self._store.case_dir(case.case_id) / name, case.files[name])
        return self.front(case, arm)

    def front_camera(self, case: Case) -> Camera:
        return self._folder(case.scene_id).scene.front

    def motion(self, case: Case) -> tuple[Motion, Motion | None]:
        """History and recorded future of the case's scene."""
        scene = self._folder(case.scene_id).scene
        return scene.history, scene.future

    def _load(self, scene_id: str) -> SceneFolder:
        return load_scene(self._store.scene_dir(scene_id))

    def _logged(self, folder: SceneFolder) -> Motion | None:
        return folder.scene.future

    def _images(
        self, question: RolloutInput, folder: SceneFolder, name: str, needs: Requirements
    ) -> tuple[tuple[TimedImage, ...], Camera]:
        camera, frames = _frames(folder, name, needs)
        size = _size(camera, needs.max_pixels)
        shown = [
            TimedImage(f.t, _shrunk(self._pixels(question.case, question.arm, folder, f), size))
            for f in frames
        ]
        return tuple(shown), resized(camera, *size)

    def _pixels(self, case: Case, arm: str, folder: SceneFolder, frame: Frame) -> np.ndarray:
        """The arm's own frame if it changes this one, else the scene's."""
        root = self._store.case_dir(case.case_id)
        front = frame == folder.front_frame()
        name = frame_path(arm, frame.camera, frame.t)
        if arm in ("original", "rerun"):
            name = "original.png" if front else ""
        elif arm == "hazard" and front:
            name = "augmented.png"
        if name in case.files:
            return read_image(root / name)
        return folder.image(frame)


def _frames(folder: SceneFolder, name: str, needs: Requirements) -> tuple[Camera, list[Frame]]:
    """The camera that a planner calls ``name``, and its frames at the wanted times."""
    scene = folder.scene
    actual = scene.front.name if name == "front" else name
    if actual not in [c.name for c in scene.cameras]:
        known = ", ".join(c.name for c in scene.cameras)
        raise InputError(f"scene '{scene.scene_id}': planner needs camera '{name}', found only: {known}")
    wanted = sorted(needs.frame_times)
    found = []
    for t, frame in zip(wanted, folder.frames_at(actual, wanted), strict=True):
        if frame is None:
            times = sorted(f.t for f in scene.frames if f.camera == actual)
            raise InputError(
                f"scene '{scene.scene_id}': planner needs a frame of '{name}' at {t:g} s, found frames at "
                f"{', '.join(f'{t:g}' for t in times)} s"
            )
        found.append(frame)
    return scene.camera(actual), found


def _truth(case: Case, arm: str) -> Truth:
    if arm == "hazard":
        return Truth(case.hazard, case.placement)
    if arm in case.distance_placements:
        return Truth(case.hazard, case.distance_placements[arm])
    if arm == "nuisance":
        return Truth(case.nuisance, case.nuisance_placement)
    return Truth(None, None)


def _size(camera: Camera, max_pixels: int | None) -> tuple[int, int]:
    pixels = camera.width * camera.height
    scale = 1.0 if max_pixels is None or pixels <= max_pixels else (max_pixels / pixels) ** 0.5
    return max(1, int(camera.width * scale)), max(1, int(camera.height * scale))


def _shrunk(pixels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    if (pixels.shape[1], pixels.shape[0]) != size:
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    pixels.setflags(write=False)
    return pixels
