"""What scene.json carries along beside its own fields and cfgen reads all the same."""

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from cfgen.perception.light import PLACE_KEYS
from cfgen.records import Scene


def check_carried(scene: Scene) -> None:
    """Of what scene.json carries along, the keys that placement and light read.

    Raises:
        ValueError: one does not say what it is for; names it.
    """
    extra = scene.extra
    width, sun = extra.get("lane_width_m", 3.5), extra.get("sun")
    if not isinstance(width, (int, float)) or not 1 < width < 20:
        raise ValueError(
            f"lane_width_m: expected metres, about 3.5, found {width!r}; correct it or leave it out"
        )
    if sun is not None and not _is_direction(sun):
        raise ValueError(
            f"sun: expected x, y, z towards the sun, or null where none shines, found {sun!r}; correct it"
        )
    if (side := extra.get("drive_on", "right")) not in ("left", "right"):
        raise ValueError(f"drive_on: expected left or right, found {side!r}; correct it or leave it out")
    road = extra.get("road", ())
    if not isinstance(road, str) and not (
        isinstance(road, (list, tuple)) and all(isinstance(w, str) for w in road)
    ):
        raise ValueError(
            f"road: expected a word or a list of words, such as junction, found {road!r}; correct it"
        )
    _tells_place(extra)
    _tells_traffic(scene)


def _tells_traffic(scene: Scene) -> None:
    try:
        _ = scene.traffic
    except ValidationError as error:
        found = error.errors()[0]
        which, *field = found["loc"] or ("",)
        where = f"traffic[{which}]" + "".join(f".{part}" for part in field) if found["loc"] else "traffic"
        raise ValueError(
            f"{where}: expected a list of vehicles with x, y, theta, v and length_m ([] for none), found "
            f"{str(found['input'])[:60]!r} ({found['msg']}); correct it or leave it out"
        ) from error


def _tells_place(extra: Mapping[str, Any]) -> None:
    told = [key for key in PLACE_KEYS if key in extra]
    if told and len(told) < len(PLACE_KEYS):
        raise ValueError(
            f"{told[0]}: expected all of {', '.join(PLACE_KEYS)} or none, found {', '.join(told)}"
        )
    for key, most in zip(told, (90, 180, 360), strict=False):
        value = extra[key]
        if not isinstance(value, (int, float)) or not abs(value) <= most:
            raise ValueError(
                f"{key}: expected degrees, -{most} to {most}, found {value!r}; correct it or leave the place out"
            )


def _is_direction(value: Any) -> bool:
    whole = isinstance(value, (list, tuple)) and len(value) == 3
    return whole and all(isinstance(v, (int, float)) for v in value) and math.hypot(*value) > 1e-3
