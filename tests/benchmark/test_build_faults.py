"""What breaks in a build stays where it broke: planted faults, and what is recorded and said of them."""

import errno
import importlib
import json
import shutil
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cfgen.benchmark import builder
from cfgen.benchmark import context as shopping
from cfgen.core.errors import SetupError
from cfgen.core.paths import scenarios_dir
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.records import BuildReport
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store
from tests.benches import run, tree


class OddError(BaseException):
    pass


building = importlib.import_module("cfgen.build")  # the name in the package is the library's
GOOD, BAD = "cone_line", "work_barrier"


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    for name in ("lane_clear_04", "residential_clear_04"):
        shutil.copytree(scenarios_dir() / "scenes" / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def clean(scenes, tmp_path_factory) -> Path:
    """The same build without anything planted."""
    out = tmp_path_factory.mktemp("clean") / "b"
    code, _, err = run(*arguments(scenes, out))
    assert code == 0, err
    return out


def arguments(scenes: Path, out: Path, *more, n: int = 2, hazards: str = f"{GOOD},{BAD}"):
    fixed = ["build", "--n", n, "--out", out, "--scenes", scenes, "--seed", 1, "--hazards", hazards]
    jobs = () if "--jobs" in more else ("--jobs", 1)
    return [*fixed, "--attempts", 2, *jobs, "--quiet", *more]


def plant(monkeypatch, when, error: BaseException | None = None, batch: int = 4) -> list:
    """The compositor breaks on requests that fit; returns those it was asked, and asks it in batches."""
    inpaint, asked = Composite.inpaint, []

    def broken(self, requests):
        asked.extend(requests)
        for request in requests:
            if when(request):
                raise error or ZeroDivisionError("planted")
        return inpaint(self, requests)

    monkeypatch.setattr(Composite, "inpaint", broken)
    monkeypatch.setattr(Composite, "needs", replace(Composite.needs, batch_size=batch))
    return asked


def built(out: Path) -> BuildReport:
    return BuildReport.model_validate(
        {k: v for k, v in json.loads((out / "build.json").read_text()).items() if k != "sha256"}
    )


def faults(out: Path) -> list:
    return [r for r in Store(out).rejections() if r.fault]


@pytest.mark.parametrize("past", [False, True])
def test_a_hazard_that_breaks_in_a_frame_is_replaced_and_harms_no_neighbour(
    scenes, clean, tmp_path, monkeypatch, past
):
    out = tmp_path / "b"
    plant(monkeypatch, lambda r: r.hazard.id == BAD and (r.t < 0) is past)
    code, said, err = run(*arguments(scenes, out))
    assert code == 0, err
    assert {c.hazard.id for c in Store(out).cases()} == {GOOD}
    for rejection in faults(out):
        assert rejection.hazard_id == BAD
        fault = rejection.fault
        assert fault.exception == "ZeroDivisionError"
        told = fault.inputs
        assert (told["case_id"], told["scene_id"], told["hazard_id"], told["attempt"]) == (
            rejection.case_id,
            rejection.scene_id,
            BAD,
            0,
        )
        assert told["camera"] == "front"
        assert (told["t"] < 0) is past
        assert told["placement"]["x"] > 0
        assert rejection.attempts[0].seed == told["seed"]
        assert len(rejection.attempts) == 2, "the next attempt went on"
    report = built(out)
    assert report.lost == len(faults(out)) > 0
    assert not any("planted" in reason for reason in report.reasons)
    [kind] = report.faults
    assert kind.count == report.lost
    assert (out / kind.places[0]).is_file()
    assert f"{kind.count}  {kind.kind}" in said
    assert "--strict" in said
    mine, theirs = tree(out, "cases/**/*"), tree(clean, "cases/**/*")
    shared = {c.case_id for c in Store(out).cases()} & {c.case_id for c in Store(clean).cases()}
    assert shared
    assert all(mine[p] == theirs[p] for p in mine if any(c in p for c in shared))
    assert run("bench", "verify", out)[0] == 0


def test_faults_that_leave_it_short_are_said_kept_and_retried_when_asked(scenes, tmp_path, monkeypatch):
    out = tmp_path / "b"
    command = arguments(scenes, out, hazards=BAD)
    with monkeypatch.context() as patch:
        asked = plant(patch, lambda r: True)
        code, _, err = run(*command)
        assert code == 1
        assert "0 of 2 cases; 2 pairs were lost to faults" in err
        assert "Traceback" not in err
        asked.clear()
        assert run(*command)[0] == 1
        assert not asked, "what broke is not tried again for ever"
        assert run(*command, "--retry-faults")[0] == 1
        assert asked
    assert run(*command)[0] == 1
    code, said, err = run(*command, "--retry-faults")
    assert code == 0, err
    assert "faults:" not in said
    assert len(Store(out).cases()) == 2
    assert not Store(out).rejections()
    assert run("bench", "verify", out)[0] == 0


def test_a_control_arm_that_breaks_is_missing_with_its_fault(scenes, tmp_path, monkeypatch):
    out = tmp_path / "b"
    arm, other = "null", "nuisance"
    plant(monkeypatch, lambda r: r.hazard.kind == arm)
    code, said, err = run(*arguments(scenes, out, "--controls", "null,nuisance", n=1))
    assert code == 0, err
    [case] = Store(out).cases()
    assert arm not in case.arms
    assert other in case.arms
    assert "ZeroDivisionError: planted" in case.arms_missing[arm]
    fault = case.arm_faults[arm]
    assert list(case.arm_faults) == [arm]
    assert fault.where.startswith(f"control arm {arm}: edit of frame front at")
    assert fault.inputs["scene_id"] == case.scene_id
    assert "ZeroDivisionError in cfgen" in said
    report = built(out)
    assert (report.lost, report.faults[0].count) == (0, 1)
    assert run("bench", "verify", out)[0] == 0


def breaks_on(work, when):
    def broken(*given, **named):
        if when(*given, **named):
            raise IndexError("planted")
        return work(*given, **named)

    return broken


@pytest.mark.parametrize("where", ["gates", "placement", "writing"])
def test_whatever_else_breaks_in_a_case_is_recorded_there(scenes, tmp_path, monkeypatch, where):
    out = tmp_path / "b"
    if where == "gates":
        broken = breaks_on(shopping.run_gates, lambda shown, _: shown.hazard.id == BAD)
        monkeypatch.setattr(shopping, "run_gates", broken)
    elif where == "placement":
        free = shopping.FreePlacements
        monkeypatch.setattr(
            free, "find", breaks_on(free.find, lambda _, hazard, *more, **named: hazard.id == BAD)
        )
    else:
        broken = breaks_on(builder.CaseBuilder._stored, lambda builder: builder.hazard.id == BAD)
        monkeypatch.setattr(builder.CaseBuilder, "_stored", broken)
    code, _, err = run(*arguments(scenes, out, n=1))
    assert code == 0, err
    assert len(Store(out).cases()) == 1
    assert faults(out)
    for rejection in faults(out):
        assert rejection.fault.exception == "IndexError"
        assert rejection.fault.inputs["case_id"] == rejection.case_id
        assert rejection.hazard_id == BAD
        if where == "gates":
            assert rejection.fault.where == "attempt 0: gates"
            assert rejection.fault.inputs["placement"]
    assert built(out).lost == len(faults(out))
    assert run("bench", "verify", out)[0] == 0


def test_an_attempt_that_breaks_does_not_end_the_case(scenes, tmp_path, monkeypatch):
    out, broken = tmp_path / "b", []

    def first(request) -> bool:
        broken[1:] = []
        broken.append(request.seed)
        return request.seed == broken[0]

    plant(monkeypatch, first)
    code, said, err = run(*arguments(scenes, out, n=1))
    assert code == 0, err
    [case] = Store(out).cases()
    assert case.attempts[0].fault is not None
    assert case.attempts[1].fault is None
    assert "case.json" in said
    assert not faults(out)


def test_strict_ends_at_the_first(scenes, tmp_path, monkeypatch):
    plant(monkeypatch, lambda r: r.hazard.id == BAD)
    with pytest.raises(ZeroDivisionError, match="planted"):
        run(*arguments(scenes, tmp_path / "b", "--strict"))


def test_a_scene_that_breaks_when_it_is_read_is_left_out_and_counted(scenes, tmp_path, monkeypatch):
    bad = sorted(p.name for p in scenes.iterdir())[0]
    broken = breaks_on(load_scene, lambda path: path.name == bad)
    monkeypatch.setattr(sys.modules["cfgen.benchmark.scene_choice"], "load_scene", broken)
    out = tmp_path / "b"
    code, _, err = run(*arguments(scenes, out, n=1))
    assert code == 0, err
    assert f"scene {bad} left out: reading a scene: IndexError: planted" in err
    [kind] = built(out).faults
    assert kind.places == (f"scene {bad}",)
    with pytest.raises(IndexError):
        run(*arguments(scenes, tmp_path / "c", "--strict", n=1))


@pytest.mark.parametrize(
    "error", [SetupError("model 'gemini': no key"), OSError(errno.ENOSPC, "No space left on device")]
)
def test_what_makes_further_work_pointless_ends_the_run_with_one_line(scenes, tmp_path, monkeypatch, error):
    out = tmp_path / "b"
    plant(monkeypatch, lambda r: r.hazard.id == BAD, error, batch=1)
    code, _, err = run(*arguments(scenes, out))
    assert code == 2
    assert err.count("\n") == 1
    assert str(error) in err
    assert "Traceback" not in err
    assert not Store(out).rejections()


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), OddError()])
def test_what_would_end_the_process_is_a_fault_of_the_case(scenes, tmp_path, monkeypatch, error):
    was = signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
    try:
        plant(monkeypatch, lambda r: r.hazard.id == BAD, error)
        code, _, err = run(*arguments(scenes, tmp_path / "b"))
    finally:
        signal.signal(signal.SIGINT, was)
    assert code == 0, err
    assert {c.hazard.id for c in Store(tmp_path / "b").cases()} == {GOOD}
    assert {r.fault.exception.rpartition(".")[2] for r in faults(tmp_path / "b")} == {type(error).__name__}


