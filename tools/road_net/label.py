"""Label frames with a teacher network: `python -m tools.road_net.label TEACHER.onnx OUT.npz SOURCE ...`.

A SOURCE is `folder-or-video[:every]`: each `every`-th picture of the folder (sorted by path) or frame of the video.
OUT holds rgb (n, 270, 480, 3) uint8 and road, lane (n, 270, 480) uint8: the teacher's probability times 255. `.npz`
files of tools.road_net.render are sources too: their road is kept, since it is exact, and only lines are labelled.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

KEPT = (480, 270)
PICTURES = {".jpg", ".jpeg", ".png"}


def teach(net: cv2.dnn.Net, rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """TwinLiteNet's probabilities (360, 640) of `drivable` and `lane` for a frame (h, w, 3) uint8 RGB."""
    small = cv2.resize(rgb, (640, 360), interpolation=cv2.INTER_AREA)
    net.setInput(small.transpose(2, 0, 1)[None].astype(np.float32) / 255)
    both = net.forward(["drivable", "lane"])
    return tuple(1 / (1 + np.exp(np.clip(z[0, 0] - z[0, 1], -30, 30))) for z in both)


def frames(source: str) -> Iterator[np.ndarray]:
    """RGB frames of one source."""
    name, _, every = source.partition(":")
    path, step = Path(name), int(every or 1)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.suffix.lower() in PICTURES)
        for one in found[::step]:
            picture = cv2.imread(str(one))
            if picture is None:
                raise SystemExit(f"{one}: not a picture that OpenCV reads; take it out of the folder")
            yield picture[..., ::-1]
        return
    video, at = cv2.VideoCapture(name), 0
    if not video.isOpened():
        raise SystemExit(f"{name}: neither a folder nor a video that OpenCV reads")
    while video.grab():
        if at % step == 0:
            yield video.retrieve()[1][..., ::-1]
        at += 1


def coded(probability: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A probability plane as uint8 of the given (width, height)."""
    return np.round(cv2.resize(probability, size, interpolation=cv2.INTER_AREA) * 255).astype(np.uint8)


def main() -> None:
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("teacher", type=Path)
    ap.add_argument("out", type=Path)
    ap.add_argument("sources", nargs="+")
    ap.add_argument(
        "--least", type=float, default=0.0, help="leave out frames of which the teacher calls less road"
    )
    args = ap.parse_args()
    cv2.setNumThreads(1)
    net = cv2.dnn.readNetFromONNX(str(args.teacher))
    rgb, road, lane = [], [], []
    for source in args.sources:
        rendered = source.endswith(".npz")
        exact = np.load(source) if rendered else None
        for k, frame in enumerate(exact["rgb"] if rendered else frames(source)):
            drivable, line = teach(net, frame)
            if drivable.mean() < args.least:
                continue
            size = frame.shape[1::-1] if rendered else KEPT
            rgb.append(frame if rendered else cv2.resize(frame, KEPT, interpolation=cv2.INTER_AREA))
            road.append(exact["road"][k] * 255 if rendered else coded(drivable, size))
            lane.append(np.minimum(coded(line, size), road[-1]) if rendered else coded(line, size))
    np.savez_compressed(args.out, rgb=np.stack(rgb), road=np.stack(road), lane=np.stack(lane))
    print(f"{args.out}: {len(rgb)} frames")


if __name__ == "__main__":
    main()
