"""Precision and recall: `python -m tools.road_net.evaluate ROAD_NET.onnx NAME=LABELLED.npz ... [--sheet OUT.png]`.

LABELLED is a file of tools.road_net.label or of hand labels (rgb, road; road 128 is left out). Pixels are counted at
the network's own size; truth is road, painted or not, where the truth's plane is above one half. With --near only what
matters to placement counts: up to 60 m ahead and 5.5 m to either side, a camera 1.5 m high with a 60-degree lens and
the horizon a little above the highest row in which the truth has road.
"""

import argparse
from pathlib import Path

import cv2
import numpy as np

from .network import HEIGHT, WIDTH

THRESHOLDS = np.round(np.concatenate([np.arange(0.3, 0.95, 0.05), np.arange(0.95, 0.999, 0.01)]), 3)


def logits(net: cv2.dnn.Net, rgb: np.ndarray) -> np.ndarray:
    """(2, 112, 192) for a frame (h, w, 3) uint8 RGB."""
    small = cv2.resize(rgb, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    net.setInput(small.transpose(2, 0, 1)[None].astype(np.float32) / 255)
    return net.forward()[0]


def near(truth: np.ndarray) -> np.ndarray:
    """Where the ground within 60 m ahead and 5.5 m to either side is, (112, 192) bool."""
    focal, high = WIDTH / 2 / np.tan(np.deg2rad(30)), 1.5
    rows = np.flatnonzero(truth.sum(1) >= 4)
    horizon = (rows[0] if len(rows) else HEIGHT / 2) - focal * high / 150
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    ahead = focal * high / np.maximum(y - horizon, 1e-3)
    return (y > horizon) & (ahead <= 60) & (np.abs(x - WIDTH / 2) * ahead / focal <= 5.5)


def counts(probability: np.ndarray, road: np.ndarray, only_near: bool = False) -> np.ndarray:
    """(thresholds, 3): hits, claimed pixels, road pixels of one frame."""
    code = cv2.resize(road, (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST)
    known, truth = code != 128, code > 128
    if only_near:
        known &= near(truth)
    rows = []
    for t in THRESHOLDS:
        claimed = (probability >= t) & known
        rows.append([(claimed & truth).sum(), claimed.sum(), (truth & known).sum()])
    return np.array(rows)


def picture(rgb: np.ndarray, probability: np.ndarray, road: np.ndarray, threshold: float) -> np.ndarray:
    """BGR: hits green, false road red, missed road blue."""
    view = cv2.resize(rgb, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)[..., ::-1].copy()
    truth = cv2.resize(road, (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST) > 128
    claimed = probability >= threshold
    for where, colour in (
        (claimed & truth, (0, 200, 0)),
        (claimed & ~truth, (0, 0, 255)),
        (~claimed & truth, (255, 0, 0)),
    ):
        view[where] = (0.55 * view[where] + 0.45 * np.array(colour)).astype(np.uint8)
    return view


def rates(hit: float, claimed: float, truth: float) -> str:
    """Both rates in words."""
    return f"precision {hit / max(claimed, 1):.3f}  recall {hit / max(truth, 1):.3f}"


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("network", type=Path)
    ap.add_argument("sets", nargs="+")
    ap.add_argument("--threshold", type=float, default=0.9)
    ap.add_argument("--near", action="store_true")
    ap.add_argument("--sheet", type=Path, help="a picture of every frame, worst precision first")
    args = ap.parse_args()
    cv2.setNumThreads(1)
    net, total, views = cv2.dnn.readNetFromONNX(str(args.network)), 0, []
    at = int(np.abs(THRESHOLDS - args.threshold).argmin())
    for entry in args.sets:
        name, _, path = entry.rpartition("=")
        data, mine = np.load(path), 0
        truth = np.maximum(data["road"], data["lane"]) if "lane" in data else data["road"]
        for rgb, road in zip(data["rgb"], truth, strict=True):
            probability = 1 / (1 + np.exp(-logits(net, rgb)[0]))
            one = counts(probability, road, args.near)
            mine = mine + one
            wrong = one[at, 1] - one[at, 0]
            views.append((wrong, picture(rgb, probability, road, THRESHOLDS[at])))
        total = total + mine
        hit, claimed, truth = mine[at]
        print(f"{name:14} {len(data['rgb']):4} frames  {rates(hit, claimed, truth)}")
    for t, (hit, claimed, truth) in zip(THRESHOLDS, total, strict=True):
        print(f"p >= {t:.3f}  {rates(hit, claimed, truth)}")
    if args.sheet:
        views.sort(key=lambda v: -v[0])
        rows = [v for _, v in views] + [np.zeros_like(views[0][1])] * (-len(views) % 6)
        cv2.imwrite(str(args.sheet), np.vstack([np.hstack(rows[k : k + 6]) for k in range(0, len(rows), 6)]))


if __name__ == "__main__":
    main()