def test_a_hazard_about_which_the_inpainter_breaks_is_left_out_and_told(scenes, tmp_path, monkeypatch):
    broken = breaks_on(Composite.sizes, lambda self, hazard: hazard.id == BAD)
    monkeypatch.setattr(Composite, "sizes", broken)
    out = tmp_path / "b"
    code, said, err = run(*arguments(scenes, out, n=1))
    assert code == 0, err
    assert not faults(out)
    [kind] = built(out).faults
    assert kind.places == (f"hazard {BAD}",)
    assert f"asking inpainter 'composite' about '{BAD}': IndexError: planted" in said
    assert "no model" not in said
    code, _, err = run(*arguments(scenes, tmp_path / "c", hazards=BAD))
    assert code == 2
    assert f"can draw none of: {BAD}" in err
    assert "IndexError: planted" in err
    with pytest.raises(IndexError):
        run(*arguments(scenes, tmp_path / "d", "--strict"))


def test_two_builds_of_one_folder_share_the_work_and_end_alike(scenes, clean, tmp_path):
    """The other build is played by its claim, and by the case that it finishes."""
    out, alone = tmp_path / "b", Store(clean)
    shutil.copytree(clean, out)
    store = Store(out)
    taken, freed = [p.case_id for p in alone.planned if alone.has_case(p.case_id)]
    for case_id in (taken, freed):
        shutil.move(store.case_dir(case_id), tmp_path / case_id)

    def finish() -> None:
        with store.claim(taken), store.claim(freed):
            time.sleep(1.5)
            shutil.move(tmp_path / taken, store.case_dir(taken))

    other = threading.Thread(target=finish)
    other.start()
    time.sleep(0.2)
    code, _, err = run(*[a for a in arguments(scenes, out) if a != "--quiet"])
    other.join()
    assert code == 0, err
    assert "2 in hand in another build of this folder: waiting for it" in err
    assert "cases 2/2" in err
    assert tree(out, "cases/**/*") == tree(clean, "cases/**/*")
    assert built(out) == built(clean)


