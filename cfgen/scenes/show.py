"""A page that shows what cfgen understood of each scene: a wrong calibration or motion is seen at a glance."""

import base64
import math
from html import escape
from pathlib import Path

import cv2

from cfgen import records
from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.files import write_bytes
from cfgen.core.progress import Progress
from cfgen.geometry.camera import angles, at_pose, centre
from cfgen.geometry.frames import pose_at
from cfgen.geometry.path import EgoPath
from cfgen.perception.protocol import Perceiver
from cfgen.records import Frame
from cfgen.scenes.check import Fault, broken, check_folder
from cfgen.scenes.drawing import bird_eye, path_overlay, speed_curve
from cfgen.scenes.folder import Image, SceneFolder, load_scene

_FRAME_WIDTH, _THUMB_WIDTH = 960, 320
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
    "from the ego origin, and the horizon (dotted red). When the calibration is right the corridor lies on the lane "
    "and the horizon on the horizon. From above: history grey, future teal, fields of view blue. Speed: the log's "
    "(line) and the poses' (dots). Below: the oldest front frame and the other cameras."
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


def describe(path: Path, faults: list[Fault]) -> str:
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
    frame = _figure(folder.image(), path_overlay(scene.front, ego_path), _FRAME_WIDTH)
    return (
        f"<article><h2>{escape(scene.scene_id)}</h2><div class=meta>{escape(_facts(folder))}</div>{state}"
        f'<div class="row">{frame}{bird_eye(scene, ego_path)}'
        f"<div>{speed_curve(scene)}{_thumbs(folder, ego_path)}</div></div></article>"
    )


def _facts(folder: SceneFolder) -> str:
    scene, camera = folder.scene, folder.scene.front
    pitch, yaw, roll = (round(math.degrees(a), 1) + 0.0 for a in angles(camera))  # + 0.0: no "-0.0"
    known = scene.motion_known
    facts = [
        scene.source,
        scene.license,
        scene.timestamp,
        f"{scene.speed * 3.6:.0f} km/h",
        f"{camera.model} {camera.width}x{camera.height}",
        f"camera at {centre(camera)[2]:.2f} m, pitch {pitch:.1f}, yaw {yaw:.1f}, roll {roll:.1f} degrees",
        f"{len(scene.cameras)} cameras, {len(scene.frames)} frames",
        "motion guessed" if not known else "motion estimated" if known == "estimated" else "",
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
        figure = _figure(folder.image(frame), path_overlay(camera, path, marks=False), _THUMB_WIDTH)
        caption = f"{frame.camera} at t = {frame.t:.2f} s"
        figures.append(f"<figure>{figure}<figcaption>{escape(caption)}</figcaption></figure>")
    return f'<div class="thumbs">{"".join(figures)}</div>' if figures else ""


def _figure(pixels: Image, overlay: str, width: int) -> str:
    height = round(pixels.shape[0] * min(1.0, width / pixels.shape[1]))
    width = min(width, pixels.shape[1])
    small = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)
    jpeg = cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 82])[1]
    data = base64.b64encode(jpeg.tobytes()).decode()
    return f'<span class="frame"><img alt="" src="data:image/jpeg;base64,{data}">{overlay}</span>'
