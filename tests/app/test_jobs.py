"""Long work: progress, stopping, failing in words, and nobody else waiting for it."""

import base64
import gc
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.app.api import Api
from cfgen.benchmark.verifying import Verification
from cfgen.core.files import read_image
from tests.app import slow
from tests.app.asking import PATIENCE_S, ask, ended
from tests.benches import build_arguments


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site").mkdir()
    return slow.install(tmp_path / "site", monkeypatch)


@pytest.fixture
def root(bench: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bench, tmp_path / "b")


@pytest.fixture(autouse=True)
def _processes_end():
    yield
    gc.collect()  # an app that nobody uses ends what it started


def opened(root: Path, **options) -> tuple[Api, dict]:
    """The app with ``slow`` started, and a pose to draw at."""
    api = Api(root, options={"slow": options})
    case = min(api.store.cases(), key=lambda c: c.placement.distance_m)  # well seen
    asked = {"scene": case.scene_id, "hazard": case.hazard.id, "seed": 3}
    pose = {**asked, **ask(api, "suggest", **asked), "inpainter": "slow"}
    assert ended(api, ask(api, "open_inpainter", inpainter="slow", hazard=case.hazard.id))["state"] == "done"
    return api, pose


def until(condition) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()


def test_what_was_generated_is_saved_though_the_next_drawing_would_differ(root: Path, plugin: Path) -> None:
    api, pose = opened(root)
    assert ask(api, "hazards", inpainter="slow")["generative"]
    drawn = ended(api, ask(api, "generate", **pose))
    assert drawn["state"] == "done", drawn
    x, y, w, h = drawn["result"]["at"]
    data = np.frombuffer(base64.b64decode(drawn["result"]["part"].partition(",")[2]), np.uint8)
    part = cv2.imdecode(data, cv2.IMREAD_COLOR)
    saved = ended(api, ask(api, "save", **pose))
    assert saved["state"] == "done", saved
    case = api.store.case(saved["result"])
    assert (case.provenance.inpainter, case.provenance.options["seconds"]) == ("slow", 0.4)
    pixels = read_image(api.store.case_dir(case.case_id) / "augmented.png")[y : y + h, x : x + w]
    assert (pixels == part[..., ::-1]).all()
    assert (plugin / "drawn.log").read_text().splitlines() == [pose["hazard"]], (
        "it was drawn and paid for once"
    )
    assert Verification(api.store.root).run() == []


def test_stopping_ends_the_work_and_what_it_started(root: Path, plugin: Path) -> None:
    api, pose = opened(root, seconds=300, fault="child")
    job = ask(api, "generate", **pose)
    until((plugin / "child.pid").is_file)
    until(lambda: (plugin / "child.pid").read_text() != "")
    assert ask(api, "job", job=job["id"])["words"].startswith("drawing: frame 1 of 1")
    ask(api, "cancel", job=job["id"])
    assert ended(api, job)["state"] == "cancelled"
    child = int((plugin / "child.pid").read_text())
    until(lambda: not alive(child))
    assert len(api.store.cases()) == 5
    assert (
        ended(api, ask(api, "open_inpainter", "ben", inpainter="slow", guide="composite"))["state"] == "done"
    )


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("refuses", "the model declined the picture"),
        ("breaks", "ValueError: a tensor of the wrong <b>shape</b>"),
        ("dies", "the process that did it died (exit code 9)"),
    ],
)
def test_failing_is_said_in_words_and_the_next_try_works(
    root: Path, plugin: Path, fault: str, words: str
) -> None:
    api, pose = opened(root, fault=fault)
    for _ in range(2):
        job = ended(api, ask(api, "generate", **pose))
        assert job["state"] == "failed"
        assert words in job["words"]
    failed = ended(api, ask(api, "save", **pose))
    assert (failed["state"], words in failed["words"]) == ("failed", True)
    assert ("it broke" in failed["words"]) is (fault == "breaks")
    assert len(api.store.cases()) == 5
    saved = ended(api, ask(api, "save", **{**pose, "inpainter": "composite"}))
    assert saved["state"] == "done", saved


def test_an_unknown_or_unstarted_inpainter_is_refused_in_words(root: Path, plugin: Path) -> None:
    api = Api(root)
    assert "expected one of" in api.call({"do": "open_inpainter", "inpainter": "../x"})["error"]
    assert "is not started" in api.call({"do": "hazards", "inpainter": "slow"})["error"]
    assert "no longer known" in api.call({"do": "job", "job": "x"})["error"]


def test_a_build_and_saving_by_hand_at_once_lose_nothing_of_each_other(root: Path, real: Path) -> None:
    api = Api(root)
    case = min(api.store.cases(), key=lambda c: c.placement.distance_m)  # well seen
    asked = {"scene": case.scene_id, "hazard": case.hazard.id, "seed": 3}
    pose = {**asked, **ask(api, "suggest", **asked)}
    build = [sys.executable, "-m", "cfgen", *build_arguments(real, root, 9)]
    process = subprocess.Popen(build, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE)
    saved = []
    while process.poll() is None or len(saved) < 2:
        job = ended(api, ask(api, "save", **{**pose, "seed": len(saved)}))
        assert job["state"] == "done", job
        saved.append(job["result"])
    assert process.returncode == 0, process.stderr and process.stderr.read()
    planned = [p.case_id for p in api.store.planned]
    assert len(planned) == len(set(planned))
    assert set(saved) <= set(planned)
    assert Verification(root).run() == []


def test_an_app_that_nobody_uses_any_more_leaves_no_process(root: Path, plugin: Path) -> None:
    before = children()
    api, _ = opened(root)
    assert children() - before
    del api
    gc.collect()
    until(lambda: children() <= before)


def children() -> set[str]:
    """Processes that this one has started."""
    return {pid for tasks in Path("/proc/self/task").glob("*/children") for pid in tasks.read_text().split()}
