"""Planners on real obstacles: what is written to a folder of pairs comes out as cases, rates and intervals."""

import csv
import json
import warnings
from pathlib import Path

import cv2
import numpy as np
import pytest

import cfgen
from cfgen.benchmark.real_pairs import pairs_benchmark
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.core.files import png_bytes
from cfgen.metrics.intervals import Rate
from cfgen.metrics.validity import independent_difference, standardized, validity
from cfgen.planners.protocol import Requirements, Response
from cfgen.scenes.pairs import ObstacleOptions, import_pairs
from tests.reporting.bench import SIZE, blind, make_bench, painted, straight

RED = (220, 30, 20)
SPEED = 12.0
CLUSTER = "Foreign Object Debris"


class Sees:
    """Brakes for red."""

    name = "sees"
    needs = Requirements(cameras=("front",), frame_times=(0.0,))

    def plan(self, observations):
        return [self._one(o) for o in observations]

    def _one(self, o):
        pixels = o.images["front"][-1].pixels.astype(int)
        red = ((pixels[..., 0] - pixels[..., 1:].max(axis=2)) > 100).any()
        t = np.arange(1, 25) * 0.25
        return Response("", straight(o.speed, 3.0 if red else 0.0)[:, :2], t)


def scene(folder: Path, shown: np.ndarray, **more: object) -> None:
    """Camera 1.4 m high, focal length as wide as the picture, horizon in the middle."""
    width, height = SIZE
    content = {
        "scene_id": folder.name,
        "image": "frame.png",
        "width": width,
        "height": height,
        "intrinsics": {"fx": width, "fy": width, "cx": width / 2, "cy": height / 2},
        "extrinsics": {"camera_height_m": 1.4},
        "speed_t0": SPEED,
        **more,
    }
    folder.mkdir(parents=True)
    (folder / "frame.png").write_bytes(png_bytes(shown))
    (folder / "scene.json").write_text(json.dumps(content))


def with_box(i: int, box: tuple[int, int, int, int], color: tuple[int, int, int]) -> np.ndarray:
    x0, y0, x1, y1 = box
    image = painted(i, modified=False)
    image[y0:y1, x0:x1] = color
    return image


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Six obstacles whose foot is in row 112.4, 20 m ahead; in two of them it is not red. All have a control."""
    root, box = tmp_path / "pairs", (152, 100, 168, 112)
    found = []
    for i in range(6):
        scene(root / f"clear{i}", painted(i, modified=False))
        scene(root / f"seen{i}", with_box(i, box, RED if i < 4 else (90, 90, 90)))
        scene(root / f"other{i}", painted(i + 1, modified=False))
        found.append(
            {"id": f"p{i}", "clear": f"clear{i}", "obstacle": f"seen{i}", "control": f"other{i}"}
            | {"hazard": CLUSTER, "box_px": [152, 100, 168, 112.4]}
        )
    (root / "pairs.json").write_text(json.dumps({"name": "mine", "pairs": found}))
    return root


def validated(folder: Path, **options: object):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an untested judge, which the drive does not need
        return cfgen.validate_real(folder, Sees(), quiet=True, **options)


def test_difference_of_independent_shares_as_published():
    """Newcombe 1998, Statistics in Medicine 17, 873-890, table II, contrast (a), method 10: 56/70 - 48/80."""
    found = independent_difference(Rate.of(56, 70), Rate.of(48, 80))
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)
    assert found.value == pytest.approx(0.2)


def test_inserts_count_as_often_as_real_cases_do():
    """Near: 3 real, 10 inserts, far: 1 real, 2 inserts; two real cases have nothing like them."""
    real = {"n0": 1.0, "n1": 1.0, "n2": 0.0, "f0": 0.0, "x0": 1.0, "x1": 1.0}
    inserts = {f"n{i}": float(i < 5) for i in range(10)} | {"f0": 1.0, "f1": 1.0, "y": 0.0}
    cells = {
        name: ({"n": "near", "f": "far", "x": "alone", "y": "other"}[name[0]],) for name in (*real, *inserts)
    }
    found = validity(real, inserts, cells, cells, {"n0": ["n0", "n9"], "f0": ["f0"]})
    assert found.real.value == pytest.approx(2 / 4)
    assert found.inserts.value == pytest.approx((3 * 0.5 + 1 * 1.0) / 4)
    assert found.unmatched == 2
    # on the same scenes: 1 - mean(1, 0), and 0 - 1
    assert (found.paired.n, found.paired.value) == (2, pytest.approx((0.5 - 1.0) / 2))


def test_one_stratum_keeps_its_own_interval():
    rate = Rate.of(7, 20)
    found = standardized([rate], [5])
    assert (found.value, found.low, found.high) == pytest.approx((rate.value, rate.low, rate.high))


def test_intervals_of_agreement_cover_the_truth():
    """Where inserts and real obstacles succeed alike, 95% intervals hold 0 in 93% of draws or more."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        a = {f"r{i}": float(rng.random() < (0.7 if i < 15 else 0.3)) for i in range(30)}
        b = {f"i{i}": float(rng.random() < (0.7 if i < 10 else 0.3)) for i in range(60)}
        cells = {
            name: ("near" if int(name[1:]) < (15 if name[0] == "r" else 10) else "far",) for name in (*a, *b)
        }
        found = validity(a, b, cells, cells).difference
        held += found.low <= 0 <= found.high
    assert held >= 0.93 * 400


