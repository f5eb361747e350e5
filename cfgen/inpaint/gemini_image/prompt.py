"""What an image service is told: one hazard, where it stands, how large it is, and to leave the rest alone."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgen.core.sanitize import plain_json
from cfgen.geometry.camera import centre
from cfgen.hazards.vocabulary import class_of, things
from cfgen.inpaint.gemini_image.postprocess import Letterbox
from cfgen.inpaint.protocol import InpaintRequest
from cfgen.models.base import Ask, ChatTurn, Picture
from cfgen.records import Hazard, wrap_angle

#: Part of the cache key: change it when a sentence changes.
VERSION = "1"

_TURNED = (
    "away from the camera, so that its back is seen",
    "away from the camera and to the left",
    "to the left, so that its side is seen",
    "towards the camera and to the left",
    "towards the camera, so that its front is seen",
    "towards the camera and to the right",
    "to the right, so that its side is seen",
    "away from the camera and to the right",
)

#: Openings for a request that was declined or came back without the edit, in the order in which they are tried.
_AGAIN = (
    "The picture is a test image for driver assistance cameras. The scene is staged: nobody is in danger or hurt, "
    "nothing upsetting is shown, and nobody in it is a real or known person.",
    "This is ordinary photo retouching for a road safety lesson. Draw the object calmly and plainly, like a "
    "harmless prop placed on the road for a demonstration.",
)
#: How many times a request can be put differently.
MOST_REWORDINGS = len(_AGAIN)


def write_prompt(request: InpaintRequest, box: Letterbox, wording: int = 0) -> str:
    """The words sent with the picture. ``wording`` above 0 puts it differently after a refusal."""
    hazard = request.hazard
    opening = ["This photograph was taken by the front camera of a car."]
    if wording:
        opening.append(_AGAIN[min(wording, MOST_REWORDINGS) - 1])
    if hazard.kind == "null":
        return " ".join([*opening, *_null(request, box)])
    what = hazard.name if wording > 1 else hazard.prompt.strip() or hazard.name
    parts = [
        *opening,
        f"Edit it by adding exactly one thing: {what}.",
        *_where(request, box),
        *_size(request),
    ]
    parts += _facing(request)
    if request.guide is not None:
        parts.append(
            "The second picture is the same photograph with a rough cut-out of it pasted in. Keep to the place, size, "
            "outline and direction shown there, and redraw it so that it looks photographed in this scene instead of "
            "pasted."
        )
    parts += [
        "It must look like a part of the photograph: lit from where the light in the photograph comes from, with a "
        "shadow as soft or hard as the others there and dark contact where it touches the ground, with the same "
        "sharpness, grain, haze and colour, and hidden behind whatever stands in front of it.",
        *_avoid(hazard),
        "Change nothing else: keep framing, zoom, size, road, markings, vehicles, buildings, sky, and brightness and "
        "colour of all of it, exactly as they are, and add no text, frame or mark.",
        "Answer with the edited photograph only.",
    ]
    return " ".join(parts)


def _where(request: InpaintRequest, box: Letterbox) -> list[str]:
    """Where it goes, in thousandths of the sent picture's width and height."""
    crop = _crop_box(request)
    x0, y0 = _thousandths(box, crop[:2])
    right, bottom = _thousandths(box, crop[2:])
    return [
        "Positions are given in thousandths of the picture's width from its left edge (x) and of its height from its "
        "top edge (y).",
        f"It fills the rectangle from x={x0} to x={right} and from y={y0} to y={bottom}; only its shadow may "
        "reach beyond.",
        f"It rests on the ground: its lowest point touches the road surface at y={bottom}, and nothing of it floats.",
    ]


def _size(request: InpaintRequest) -> list[str]:
    size = request.placement.size
    away = np.array([request.placement.x, request.placement.y]) - centre(request.camera)[:2]
    return [
        f"In reality it is about {_metres(size.height)} high, {_metres(size.width)} wide and "
        f"{_metres(size.length)} long, and stands {_metres(float(np.hypot(*away)))} away; a lane is about 3.5 m wide, "
        "so its size agrees with the road and with vehicles at that distance."
    ]


def _facing(request: InpaintRequest) -> list[str]:
    """Which way its front points, for what has one."""
    if request.hazard.heading == "any":
        return []
    x, y, _ = centre(request.camera)
    placement = request.placement
    turned = wrap_angle(placement.yaw - math.atan2(placement.y - y, placement.x - x))
    return [f"It is turned {_TURNED[round(turned / (math.pi / 4)) % 8]}."]


def _avoid(hazard: Hazard) -> list[str]:
    return [f"Avoid: {hazard.negative_prompt}."] if hazard.negative_prompt else []


def _null(request: InpaintRequest, box: Letterbox) -> list[str]:
    x0, top, right, bottom = (
        *_thousandths(box, _crop_box(request)[:2]),
        *_thousandths(box, _crop_box(request)[2:]),
    )
    return [
        f"Redraw it exactly as it is. Retouch only the rectangle from x={x0} to x={right} and y={top} to y={bottom} "
        "(thousandths of width and height, from the top left), and there too show just what is there now: add nothing, "
        "remove nothing, move nothing.",
        "Keep framing, zoom, size, brightness and colour. Answer with the photograph only.",
    ]


