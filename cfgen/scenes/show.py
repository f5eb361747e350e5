"""What cfgen understood of scenes, to look at: the path and the annotated road over each frame, on one page.

A wrong calibration or motion is seen at a glance.
"""

import base64
import math
from collections.abc import Iterable
from html import escape
from pathlib import Path

import cv2
import numpy as np

from cfgen import records
from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.files import write_bytes
from cfgen.core.progress import Progress
from cfgen.geometry.camera import angles, at_pose, centre, horizon_rows, project, rotation
from cfgen.geometry.frames import pose_at
from cfgen.geometry.path import EgoPath
from cfgen.perception.protocol import Perceiver
from cfgen.records import Camera, Frame, Scene
from cfgen.scenes.check import SceneFault, broken, check_folder
from cfgen.scenes.folder import Image, SceneFolder, load_scene
from cfgen.scenes.settings import SHOW

_TEAL, _RED = "#12b5a0", "#d4493f"
_BLUE, _VIOLET = "#3d7bff", "#b04dff"


def path_overlay(camera: Camera, path: EgoPath, marks: bool = True) -> str:
    """The ego path with a corridor of 1 m to each side, distance marks and the horizon, over a frame of ``camera``.

    Recorded parts are filled, continued ones dashed. Coordinates are the frame's pixels.
    """
    size = f"{camera.width} {camera.height}"
    unit = camera.width / 640  # line width that is 1 px in a frame 640 px wide
    parts = [f'<svg class="over" viewBox="0 0 {size}" preserveAspectRatio="none">', _horizon(camera, unit)]
    known = min(path.known_m, path.length_m)
    continued = f'stroke="#ffd84d" stroke-width="{unit}" stroke-dasharray="{5 * unit}"'
    for start, end, fill, stroke in (
        (0.0, known, f'fill="{_TEAL}" fill-opacity=".38"', f'stroke="#fff" stroke-width="{unit}"'),
        (known, path.length_m, 'fill="#ffd84d" fill-opacity=".16"', continued),
    ):
        left, right = (_along(camera, path, start, end, s * SHOW.half_width_m) for s in (1, -1))
        parts += [_polygon(np.vstack([left, right[::-1]]), fill), _line(left, stroke), _line(right, stroke)]
    if marks:
        parts.append(_marks(camera, path, unit))
    return "".join(parts) + "</svg>"


def road_overlay(scene: Scene) -> str:
    """The annotated road over the front frame: borders of drivable areas and crossings, the lanes' middles dashed."""
    unit = scene.front.width / 640
    closed = [(area, _BLUE) for area in scene.drivable or ()] + [
        (area, _VIOLET) for area in scene.crossings or ()
    ]
    lines = [
        (np.array([*area, area[0]]), f'stroke="{colour}" stroke-width="{1.5 * unit}"')
        for area, colour in closed
    ]
    dashed = f'stroke="{_BLUE}" stroke-width="{unit}" stroke-dasharray="{4 * unit}"'
    lines += [(np.array(lane.line), dashed) for lane in scene.lanes or ()]
    parts = [_line(px, style) for line, style in lines for px in _in_view(scene.front, line)]
    return f'<svg class="over" viewBox="0 0 {scene.front.width} {scene.front.height}">{"".join(parts)}</svg>'


def _in_view(camera: Camera, line: np.ndarray) -> list[np.ndarray]:
    """Pixels (N, 2) of the stretches of a line (P, 2) m on the ground that are before the camera."""
    driven = np.append(0.0, np.cumsum(np.hypot(*np.diff(line, axis=0).T)))
    steps = np.linspace(0.0, driven[-1], max(2, int(2 * driven[-1])))
    points = np.column_stack(
        [np.interp(steps, driven, line[:, 0]), np.interp(steps, driven, line[:, 1]), 0 * steps]
    )
    px, near = _projected(camera, points)
    return [
        px[run] for run in np.split(np.arange(len(px)), np.flatnonzero(np.diff(near)) + 1) if near[run[0]]
    ]


def _along(camera: Camera, path: EgoPath, start: float, end: float, lateral: float) -> np.ndarray:
    """Pixels (N, 2) of the path at ``lateral``; where it is not in the camera's field the points are left out."""
    x, y, _ = path.at(np.linspace(start, end, max(2, int((end - start) / 0.25))), lateral)
    px, near = _projected(camera, np.column_stack([x, y, np.zeros_like(x)]))
    return px[near]


