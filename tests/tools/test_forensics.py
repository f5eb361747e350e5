"""The forensics benchmark on pictures and samples made up here, whose answers are known."""

import io

import cv2
import numpy as np
import pytest
from PIL import Image

from benchmarks import forensic_twins, forensics
from benchmarks.forensics import Crop, Sample, areas, roc_area, samples
from cfgen.core.errors import StoreError
from cfgen.hazards.taxonomy import load_taxonomy
from tests.hazards import drawn


def textured(seed, scale=1.0, noise=3.0):
    rng = np.random.default_rng(seed)
    patches = cv2.resize(rng.integers(60, 190, (12, 16, 3)).astype(np.float32), (320, 240))
    grain = rng.normal(0, noise, (240, 320, 3))
    return np.clip((patches - 120) * scale + 120 + grain, 0, 255).astype(np.uint8)


def compressed(image, quality=75):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(io.BytesIO(file.getvalue())))


def crops(made, first=0):
    return [Crop(f"{first}{i}", f"s{i // 2}", image, (100, 70, 180, 150)) for i, image in enumerate(made)]


def test_the_area_is_the_share_of_pairs_in_the_right_order():
    scores = np.array([0.1, 0.4, 0.4, 0.8, 0.9, 0.2])
    labels = np.array([0, 1, 0, 1, 0, 0], bool)
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[labels] for b in scores[~labels]]
    assert roc_area(scores, labels) == pytest.approx(np.mean(pairs))


@pytest.fixture(scope="module")
def plain():
    return [compressed(textured(i)) for i in range(12)]


@pytest.fixture(scope="module")
def measured(plain):
    return samples(crops(plain), False)


@pytest.fixture(autouse=True)
def few_resamplings(monkeypatch):
    monkeypatch.setattr(forensics, "_RESAMPLINGS", 40)


@pytest.mark.parametrize(
    ("measure", "change"),
    [
        ("grid", lambda i: np.roll(compressed(textured(i)), (3, 5), (0, 1))),
        ("tone", lambda i: compressed(textured(i, 0.6))),
        ("colour", lambda i: np.roll(compressed(textured(i)), 30, 2) // np.array([1, 1, 2])),
        ("noise", lambda i: compressed(textured(i, noise=9))),
        ("sharpness", lambda i: compressed(cv2.GaussianBlur(textured(i), (0, 0), 1.5))),
    ],
)
def test_each_measure_tells_what_it_is_for(measured, measure, change):
    changed = [np.asarray(change(100 + i), np.uint8) for i in range(12)]
    found = areas(samples(crops(changed, 1), True) + measured)
    assert found[measure].value > 0.9
    assert found[measure].low <= found[measure].value <= found[measure].high


def test_alike_is_not_told_apart(measured):
    other = [compressed(textured(200 + i)) for i in range(12)]
    found = areas(samples(crops(other, 1), True) + measured)
    assert all(area.low < 0.6 for area in found.values())


def test_the_classifier_is_asked_about_scenes_that_it_has_not_seen():
    """What only tells scenes apart is of no use to it."""
    rng = np.random.default_rng(0)
    made = []
    for scene in range(20):
        own = rng.normal(0, 1, 30)
        made += [Sample(str(scene), scene % 2 == 0, {"own": own + rng.normal(0, 1e-3, 30)}) for _ in range(4)]
    assert areas(made)["own"].value < 0.7


def test_a_folder_that_is_no_benchmark_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["forensics", str(tmp_path)])
    with pytest.raises(StoreError, match=str(tmp_path)):
        forensics.main()


@pytest.mark.parametrize("yaw", [0.0, 3.1416])
def test_a_twin_is_as_high_as_the_vehicle_and_ends_on_its_last_row(yaw):
    hazard = load_taxonomy().get("car_spun")
    box = (250.0, 190.0, 330.0, 240.0)
    place = forensic_twins.placed(drawn.scene(), hazard, box, yaw)
    assert place.placement.box_px[3] == pytest.approx(box[3], abs=0.5)
    assert place.placement.box_px[1] == pytest.approx(box[1], abs=1.0)
    assert sum(place.placement.box_px[::2]) / 2 == pytest.approx(290, abs=1)


def test_twins_are_split_by_blocks_of_scenes_and_stand_on_road_without_the_shadow():
    ids = [f"{i:02}" for i in range(30)]
    one, other = (forensic_twins.half(ids, which) for which in "AB")
    assert sorted(one + other) == ids == forensic_twins.half(ids, None)
    assert one[:7] == [*ids[:6], "12"]
    frame = np.full((240, 320, 3), 120, np.uint8)
    frame[150:160, 100:180] = 10
    bare = forensic_twins.without_shadow(Crop("a", "s", frame, (100, 70, 180, 150)))
    assert bare[150:190, 100:180].min() == 120
    assert np.array_equal(bare[:140], frame[:140])
