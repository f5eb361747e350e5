"""Whether a classifier tells inserted vehicles from real ones, and changed frames from unchanged ones, by what the
camera does to a picture.

    python -m benchmarks.forensics BENCH [--redraw] [--sheet crops.png] [--leave-out ID,ID]

BENCH is a benchmark of vehicles on real drives. Real vehicles are what FastestDet finds at t0 in its scenes' front
frames; ``--sheet`` shows them with their ids, so that ``--leave-out`` can name what is none or is half hidden.
``--redraw`` makes every case's front frame again with the code at hand, at the place that the case has: paired
measurements. ``--scenes REGEX`` takes a part of the scenes.

The classifier is a linear discriminant with shrinkage that is trained on all scenes but one and asked about that one;
the intervals are a bootstrap over scenes, 95%. Real against real 2 s before is the control. Frames are compared by
file statistics and by their pixels outside every mask.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from scipy.stats import rankdata

from benchmarks.picture_statistics import MEASURES, SMALLEST, Part
from cfgen.benchmark.context import BuildContext, WorkerSettings
from cfgen.core.files import png_bytes, read_image
from cfgen.inpaint.edit import Edit, EditJob
from cfgen.perception.road_users import RoadUserNetwork
from cfgen.records import Case
from cfgen.scenes.folder import SceneFolder, load_scene
from cfgen.storage.store import Store

#: What counts as a vehicle, and how sure and high (pixels) it must be.
VEHICLES, SURE, LEAST_PX = {"car", "truck", "bus"}, 0.7, 24
#: A vehicle of which this share lies in another's box may be hidden by it.
_HIDDEN = 0.2
#: Weight of the identity in the discriminant's covariance of standardized measures, and resamplings.
_SHRINKAGE, _RESAMPLINGS = 0.3, 400
_BEFORE_S = -2.0
#: What counts as like: log height, and codes of the road before a vehicle.
_LIKE_SIZE, _LIKE_LIGHT = 0.3, 25.0
_LUMA = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True, eq=False)
class Sample:
    """Something measured in a scene: measures by name, each (K,)."""

    scene: str
    label: bool
    measures: dict[str, np.ndarray]


@dataclass(frozen=True)
class Area:
    """Area under the ROC curve with its 95% interval over scenes."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("--redraw", action="store_true")
    parser.add_argument("--scenes", default="", help="regular expression of scene ids")
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--leave-out", default="", help="ids of the sheet, separated by commas")
    asked = parser.parse_args()
    store = Store(asked.bench)
    folders = [load_scene(store.scene_dir(i)) for i in scene_ids(store, asked.scenes)]
    cases = [c for c in store.cases() if re.search(asked.scenes, c.scene_id)]
    frames = {c.case_id: pictures(store, c) for c in cases}
    if asked.redraw:
        frames = dict(redrawn(store, cases, frames))
    left_out = set(filter(None, asked.leave_out.split(",")))
    network = RoadUserNetwork()
    now, before = (real_vehicles(folders, network, t, left_out) for t in (0.0, _BEFORE_S))
    inserts = [crop for c in cases if c.case_id in frames if (crop := inserted(c, *frames[c.case_id]))]
    if asked.sheet:
        cv2.imwrite(str(asked.sheet), sheet([*now, *inserts])[..., ::-1])
    print(f"{len(inserts)} inserted, {len(now)} real, {len(before)} real 2 s before, {len(folders)} scenes")
    table("inserted against real", samples(inserts, True) + samples(now, False))
    alike, real = matched(inserts, [*now, *before])
    table(f"{len(alike)} pairs of like size and light", samples(alike, True) + samples(real, False))
    table("real against real 2 s before", samples(now, True) + samples(before, False))
    table(
        "augmented against original",
        [s for c in cases if c.case_id in frames for s in whole(c.scene_id, *frames[c.case_id])],
    )
    print(hug(cases, frames))
    return 0


