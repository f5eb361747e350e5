"""The examples of docs/ are found by name, as from an installed package, and do what their pages say."""

import importlib
import re
import shlex
import shutil
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.cli.main import main
from cfgen.geometry.camera import project
from cfgen.inpaint.edit import Edit, make_edits
from cfgen.inpaint.registry import create_inpainter
from cfgen.judge.registry import create_judge
from cfgen.perception.detection import MaskPrompt, create_detector, create_segmenter
from cfgen.perception.protocol import CameraFrame
from cfgen.perception.registry import create_perceiver, seen_by
from cfgen.perception.views import Views
from cfgen.planners.answer import to_plan
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.registry import PLANNERS
from cfgen.records import Motion
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store
from tests.hazards import drawn
from tests.inpaint.test_inpaint import make_job
from tests.judge.items import items, judged

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
ENTRY_POINT = re.compile(r'\[project\.entry-points\."(cfgen\.\w+)"\]\n([\w-]+) = "([\w.:]+)"')


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The examples as one installed package, under the entry points that their pages give."""
    site = tmp_path / "site"
    shutil.copytree(DOCS / "examples", site)
    about = site / "examples-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: examples\nVersion: 1\n")
    points = [m for page in sorted(DOCS.rglob("*.md")) for m in ENTRY_POINT.findall(page.read_text())]
    groups = {group: [f"{n} = {to}" for g, n, to in points if g == group] for group, _, _ in points}
    lines = (f"[{group}]\n" + "\n".join(ones) + "\n" for group, ones in groups.items())
    (about / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(site))
    yield
    for path in EXAMPLES:
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_is_short_and_shown_on_a_page(path: Path):
    assert len(path.read_text().splitlines()) < 40
    assert any(f"examples/{path.name}" in page.read_text() for page in DOCS.rglob("*.md"))


def test_inpainter():
    job = make_job()
    edit = make_edits([job], create_inpainter("orange-board", {"red": 200}))[0]
    assert isinstance(edit, Edit)
    image, mask = edit.frames["front", 0.0]
    at, camera = job.placement, job.scene.front
    (left, bottom), (right, top) = project(
        camera, [(at.x, at.y + at.size.width / 2, 0), (at.x, at.y - at.size.width / 2, at.size.height)]
    )[0].astype(int)
    assert (image[top + 4 : bottom - 3, left + 4 : right - 3] == (200, 110, 20)).all()
    assert np.array_equal(image[mask == 0], job.images["front", 0.0][mask == 0])
    assert np.array_equal(image[: top - 4], job.images["front", 0.0][: top - 4]), "above the board"


def test_planner():
    planner = PLANNERS.create("careful", {})
    history = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(10.0,))
    clear = np.full((64, 96, 3), 90, np.uint8)
    blocked = clear.copy()
    blocked[30:50, 44:52] = 250
    asked = [Observation("a", 1, {"front": (TimedImage(0.0, i),)}, {}, history) for i in (clear, blocked)]
    keeps, stops = [to_plan(answer)[1].waypoints for answer in planner.plan(asked)]
    assert keeps[-1][0] == pytest.approx(60.0)
    assert stops[-1][0] < 15.0


def test_autovla_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tokens that each drive an eighth of a circle of 8 m to the left end on that circle; corners as AutoVLA's."""
    turn = np.pi / 4
    x, y = 8 * np.sin(turn), 8 * (1 - np.cos(turn))
    half = np.array([[2.4, 1.0], [2.4, -1.0], [-2.4, -1.0], [-2.4, 1.0]])
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    ahead, left = half + np.array([4.0, 0.0]), half @ spin.T + np.array([x, y])
    np.save(tmp_path / "agent_vocab.npy", np.array([[ahead] * 6, [left] * 6]))
    monkeypatch.chdir(tmp_path)
    text = "A deer, so I turn.<action_1><action_1><action_1><action_1><action_0>"
    answer = importlib.import_module("autovla_parser").parse({"plan": text}, None)
    assert answer["text"] == "A deer, so I turn."
    np.testing.assert_allclose(answer["waypoints"][1], [8.0, 8.0, 2 * turn], atol=1e-9)
    np.testing.assert_allclose(answer["waypoints"][3][:2], [0.0, 16.0], atol=1e-9)
    np.testing.assert_allclose(answer["waypoints"][4][:2], [-4.0, 16.0], atol=1e-9)
    assert answer["t"][-1] == 2.5