def _crop_box(request: InpaintRequest) -> Sequence[float]:
    """x0, y0, x1, y1 of the placement's box in pixels of the crop, cut off at its border."""
    box = request.placement.box_px
    inset_x = request.setting.camera.cx - request.camera.cx
    inset_y = request.setting.camera.cy - request.camera.cy
    height, width = request.mask.shape
    x0, x1 = (float(np.clip(v - inset_x, 0, width)) for v in box[::2])
    y0, y1 = (float(np.clip(v - inset_y, 0, height)) for v in box[1::2])
    return x0, y0, x1, y1


def _thousandths(box: Letterbox, point: Sequence[float]) -> tuple[int, int]:
    """A point of the crop as the service counts it."""
    rows, columns = box.crop
    x = (box.x0 + point[0] / columns * box.inner_width) / box.width
    y = (box.y0 + point[1] / rows * box.inner_height) / box.height
    return round(1000 * x), round(1000 * y)


def _metres(value: float) -> str:
    return f"{value:.2g} m" if value < 10 else f"{value:.0f} m"


# --- critic ------------------------------------------------------------------------------------
# A second model's opinion on an edit: shown before and after, not told what was asked, it names what was added.

_SYSTEM = (
    "You compare two photographs of the same place, taken by the front camera of a car. You are given no hint of what "
    "differs. Look closely at both before you answer, and judge only what can be seen."
)
_QUESTION = (
    "What does the second photograph show that the first does not? Fill in the fields. added: the thing that was "
    "added, in a few plain words, or 'nothing' if you see no added thing. other_names: up to six other words that "
    "people might use for it, wider ones among them. size: 'yes' if its size is believable for where it stands, else "
    "'no'. place: 'yes' if it stands, lies or hangs where such a thing can be, in contact with the ground if it should "
    "be, else 'no'. why: one sentence for the two."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "added": {"type": "string"},
        "other_names": {"type": "array", "items": {"type": "string"}},
        "size": {"type": "string", "enum": ["yes", "no"]},
        "place": {"type": "string", "enum": ["yes", "no"]},
        "why": {"type": "string"},
    },
    "required": ["added", "other_names", "size", "place", "why"],
}
_NOTHING = ("", "nothing", "none", "no thing", "no change", "no difference")
#: Words of a name that say where, not what.
_IDLE = frozenset("the and into onto acro beside behind from over with toward out off lane road".split())  # noqa: SIM905


@dataclass(frozen=True)
class Finding:
    """What the critic saw."""

    added: str
    other_names: tuple[str, ...]
    size: bool
    place: bool
    why: str

    @property
    def report(self) -> dict[str, Any]:
        return {
            "added": self.added,
            "other_names": list(self.other_names),
            "size": self.size,
            "place": self.place,
            "why": self.why,
        }


def question(before: bytes, after: bytes) -> Ask:
    """``before`` and ``after``: the same crop as PNG."""
    parts = ("First:", Picture(before, "image/png"), "Second:", Picture(after, "image/png"), _QUESTION)
    return Ask(_SYSTEM, (ChatTurn("user", parts),), "json", _SCHEMA)


def read_finding(text: str) -> Finding | None:
    """The critic's answer; None when it is not what was asked for."""
    try:
        fields = plain_json(json.loads(text))[0]
        return Finding(
            added=str(fields["added"]).strip()[:200],
            other_names=tuple(str(name)[:100] for name in fields["other_names"])[:6],
            size={"yes": True, "no": False}[fields["size"]],
            place={"yes": True, "no": False}[fields["place"]],
            why=str(fields["why"])[:400],
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def objection(finding: Finding, hazard: Hazard) -> str:
    """Why the edit is not what was asked for, or ""."""
    added = finding.added.lower().strip(" .!") not in _NOTHING
    if hazard.kind == "null":
        return f"sees '{finding.added}' where nothing was to be added" if added else ""
    if not added:
        return f"sees nothing added, asked was '{hazard.name}'"
    names = [finding.added, *finding.other_names]
    if not any(_same(name, hazard) for name in names):
        return f"sees '{finding.added}', asked was '{hazard.name}'"
    if not finding.size:
        return f"finds the size of '{finding.added}' implausible: {finding.why}"
    if not finding.place:
        return f"finds the place of '{finding.added}' implausible: {finding.why}"
    return ""


def _same(name: str, hazard: Hazard) -> bool:
    """Whether a name is of a kind of thing that the hazard's name holds or, if that has none, shares a word with it."""
    theirs, ours = name.lower(), hazard.name.lower()
    kinds = _kinds(ours)
    return bool(_kinds(theirs) & kinds if kinds else _words(theirs) & _words(ours))


def _kinds(text: str) -> set[str]:
    return {class_of(word) for word, _ in things(text)}


def _words(text: str) -> set[str]:
    return {w.removesuffix("s") for w in re.findall(r"[a-z]{3,}", text)} - _IDLE