# --- what is measured ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Crop:
    """A vehicle: its id, scene, frame, box (x0, y0, x1, y1) and, where a detector found it, its kind."""

    id: str
    scene: str
    frame: np.ndarray
    box: tuple[float, float, float, float]
    kind: str = ""

    def part(self) -> Part:
        """The ellipse that most of its box is."""
        x0, y0, x1, y1 = self.box
        counts = np.zeros(self.frame.shape[:2], np.uint8)
        middle, half = ((x0 + x1) / 2, (y0 + y1) / 2), ((x1 - x0) * 0.46, (y1 - y0) * 0.46)
        cv2.ellipse(counts, (*_pair(middle),), _pair(half), 0, 0, 360, 1, -1)
        return Part.of(self.frame, counts > 0)


def _pair(values: tuple[float, float]) -> tuple[int, int]:
    return round(values[0]), round(values[1])


def scene_ids(store: Store, pattern: str) -> list[str]:
    there = sorted(p.name for p in (store.root / "scenes").iterdir())
    return [i for i in there if re.search(pattern, i)]


def pictures(store: Store, case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Original, augmented, mask and layer of a case."""
    folder = store.case_dir(case.case_id)
    original, augmented = (read_image(folder / f"{n}.png") for n in ("original", "augmented"))
    return original, augmented, read_image(folder / "mask.png", "L"), read_image(folder / "layer.png", "RGBA")


Pictures = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def redrawn(
    store: Store, cases: Sequence[Case], frames: dict[str, Pictures]
) -> Iterator[tuple[str, Pictures]]:
    """The cases' front frames, made again where they stand."""
    context = BuildContext(WorkerSettings(store.root))
    for case in cases:
        folder = load_scene(store.scene_dir(case.scene_id))
        original = frames[case.case_id][0]
        scene = context.as_seen(folder.scene, {(folder.scene.front.name, 0.0): original})
        key = scene.front.name, 0.0
        seed = next(a.seed for a in case.attempts if not a.reason)
        images = {key: original}
        job = EditJob(
            scene,
            images,
            case.hazard,
            case.placement,
            seed,
            lattices={key: folder.lattices(folder.front_frame(), original)},
        )
        edit = context.edit(job)
        if isinstance(edit, Edit):
            yield case.case_id, (original, *edit.frames[key], edit.layer)
        else:
            print(f"{case.case_id} left out: {edit.reason}", file=sys.stderr)


def real_vehicles(
    folders: Sequence[SceneFolder], network: RoadUserNetwork, t: float, left_out: set[str]
) -> list[Crop]:
    """Vehicles that stand free in the scenes' front frames at ``t``, s; scenes without a frame then have none."""
    found = []
    for folder in folders:
        [frame] = folder.frames_at(folder.scene.front.name, [t])
        if frame is None:
            continue
        image = folder.image(frame)
        things = network.find(image, everywhere=True)
        for number, thing in enumerate(things):
            others = [o.box for o in things if o is not thing and o.box[3] > thing.box[3]]
            name = f"{folder.scene.scene_id}.{round(-t)}.{number}"
            free = all(_shared(thing.box, other) < _HIDDEN for other in others)
            if thing.kind in VEHICLES and thing.score >= SURE and free and name not in left_out:
                found.append(Crop(name, folder.scene.scene_id, image, thing.box, thing.kind))
    return [c for c in found if _measurable(c)]


def inserted(case: Case, original: np.ndarray, augmented: np.ndarray, *rest: np.ndarray) -> Crop | None:
    """What a case has added, by the rows and columns that its layer covers within its box."""
    cover = rest[1][..., 3] > 128
    x0, y0, x1, y1 = (round(v) for v in case.placement.box_px)
    within = np.zeros_like(cover)
    within[max(y0, 0) : y1, max(x0, 0) : x1] = True
    x, y, w, h = cv2.boundingRect((cover & within).astype(np.uint8))
    crop = Crop(case.case_id, case.scene_id, augmented, (x, y, x + w, y + h))
    return crop if _measurable(crop) else None


def matched(inserts: Sequence[Crop], real: Sequence[Crop]) -> tuple[list[Crop], list[Crop]]:
    """Pairs of an inserted and a real vehicle of about the same height on about as bright a road, each used once.

    Small things show more detail a pixel and bright ones more contrast, whoever made them.
    """
    seen = [np.array([_nuisances(c) for c in crops]).reshape(-1, 2) for crops in (inserts, real)]
    apart = np.linalg.norm(seen[0][:, None] - seen[1][None], axis=2)
    pairs: list[tuple[int, int]] = []
    while apart.size and apart.min() < 1:
        i, j = (int(n) for n in np.unravel_index(int(np.argmin(apart)), apart.shape))
        pairs.append((i, j))
        apart[i], apart[:, j] = np.inf, np.inf
    return [inserts[i] for i, _ in pairs], [real[j] for _, j in pairs]


def _nuisances(crop: Crop) -> tuple[float, float]:
    """Log height and the code of the road before it, in steps that still count as like."""
    x0, _, x1, y1 = (round(v) for v in crop.box)
    height = crop.box[3] - crop.box[1]
    top = min(y1 + round(height / 8), len(crop.frame) - 3)
    road = crop.frame[top : top + max(round(height / 5), 3), max(x0, 0) : x1]
    return float(np.log(height) / _LIKE_SIZE), float(np.median(road @ _LUMA) / _LIKE_LIGHT)


def _measurable(crop: Crop) -> bool:
    x0, y0, x1, y1 = crop.box
    height, width = crop.frame.shape[:2]
    cut = x0 < 2 or y0 < 2 or x1 > width - 2 or y1 > height - 2
    return y1 - y0 >= LEAST_PX and x1 - x0 >= SMALLEST and not cut


def _shared(box: tuple[float, ...], other: tuple[float, ...]) -> float:
    wide = min(box[2], other[2]) - max(box[0], other[0])
    high = min(box[3], other[3]) - max(box[1], other[1])
    return max(wide, 0) * max(high, 0) / ((box[2] - box[0]) * (box[3] - box[1]))


def samples(crops: Sequence[Crop], label: bool) -> list[Sample]:
    parts = [(c.scene, c.part()) for c in crops]
    return [Sample(scene, label, {n: m(part) for n, m in MEASURES.items()}) for scene, part in parts]


def whole(
    scene: str, original: np.ndarray, augmented: np.ndarray, mask: np.ndarray, _: np.ndarray
) -> list[Sample]:
    """Both frames by the sizes of their files and by what lies outside the mask."""
    outside = Part.of(original, mask == 0)
    made = []
    for label, frame in ((False, original), (True, augmented)):
        ycc = cv2.cvtColor(frame, cv2.COLOR_RGB2YCrCb)
        packed = [len(cv2.imencode(".jpg", ycc, [cv2.IMWRITE_JPEG_QUALITY, q])[1]) for q in (75, 95)]
        all_of_it = Part.of(frame, np.ones(frame.shape[:2], bool))
        sizes = np.log([len(png_bytes(frame)), *packed]) - np.log(frame.size)
        measures = {"file": np.array([*sizes, sizes[0] - sizes[2]])}
        for name in ("grid", "noise"):
            measures[f"frame's {name}"] = MEASURES[name](all_of_it)
            measures[f"unmasked {name}"] = MEASURES[name](replace(outside, frame=frame))
        made.append(Sample(scene, label, measures))
    return made


def hug(cases: Sequence[Case], frames: dict[str, Pictures]) -> str:
    """How closely masks fit: their pixels within a compressed block (16 px) of what the layer covers."""
    reach = np.ones((33, 33), np.uint8)
    within, shares = [], []
    for case in cases:
        if case.case_id in frames:
            _, _, mask, layer = frames[case.case_id]
            near = cv2.dilate((layer[..., 3] > 2).astype(np.uint8), reach) > 0
            within.append(float(near[mask > 0].mean()))
            shares.append(float((mask > 0).mean()))
    return (
        f"masks: within reach median {np.median(within):.2f}, least {min(within):.2f}; "
        f"share of the frame median {np.median(shares):.2f}, most {max(shares):.2f}"
    )


# --- the classifier -----------------------------------------------------------------------------------------


def table(title: str, found: Sequence[Sample]) -> None:
    print(title)
    for name, area in areas(found).items():
        print(f"  {name:16} {area}")


def areas(found: Sequence[Sample]) -> dict[str, Area]:
    """By measure and by all together, how well a label is told in a scene that the classifier has not seen."""
    labels = np.array([s.label for s in found])
    scenes = np.array([s.scene for s in found])
    if labels.all() or not labels.any():
        return {}
    names = list(found[0].measures)
    columns = {n: np.stack([s.measures[n] for s in found]) for n in names}
    columns["all"] = np.hstack([columns[n] for n in names])
    return {n: area_of(left_out_scores(x, labels, scenes), labels, scenes) for n, x in columns.items()}


def left_out_scores(x: np.ndarray, labels: np.ndarray, scenes: np.ndarray) -> np.ndarray:
    """(N,) scores of samples (N, K), each by a discriminant that has not seen its scene."""
    scores = np.zeros(len(x))
    for scene in np.unique(scenes):
        out = scenes == scene
        if labels[~out].all() or not labels[~out].any():
            continue
        scores[out] = _discriminant(x[~out], labels[~out])(x[out])
    return scores


def _discriminant(x: np.ndarray, labels: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Fisher's linear discriminant with a covariance shrunk towards the identity; standardized, held within 4."""
    mean, spread = x.mean(0), x.std(0) + 1e-9

    def standard(values: np.ndarray) -> np.ndarray:
        return np.clip((values - mean) / spread, -4, 4)

    z = standard(x)
    one, other = z[labels].mean(0), z[~labels].mean(0)
    rest = z - np.where(labels[:, None], one, other)
    inner = (1 - _SHRINKAGE) * (rest.T @ rest) / len(z) + _SHRINKAGE * np.eye(z.shape[1])
    weights = np.linalg.solve(inner, one - other)
    middle = (one + other) @ weights / 2
    return lambda values: standard(values) @ weights - middle


def area_of(scores: np.ndarray, labels: np.ndarray, scenes: np.ndarray) -> Area:
    """Area under the curve of the scores, with a bootstrap over scenes."""
    rng = np.random.default_rng(0)
    groups = [np.flatnonzero(scenes == s) for s in np.unique(scenes)]
    drawn = []
    for _ in range(_RESAMPLINGS):
        at = np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))])
        if labels[at].any() and not labels[at].all():
            drawn.append(roc_area(scores[at], labels[at]))
    return Area(roc_area(scores, labels), *(float(v) for v in np.percentile(drawn, [2.5, 97.5])))