def test_pairs_become_cases_that_tell_where_the_obstacle_is(pairs: Path, tmp_path: Path):
    """By hand: 1.4 m high, 320 px of focal length, 22.4 rows below the horizon: 20 m; 16 px wide there: 1 m."""
    store = pairs_benchmark(pairs, tmp_path / "b")
    cases = store.cases()
    assert len(cases) == 6
    place = cases[0].placement
    assert place.distance_m == pytest.approx(1.4 * 320 / 22.4)
    assert (place.size.width, place.size.height) == pytest.approx((1.0, 12.4 / 16))
    assert place.required_decel == pytest.approx(SPEED**2 / (2 * (20 - 0.5 - 3.8)), rel=0.02)
    again = pairs_benchmark(pairs, tmp_path / "b")
    assert again.case_ids() == store.case_ids()


def test_a_planner_on_real_frames_against_inserts(pairs: Path, tmp_path: Path):
    """Four of six obstacles are red; in the benchmark it brakes for half of those of the same class and distance."""

    def half(seed: int, arm: str):
        return straight(12, 3.0 if arm == "hazard" and seed % 2 else 0.0), "unknown"

    store = make_bench(tmp_path / "inserts", 12, {"sees": half, "blind": blind}, arms=("hazard", "rerun"))
    found = validated(pairs, bench=store.root, match="cluster")
    assert (found.rates["sees"].hits, found.rates["sees"].n) == (4, 6)
    assert [rate.hits for rate in found.unprovoked["sees"]] == [0, 0], (
        "clear frames that differ do not make it brake"
    )
    alike = [
        case
        for case in store.cases()
        if case.hazard.cluster == CLUSTER and 15 <= case.placement.distance_m < 25
    ]
    agreement = found.planners["sees"]
    assert agreement.inserts.n == len(alike)
    if alike:
        assert agreement.inserts.value == pytest.approx(sum(case.seed % 2 for case in alike) / len(alike))
    assert "no judge" in found.table().note
    assert (pairs.parent / "pairs-bench" / "runs" / "sees").is_dir()
    rows = json.loads(json.dumps(found.rows(), allow_nan=False))
    assert rows[0]["all_real"]["hits"] == 4
    assert main(["bench", "verify", str(pairs.parent / "pairs-bench")]) == 0, "a benchmark like any other"


