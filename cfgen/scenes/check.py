"""What is wrong with a scene, in words. Errors keep a scene from being used; warnings say that it looks wrong."""

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from cfgen import records
from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.progress import Progress
from cfgen.geometry.camera import angles, centre, horizon_rows, inside, project
from cfgen.geometry.frames import relative, whole_motion
from cfgen.geometry.path import EgoPath
from cfgen.perception.camera import (
    GUESS,
    GUESSED,
    LANE_M,
    LaneReading,
    typical,
    why_unsure,
)
from cfgen.perception.protocol import Perceiver
from cfgen.perception.road_check import overlap, why_no_road, why_not_a_road_picture
from cfgen.perception.scene_camera import HeightClue, drive_height, height_clue, lane_readings
from cfgen.perception.settings import CAMERA
from cfgen.perception.views import Views
from cfgen.records import Camera, Scene
from cfgen.scenes.drive import MEASURED
from cfgen.scenes.folder import SCENE_FILE, SceneFolder, find_scenes, load_scene
from cfgen.scenes.format import Extrinsics
from cfgen.scenes.settings import CHECK as SETTINGS


class SceneFault(NamedTuple):
    #: "fault": cfgen itself broke on the scene
    level: Literal["fault", "error", "warning"]
    #: the part of the scene, e.g. a field or an image
    where: str
    #: expected, found, and what to do
    what: str


@dataclass
class _Drive:
    """Frames under one stated calibration."""

    first: Path
    camera: Camera
    scenes: int = 0
    readings: list[LaneReading] = field(default_factory=list)
    #: what each scene's frame at t0 says of the height
    heights: list[HeightClue] = field(default_factory=list)
    #: how far the pitch of the scene that strays most is off the stated one, deg, and which it is
    strays: tuple[float, str] = (0.0, "")


class CalibrationCheck:
    """Whether each drive's stated calibration agrees with what its frames' lane lines say: looks at scenes one by one.

    Args:
        views_in: where views are kept by frame, as in a benchmark; None keeps them in memory only.
    """

    def __init__(self, perceiver: Perceiver, views_in: Path | None = None) -> None:
        self.views = Views.of(perceiver, views_in)
        self._drives: dict[str, _Drive] = {}

    def look(self, path: Path, folder: SceneFolder) -> None:
        """Take in the front frames of a scene; those that do not decode are somebody else's fault."""
        scene, camera = folder.scene, folder.scene.front
        frames = [frame for frame in folder.frames_at(camera.name, SETTINGS.calibration_times) if frame]
        try:
            images = {(camera.name, frame.t): folder.image(frame) for frame in frames}
        except InputError:
            return
        views = self.views.scene(scene, images)
        readings = lane_readings(views)
        key = json.dumps([scene.source, camera.model_dump(mode="json")], sort_keys=True)
        drive = self._drives.setdefault(key, _Drive(path, camera))
        drive.scenes += 1
        drive.readings += readings.values()
        if 0.0 in readings:
            drive.heights.append(height_clue(camera, readings[0.0], views.now.things))
        scene_reading = typical(list(readings.values()))
        if scene_reading.pitch_deg is not None and scene_reading.sure:
            off = scene_reading.pitch_deg - math.degrees(angles(camera)[0])
            drive.strays = max(drive.strays, (off, scene.scene_id), key=lambda each: abs(each[0]))

    def disagreements(self) -> dict[Path, str]:
        """In words, by each drive's first scene."""
        by_drive = {drive.first: _disagreement(drive) for drive in self._drives.values()}
        return {path: words for path, words in by_drive.items() if words}