def roc_area(scores: np.ndarray, labels: np.ndarray) -> float:
    """Chance that a labelled sample scores above another, ties half."""
    ranks, ones = rankdata(scores), int(labels.sum())
    above = float(ranks[labels].sum()) - ones * (ones + 1) / 2
    return above / (ones * (len(labels) - ones))


def sheet(crops: Sequence[Crop], side: int = 150, columns: int = 10) -> np.ndarray:
    """Crops side by side with their ids, (H, W, 3) uint8."""
    rows = -(-len(crops) // columns)
    made = np.zeros((rows * side, columns * side, 3), np.uint8)
    for number, crop in enumerate(crops):
        x0, y0, x1, y1 = crop.box
        half = 0.6 * max(x1 - x0, y1 - y0)
        move = np.array([[side / 2 / half, 0, 0], [0, side / 2 / half, 0]], np.float32)
        move[:, 2] = side / 2 - move[0, 0] * np.array([(x0 + x1) / 2, (y0 + y1) / 2])
        tile = cv2.warpAffine(crop.frame, move, (side, side), flags=cv2.INTER_LINEAR)
        cv2.putText(tile, crop.id[-14:], (2, side - 4), cv2.FONT_HERSHEY_SIMPLEX, 0.35, (255, 255, 0))
        top, left = number // columns * side, number % columns * side
        made[top : top + side, left : left + side] = tile
    return made


if __name__ == "__main__":
    sys.exit(main())
