"""From a stored case to what a planner is asked and what a judge is shown, with nothing that tells the arm."""

import contextlib
import json
import math
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import cv2
import numpy as np

from cfgen.benchmark.frames import frame_file, frame_path, picture_of
from cfgen.core.errors import InputError, Shortfall, StoreError, did_you_mean
from cfgen.core.faults import contained
from cfgen.core.files import FrameLike, check_version, png_bytes, read_json, read_record, write_bytes
from cfgen.core.hashing import canonical_json, derive_seed
from cfgen.core.progress import Progress
from cfgen.geometry.camera import angles, at_pose, centre, mounted, resized
from cfgen.geometry.driving import CarState
from cfgen.geometry.frames import pose_at
from cfgen.perception.view import SceneView
from cfgen.planners.outputs import EXPORTS, token_of
from cfgen.planners.protocol import Observation, Requirements, TimedImage, Truth
from cfgen.planners.serialization import describe
from cfgen.records import Camera, Case, Fault, Frame, Motion, Polygon
from cfgen.rollouts.queries import Queries, QueryKey, RolloutInput
from cfgen.scenes.drive import STILL
from cfgen.scenes.folder import SceneFolder, load_scene, scene_hash
from cfgen.storage.store import Store


def arm_inputs(store: Store, arms: Sequence[str], repeats: int) -> Queries:
    """Every question of a benchmark: the original and those of ``arms`` that a case has, in the order of the cases.

    Every case's record is opened once for its arms; it is read, and checked, when it is asked about.

    Raises:
        InputError: no case has an arm that was asked for.
        StoreError: the benchmark holds no case.
    """
    requested = dict.fromkeys(("original", *arms))
    built = {"original", "rerun"}
    arms_of: dict[str, tuple[str, ...]] = {}
    scenes: dict[str, str] = {}
    lacking: dict[str, str] = {}
    for case_id, scene_id, arms_there, missing_there in arms_of_cases(store):
        scenes[case_id] = sys.intern(scene_id)
        has = {"original", "rerun", *arms_there}
        built |= has
        lacking = {**missing_there, **lacking}
        arms_of[case_id] = tuple(arm for arm in requested if arm in has)
    if not arms_of:
        raise StoreError(f"{store.root}: holds no accepted case; run: cfgen build --out {store.root}")
    missing = sorted(set(arms) - built)
    if missing:
        for arm in missing:
            if why := lacking.get(arm, ""):
                raise InputError(f"arms: no case has the arm '{arm}' ({why}); leave it out of --arms")
        raise InputError(
            f"arms: expected any of {', '.join(sorted(built))}, found {', '.join(missing)}"
            f"{did_you_mean(missing[0], built)}; "
            "controls and distances come from the build (--controls, --distances)"
        )
    return Queries(store.case, arms_of, repeats, scenes)


def arms_of_cases(store: Store) -> Iterator[tuple[str, str, tuple[str, ...], dict[str, str]]]:
    """Of every accepted case its id, its scene's, its arms, and why others are missing; the rest is not checked.

    Raises:
        StoreError: a record that cannot be read so far, or of another schema version.
    """
    for case_id in store.case_ids():
        path = store.case_dir(case_id) / "case.json"
        content = read_json(path)
        arms, missing = content.get("arms", ["hazard"]), content.get("arms_missing", {})
        check_version(path, content, Case)
        if not isinstance(arms, list):
            read_record(path, Case)  # says what is wrong
        yield case_id, str(content.get("scene_id", "")), tuple(map(str, arms)), dict(missing)


def question_seed(seed: int | str, case_id: str, arm: str, repeat: int) -> int:
    """The seed of one question, drawn alike in every arm.

    No arm shares the original's: a planner that draws from its seed and ignores the picture then differs from its
    answer to the original as often in the hazard arm as in any control.
    """
    return derive_seed(seed, case_id, arm, repeat)


