"""Another processor sees a little differently: kept views decide, and a small difference moves nothing."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from cfgen.perception.networks import RoadNetwork, TwinLiteNet
from cfgen.storage.store import VIEWS, Store
from tests.benches import build_arguments, run


def disturb(monkeypatch, by: float) -> None:
    """Every logit of every network is off by up to ``by``."""
    rng, was = np.random.default_rng(5), RoadNetwork.logits

    def logits(self, image):
        return tuple(one + rng.uniform(-by, by, one.shape) for one in was(self, image))

    monkeypatch.setattr(RoadNetwork, "logits", logits)


def placements(bench) -> dict:
    return {case.case_id: case.placement for case in Store(bench).cases()}


@pytest.fixture(scope="module")
def build(real, models, tmp_path_factory):
    """Builds two cases, or fewer where no road is seen, in the folder that it is given, in this process."""
    few = tmp_path_factory.mktemp("few")
    for name in (
        "hmb3_01420",
        "hmb3_01480",
        "hmb3_01660",
        "hmb3_04659",
    ):  # with road as far as a hazard stands
        scene = Path("udacity_hmb3", "scenes", name)
        shutil.copytree(real / scene, few / scene)
    eyes = ("--perception", "twinlitenet", "--perception-options", f"path={models / 'twinlitenet.onnx'}")
    eyes += ("--hazards", "stroller,cattle,bollard_island,lead_braking")

    def make(out):
        code, _, err = run(*build_arguments(few, out, 2, "--jobs", "1", *eyes))
        assert code in (0, 1), err
        return placements(out)

    return make


@pytest.fixture(scope="module")
def steady(build, tmp_path_factory):
    out = tmp_path_factory.mktemp("steady") / "b"
    made = build(out)
    assert len(made) == 2
    return out, made


def test_logits_that_are_off_by_a_ten_thousandth_place_the_same(build, steady, tmp_path, monkeypatch):
    disturb(monkeypatch, 1e-4)
    assert build(tmp_path / "b") == steady[1]


def test_kept_views_decide_whatever_the_network_says_now(build, steady, tmp_path, monkeypatch):
    """What another machine begins, this one ends, although its own eyes see no road at all."""
    out, expected = steady
    shutil.copytree(out / VIEWS, tmp_path / "b" / VIEWS)
    shutil.copy(out / "benchmark.json", tmp_path / "b")
    blind = (np.full((360, 640), -1.0),) * 2
    monkeypatch.setattr(TwinLiteNet, "logits", lambda _, image: blind)
    assert build(tmp_path / "b") == expected
    assert build(tmp_path / "fresh") == {}, "without them there would be no case"