def _disagreement(drive: _Drive) -> str:
    """In words; empty where the drive's frames agree, or say nothing sure."""
    lines = typical(drive.readings)
    if lines.pitch_deg is None or not lines.sure:
        return ""
    pitch, yaw, _ = np.degrees(angles(drive.camera))
    stated_m = float(centre(drive.camera)[2])
    parts = []
    if abs(lines.pitch_deg - pitch) > SETTINGS.pitch_off_deg:
        parts.append(f"pitch {lines.pitch_deg:.1f} degrees where {pitch:.1f} is stated")
    yaw_off = SETTINGS.pitch_off_deg + 2 * SETTINGS.wander_deg / math.sqrt(drive.scenes)
    if lines.yaw_deg is not None and abs(lines.yaw_deg - yaw) > yaw_off:
        parts.append(f"yaw {lines.yaw_deg:.1f} degrees where {yaw:.1f} is stated")
    height, low, high = drive_height(drive.camera, drive.heights), *CAMERA.lanes_m
    if height is not None and height.sure:
        parts.append(height.in_words())
    elif lines.lane_ratio is not None and not low <= (lane_m := lines.lane_ratio * stated_m) <= high:
        parts.append(
            f"a lane {lane_m:.1f} m wide from the stated {stated_m:.2f} m of height ({lines.height_m:.2f} m would make "
            f"it {LANE_M:g} m)"
        )
    if not parts:
        return ""
    sure = sum(reading.sure for reading in drive.readings)
    off, scene_id = drive.strays
    farthest = (
        f"; farthest off is {scene_id}, by {off:+.1f} degrees of pitch"
        if drive.scenes > 1 and scene_id
        else ""
    )
    return (
        f"the lane lines of {sure} frames in {drive.scenes} scenes under this calibration say {', '.join(parts)} "
        f"(confidence {lines.confidence:.2f}{farthest}); correct the calibration where these are right"
    )


def check_folder(
    folder: Path,
    quiet: bool = True,
    strict: bool = False,
    perceiver: Perceiver | None = None,
    views_in: Path | None = None,
) -> dict[Path, list[SceneFault]]:
    """Faults of every scene at or below ``folder``, in order; a scene without faults has an empty list.

    Args:
        strict: raise the first exception that nobody expected, with its traceback.
        perceiver: looks for a road in the front frames, and, where it sees lane lines, holds each drive's calibration
            against them; None: nobody does.
        views_in: as :class:`CalibrationCheck` takes it: a second check looks at no frame again.

    Raises:
        InputError: no scene there.
    """
    calibration = None if perceiver is None or perceiver.weaker else CalibrationCheck(perceiver, views_in)
    faults_of: dict[Path, list[SceneFault]] = {}
    first_with: dict[str, Path] = {}
    folders = find_scenes(folder)
    progress = Progress("check", len(folders), quiet)
    for path in folders:
        look = partial(check_scene, path, perceiver, calibration)
        result = contained(look, str(path), strict=strict)
        scene_id, faults = ("", [broken(result)]) if isinstance(result, records.Fault) else result
        progress.step(path.name)
        if scene_id and scene_id in first_with:
            faults.append(
                SceneFault("error", "scene_id", f"'{scene_id}' is also {first_with[scene_id]}'s; rename one")
            )
        first_with.setdefault(scene_id, path)
        faults_of[path] = faults
    for path, words in (calibration.disagreements() if calibration else {}).items():
        faults_of[path].append(SceneFault("warning", "calibration", words))
    return faults_of


def broken(fault: records.Fault) -> SceneFault:
    """What cfgen itself broke on, as one of the faults of a scene."""
    return SceneFault("fault", "cfgen", f"{fault}; please report it (--strict shows the whole traceback)")


def in_lines(faults_of: Mapping[Path, list[SceneFault]]) -> Iterator[str]:
    """What :func:`check_folder` found, worst and rarest first, cameras that are a guess after the other errors.

    Alike but for numbers and file names is told once: within a scene, and, of warnings and guessed cameras, within all.
    """
    alike: dict[tuple[str, ...], list[tuple[Path, SceneFault]]] = {}
    for path, faults in faults_of.items():
        for fault in faults:
            alike.setdefault(_cause(path, fault), []).append((path, fault))
    for group in sorted(alike.values(), key=lambda group: _urgency(group[0][1], len(group))):
        path, first = group[0]
        scenes = list(dict.fromkeys(path.name for path, _ in group))
        more = (
            f" (and {len(group) - 1} more alike, in {len(scenes)} scenes: to {scenes[-1]})"
            if group[1:]
            else ""
        )
        yield f"{first.level}: {path}: {first.where}{more}: {first.what}"


