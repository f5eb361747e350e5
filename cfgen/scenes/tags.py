"""What a scene can be chosen by: its tags, read from scene.json without loading the scene."""

import math
from collections.abc import Mapping
from typing import Any

#: A tag's value; a list has several at once, such as a road that is a junction and a crossing.
Value = str | float | bool | list[str]
Tags = dict[str, Value]

_TEXTS = ("source", "license", "timestamp", "camera")
_NO_TAGS = ("scene_id", "schema_version", "image", "columns", "dt", "tags", "speed_t0", *_TEXTS)
_KNOWN = {True: "known", False: "guessed"}


def tags_of(content: Mapping[str, Any]) -> Tags:
    """Of the content of a scene.json.

    ``id``, ``speed`` and ``speed_kmh``, ``turn_deg_s`` (> 0 left), ``motion`` (known, estimated, guessed),
    ``future_s``, ``cameras``, ``month`` and ``hour`` (UTC) of its timestamp, its texts, every other key that holds a
    text, a number, yes or no or texts, and its own ``tags``, which win.

    Raises:
        ValueError: says what is no tag.
    """
    tags: Tags = {"id": str(content["scene_id"])}
    tags |= {key: str(content[key]) for key in _TEXTS if content.get(key)}
    tags |= {key: value for key, value in content.items() if key not in _NO_TAGS and _is_tag(value)}
    tags["cameras"] = 1.0 + len(content.get("cameras") or ())
    tags |= _driven(content) | _when(str(content.get("timestamp") or ""))
    return tags | own_tags(content)


def own_tags(content: Mapping[str, Any]) -> Tags:
    """Those that a scene.json gives under ``tags``.

    Raises:
        ValueError: says what is no tag.
    """
    own = content.get("tags") or {}
    if isinstance(own, list):
        own = dict.fromkeys(map(str, own), True)
    if not isinstance(own, Mapping):
        raise ValueError(f"tags: expected names with values, or a list of names, found {own!r}; correct it")
    for key, value in own.items():
        if not _is_tag(value):
            raise ValueError(
                f"tags: '{key}': expected a text, a number, true or false, or texts, found {value!r}; correct it"
            )
    return dict(own)


def _is_tag(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(word, str) for word in value)
    return isinstance(value, (str, bool)) or (isinstance(value, (int, float)) and math.isfinite(value))


def _driven(content: Mapping[str, Any]) -> Tags:
    history, future = content.get("history"), content.get("future")
    tags: Tags = {}
    speed = history[-1][3] if history else content.get("speed_t0")
    if isinstance(speed, (int, float)):
        tags |= {"speed": float(speed), "speed_kmh": 3.6 * float(speed)}
    motion_known = content.get("motion_known")
    tags["motion"] = (
        _KNOWN[bool(history)] if motion_known is None else _KNOWN.get(motion_known, str(motion_known))
    )
    dt = float(content.get("dt", 0.25))
    if history and len(history) > 1:
        times = content.get("history_t") or [dt * i for i in range(len(history))]
        first = max(0, len(history) - 5)
        spun = history[-1][2] - history[first][2]
        tags["turn_deg_s"] = round(math.degrees(spun) / (times[-1] - times[first]), 3)
    if future:
        tags["future_s"] = float((content.get("future_t") or [dt * len(future)])[-1])
    return tags


def _when(timestamp: str) -> Tags:
    """Month and hour of an ISO time."""
    try:
        return {"month": float(timestamp[5:7]), "hour": float(timestamp[11:13])}
    except ValueError:
        return {}