class RolloutInputs:
    """Builds observations and frames from one benchmark directory."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self._seed = seed
        #: None: the planner is cfgen's own and may know which question it answers. Else mixed into seeds, and tokens
        #: are of chance
        self.salt: str | None = None
        self._folder = lru_cache(maxsize=16)(lambda scene_id: load_scene(store.scene_dir(scene_id)))
        self._scene_hash = lru_cache(maxsize=16)(lambda scene_id: scene_hash(self._folder(scene_id)))

    def check(self, questions: Iterable[RolloutInput], needs: Requirements) -> None:
        """Some scene has what the planner needs; one that lacks it is a fault of its questions alone.

        Raises:
            InputError: no scene has the cameras and frames.
        """
        lacking: InputError | None = None
        checked: set[str] = set()
        for question in questions:
            scene_id = question.case.scene_id
            if scene_id in checked:
                continue
            checked.add(scene_id)
            try:
                folder = self._folder(scene_id)
                for name in needs.cameras:
                    _frames(folder, name, needs)
                return
            except InputError as error:
                lacking = lacking or error
        if lacking is not None:
            raise lacking

    def seed(self, key: QueryKey) -> int:
        """See :func:`question_seed`."""
        return question_seed(f"{self._seed} {self.salt}" if self.salt else self._seed, *key)

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
            timed, camera = self._images(question, folder, name, needs)
            images[name], cameras[name] = timed, camera
        return Observation(
            token=self._token(question.key),
            seed=self.seed(question.key),
            images=images,
            cameras=cameras,
            history=folder.scene.history,
            instruction=str(folder.scene.extra.get("instruction", "")),
            truth=_truth(case, arm) if needs.truth else None,
            logged=folder.scene.future if replays_log or needs.truth else None,
        )

    def _token(self, key: QueryKey) -> str:
        """Another one each time for planners that must not know; who asked knows which answer is whose."""
        return secrets.token_hex(6) if self.salt is not None else token_of(*key)

    def front(self, case: Case, arm: str, number: int | None = None) -> np.ndarray:
        """(H, W, 3) uint8 RGB: the front frame at t0 of an arm, or that of :meth:`front_times` ``[number]``.

        Raises:
            InputError: there is no such frame.
        """
        folder = self._folder(case.scene_id)
        if number is None:
            return self._pixels(case, arm, folder, folder.front_frame())
        frames = _front_past(folder)
        if not 0 <= number < len(frames):
            raise InputError(f"frame: expected a number below {len(frames)}, found {number}")
        return self._pixels(case, arm, folder, frames[number])

    def front_times(self, case: Case) -> list[float]:
        """Times (N,) in s of the front camera's frames up to t0, oldest first."""
        return [f.t for f in _front_past(self._folder(case.scene_id))]

    def front_file(self, case: Case, arm: str) -> FrameLike:
        """The same frame, unread where the case stores it."""
        name = picture_of(case, arm, self._folder(case.scene_id).front_frame(), front=True)
        return frame_file(self.store, case, name) if name else self.front(case, arm)

    def front_camera(self, case: Case) -> Camera:
        """The front camera at t0 as the build had it: pitched and as high as the frames show, where they do."""
        camera = self._folder(case.scene_id).scene.front
        perception = case.provenance.report.get("perception")
        if not isinstance(perception, dict) or not {"pitch_deg", "height_m"} <= perception.keys():
            return camera
        x, y, _ = centre(camera)
        pitch, height = math.radians(perception["pitch_deg"]), float(perception["height_m"])
        mount = mounted(height, pitch, *angles(camera)[1:], float(x), float(y))
        return camera.model_copy(update={"T_cam_ego": mount})

    def cameras(self, case: Case, names: Sequence[str]) -> tuple[Camera, ...]:
        """Those of ``names`` that the scene has; "front" is its front camera."""
        scene = self._folder(case.scene_id).scene
        actual = {scene.front.name if name == "front" else name for name in names}
        return tuple(camera for camera in scene.cameras if camera.name in actual)

    def start(self, case: Case) -> CarState:
        """The car at t0."""
        return CarState.of(self._folder(case.scene_id).scene.history)

    def road(self, case: Case) -> SceneView | None:
        """What perception saw in the original front frame, where the build kept it."""
        perception = case.provenance.report.get("perception")
        file = perception.get("file") if isinstance(perception, dict) else None
        return self.store.view(file) if isinstance(file, str) else None

    def drivable(self, case: Case) -> tuple[Polygon, ...] | None:
        """Where cars may drive, polygons (P, 2) m in the ego frame at t0; None where the scene does not say."""
        return self._folder(case.scene_id).scene.drivable

    def past(self, case: Case, arm: str, since: float) -> list[tuple[float, np.ndarray, np.ndarray, Camera]]:
        """Front frames from ``since``, s, to before t0 that an arm changes: time, original, changed, the camera then."""
        folder, camera = self._folder(case.scene_id), self.front_camera(case)
        return [
            (
                f.t,
                folder.image(f),
                self._pixels(case, arm, folder, f),
                at_pose(camera, tuple(pose_at(folder.scene.history, f.t))),
            )
            for f in _front_past(folder)
            if since <= f.t < 0 and picture_of(case, arm, f, front=False)
        ]

    def motion(self, case: Case) -> tuple[Motion, Motion | None]:
        """History and recorded future of the case's scene."""
        scene = self._folder(case.scene_id).scene
        return scene.history, scene.future

    def _images(
        self, question: RolloutInput, folder: SceneFolder, name: str, needs: Requirements
    ) -> tuple[tuple[TimedImage, ...], Camera]:
        camera, frames = _frames(folder, name, needs)
        size = _size(camera, needs.max_pixels)
        times = sorted(needs.frame_times) if folder.scene.extra.get(STILL) else [f.t for f in frames]
        timed = [
            TimedImage(t, _shrunk(self._pixels(question.case, question.arm, folder, f), size))
            for t, f in zip(times, frames, strict=True)
        ]
        return tuple(timed), resized(camera, *size)

    def _pixels(self, case: Case, arm: str, folder: SceneFolder, frame: Frame) -> np.ndarray:
        """The arm's own frame if it changes this one, else the scene's.

        Raises:
            InputError: a file is missing, or was changed since the case was made.
        """
        if self._scene_hash(case.scene_id) != case.provenance.scene_hash:
            raise InputError(
                f"{folder.root}: was changed since case {case.case_id} was made; restore it, or see: cfgen bench verify"
            )
        front = frame == folder.front_frame()
        name = picture_of(case, arm, frame, front)
        file = frame_file(self.store, case, name) if name else None
        pixels = file.read() if file else folder.image(frame)
        if self.salt is not None:
            self._same_pace(case, folder, frame, name, pixels, front)
        return pixels

    def _same_pace(
        self, case: Case, folder: SceneFolder, frame: Frame, name: str, pixels: np.ndarray, front: bool
    ) -> None:
        """Also do what another arm would need, whose time a planner could measure: each reads a picture and a patch."""
        names = [frame_path(arm, frame.camera, frame.t) for arm in case.arms]
        sibling = next((name for name in names if name in case.pictures), None)
        with contextlib.suppress(InputError, StoreError):
            if sibling is None or name in case.patches:
                return
            if sibling in case.patches:
                frame_file(self.store, case, sibling).over(pixels)
            elif name and not front:  # stored whole, as every frame once was
                folder.image(frame)
            elif not front:
                frame_file(self.store, case, sibling).read()


