"""Fits cfgen/perception/weights/sun_shines.json: `python -m tools.sun_fit.fit [--out FILE]`.

It reads the demo scenes named in frames.csv, whose suns are exact, and nothing else; the other half of them tells how
well it went. Without --out it only tells that.
"""

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cfgen.perception.cast_shadows import scene_shadows
from cfgen.perception.light_probe import probe_light
from cfgen.perception.registry import create_perceiver
from cfgen.perception.sun_shines import light_signs
from cfgen.perception.views import Views
from cfgen.scenes.folder import load_scene

FRAMES, ROOT = Path(__file__).parent / "frames.csv", Path(__file__).resolve().parents[2]
STEPS, FARTHEST = 60, 3.0
#: Of whether it shines: the ridge, and the share of the rules' own log odds (the first sign), which were set on real
#: pictures, in the sum.
RIDGE, RULES = 0.15, 0.25


class Seen(NamedTuple):
    """What is read from a scene, and the truth."""

    signs: np.ndarray
    sunny: bool


def fit(signs: np.ndarray, sunny: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights (K,) and bias of a logistic regression with a ridge, by Newton's method; both kinds weigh the same."""
    rows = np.column_stack([signs, np.ones(len(signs))])
    share = np.where(sunny > 0, 0.5 / sunny.sum(), 0.5 / (1 - sunny).sum())
    ridge, found = np.append(np.full(signs.shape[1], 2 * RIDGE), 1e-9), np.zeros(rows.shape[1])
    for _ in range(STEPS):
        told = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (share * (told - sunny)) + ridge * found
        bend = (rows * (share * told * (1 - told))[:, None]).T @ rows + np.diag(ridge)
        found = found - np.linalg.solve(bend, slope)
    return found[:-1], float(found[-1])


def read(paths: Sequence[Path]) -> list[Seen]:
    """What scenes of known suns show."""
    views, found = Views.of(create_perceiver("twinlitenet", {"things": "fastestdet"})), []
    for path in paths:
        folder = load_scene(path)
        scene, image = folder.scene, folder.image()
        view = views.scene(scene, {(scene.front.name, 0.0): image})
        signs = light_signs(probe_light(image, scene.front), scene_shadows(view))
        found.append(Seen(signs, scene.extra["sun"] is not None))
    return found


def shining(half: Sequence[Seen], other: Sequence[Seen]) -> dict[str, object]:
    """The fit of whether it shines; prints how it does on the other half."""
    every, sunny = np.array([one.signs for one in half]), np.array([one.sunny for one in half])
    mean, spread = every.mean(0).round(4), (every.std(0) + 1e-3).round(4)
    by, bias = fit(np.clip((every - mean) / spread, -FARTHEST, FARTHEST), sunny.astype(float))
    by, bias = (1 - RULES) * by, (1 - RULES) * bias + RULES * float(mean[0])
    by[0] += RULES * float(spread[0])
    z = np.clip((np.array([one.signs for one in other]) - mean) / spread, -FARTHEST, FARTHEST) @ by + bias
    shone = np.array([one.sunny for one in other])
    missed, called = int((z < 0)[shone].sum()), int((z >= 0)[~shone].sum())
    print(
        f"other half: {missed} of {shone.sum()} sunny missed, {called} of {(~shone).sum()} others called sunny"
    )
    tables = {"mean": mean.tolist(), "spread": spread.tolist(), "weight": by.round(4).tolist()}
    return {"bias": round(bias, 4)} | tables


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", type=Path, help="a file, like cfgen/perception/weights/sun_shines.json")
    args = ap.parse_args()
    with FRAMES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    half, other = (read([ROOT / row["path"] for row in rows if row["fitted"] == kind]) for kind in ("1", "0"))
    fitted = shining(half, other)
    if args.out:
        told = {"fitted_by": "tools/sun_fit", "frames": len(half)} | fitted
        args.out.write_text(json.dumps(told) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