def test_judge():
    verdicts = judged(create_judge("slows-down"), items(1, speed=5.0))
    assert verdicts[0].scores == {"reasoning": 2, "waypoints": 2, "overall": 2}
    steady = judged(create_judge("slows-down", share=0.4), items(1, speed=5.0))
    assert steady[0].scores == {"reasoning": 2, "waypoints": 0, "overall": 0}


def test_reader(tmp_path: Path):
    drive = tmp_path / "drive"
    drive.mkdir()
    for i in range(95):
        cv2.imwrite(str(drive / f"{i:03d}.png"), np.full((54, 96, 3), i, np.uint8))
    np.savetxt(drive / "speed.txt", np.full(95, 12.0))
    out = tmp_path / "scenes"
    command = ["scenes", "import", "numbered", str(drive), "--out", str(out), "--options", "height=1.5"]
    assert main([*command, "--quiet"]) == 0
    scene = load_scene(next(out.iterdir())).scene
    assert scene.history.v[-1] == pytest.approx(12.0)
    assert scene.future.poses[-1][0] == pytest.approx(72.0, abs=0.1)


def _drum() -> tuple[np.ndarray, np.ndarray]:
    """A striped orange thing on grey, and where it is."""
    image = np.full((80, 120, 3), 100, np.uint8)
    image[30:60, 50:70] = (240, 60, 20)
    image[43:47, 50:70] = 255
    where = np.zeros((80, 120), bool)
    where[30:60, 50:70] = True
    return image, where


@pytest.mark.parametrize(
    "prompt", [MaskPrompt(box=(45, 25, 75, 65)), MaskPrompt(inside=((60, 35), (60, 45), (60, 55)))]
)
def test_segmenter(prompt: MaskPrompt):
    image, truth = _drum()
    (found,) = create_segmenter("grow-colour").segment(image, [prompt])
    assert (found[0].mask & truth).sum() / (found[0].mask | truth).sum() > 0.9


def test_detector():
    (found,) = create_detector("by-colour").detect(_drum()[0], "work drum")
    assert found.box == (50, 30, 70, 60)
    assert create_detector("by-colour").detect(_drum()[0], "deer") == []


def test_lists_say_what_the_examples_are(capsys: pytest.CaptureFixture[str]):
    for kind in ("inpainters", "planners", "judges", "providers", "segmenters", "detectors"):
        assert main(["list", kind]) == 0
        lines = capsys.readouterr().out.splitlines()
        ours = [line for line in lines if "examples 1" in line]
        assert ours
        assert "no description" not in " ".join(lines)


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("inpainter", lambda case: case.provenance.inpainter == "orange-board"),
        ("masks", lambda case: case.provenance.report["segmenter"]["name"] == "grow-colour"),
        ("detector", lambda case: {g.gate: g.passed for g in case.gates}["detected"]),
    ],
)
def test_the_build_of_a_page_ends_with_a_case_that_passed_every_gate(page, told, tmp_path: Path):
    (command,) = re.findall(
        r"^    cfgen (build .*)$", (DOCS / "extend" / f"{page}.md").read_text(), re.MULTILINE
    )
    words = [
        "1" if before == "--n" else str(tmp_path / "b") if before == "--out" else word
        for before, word in zip(["", *shlex.split(command)], shlex.split(command), strict=False)
    ]
    assert main([*words, "--quiet"]) == 0
    (case,) = Store(tmp_path / "b").cases()
    assert told(case)
    assert all(gate.passed for gate in case.gates)


def test_perceiver():
    image = np.full((180, 320, 3), 100, np.uint8)
    image[:90] = (90, 140, 240)
    image[100:, 150:160] = 230
    perceiver = create_perceiver("grey-road", {"least": 0.4})
    view = Views.of(perceiver).see([CameraFrame(image, drawn.CAMERA, drawn.path())])[0]
    assert view.is_road(np.array([[10, 150], [155, 150], [10, 20]])).tolist() == [True, True, False]
    assert view.is_lane_line(np.array([[155, 150], [10, 150]])).tolist() == [True, False]
    assert (view.things, view.by["least"]) == (None, 0.4)
    assert "weaker" in seen_by("grey-road")
