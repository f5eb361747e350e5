"""Whether a classifier tells a benchmark's versions apart by what edits leave in pixels, not by what they show.

    python -m benchmarks.versions BENCH

Front frames are told apart by file statistics, grid and noise of the whole frame (objects differ in colour and size:
what is measured of them alone tells what they are), the edit without an object also by all that is measured where the
hazard's edit changed the frame. Measures and classifier, held out by scene, are those of :mod:`benchmarks.forensics`.
Hazard against nuisance should be at most 0.60, original against the edit without an object at most 0.65. Also told:
how many pixels each version changes.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.forensics import Sample, table, whole
from benchmarks.picture_statistics import MEASURES, SMALLEST, Part
from cfgen.inpaint.paste import differ
from cfgen.records import Case
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.storage.store import Store


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    store = Store(parser.parse_args().bench)
    inputs, cases = RolloutInputs(store, store.benchmark.seed), store.cases()
    changed: dict[str, list[int]] = {"hazard": [], "null": [], "nuisance": []}
    titles = "nuisance against hazard", "null against original", "null against original, where the hazard is"
    pairs: dict[str, list[Sample]] = {title: [] for title in titles}
    for case in cases:
        original = inputs.front(case, "original")
        frames = {arm: inputs.front(case, arm) for arm in changed if arm in case.arms}
        masks = {arm: differ(original, frame) > 0 for arm, frame in frames.items()}
        for arm, mask in masks.items():
            changed[arm].append(int(mask.sum()))
        if "nuisance" in frames:
            either = (masks["hazard"] | masks["nuisance"]).astype(np.uint8)
            pairs[titles[0]] += whole(case.scene_id, frames["hazard"], frames["nuisance"], either, either)
        if "null" in frames:
            mask = masks["hazard"].astype(np.uint8)
            pairs[titles[1]] += whole(case.scene_id, original, frames["null"], mask, mask)
            for label, frame in ((False, original), (True, frames["null"])):
                pairs[titles[2]] += sample(case, frame, masks["hazard"], label)
    for arm, counts in changed.items():
        if counts:
            print(f"{arm}: changes {np.median(counts):.0f} pixels (median of {len(counts)})")
    for title, samples in pairs.items():
        table(title, samples)
    return 0


def sample(case: Case, frame: np.ndarray, mask: np.ndarray, label: bool) -> list[Sample]:
    """What is measured of a frame where ``mask`` (H, W) bool is set; nothing where that is too small."""
    part = Part.of(frame, mask)
    if min(part.here.shape) < SMALLEST:
        return []
    return [Sample(case.scene_id, label, {name: measure(part) for name, measure in MEASURES.items()})]


if __name__ == "__main__":
    sys.exit(main())