def _frames(folder: SceneFolder, name: str, needs: Requirements) -> tuple[Camera, list[Frame]]:
    """The camera that a planner calls ``name``, and its frames at the wanted times."""
    scene = folder.scene
    actual = scene.front.name if name == "front" else name
    if actual not in [c.name for c in scene.cameras]:
        cameras = ", ".join(c.name for c in scene.cameras)
        raise InputError(f"scene '{scene.scene_id}': planner needs camera '{name}', found only: {cameras}")
    moments = sorted(needs.frame_times)
    if scene.extra.get(STILL):
        return scene.camera(actual), [frame for frame in scene.frames if frame.camera == actual][:1] * len(
            moments
        )
    frames: list[Frame] = []
    for t, frame in zip(moments, folder.frames_at(actual, moments), strict=True):
        if frame is None or frame in frames:
            times = sorted(f.t for f in scene.frames if f.camera == actual)
            why = "" if frame is None else f", and that at {frame.t:g} s stands for another time already"
            raise InputError(
                f"scene '{scene.scene_id}': planner needs a frame of '{name}' at {t:g} s, found frames at "
                f"{', '.join(f'{t:g}' for t in times)} s{why}; import the drive again, into a new folder, with "
                f"--frame-times {_moments(times, moments)} and build on that, if its camera took so many"
            )
        frames.append(frame)
    return scene.camera(actual), frames


def _front_past(folder: SceneFolder) -> list[Frame]:
    front = folder.scene.front.name
    return sorted((f for f in folder.scene.frames if f.camera == front and f.t <= 0), key=lambda f: f.t)


def _moments(available: Sequence[float], requested: Sequence[float]) -> str:
    """What ``scenes import --frame-times`` takes to keep the frames that are there and bring those that are wanted."""
    return ",".join(
        f"{-t + 0.0:g}" for t in sorted({round(t, 2) for t in (*available, *requested)}, reverse=True)
    )


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


# --- questions as files ---------------------------------------------------------------------------


def export_inputs(
    bench: Path, out: Path, needs: Requirements, arms: tuple[str, ...], repeats: int = 1, quiet: bool = False
) -> int:
    """Write ``out/inputs.jsonl`` and ``out/images/``; returns the number of questions.

    Raises:
        InputError: ``out`` holds files that another export wrote, or no scene has what ``needs`` asks for.
        StoreError: not a benchmark, or one without cases.
        Shortfall: some questions could not be made; the others are written.
    """
    listing = out / "inputs.jsonl"
    if listing.exists():
        raise InputError(f"{listing}: is there already; delete the folder or choose another --out")
    store = Store(bench)
    inputs = RolloutInputs(store, store.benchmark.seed)
    questions = arm_inputs(store, arms, repeats)
    inputs.check(questions, needs)
    inputs.salt = secrets.token_hex(16)
    questions = questions.shuffled(secrets.randbits(64))
    stands_for = {}
    progress = Progress("inputs", len(questions), quiet)
    lines, faults = [], []
    for question in questions:
        observation = contained(
            partial(inputs.observation, question, needs), f"case {question.case.case_id}, arm {question.arm}"
        )
        if isinstance(observation, Fault):
            faults.append(observation)
            continue
        row = describe(observation)
        stands_for[observation.token] = list(question.key)
        row["images"] = {}
        for camera, images in observation.images.items():
            row["images"][camera] = []
            for number, image in enumerate(images):
                name = f"images/{observation.token}.{camera}.{number}.png"
                write_bytes(out / name, png_bytes(image.pixels))
                row["images"][camera].append({"t": image.t, "file": name})
        lines.append(json.dumps(row))
        progress.step()
    write_bytes(
        store.root / EXPORTS / f"{secrets.token_hex(4)}.json", canonical_json({"questions": stands_for})
    )
    write_bytes(listing, ("\n".join(lines) + "\n").encode())
    if faults:
        raise Shortfall(
            f"{len(faults)} of {len(questions)} questions could not be made, for example {faults[0]}"
        )
    return len(lines)
