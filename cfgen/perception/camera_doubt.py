"""How far a camera that nobody calibrated may be wrong, and where things can still be drawn by it in their size."""

import math
from collections.abc import Mapping
from typing import Any

from cfgen.perception.camera_fit import CameraFit

#: The key of a scene's extra values under which it tells where its camera comes from, those of the doubts in it, of the
#: perceiver that looked when the scene was imported, and of whether that one looked for vehicles and people.
TOLD, DOUBTS, SEEN_BY, THINGS_SOUGHT = "camera_from", "doubts", "seen_by", "things_sought"
#: That of what its frames say of the camera and no road vehicle's has, in words.
UNBELIEVED = "unbelieved"
#: That of how far apart heights are that two of its witnesses tell, in words.
APART = "heights_apart"
#: What a value of a camera comes from that nobody gave and nothing shows.
GUESS = "guess"
#: Most relative standard error of the size of what is drawn; the distance, m, at which every scene must keep to it.
MOST, NEAR_M = 0.2, 12.0
#: Begins every refusal for it.
GUESSED = "the camera is a guess"
_ADVICE = "import again with --option horizon_row=... --option camera_height_m=..."
_SEES_MORE = (
    ", or with --perception twinlitenet --perception-option things=fastestdet ('cfgen models get' brings both), which "
    "sees more to measure by"
)


def doubts(fit: CameraFit) -> dict[str, Any]:
    """What a scene keeps of them, as JSON values: standard errors, and how they go together."""
    pitch, height = (math.sqrt(fit.spread[i, i]) for i in (0, 1))
    return {
        DOUBTS: {
            "pitch_deg": round(math.degrees(pitch), 3),
            "height": round(height / fit.height, 3),
            "correlation": round(float(fit.spread[0, 1]) / (pitch * height), 3),
            "camera_height_m": round(fit.height, 3),
        }
    }


def scale_error(told: Mapping[str, Any], distance: float) -> float:
    """Relative standard error of the size of what is drawn ``distance`` m away, by what a scene tells of its camera;
    0 where it tells of no doubt."""
    a, b, c = _parabola(told)
    return math.sqrt(max(a * distance**2 + 2 * b * distance + c, 0.0))


def sure_to_m(extra: Mapping[str, Any]) -> float:
    """Up to which distance, m, a scene's camera draws things in their size; infinite where nobody doubts it.

    Args:
        extra: of the scene.
    """
    a, b, c = _parabola(extra.get(TOLD))
    inside = b * b - a * (c - MOST**2)
    if a <= 0:
        return math.inf
    return (-b + math.sqrt(inside)) / a if inside >= 0 else 0.0


def why_unsure(extra: Mapping[str, Any]) -> str:
    """What speaks against drawing anything by a scene's camera, and what to do; "" where nothing does."""
    told = extra.get(TOLD)
    if isinstance(told, Mapping) and isinstance(wrong := told.get(UNBELIEVED), str):
        return f"{GUESSED}: {wrong}; {_ADVICE} --option yaw_deg=..."
    if not isinstance(told, Mapping) or (error := scale_error(told, NEAR_M)) <= MOST:
        return ""
    apart = f"; {told[APART]}" if isinstance(told.get(APART), str) else ""
    tried = told.get(SEEN_BY) == "twinlitenet" and told.get(THINGS_SOUGHT) is True
    return (
        f"{GUESSED}: what is drawn {NEAR_M:g} m away may be off by {error:.0%} in size (at most "
        f"{MOST:.0%}{apart}); {_ADVICE}{'' if tried else _SEES_MORE}"
    )


def in_doubt(told: Mapping[str, Any]) -> list[str]:
    """How sure the scale is, in words for the user; none where nobody doubts it."""
    if not isinstance(told.get(DOUBTS), Mapping):
        return []
    if _all_given(told):
        return ["sizes are as right as what is given"]
    return [
        f"sizes {distance:g} m away good to {scale_error(told, distance):.0%}" for distance in (NEAR_M, 30.0)
    ]


def _all_given(told: Mapping[str, Any]) -> bool:
    by = told.get("from")
    return isinstance(by, Mapping) and by.get("horizon_row") == by.get("camera_height_m") == "given"


def _parabola(told: Any) -> tuple[float, float, float]:
    """a, b, c: the square of the relative error at d m is a d^2 + 2 b d + c."""
    known = told.get(DOUBTS) if isinstance(told, Mapping) else None
    if not isinstance(known, Mapping):
        return 0.0, 0.0, 0.0
    pitch = math.radians(known["pitch_deg"]) / known["camera_height_m"]
    return pitch**2, -known["correlation"] * pitch * known["height"], known["height"] ** 2