def test_mistakes_in_pairs_are_one_line(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def refused(change, said: str) -> None:
        content = json.loads((pairs / "pairs.json").read_text())
        change(content["pairs"][0])
        other = tmp_path / "other"
        other.mkdir(exist_ok=True)
        (other / "pairs.json").write_text(json.dumps(content))
        for path in pairs.iterdir():
            if path.is_dir() and not (other / path.name).exists():
                (other / path.name).symlink_to(path)
        assert main(["analyze", "real", str(other), "--planner", "cruise", "--out", str(tmp_path / "o")]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert len(error.splitlines()) == 1

    refused(lambda p: p.update(box_px=[10, 10, 5, 20]), "expected x0 < x1 and y0 < y1")
    refused(lambda p: p.update(clear="../elsewhere"), "expected scene folders inside")
    refused(lambda p: p.update(id="p1"), "id 'p1' is there twice")
    refused(lambda p: p.update(clear="nowhere"), "nowhere/scene.json")
    assert main(["analyze", "real", str(tmp_path), "--planner", "cruise"]) == 2
    assert "pairs.json" in capsys.readouterr().err


def test_another_camera_and_an_unknown_class_are_refused(pairs: Path, tmp_path: Path):
    content = json.loads((pairs / "pairs.json").read_text())
    content["pairs"][0]["hazard"] = "dragon"
    (pairs / "pairs.json").write_text(json.dumps(content))
    with pytest.raises(
        InputError, match=r"expected an id of cfgen list hazards or a cluster .* found 'dragon'"
    ):
        pairs_benchmark(pairs, tmp_path / "b1")
    content["pairs"][0]["hazard"] = CLUSTER
    (pairs / "pairs.json").write_text(json.dumps(content))
    path = pairs / "clear0" / "scene.json"
    path.write_text(path.read_text().replace('"fx": 320', '"fx": 500'))
    with pytest.raises(
        InputError, match=r"clear0: expected the front camera .* found 320x180, fx 500 \(clear\)"
    ):
        pairs_benchmark(pairs, tmp_path / "b2")


# --- data sets in their public layouts --------------------------------------------------------------------


def write(path: Path, content: np.ndarray | dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        path.write_text(json.dumps(content))
    else:
        assert cv2.imwrite(str(path), content)


def labels(box: tuple[int, int, int, int] | None, mark: int, free: int) -> np.ndarray:
    image = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    image[90:] = free
    image[:5] = 255
    if box:
        image[box[1] : box[3], box[0] : box[2]] = mark
        image[box[1] : box[1] + 1, 2:4] = mark  # a speck elsewhere
    return image


def test_lost_and_found(tmp_path: Path):
    """The layout of the set: Cityscapes' folders, label 1 free road, 2 and more obstacles."""
    root, box = tmp_path / "laf", (150, 100, 166, 113)
    frames = {
        "01_Hanns_Klemm_Str_45": (("000000_000010", box), ("000001_000020", None)),
        "02_Hanns_Klemm_Str_44": (("000000_000030", None),),
        "05_Schafgasse_1": (("000000_000040", box),),
    }
    for sequence, found in frames.items():
        for number, where in found:
            name = f"{sequence}_{number}"
            write(
                root / "leftImg8bit" / "train" / sequence / f"{name}_leftImg8bit.png", painted(1, bool(where))
            )
            write(
                root / "gtCoarse" / "train" / sequence / f"{name}_gtCoarse_labelIds.png",
                labels(where, 7, 1),
            )
            inner = {"fx": 300.0, "fy": 301.0, "u0": 160.0, "v0": 90.0}
            outer = {"x": 1.7, "y": 0.1, "z": 1.3, "pitch": 0.02, "roll": 0.0, "yaw": 0.0}
            write(
                root / "camera" / "train" / sequence / f"{name}_camera.json",
                {"intrinsic": inner, "extrinsic": outer},
            )
            write(
                root / "vehicle" / "train" / sequence / f"{name}_vehicle.json", {"speed": 7.5, "yawRate": 0.0}
            )
    made = import_pairs("lost-and-found", root, tmp_path / "out")
    assert len(made.pairs) == 1, "the other street has no clear frame"
    pair = made.pairs[0]
    assert pair.box_px == box
    assert (pair.clear, pair.control) == (
        "scenes/01_Hanns_Klemm_Str_45_000001_000020",
        "scenes/02_Hanns_Klemm_Str_44_000000_000030",
    )
    case = pairs_benchmark(tmp_path / "out", tmp_path / "b").cases()[0]
    # the ray of row 113: 0.02 rad of pitch, and 23/301 below the axis; from 1.3 m down to the ground
    ahead = 1.3 / np.tan(0.02 + np.arctan(23 / 301))
    assert case.placement.distance_m == pytest.approx(ahead, rel=0.01)
    assert case.arms == ("hazard", "null")


def test_road_obstacles_need_a_list_of_clear_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    root, box = tmp_path / "RoadObstacle21", (150, 100, 166, 113)
    for name, where in (("validation_1", box), ("validation_2", None)):
        write(root / "images" / f"{name}.webp", painted(1, bool(where)))
        write(root / "labels_masks" / f"{name}_labels_semantic.png", labels(where, 1, 0))
    command = ["scenes", "import-pairs", "road-obstacles", str(root), "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert "expected a CSV that names a clear frame for each obstacle" in capsys.readouterr().err
    told = tmp_path / "clear.csv"
    with told.open("w", newline="") as file:
        csv.writer(file).writerows([("obstacle", "clear"), ("validation_1", "validation_2")])
    assert main([*command, "--clear", str(told), "--speed-mps", "9"]) == 0
    assert "1 pairs" in capsys.readouterr().out
    told.write_text("obstacle,clear\nvalidation_1,validation_9\n")
    with pytest.raises(InputError, match=r"line 2: expected names of frames .* found 'validation_9'"):
        import_pairs("road-obstacles", root, tmp_path / "out2", ObstacleOptions(clear=told))