def _cause(path: Path, fault: SceneFault) -> tuple[str, ...]:
    """What it has in common with those that are told with it."""
    where = "#" if fault.where in fault.what else fault.where  # the file that it is about
    words = fault.what.replace(str(path / fault.where), "#").replace(fault.where, "#")
    scene_key = "" if fault.level == "warning" or _is_guess(fault) else str(path)
    return fault.level, scene_key, *(re.sub(r"\S*\d\S*", "#", text) for text in (where, words))


def _urgency(fault: SceneFault, count: int) -> tuple[int, bool, int]:
    return ("fault", "error", "warning").index(fault.level), _is_guess(fault), count


def _is_guess(fault: SceneFault) -> bool:
    return fault.level == "error" and fault.what.startswith(GUESSED)


def unusable(faults: list[SceneFault]) -> bool:
    return any(fault.level != "warning" for fault in faults)


def check_scene(
    path: Path, perceiver: Perceiver | None = None, calibration: CalibrationCheck | None = None
) -> tuple[str, list[SceneFault]]:
    """scene_id (empty when unreadable) and faults of one scene folder; decodes every image.

    Args:
        perceiver: looks for a road. calibration: takes in what the frames show.
    """
    try:
        folder = load_scene(path)
    except InputError as error:
        return "", [SceneFault("error", SCENE_FILE, str(error))]
    faults = [fault for check in _CHECKS for fault in check(folder)]
    if calibration is not None:
        calibration.look(path, folder)
    if perceiver is not None and not unusable(faults):
        # a frame that the calibration was held against is not looked at again
        views = Views.of(perceiver) if calibration is None else calibration.views
        faults += _road(folder, views)
    return folder.scene.scene_id, faults


def _road(folder: SceneFolder, views: Views) -> Iterator[SceneFault]:
    """What a build refuses the scene for: a front frame at t0 that shows no road, else a camera that is a guess."""
    scene, image = folder.scene, folder.image()
    scene_views = views.scene(scene, {(scene.front.name, 0.0): image})
    if scene.drivable is not None and (shared := overlap(scene_views)) < SETTINGS.least_overlap:
        yield SceneFault(
            "warning",
            "drivable",
            f"expected the road that the frame shows, found that {shared:.0%} of both is shared (at least "
            f"{SETTINGS.least_overlap:.0%}): is it in the ego frame at t0, and the calibration right? 'cfgen scenes "
            "show' draws it",
        )
    why = why_no_road(scene_views.now, scene.front) or why_not_a_road_picture(image)
    if why:
        yield SceneFault("error", folder.front_frame().image, why)
    # of what is no road, the camera does not matter
    elif why := why_unsure(scene.extra):
        yield SceneFault("error", f"camera '{scene.front.name}'", why)


def _images(folder: SceneFolder) -> Iterator[SceneFault]:
    """Every frame decodes at its camera's size, and none is a repeat of the one before while the car moves."""
    before: dict[str, tuple[float, np.ndarray]] = {}
    for frame in sorted(folder.scene.frames, key=lambda f: (f.camera, f.t)):
        try:
            pixels = folder.image(frame)
        except InputError as error:
            yield SceneFault("error", frame.image, str(error))
            continue
        small = pixels[::4, ::4].astype(np.int16)
        last = before.get(frame.camera)
        before[frame.camera] = (frame.t, small)
        if (
            last
            and np.interp(frame.t, folder.scene.history.t, folder.scene.history.v) > 1.0
            and np.abs(small - last[1]).mean() < SETTINGS.same_pixels
        ):
            yield SceneFault(
                "warning",
                frame.image,
                f"same picture at t = {last[0]:g} and {frame.t:g} s although the car moves; drop the duplicate frame",
            )


def _frame_order(folder: SceneFolder) -> Iterator[SceneFault]:
    """Numbered file names that go against the times they are given."""
    for camera in folder.scene.cameras:
        own = sorted((f for f in folder.scene.frames if f.camera == camera.name), key=lambda f: f.t)
        for a, b in itertools.pairwise(own):
            (folder_a, numbers_a), (folder_b, numbers_b) = (_numbered(Path(each.image)) for each in (a, b))
            if folder_a == folder_b and len(numbers_a) == len(numbers_b) and numbers_a > numbers_b:
                yield SceneFault(
                    "warning",
                    "frames",
                    f"'{a.image}' is at t = {a.t:g} s, before '{b.image}' at {b.t:g} s: "
                    "timestamps out of order? sort images or times",
                )
                break


