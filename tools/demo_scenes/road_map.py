"""Where the demo scenes' roads are, in the ego frame at t0: `python -m tools.demo_scenes.road_map` writes it into every
scene.json (no picture is rendered).

All of it follows from the cross-section and the curve by which ground.py paves the road and surface.py paints it. The
carriageway beyond a median barrier is left out: the barrier hides it, and no car gets there.
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from .kinds_of_place import PLACES
from .road import Road, stretches
from .scenes import SCENES

#: Along the main road from and to, m (the camera of 2 s ago stands 56 m back), and along a side road, of which houses
#: and grass hide what lies farther from it.
SPAN, SIDE_SPAN = (-70.0, 120.0), 20.0
#: Lines lose the points that lie this near to the line without them, m.
TOLERANCE_M = 0.01
#: Borders between lanes, t in m, by the painted lines where there are any; and what lies between: "" is a painted
#: median. Of a road for both ways, the lanes with t < 0 are the own direction's.
LANES: dict[str, tuple[tuple[float, ...], tuple[str, ...]]] = {
    "rural": ((-3.45, 0, 3.45), ("traffic",) * 2),
    "forest": ((-3.45, 0, 3.45), ("traffic",) * 2),
    "lane": ((-3.3, 0, 3.3), ("traffic",) * 2),
    "residential": ((-5.2, -3.2, 0, 3.2, 5.2), ("parking", "traffic", "traffic", "parking")),
    "street": ((-6, -3.75, 0, 3.75, 6), ("parking", "traffic", "traffic", "parking")),
    "urban": ((-9.2, -6.9, -3.4, 0, 3.4, 6.9, 9.2), ("parking", *("traffic",) * 4, "parking")),
    "arterial": ((-8.9, -5.25, -1.75, 1.75, 5.25, 8.9), ("traffic", "traffic", "", "traffic", "traffic")),
    "highway": ((-6.8, -3.65, 0, 3.65, 5.2), ("shoulder", "traffic", "traffic", "shoulder")),
    "freeway": ((-9.6, -5.75, -2.05, 1.65, 5.35, 7.4), ("shoulder", *("traffic",) * 3, "shoulder")),
}
ONE_WAY = {"highway", "freeway"}
KEYS = ("drivable", "crossings", "lanes")


def road_map(spec: dict[str, Any]) -> dict[str, Any]:
    """``drivable``, ``crossings`` and ``lanes`` of scene.json for a spec."""
    spec = {**PLACES[spec["place"]], **spec}
    road = Road(spec["curve"], start=(0.0, -spec["ego_t"]))
    strip = np.concatenate([_line(road, *SPAN, spec["right"]), _line(road, *SPAN[::-1], spec["left"])])
    drivable, lanes, bars, gaps = [strip], [], list(spec.get("crossings", ())), []
    if "junction" in spec:
        at, half, radius = spec["junction"], spec.get("side_half", 3.6), 6.0  # ground.py's Site
        gaps = [(at - half - radius, at + half + radius)]
        areas, side_lanes = _side_road(road, spec, at, half, radius)
        drivable += areas
        lanes += side_lanes
        bars += [at - half - 4.6, at + half + 1.8] if spec.get("zebra") else []
    borders, uses = LANES[spec["place"]]
    for (low, high), use in zip(pairwise(borders), uses, strict=True):
        for a, b in stretches(*SPAN, gaps if use == "parking" else []) if use else ():
            t = (low + high) / 2
            onward = t < 0 or spec["place"] in ONE_WAY
            lanes.append(_lane(_line(road, *((a, b) if onward else (b, a)), t), high - low, use))
    zebras = [_quad(road, at, at + 3.0, spec["right"], spec["left"]) for at in sorted(bars)]
    return {
        "drivable": [_rounded(area) for area in drivable],
        "crossings": [_rounded(area) for area in zebras],
        "lanes": lanes,
    }


def _side_road(
    road: Road, spec: dict[str, Any], at: float, half: float, radius: float
) -> tuple[list[np.ndarray], list[dict[str, Any]]]:
    """The arms of a side road with their rounded corners, and the lanes of each arm up to the main road's edge."""
    side = Road([(0, 0.0)], road.at(at)[:2], float(road.heading(at)) + np.pi / 2, (-150, 150))
    quarter = np.linspace(0, np.pi / 2, 13)
    areas = [_quad(side, -SIDE_SPAN, SIDE_SPAN, -half, half)]
    for edge, sign in ((spec["left"], 1), (spec["right"], -1)):
        for way in (-1, 1):
            arc_s = at + way * (half + radius * (1 - np.cos(quarter)))
            arc = road.at(arc_s, edge + sign * radius * (1 - np.sin(quarter)))
            areas.append(np.concatenate([arc, road.at(at + way * half, edge)[None]])[:, :2])
    arms = ((spec["left"], SIDE_SPAN), (-SIDE_SPAN, spec["right"]))
    lines = [line for a, b in arms for line in (_line(side, a, b, -half / 2), _line(side, b, a, half / 2))]
    return areas, [_lane(line, half, "traffic") for line in lines]


def _line(road: Road, start: float, stop: float, t: float) -> np.ndarray:
    """(n, 2) m: along the road at offset t, as few points as tell its bends."""
    points = road.at(np.linspace(start, stop, max(2, round(abs(stop - start) * 2))), t)[:, :2]
    return cv2.approxPolyDP(points.astype(np.float32)[:, None], TOLERANCE_M, False)[:, 0].astype(float)


def _quad(road: Road, a: float, b: float, right: float, left: float) -> np.ndarray:
    return road.at(np.array([a, b, b, a]), np.array([right, right, left, left]))[:, :2]


def _lane(line: np.ndarray, width: float, use: str) -> dict[str, Any]:
    return {"line": _rounded(line), "width_m": round(width, 2), "use": use}


def _rounded(points: np.ndarray) -> list[list[float]]:
    return [[round(float(v), 2) + 0.0 for v in point] for point in points]


def written(record: dict[str, Any]) -> str:
    """scene.json's text: the road map with a line for each polygon and lane."""
    text = json.dumps({key: value for key, value in record.items() if key not in KEYS}, indent=1)
    for key in KEYS:
        rows = ",\n  ".join(json.dumps(row) for row in record[key])
        text = text[:-2] + f',\n "{key}": [' + (f"\n  {rows}\n ]" if rows else "]") + "\n}"
    return text + "\n"


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", type=Path, default=Path("scenarios/scenes"))
    args = ap.parse_args()
    for name, spec in SCENES.items():
        path = args.out / name / "scene.json"
        if path.exists():
            path.write_text(written({**json.loads(path.read_text()), **road_map(spec)}))


if __name__ == "__main__":
    main()