def _projected(camera: Camera, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (N, 2) of points (N, 3) m, and which of them (N,) are before the camera and not far out of view."""
    px, valid = project(camera, points)
    depth = (points - centre(camera)) @ rotation(camera)[2]
    return px, valid & (depth > 0.5) & (np.abs(px) < 20 * camera.width).all(axis=1)


def _marks(camera: Camera, path: EgoPath, unit: float) -> str:
    """Short lines across the path with the distance beside them, as long as there is room for the words."""
    parts, last = [], math.inf
    for s in SHOW.marks_m:
        x, y, _ = path.at(np.full(2, s), np.array([SHOW.half_width_m, -SHOW.half_width_m]))
        px, valid = project(camera, np.column_stack([x, y, np.zeros(2)]))
        if s > path.length_m or not valid.all():
            continue
        u, v = px[1]
        parts.append(_line(px, f'stroke="#fff" stroke-width="{1.5 * unit}"'))
        if abs(last - v) > 11 * unit:
            place = f'x="{u + 4 * unit:.1f}" y="{v:.1f}" font-size="{11 * unit:.1f}"'
            parts.append(f'<text class="mark" {place}>{s:g} m</text>')
            last = v
    return "".join(parts)


def _horizon(camera: Camera, unit: float) -> str:
    columns = np.linspace(0, camera.width - 1, 41)
    rows = horizon_rows(camera, columns)
    seen = np.isfinite(rows) & (rows > -camera.height) & (rows < 2 * camera.height)
    style = f'stroke="{_RED}" stroke-width="{unit}" stroke-dasharray="{2 * unit} {4 * unit}"'
    return _line(np.column_stack([columns, rows])[seen], style)


def _polygon(px: np.ndarray, style: str) -> str:
    return f'<polygon points="{_points(px)}" {style}/>' if len(px) > 2 else ""


def _line(px: np.ndarray, style: str) -> str:
    return f'<polyline points="{_points(px)}" fill="none" {style}/>' if len(px) > 1 else ""


def _points(px: Iterable[Iterable[float]]) -> str:
    return " ".join(f"{u:.1f},{v:.1f}" for u, v in px)


def _small(pixels: Image, width: int) -> Image:
    size = (width, round(pixels.shape[0] * width / pixels.shape[1]))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def _jpeg(pixels: Image) -> bytes:
    return cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()


# --- a page ---

_UNDRAWN = 'class="undrawn"'

_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:24px auto;max-width:1180px;padding:0 16px}
body{color:#1d2127;background:#f4f5f7}
h1{font-size:22px;margin:0 0 4px} h2{font-size:16px;margin:0;font-family:ui-monospace,monospace}
article{background:#fff;border:1px solid #d9dde3;border-radius:8px;padding:14px 16px;margin:16px 0}
.row{display:grid;grid-template-columns:minmax(0,880px) 250px;gap:12px;margin-top:10px;align-items:start}
@media(max-width:1150px){.row{grid-template-columns:minmax(0,1fr)}}
.frame{position:relative;display:block}.frame img{width:100%;display:block;border-radius:4px}
.over{position:absolute;inset:0;width:100%;height:100%;overflow:hidden}
.over .mark{fill:#fff;paint-order:stroke;stroke:#000a;stroke-width:.25em;font-family:system-ui,sans-serif}
.thumbs figure{margin:8px 0 0;max-width:250px}
figcaption,.meta{color:#626a75;font-size:12.5px}
ul.faults{margin:6px 0 0;padding-left:18px}.error,.fault{color:#b3261e}.warning{color:#8a5a00}.fine{color:#1b7f4b}
"""

_LEGEND = (
    "Over each frame: the recorded path (filled) with 1 m to each side, its continuation (dashed yellow), distances "
    "from the ego origin, the annotated road (blue, crossings violet, lanes dashed) and the horizon (dotted red). When "
    "the calibration is right the corridor lies on the lane and the horizon on the horizon. Beside it: the oldest "
    "front frame and the other cameras."
)


def write_page(
    folder: Path,
    out: Path,
    limit: int | None = None,
    quiet: bool = False,
    strict: bool = False,
    perceiver: Perceiver | None = None,
) -> tuple[int, int]:
    """Write one self-contained HTML page about the scenes at or below ``folder``.

    Returns how many it describes, and how many of these could not be drawn: the page says why.

    Args:
        perceiver: looks for what a build refuses, and holds stated calibrations against lane lines; None: nobody does.

    Raises:
        InputError: no scene there.
    """
    checked = check_folder(folder, quiet, strict, perceiver)
    chosen = list(checked.items())[:limit]
    progress = Progress("show", len(chosen), quiet)
    cards = []
    for path, faults in chosen:
        card = contained(lambda p=path, f=faults: describe(p, f), str(path), strict=strict)  # type: ignore[misc]
        if isinstance(card, records.Fault):
            faults.append(broken(card))
            card = describe(path, faults)
        cards.append(card)
        progress.step(path.name)
    faulty = sum(1 for faults in checked.values() if faults)
    head = (
        f"{len(chosen)} of {len(checked)} scenes in {escape(str(folder))}; {faulty} with something to look at"
    )
    page = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Scenes: {escape(folder.name)}</title>'
        f"<style>{_STYLE}</style><h1>Scenes</h1><p>{head}.</p><p class=meta>{_LEGEND}</p>{''.join(cards)}</html>\n"
    )
    write_bytes(out, page.encode())
    return len(chosen), sum(_UNDRAWN in card for card in cards)