KILLER = """
import os, signal
from cfgen.inpaint.composite.inpainter import Composite

class Killer(Composite):
    name = "killer"

    def __init__(self, victim="", breaks="", start=""):
        super().__init__()
        if start:
            raise {"exit": SystemExit, "error": ZeroDivisionError}[start]("planted\\nin two lines")
        self.options = {"victim": victim, "breaks": breaks}

    def inpaint(self, requests):
        if any(r.hazard.id == self.options["victim"] for r in requests):
            os.kill(os.getpid(), signal.SIGKILL)
        if any(r.hazard.id == self.options["breaks"] for r in requests):
            raise ZeroDivisionError("planted")
        return super().inpaint(requests)
"""


@pytest.fixture
def killer(tmp_path, monkeypatch) -> None:
    """An inpainter of a third party, known to worker processes too."""
    folder = tmp_path / "site"
    info = folder / "killer-1.dist-info"
    info.mkdir(parents=True)
    (folder / "killer.py").write_text(KILLER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: killer\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[cfgen.inpainters]\nkiller = killer:Killer\n")
    monkeypatch.syspath_prepend(str(folder))


def with_killer(scenes, out, option, *more):
    options = ("--inpainter", "killer", "--inpainter-options", f"{option}={BAD}", "--jobs", 2)
    return arguments(scenes, out, *options, *more)


def test_a_case_that_kills_its_worker_is_a_fault_and_the_rest_goes_on(scenes, tmp_path, killer):
    out = tmp_path / "b"
    code, said, err = run(*with_killer(scenes, out, "victim"))
    assert code == 0, err
    assert {c.hazard.id for c in Store(out).cases()} == {GOOD}
    assert faults(out)
    for rejection in faults(out):
        assert rejection.hazard_id == BAD
        assert rejection.fault.message == "worker process died (signal SIGKILL)"
        assert rejection.fault.inputs["batch"][0]["case_id"] == rejection.case_id
    assert "WorkerDiedError" in said
    assert run("bench", "verify", out)[0] == 0


@pytest.mark.parametrize("start", ["exit", "error"])
def test_a_plug_in_that_does_not_start_is_named_in_one_line(scenes, tmp_path, killer, start):
    options = ("--inpainter", "killer", "--inpainter-options", f"start={start}")
    code, _, err = run(*arguments(scenes, tmp_path / "b", *options))
    assert code == 2
    assert err.count("\n") == 1
    assert "inpainter plug-in 'killer' failed to start" in err
    assert "planted in two lines" in err


def test_strict_brings_the_traceback_out_of_a_worker(scenes, tmp_path, killer):
    with pytest.raises(ZeroDivisionError) as caught:
        run(*with_killer(scenes, tmp_path / "b", "breaks", "--strict"))
    assert "killer.py" in str(caught.value.__cause__)
