"""The bodies behind the figures: meshes from distance fields, and skeletons that keep their lengths."""

import importlib
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ASSETS = Path(__file__).resolve().parents[2] / "tools" / "assets"


@pytest.fixture(scope="module", autouse=True)
def assets_on_path() -> None:
    sys.path.insert(0, str(ASSETS))


def room(name: str) -> ModuleType:
    return importlib.import_module(f"body.{name}")


def test_a_ball_is_round_closed_and_faces_outwards() -> None:
    sdf = room("sdf")
    v, f = sdf.Solid().add(sdf.ellipsoid((0.3, -0.2, 1.0), (0.1, 0.1, 0.1))).mesh(0.01)
    away = v - (0.3, -0.2, 1.0)
    assert np.linalg.norm(away, axis=1) == pytest.approx(0.1, abs=0.002)
    sides = Counter(frozenset((int(q[i]), int(q[(i + 1) % 4]))) for q in f for i in range(4))
    assert set(sides.values()) == {2}
    assert ((sdf.normals(v, f) * away).sum(1) > 0.08).all()


def test_a_cut_and_a_clip_take_away_what_they_name() -> None:
    sdf = room("sdf")
    bar = sdf.Solid().add(sdf.loft([(0, 0, 0), (0, 0, 1)], [(0.1, 0.2), (0.1, 0.2)]))
    v, _ = bar.clip((0, 0, 0.6), (0, 0, 1)).cut(sdf.ellipsoid((0, 0, 0), (0.3, 0.3, 0.25))).mesh(0.01)
    assert v[:, 2].max() == pytest.approx(0.6, abs=0.01)
    assert v[np.hypot(v[:, 0], v[:, 1]) < 0.05, 2].min() == pytest.approx(0.25, abs=0.01)
    assert (v[:, 0].max(), v[:, 1].max()) == (pytest.approx(0.1, abs=0.01), pytest.approx(0.2, abs=0.01))


@pytest.mark.parametrize("height", [1.18, 1.75, 1.95])
@pytest.mark.parametrize(
    "name", ["WALK", "RUN", "SWING", "STAND", "DIG", "TALK", "PROPPED", "ASTRIDE", "MOTO", "SEATED"]
)
def test_bones_keep_their_length_in_every_pose(name: str, height: float) -> None:
    skeleton = room("skeleton")
    body, k = skeleton.Skeleton(getattr(room("poses"), name), height), height / 1.75
    for limb in body.legs.values():
        assert np.linalg.norm(limb.mid - limb.root) == pytest.approx(skeleton.THIGH * k, rel=1e-3)
        assert np.linalg.norm(limb.end - limb.mid) == pytest.approx(skeleton.SHIN * k, rel=1e-3)
        assert limb.end[2] > 0.02 * k
    for limb in body.arms.values():
        assert np.linalg.norm(limb.mid - limb.root) == pytest.approx(skeleton.UPPER_ARM * k, rel=1e-3)
        assert np.linalg.norm(limb.end - limb.mid) == pytest.approx(skeleton.FOREARM * k, rel=1e-3)


@pytest.mark.parametrize("name", ["WALK", "PASS", "RUN"])
def test_a_mirrored_pose_mirrors_every_joint(name: str) -> None:
    skeleton, pose = room("skeleton"), getattr(room("poses"), name)
    one, other = skeleton.Skeleton(pose), skeleton.Skeleton(pose.mirrored())
    for limbs, mirrored in ((one.legs, other.legs), (one.arms, other.arms)):
        for side in (1, -1):
            for joint in ("root", "mid", "end"):
                here, there = getattr(limbs[side], joint), getattr(mirrored[-side], joint)
                assert there == pytest.approx(here * (1, -1, 1), abs=1e-4)


@pytest.mark.parametrize("held", [None, "STOOPED", "CALLING", "PUSHING"])
@pytest.mark.parametrize("phase", [0, 1, 2, 3, None])
def test_a_walker_has_a_foot_on_the_ground_in_every_phase(phase: int | None, held: str | None) -> None:
    poses = room("poses")
    pose = poses.walking(phase, **(getattr(poses, held) if held else {}))
    body = room("skeleton").Skeleton(pose)
    soles = [leg.end[2] - 0.08 for leg in body.legs.values()]
    assert min(soles) == pytest.approx(0.0, abs=0.03)


def test_noise_repeats_with_its_seed_and_differs_without() -> None:
    noise = room("sdf").noise
    p = np.random.default_rng(0).uniform(-5, 5, (500, 3)).astype(np.float32)
    assert (noise(p, 3) == noise(p, 3)).all()
    assert np.abs(noise(p, 3) - noise(p, 4)).max() > 0.2
    assert np.abs(noise(p, 3)).max() < 1.5
