"""Placing by hand over a real benchmark: what follows from a pose, and what is saved."""

import base64
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.app.api import Api
from cfgen.benchmark.verifying import Verification
from cfgen.core.files import read_image
from tests.app.asking import ask, ended, picture


@pytest.fixture(scope="module")
def api(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Api:
    return Api(shutil.copytree(bench, tmp_path_factory.mktemp("place") / "b"))


@pytest.fixture(scope="module")
def pose(api: Api) -> dict:
    """Where the build put the first case, as the sliders would say it."""
    case = min(api.store.cases(), key=lambda c: c.placement.distance_m)  # well seen
    asked = {"scene": case.scene_id, "hazard": case.hazard.id, "seed": 3}
    return {**asked, **ask(api, "suggest", **asked)}


def test_a_suggested_place_works_and_too_near_says_why(api: Api, pose: dict) -> None:
    assert ask(api, "live", **pose)["faults"] == []
    near = ask(api, "live", **{**pose, "s": 7.0})
    assert any("too hard to stop for" in fault for fault in near["faults"])
    assert near["decel"] > ask(api, "live", **pose)["decel"]
    assert ask(api, "live", **{**pose, "lateral": 18.0})["faults"]


def test_a_click_in_the_frame_and_from_above_lands_on_the_same_metres(api: Api, pose: dict) -> None:
    live = ask(api, "live", **pose)
    foot = np.mean(live["corners"][:4], axis=0)
    middle = np.mean(live["foot_m"], axis=0)
    from_frame = ask(api, "locate", scene=pose["scene"], px=foot.tolist())
    from_above = ask(api, "locate", scene=pose["scene"], xy=middle.tolist())
    assert from_above["s"] == pytest.approx(pose["s"], abs=0.1)
    assert from_above["lateral"] == pytest.approx(pose["lateral"], abs=0.1)
    assert from_frame["s"] == pytest.approx(pose["s"], rel=0.05)
    sky = api.call({"do": "locate", "scene": pose["scene"], "px": [10, 1]})
    assert "above the road" in sky["error"]


def test_a_preview_shows_the_frame_with_something_in_it(api: Api, pose: dict) -> None:
    shown = ask(api, "preview", **pose)
    x, y, w, h = shown["at"]
    part = decoded(shown["part"])[..., ::-1]
    assert part.shape == (h, w, 3)
    frame = decoded_bytes(picture(api, ask(api, "scene", scene=pose["scene"])["frame"]))[..., ::-1]
    assert (part != frame[y : y + h, x : x + w]).any()
    assert [g["gate"] for g in shown["gates"] if g["passed"]]


def test_what_was_looked_at_is_saved_as_a_case_through_the_gates(api: Api, pose: dict) -> None:
    before = {c.case_id for c in api.store.cases()}
    looked_at = ask(api, "preview", **pose)
    job = ended(api, ask(api, "save", **pose))
    assert job["state"] == "done", job
    case = api.store.case(job["result"])
    assert case.case_id not in before
    assert case.provenance.report["placed_by"] == "anna"
    assert case.placement.distance_m == pose["s"]
    assert all(g.passed for g in case.gates)
    x, y, w, h = looked_at["at"]
    saved = read_image(api.store.case_dir(case.case_id) / "augmented.png")[y : y + h, x : x + w]
    assert (saved == decoded(looked_at["part"])[..., ::-1]).all()
    assert Verification(api.store.root).run() == []


def test_an_infeasible_place_is_not_saved(api: Api, pose: dict) -> None:
    count = len(api.store.cases())
    assert "not saved" in api.call({"do": "save", "name": "anna", **pose, "s": 7.0})["error"]
    assert len(api.store.cases()) == count


@pytest.mark.parametrize("field", ["s", "lateral", "heading"])
def test_numbers_that_are_none_are_refused(api: Api, pose: dict, field: str) -> None:
    for bad in ("x", None, 1e9, True):
        assert f"{field}: expected a number" in api.call({"do": "live", **pose, field: bad})["error"]


def decoded(url: str) -> np.ndarray:
    return decoded_bytes(base64.b64decode(url.partition(",")[2]))


def decoded_bytes(data: bytes) -> np.ndarray:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    assert pixels is not None
    return pixels
