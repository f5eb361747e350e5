"""What cfgen understood of a scene, as SVG: the path on the road, the motion from above, the speed."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from cfgen.geometry.camera import centre, horizon_rows, project, rotation, unproject
from cfgen.geometry.frames import relative, whole_motion
from cfgen.geometry.path import EgoPath
from cfgen.records import Camera, Scene

CORRIDOR_HALF_WIDTH_M = 1.0
_MARKS_M = (5, 10, 20, 30, 50, 80)
_TEAL, _GREY, _RED, _GRID = "#12b5a0", "#8a9099", "#d4493f", "#e4e7eb"


def path_overlay(camera: Camera, path: EgoPath, marks: bool = True) -> str:
    """The ego path with a corridor of 1 m to each side, distance marks and the horizon, over a frame of ``camera``.

    Recorded parts are filled, continued ones dashed. Coordinates are the frame's pixels.
    """
    size = f"{camera.width} {camera.height}"
    unit = camera.width / 640  # line width that is 1 px in a frame 640 px wide
    parts = [f'<svg class="over" viewBox="0 0 {size}" preserveAspectRatio="none">', _horizon(camera, unit)]
    known = min(path.known_m, path.length_m)
    if known > 1:
        parts.append(_polygon(_corridor(camera, path, 0.0, known), f'fill="{_TEAL}" fill-opacity=".38"'))
        for side in (-CORRIDOR_HALF_WIDTH_M, 0.0, CORRIDOR_HALF_WIDTH_M):
            parts.append(
                _line(_along(camera, path, 0.0, known, side), f'stroke="#fff" stroke-width="{unit}"')
            )
    parts.append(_polygon(_corridor(camera, path, known, path.length_m), 'fill="#ffd84d" fill-opacity=".16"'))
    for side in (-CORRIDOR_HALF_WIDTH_M, CORRIDOR_HALF_WIDTH_M):
        dash = f'stroke="#ffd84d" stroke-width="{unit}" stroke-dasharray="{5 * unit}"'
        parts.append(_line(_along(camera, path, known, path.length_m, side), dash))
    if marks:
        parts.append(_marks(camera, path, unit))
    return "".join(parts) + "</svg>"


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
    points = np.column_stack([x, y, np.zeros_like(x)])
    px, valid = project(camera, points)
    depth = (points - centre(camera)) @ rotation(camera)[2]
    near = valid & (depth > 0.5) & (np.abs(px) < 20 * camera.width).all(axis=1)
    return px[near]


def _corridor(camera: Camera, path: EgoPath, start: float, end: float) -> np.ndarray:
    left = _along(camera, path, start, end, CORRIDOR_HALF_WIDTH_M)
    right = _along(camera, path, start, end, -CORRIDOR_HALF_WIDTH_M)
    return np.vstack([left, right[::-1]])


def _marks(camera: Camera, path: EgoPath, unit: float) -> str:
    """Short lines across the path with the distance beside them, as long as there is room for the words."""
    parts, last = [], math.inf
    for s in _MARKS_M:
        x, y, _ = path.at(np.full(2, s), np.array([CORRIDOR_HALF_WIDTH_M, -CORRIDOR_HALF_WIDTH_M]))
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
