"""What cfgen understood of scenes, to look at: a page, and one picture of all.

The path on the road, the motion from above, the speed: a wrong calibration or motion is seen at a glance.
"""

import base64
import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import ArrayLike

from cfgen import records
from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.files import write_bytes
from cfgen.core.progress import Progress
from cfgen.geometry.camera import angles, at_pose, centre, horizon_rows, project, rotation, unproject
from cfgen.geometry.frames import pose_at, relative, whole_motion
from cfgen.geometry.path import EgoPath
from cfgen.perception.protocol import Perceiver
from cfgen.records import Camera, Frame, Scene
from cfgen.scenes.check import SceneFault, broken, check_folder
from cfgen.scenes.folder import Image, SceneFolder, load_scene
from cfgen.scenes.settings import SHOW

_TEAL, _GREY, _RED, _GRID = "#12b5a0", "#8a9099", "#d4493f", "#e4e7eb"
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


def bird_eye(scene: Scene, path: EgoPath, width: int = 250, height: int = 380) -> str:
    """History and future from above, forward up, with the cameras' fields of view and a 10 m grid."""
    ahead = path.xy[path.s <= max(path.known_m, 40.0)]
    back = np.array(scene.history.poses)[:, :2]
    points = np.vstack([ahead, back, [[8.0, 6.0], [-8.0, -6.0]]])
    scale = min((height - 30) / np.ptp(points[:, 0]), (width - 20) / (2 * np.abs(points[:, 1]).max() + 2))
    top = points[:, 0].max()

    def place(xy: ArrayLike) -> np.ndarray:
        xy = np.asarray(xy, float).reshape(-1, 2)
        return np.column_stack([width / 2 - xy[:, 1] * scale, 14 + (top - xy[:, 0]) * scale])

    parts = [f'<svg class="plot" width="{width}" height="{height}" viewBox="0 0 {width} {height}">']
    step = 10 if scale > 2.2 else 20
    for x in range(math.ceil(-60 / step) * step, int(top) + 1, step):
        row = place([[x, 0]])[0, 1]
        if row < height:
            parts.append(f'<path d="M0 {row:.1f}H{width}" stroke="{_GRID}"/>')
            parts.append(f'<text x="3" y="{row - 2:.1f}">{x} m</text>')
    parts += [_polygon(place(area), f'fill="{_BLUE}" fill-opacity=".12"') for area in scene.drivable or ()]
    for camera in scene.cameras:
        parts.append(_polygon(place(_view_wedge(camera)), 'fill="#5b8def" fill-opacity=".10"'))
    parts.append(_line(place(back), f'stroke="{_GREY}" stroke-width="3"'))
    split = path.s <= path.known_m
    parts.append(_line(place(path.xy[~split]), 'stroke="#c79a00" stroke-width="2" stroke-dasharray="5"'))
    parts.append(_line(place(path.xy[split]), f'stroke="{_TEAL}" stroke-width="3"'))
    car = place([[3.5, 0.9], [3.5, -0.9], [-1.0, -0.9], [-1.0, 0.9]])
    parts.append(_polygon(car, 'fill="#2b3038"'))
    return "".join(parts) + "</svg>"


def speed_curve(scene: Scene, width: int = 250, height: int = 150) -> str:
    """Recorded speed, km/h, from the log (line) and from the poses (dots): they should lie on each other."""
    motion = whole_motion(scene)
    t, v = np.array(motion.t), np.array(motion.v) * 3.6
    poses = np.array(motion.poses)
    moved = relative(poses[:-1], poses[1:])
    from_poses = np.hypot(moved[:, 0], moved[:, 1]) / np.diff(t) * 3.6
    peak = max(10.0, float(max(np.abs(v).max(), from_poses.max(initial=0))) * 1.15)
    low, high = min(-2.0, t[0]), max(6.0, t[-1])

    def place(times: ArrayLike, speeds: ArrayLike) -> np.ndarray:
        x = 34 + (np.asarray(times, float) - low) / (high - low) * (width - 42)
        return np.column_stack([x, height - 20 - np.asarray(speeds, float) / peak * (height - 34)])

    parts = [f'<svg class="plot" width="{width}" height="{height}" viewBox="0 0 {width} {height}">']
    step = next(s for s in (5, 10, 20, 40, 80, 400) if peak / s <= 5)
    for value in np.arange(0, peak, step):
        row = place([0], [value])[0, 1]
        parts.append(f'<path d="M34 {row:.1f}H{width}" stroke="{_GRID}"/>')
        parts.append(f'<text x="30" y="{row + 4:.1f}" text-anchor="end">{value:.0f}</text>')
    for second in range(math.ceil(low), math.floor(high) + 1, 2):
        x = place([second], [0])[0, 0]
        parts.append(f'<text x="{x:.1f}" y="{height - 5}" text-anchor="middle">{second} s</text>')
    zero = place([0], [0])[0, 0]
    parts.append(f'<path d="M{zero:.1f} 8V{height - 20}" stroke="{_GREY}" stroke-dasharray="3"/>')
    parts.append('<text x="36" y="11">km/h</text>')
    parts.append(_line(place(t, v), f'stroke="{_TEAL}" stroke-width="2"'))
    dots = place((t[1:] + t[:-1]) / 2, from_poses)
    parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" fill="{_RED}"/>' for x, y in dots)
    return "".join(parts) + "</svg>"


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