def _numbered(image: Path) -> tuple[Path, list[int]]:
    return image.parent, [int(number) for number in re.findall(r"(?<=@)-\d+|\d+", image.stem)]


def _history(folder: SceneFolder) -> Iterator[SceneFault]:
    """Long enough, evenly sampled, with the frames a planner asks for."""
    scene = folder.scene
    t = np.array(scene.history.t)
    if t[0] > -SETTINGS.history_s:
        yield SceneFault(
            "warning", "history", f"expected 2 s before t0, found {-t[0]:g} s; planners may need more"
        )
    yield from _gaps("history", t)
    if scene.future is None:
        yield SceneFault(
            "warning", "future", "none: the path is extrapolated, and planner 'logged' cannot run"
        )
    else:
        times = np.array(scene.future.t)
        if times[-1] < SETTINGS.future_s:
            yield SceneFault("warning", "future", f"expected 5 s or more after t0, found {times[-1]:g} s")
        yield from _gaps("future", np.concatenate([[0.0], times]))
    if scene.motion_known and scene.extra.get("history_extrapolated"):
        yield SceneFault(
            "warning", "history", "continued backwards at constant speed: the log has none before t0"
        )
    if not scene.motion_known and scene.extra.get(MEASURED, {}).get("lens") == GUESS:
        yield SceneFault(
            "warning",
            "motion_known",
            "false: speeds are measured in the frames through a lens that nobody named, and in proportion to it; "
            "import again with --options fov_deg=...",
        )
    elif not scene.motion_known:
        yield SceneFault(
            "warning", "motion_known", "false: speed and path are guesses, distances to hazards too"
        )
    elif scene.motion_known == "estimated":
        yield SceneFault(
            "warning", "motion_known", "estimated: speeds are measured in the frames, often 15% off"
        )
    for camera in scene.cameras:
        times = np.sort([f.t for f in scene.frames if f.camera == camera.name])
        yield from _gaps(f"frames of camera '{camera.name}'", times, at_least=SETTINGS.frame_gap_s)


def _gaps(where: str, t: np.ndarray, at_least: float = 0.0) -> Iterator[SceneFault]:
    steps = np.diff(t)
    if len(steps) >= 2 and steps.max() > max(at_least, 1.6 * np.median(steps)):
        i = int(steps.argmax())
        yield SceneFault(
            "warning",
            where,
            f"gap of {steps[i]:.2f} s at t = {t[i]:.2f} s, usual step {np.median(steps):.2f} s; add what is missing",
        )


def motion_doubt(folder: SceneFolder) -> str:
    """How speeds, poses and headings disagree, in words; empty where they do not."""
    return next((fault.what for fault in _motion(folder)), "")


def _motion(folder: SceneFolder) -> Iterator[SceneFault]:
    """Speeds against poses, and headings against the direction of travel: units and axes that got mixed up."""
    motion = whole_motion(folder.scene)
    if len(motion.t) < 2:
        return
    t, v = np.array(motion.t), np.array(motion.v)
    poses = np.array(motion.poses)
    step = relative(poses[:-1], poses[1:])
    distance, duration = np.hypot(step[:, 0], step[:, 1]), np.diff(t)
    from_poses, stated = distance / duration, (v[:-1] + v[1:]) / 2
    off = np.abs(from_poses - np.abs(stated))
    worst = int(off.argmax())
    if off[worst] > max(1.0, 0.15 * abs(stated[worst])):
        yield SceneFault(
            "warning",
            "history, future: v",
            f"speed does not match poses: at t = {t[worst]:.2f} s v is {stated[worst]:.1f} m/s, but the poses move at "
            f"{from_poses[worst]:.1f} m/s; v is in m/s, x and y in metres, times in seconds",
        )
    elif len(t) > 2:
        yield from _jumps(t, v, distance)
    turned = (step[:, 2] + math.pi) % (2 * math.pi) - math.pi
    slip = np.abs(np.arctan2(step[:, 1], step[:, 0]) - turned / 2)[distance > 0.5]
    if len(slip) and np.median(slip) > math.radians(12):
        yield SceneFault(
            "warning",
            "history, future: theta",
            f"the car seems to move {math.degrees(float(np.median(slip))):.0f} degrees off its heading; theta is in "
            "radians, counter-clockwise from x (forward), y is to the left, and rows go forward in time",
        )


