"""The front camera as a scene's frames show it: by lane lines, and by the sizes of real vehicles and people."""

import math
from collections.abc import Sequence
from dataclasses import replace

from cfgen.geometry.camera import angles, centre
from cfgen.perception.camera_fit import Clue, fit_camera
from cfgen.perception.frame_camera import SURE, FrameCamera, corrected, scene_cameras, smoothed, turned
from cfgen.perception.steady import steadied
from cfgen.perception.view import Thing
from cfgen.perception.views import SceneViews
from cfgen.records import Camera, Scene

#: Standard error of a stated pitch that nothing else backs, and the least one of lane lines, deg.
_STATED_DEG, _LINES_DEG = 0.6, 0.2
#: A frame that does not tell its pitch has that of one that does, up to so far from it, s: roads go up and down slowly.
_BORROWED_S = 1.0
#: Confidence of a pitch by one, two and more sights, were each exact; and the error that halves it, deg.
_BACKED, _HALF_DEG = (0.6, 0.8, 0.95), 0.35


def with_sizes(seen: FrameCamera, camera: Camera, things: Sequence[Thing] | None) -> FrameCamera:
    """What lane lines say of a frame's pitch, together with the sizes of what stands on the road.

    The camera stands as high as stated. RemoteInpainter off, where lines say least of the scale, sizes decide.
    """
    pitch, yaw, _ = angles(camera)
    error = _STATED_DEG
    if seen.pitch_deg is not None:
        pitch = math.radians(seen.pitch_deg)
        error = max(seen.pitch_error_deg or 0.0, _LINES_DEG) / max(seen.confidence, 0.05)
    held = turned(camera, pitch, yaw)
    clues = (
        Clue("pitch", pitch, math.radians(min(error, 2.0)), "usual"),
        Clue("height", float(centre(camera)[2]), 0.01, "usual"),
    )
    fit = fit_camera(held, [things or ()], clues)
    if not fit.count:
        return seen
    off = math.degrees(fit.pitch_error)
    sure = _BACKED[min(fit.count, len(_BACKED)) - 1] / (1 + (off / _HALF_DEG) ** 2)
    return replace(
        seen,
        pitch_deg=math.degrees(fit.pitch),
        pitch_error_deg=off,
        confidence=max(seen.confidence, sure),
        reason="",
    )


def corrected_cameras(views: SceneViews) -> dict[float, Camera]:
    """The front camera at each of its frames, in the ego frame of that time: as :func:`corrected` by the frame and
    those around it."""
    front, shown = views.scene.front, views.all()
    seen = {t: with_sizes(lines, front, shown[t].things) for t, lines in scene_cameras(views).items()}
    held = {t: smoothed(seen, t) for t in seen}
    sure = [t for t, one in held.items() if one.confidence >= SURE]
    nearest = {t: min(sure, key=lambda other: abs(other - t), default=t) for t in held}
    return {t: corrected(front, held[nearest[t] if abs(nearest[t] - t) <= _BORROWED_S else t]) for t in held}


def as_seen(views: SceneViews) -> Scene:
    """The scene with its front camera as its frames show it; itself where nothing sure is seen."""
    scene = views.scene
    if not views.lanes_known:
        return scene
    cameras = corrected_cameras(views)
    if all(camera == scene.front for camera in cameras.values()):
        return scene
    if 0.0 in cameras:
        cameras = steadied(scene, views.images, cameras)
    now = cameras.get(0.0, scene.front)
    return scene.model_copy(update={"cameras": (now, *scene.cameras[1:]), "seen_cameras": cameras})