def _view_wedge(camera: Camera, reach: float = 15.0) -> np.ndarray:
    """Ground area (5, 2) between the left and right edges of the frame, as far as ``reach`` m."""
    middle = (camera.height - 1) / 2
    rays, valid = unproject(camera, [[0, middle], [camera.cx, middle], [camera.width - 1, middle]])
    directions = (rays @ rotation(camera))[valid, :2]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    origin = centre(camera)[:2]
    return np.vstack([origin, origin + reach * directions])


def _polygon(px: np.ndarray, style: str) -> str:
    return f'<polygon points="{_points(px)}" {style}/>' if len(px) > 2 else ""


def _line(px: np.ndarray, style: str) -> str:
    return f'<polyline points="{_points(px)}" fill="none" {style}/>' if len(px) > 1 else ""


def _points(px: Iterable[Iterable[float]]) -> str:
    return " ".join(f"{u:.1f},{v:.1f}" for u, v in px)


# --- one picture of what an import made ---


def write_contact_sheet(scenes: Sequence[Path], out: Path) -> int:
    """Write ``out``, a JPEG, of the scene folders; how many it shows. None of them readable: no file.

    The corridor of 1 m to each side lies on the lane where calibration and motion are right: teal where the motion was
    recorded, yellow where it is continued.
    """
    picks = np.linspace(0, len(scenes) - 1, min(len(scenes), SHOW.tiles)).round().astype(int)
    tiles = [tile for i in picks if (tile := _tile(scenes[i])) is not None]
    if not tiles:
        return 0
    high = max(tile.shape[0] for tile in tiles)
    blank = np.full((high, SHOW.tile_px, 3), 24, np.uint8)
    tiles = [np.vstack([tile, blank[tile.shape[0] :]]) for tile in tiles]
    across = min(len(tiles), SHOW.tiles_across)
    rows = [[*tiles[i : i + across], *[blank] * across][:across] for i in range(0, len(tiles), across)]
    sheet = np.vstack([np.hstack(row) for row in rows])
    write_bytes(out, _jpeg(sheet))
    return len(tiles)


def _tile(folder: Path) -> Image | None:
    """(h, tile_px, 3) uint8 with a caption; None for a scene that cannot be read."""
    try:
        scene_folder = load_scene(folder)
        frame = scene_folder.image().copy()
    except InputError:
        return None
    scene = scene_folder.scene
    path, camera = EgoPath.from_scene(scene), scene.front
    known = min(path.known_m, path.length_m)
    for start, end, colour in ((1.0, known, (18, 181, 160)), (known, path.length_m, (255, 216, 77))):
        for side in (-SHOW.half_width_m, SHOW.half_width_m):
            px = _along(camera, path, start, end, side).round().astype(np.int32)
            cv2.polylines(frame, [px], False, colour, max(2, camera.width // 320), cv2.LINE_AA)
    words = f"{scene.scene_id[-32:]}  {scene.speed * 3.6:.0f} km/h"
    words += {True: "", "estimated": " (estimated)"}.get(scene.motion_known, " (guessed)")
    bar = np.full((22, SHOW.tile_px, 3), 24, np.uint8)
    cv2.putText(bar, words, (6, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (230, 230, 230), 1, cv2.LINE_AA)
    return np.vstack([_small(frame, SHOW.tile_px), bar])


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
.row{display:grid;grid-template-columns:minmax(0,640px) 250px 250px;gap:12px;margin-top:10px;align-items:start}
@media(max-width:1150px){.row{grid-template-columns:minmax(0,1fr)}}
.frame{position:relative;display:block}.frame img{width:100%;display:block;border-radius:4px}
.over{position:absolute;inset:0;width:100%;height:100%;overflow:hidden}
.over .mark{fill:#fff;paint-order:stroke;stroke:#000a;stroke-width:.25em;font-family:system-ui,sans-serif}
.plot{border:1px solid #e4e7eb;border-radius:4px;background:#fff;display:block;margin-bottom:8px}
.plot text{font-size:10px;fill:#626a75}
.thumbs figure{margin:8px 0 0;max-width:250px}
figcaption,.meta{color:#626a75;font-size:12.5px}
ul.faults{margin:6px 0 0;padding-left:18px}.error,.fault{color:#b3261e}.warning{color:#8a5a00}.fine{color:#1b7f4b}
"""

_LEGEND = (
    "Over each frame: the recorded path (filled) with 1 m to each side, its continuation (dashed yellow), distances "
    "from the ego origin, the annotated road (blue, crossings violet, lanes dashed) and the horizon (dotted red). When "
    "the calibration is right the corridor lies on the lane and the horizon on the horizon. From above: history grey, "
    "future teal, fields of view and annotated road blue. Speed: the log's (line) and the poses' (dots). Below: the "
    "oldest front frame and the other cameras."
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
        f'<div class="row">{frame}{bird_eye(scene, ego_path)}'
        f"<div>{speed_curve(scene)}{_thumbs(folder, ego_path)}</div></div></article>"
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