def _jumps(t: np.ndarray, v: np.ndarray, distance: np.ndarray) -> Iterator[SceneFault]:
    """Single speeds that the poses before and after do not bear out: noise of poses that lie too close together."""
    around = (distance[:-1] + distance[1:]) / (t[2:] - t[:-2])
    off = np.abs(around - np.abs(v[1:-1]))
    wrong = np.flatnonzero(off > np.maximum(SETTINGS.jump_mps, SETTINGS.jump_share * np.abs(v[1:-1])))
    if len(wrong):
        worst = int(off.argmax())
        yield SceneFault(
            "warning",
            "history, future: v",
            f"{len(wrong)} of {len(off)} speeds jump: at t = {t[worst + 1]:.2f} s v is {v[worst + 1]:.2f} m/s, "
            f"before and after it the poses move at {around[worst]:.2f} m/s; import the log again, or smooth v",
        )


def _calibration(folder: SceneFolder) -> Iterator[SceneFault]:
    """Things that no forward camera on a car has."""
    scene = folder.scene
    camera = scene.front
    row = horizon_rows(camera, [camera.cx])[0]
    if not 0 <= row < camera.height:
        place = "nowhere in its field" if math.isnan(row) else f"at row {row:.0f}"
        yield SceneFault(
            "warning",
            f"camera '{camera.name}'",
            f"expected the horizon inside the frame (rows 0 to {camera.height - 1}), found it {place}; "
            "check pitch, and whether T_cam_ego takes ego points to the camera",
        )
    for each in scene.cameras:
        height = centre(each)[2]
        if not 0.3 <= height <= 4.0:
            yield SceneFault(
                "warning", f"camera '{each.name}'", f"is {height:.2f} m above the ground; metres?"
            )
    yield from _path_in_view(scene)
    yield from _stated_twice(folder)


def _path_in_view(scene: Scene) -> Iterator[SceneFault]:
    camera, path = scene.front, EgoPath.from_scene(scene)
    x, y, _ = path.at(np.arange(1.0, 60.0, 0.25))
    px, _ = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
    in_frame = px[inside(camera, px)]
    where = f"path in camera '{camera.name}'"
    advice = "check yaw, pitch and the motion; 'cfgen scenes show' draws it"
    if not len(in_frame):
        yield SceneFault("warning", where, f"the first 60 m of the ego path are not in the frame; {advice}")
    elif in_frame[0, 1] < 0.6 * camera.height or not 0.1 <= (in_frame[0, 0] + 0.5) / camera.width <= 0.9:
        yield SceneFault(
            "warning",
            where,
            f"expected the path to come in at the bottom of the frame, found its nearest point at pixel "
            f"({in_frame[0, 0]:.0f}, {in_frame[0, 1]:.0f}) of {camera.width}x{camera.height}: off the road's bottom; "
            f"{advice}",
        )


def _stated_twice(folder: SceneFolder) -> Iterator[SceneFault]:
    """scene.json may give the mounting as a matrix and as angles: then they have to agree."""
    content = json.loads((folder.root / SCENE_FILE).read_text())
    stated = Extrinsics.model_validate(content["extrinsics"])
    if stated.T_cam_ego is None or stated.camera_height_m is None:
        return
    by_angles = np.array(stated.model_copy(update={"T_cam_ego": None}).matrix())
    if np.abs(by_angles[:, :3] - np.array(stated.T_cam_ego)[:, :3]).max() > math.radians(0.5):
        yield SceneFault(
            "warning",
            "extrinsics",
            "T_cam_ego counts, and differs from the angles beside it by more than 0.5 degrees; correct or drop these",
        )


_CHECKS: tuple[Callable[[SceneFolder], Iterator[SceneFault]], ...] = (
    _images,
    _frame_order,
    _history,
    _motion,
    _calibration,
)