def describe(path: Path, faults: list[SceneFault]) -> str:
    """One scene as HTML."""
    listed = "".join(
        f'<li class="{fault.level}"><b>{fault.level}</b> {escape(fault.where)}: {escape(fault.what)}</li>'
        for fault in faults
    )
    state = f'<ul class="faults">{listed}</ul>' if faults else '<span class="fine">no fault found</span>'
    undrawn = f"<article {_UNDRAWN}><h2>{escape(path.name)}</h2>{state}</article>"
    if any(fault.level == "fault" for fault in faults):
        return undrawn
    try:  # what a build refuses for what its frame shows is drawn all the same
        return _drawn(load_scene(path), state)
    except InputError:
        return undrawn


def _drawn(folder: SceneFolder, state: str) -> str:
    """
    Raises:
        InputError: an image that does not decode.
    """
    scene = folder.scene
    ego_path = EgoPath.from_scene(scene)
    overlay = road_overlay(scene) + path_overlay(scene.front, ego_path)
    frame = _figure(folder.image(), overlay, SHOW.frame_px)
    return (
        f"<article><h2>{escape(scene.scene_id)}</h2><div class=meta>{escape(_facts(folder))}</div>{state}"
        f'<div class="row">{frame}{_thumbs(folder, ego_path)}</div></article>'
    )


def _facts(folder: SceneFolder) -> str:
    scene, camera = folder.scene, folder.scene.front
    pitch, yaw, roll = (round(math.degrees(a), 1) + 0.0 for a in angles(camera))  # + 0.0: no "-0.0"
    motion_known = scene.motion_known
    facts = [
        scene.source,
        scene.license,
        scene.timestamp,
        f"{scene.speed * 3.6:.0f} km/h",
        f"{camera.model} {camera.width}x{camera.height}",
        f"camera at {centre(camera)[2]:.2f} m, pitch {pitch:.1f}, yaw {yaw:.1f}, roll {roll:.1f} degrees",
        f"{len(scene.cameras)} cameras, {len(scene.frames)} frames",
        "motion guessed" if not motion_known else "motion estimated" if motion_known == "estimated" else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def _thumbs(folder: SceneFolder, path: EgoPath) -> str:
    """The oldest front frame, where a wrong motion shows as a path that leaves the road, and the other cameras."""
    scene = folder.scene
    own = sorted((f for f in scene.frames if f.camera == scene.front.name), key=lambda f: f.t)
    chosen: list[Frame] = own[:1] if len(own) > 1 else []
    for camera in scene.cameras[1:]:
        chosen.append(max((f for f in scene.frames if f.camera == camera.name), key=lambda f: f.t))
    figures = []
    for frame in chosen:
        camera = at_pose(scene.camera(frame.camera), pose_at(scene.history, frame.t))
        figure = _figure(folder.image(frame), path_overlay(camera, path, marks=False), SHOW.thumb_px)
        caption = f"{frame.camera} at t = {frame.t:.2f} s"
        figures.append(f"<figure>{figure}<figcaption>{escape(caption)}</figcaption></figure>")
    return f'<div class="thumbs">{"".join(figures)}</div>' if figures else ""


def _figure(pixels: Image, overlay: str, width: int) -> str:
    data = base64.b64encode(_jpeg(_small(pixels, min(width, pixels.shape[1])))).decode()
    return f'<span class="frame"><img alt="" src="data:image/jpeg;base64,{data}">{overlay}</span>'
