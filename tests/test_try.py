"""``cfgen try``: one picture, one hazard, one planner."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from cfgen.core.files import read_image
from cfgen.planners.protocol import Requirements, Response
from cfgen.rollouts.inputs import RolloutInputs, arm_inputs
from cfgen.storage.store import Store
from tests.benches import run

FRAME = Path(__file__).resolve().parents[1] / "scenarios" / "scenes" / "rural_day_01" / "frame.jpg"


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("try")
    shutil.copy(FRAME, folder / "road.jpg")
    out = folder / "out"
    code, text, err = run(*command(folder, out))
    assert code == 0, err
    return out, text


def command(folder: Path, out: Path, *more: str) -> list[str]:
    usual = {"--planner": "cruise", "--hazard": "cone_line", "--out": str(out), "--speed": "12"}
    words = [word for flag, value in usual.items() if flag not in more for word in (flag, value)]
    return ["try", str(folder / "road.jpg"), *words, "--camera", "fov_deg=72", "--quiet", *more]


def test_both_answers_and_what_changed_are_printed(tried: tuple[Path, str]):
    out, text = tried
    lines = text.splitlines()
    assert lines[0].startswith("line of traffic cones")
    assert " m ahead" in lines[0]
    assert [line.partition(":")[0] for line in lines[1::2][:2]] == ["before", "after"]
    assert "from 43 to 43 km/h" in text  # 12 m/s, straight on
    assert "6 s: 72.0 m ahead" in text
    assert "changed: by up to 0.0 m and 0.0 km/h" in text  # this planner sees nothing
    assert "offline: waypoints 0" in text
    assert read_image(out / "panel.png").shape[1] == 1680


def test_the_picture_stands_for_every_frame_that_is_wanted(tried: tuple[Path, str]):
    store = Store(tried[0] / "bench")
    inputs = RolloutInputs(store, 0)
    needs = Requirements(frame_times=(-0.3, -0.2, -0.1, 0.0))
    shown = [inputs.observation(q, needs).images["front"] for q in arm_inputs(store, ("hazard",), 1)]
    for images in shown:
        assert [image.t for image in images] == [-0.3, -0.2, -0.1, 0.0]
        assert all((image.pixels == images[-1].pixels).all() for image in images)
    assert (shown[0][0].pixels != shown[1][0].pixels).any()


class Stops:
    """Stops at once where it sees anything in the lower half of the picture that was not there before."""

    first: np.ndarray | None = None

    def plan(self, observations):
        return [self.one(o) for o in observations]

    def one(self, o):
        t = np.arange(1, 25) * 0.25
        stops = o.images["front"][-1].pixels.sum() != read_image(FRAME).sum()
        v = np.where(stops, np.maximum(o.speed - 6 * t, 0), o.speed)
        return Response("", np.column_stack([np.cumsum(v) * 0.25, 0 * t]), t)


def test_another_planner_is_asked_about_the_same_frames_and_what_it_does_is_told(tried: tuple[Path, str]):
    from cfgen import try_picture

    out, _ = tried
    before = (out / "bench" / "benchmark.json").read_bytes()
    options = {"fov_deg": 72}
    again = try_picture(
        out.parent / "road.jpg",
        Stops(),
        "cone_line",
        out=out,
        speed=12,
        camera=options,
        judge="none",
        quiet=True,
    )
    assert (out / "bench" / "benchmark.json").read_bytes() == before
    assert again.before.plan is not None
    assert again.after.plan is not None
    assert again.after.plan.waypoints[-1][0] < 15 < 70 < again.before.plan.waypoints[-1][0]
    words = "\n".join(again.lines())
    assert "changed: by up to" in words
    assert "dspeed (km/h)" in words


def test_the_planner_runs_where_it_is_told_to_and_within_its_limits(tried: tuple[Path, str]):
    out, _ = tried
    words = command(out.parent, out, "--python", sys.executable, "--planner-memory", "8", "--judge", "none")
    words[words.index("cruise")] = "tests.planners.plain_planners:Tells"
    code, text, err = run(*words, "--planner-network", "--timeout-s", "60", "--startup-timeout-s", "60")
    assert code == 0, err
    assert '"sent": "sent by cfgen"' in text  # the client, to a Python that need not have one
    (made,) = (r for r in Store(out / "bench").planner_runs() if "Tells" in r.planner)
    assert made.isolation == "process"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (["--python", "no-such-python"], "expected a Python that can be started, found none; give the path"),
        (["--speed", "14"], "was made with another speed; choose another --out"),
        (["--hazard", "cone_lin"], r"hazard 'cone_lin' is not in the taxonomy"),
    ],
)
def test_what_does_not_fit_is_one_line(tried: tuple[Path, str], tmp_path: Path, change: list[str], why: str):
    out = tried[0] if "--speed" in change else tmp_path / "out"
    code, _, err = run(*command(tried[0].parent, out, *change))
    assert code == 2
    assert not (tmp_path / "out" / "bench" / "cases").exists()
    *warnings, error = err.strip().splitlines()
    assert why in error
    assert all("warning: " in line and "the camera is a guess" in line for line in warnings)
