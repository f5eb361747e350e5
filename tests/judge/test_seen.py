"""Is it possible to see that? Each claim's right verdict follows from where the hazard stands and how the car moves."""

import json
from pathlib import Path

import numpy as np
import pytest

import cfgen
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.judge.seen.check import Known, check_words, covered
from cfgen.records import Camera, Hazard, Motion, Placement, Size
from cfgen.storage.store import Store
from tests.reporting.bench import blind, case_id, make_bench

AHEAD = ((0, -1, 0, 0), (0, 0, -1, 1.4), (1, 0, 0, 0), (0, 0, 0, 1))
BACK = ((0, 1, 0, 0), (0, 0, -1, 1.4), (-1, 0, 0, 0), (0, 0, 0, 1))
DEER = Hazard(
    id="deer",
    name="deer standing in the lane",
    cluster="animals",
    why="it stands there",
    size=Size(length=1.5, width=0.6, height=1.4),
    zones=("ego_lane",),
)


def camera(name: str = "front", at=AHEAD, width: int = 1000, focal: float = 500.0) -> Camera:
    """Twice the angle whose tangent is half the width over the focal length: 90 degrees."""
    return Camera(
        name=name, width=width, height=600, fx=focal, fy=focal, cx=width / 2 - 0.5, cy=300, T_cam_ego=at
    )


def deer(x: float = 20.0, y: float = 0.0, vx: float = 0.0, vy: float = 0.0) -> Placement:
    return Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=0,
        vx=vx,
        vy=vy,
        size=DEER.size,
        distance_m=x,
        lateral_m=y,
        required_decel=3,
        foot_px=(1, 1),
        box_px=(0, 0, 1, 1),
    )


def known(
    place: Placement | None = None,
    speed: float = 10.0,
    decel: float = 0.0,
    yaw_rate: float = 0.0,
    cameras=None,
) -> Known:
    t = np.array([-1.0, -0.5, 0.0])
    v = speed - decel * t
    poses = np.column_stack([speed * t, 0 * t, yaw_rate * t])
    history = Motion(t=tuple(t), poses=tuple(map(tuple, poses)), v=tuple(v))
    return Known(cameras or (camera(),), history, DEER if place else None, place)


def verdicts(words: str, facts: Known) -> list[str]:
    return [f"{c.claim.topic} {c.verdict}" for c in check_words(words, facts)]


@pytest.mark.parametrize(
    "words",
    [
        "A car is approaching us from behind.",
        "There is a vehicle behind us.",
        "The truck behind us might not stop.",
        "In the rear-view mirror I see a truck.",
        "The traffic behind is close.",
    ],
)
def test_behind_is_seen_by_a_camera_that_looks_back_only(words: str):
    assert verdicts(words, known()) == ["direction refuted"]
    assert verdicts(words, known(cameras=(camera(), camera("back", BACK)))) == ["direction possible"]


@pytest.mark.parametrize(
    "words",
    [
        "We stay behind the truck.",
        "The cyclist hides behind the van.",
        "Keep following the lead vehicle.",
        "We leave the deer behind.",
        "The deer is not behind us; it is ahead.",
        "The deer isn't behind us.",
        "Nothing is behind us.",
        "There is no vehicle behind us.",
        "Behind us there is nothing.",
        "The deer will be behind us.",
        "Soon the deer is behind us.",
        "By the time we stop, the deer is behind us.",
        "Once we have passed, it is behind us.",
        "The deer is behind us once we have passed.",
        "If the deer were behind us, we would go on.",
        "We leave the drum behind us.",
        "Leaving the deer safely behind us, we go on.",
        "A vehicle behind us might be surprised.",
        "We brake gently to warn any traffic behind us.",
    ],
)
def test_behind_something_else_claims_nothing(words: str):
    assert verdicts(words, known()) == []


def test_fields_of_view_are_those_of_the_lens():
    middle, half = covered(camera())
    assert (middle, half) == pytest.approx((0.0, np.pi / 4), abs=1e-3)
    assert abs(covered(camera("back", BACK))[0]) == pytest.approx(np.pi, abs=1e-3)
    wide = camera(focal=60.0)  # 166 degrees
    assert verdicts("A motorcycle is right next to us.", known()) == ["direction refuted"]
    assert verdicts("A motorcycle is right next to us.", known(cameras=(wide,))) == ["direction possible"]


@pytest.mark.parametrize(
    ("words", "due"),
    [
        ("A deer stands about 20 m ahead.", "possible"),
        ("A deer stands 60 m ahead.", "refuted"),
        ("There is a deer, 5 meters away.", "refuted"),
        ("A deer is 65 feet ahead.", "possible"),  # 19.8 m
        ("The deer is less than 5 m away.", "refuted"),
        ("The deer is more than 10 m away.", "possible"),
        ("A truck is 60 m ahead.", "unknown"),
        ("Distance to the deer: 60 m.", "refuted"),
        ("The distance to the deer is about 20 m.", "possible"),
        ("The deer is a kilometre away.", "refuted"),
        ("We can see a deer 60 m ahead.", "refuted"),
    ],
)
def test_distances_of_the_placed_hazard(words: str, due: str):
    assert verdicts(words, known(deer(20.0))) == [f"distance {due}"]


@pytest.mark.parametrize(
    "words",
    [
        "We stop 60 m before the deer.",
        "We keep a gap of 60 m to the deer.",
        "The deer is 1 m tall.",
        "If the deer were 60 m ahead, we would go on.",
        "The deer isn't 60 m ahead.",
        "In two seconds the deer is 5 m away.",
        "The deer was 60 m ahead.",
        "The stopping distance to the deer is 60 m.",
    ],
)
def test_planned_and_other_lengths_are_no_distance(words: str):
    assert verdicts(words, known(deer(20.0))) == []


@pytest.mark.parametrize(
    ("words", "y", "due"),
    [
        ("A deer stands on the left.", 3.0, "possible"),
        ("A deer stands on the right.", 3.0, "refuted"),
        ("On the right, a deer is standing.", 3.0, "refuted"),
        ("To the left of the lane there is a deer.", 3.0, "possible"),
        ("A deer stands on the right.", 0.1, "possible"),  # its right half does
        ("The deer is on the right shoulder.", 0.0, "refuted"),
        ("A deer stands in our lane.", 4.0, "refuted"),
        ("A deer stands in our lane.", 0.5, "possible"),
        ("The deer is well off to the left, on the far verge.", 0.0, "refuted"),
        ("The deer is to the right, beyond the shoulder.", 0.0, "refuted"),
        ("The deer is on the far left of the road, outside our lane.", 0.0, "refuted"),
        ("The deer is well off to the left, on the far verge.", 6.0, "possible"),
        ("The deer stands on our right.", 1.6, "refuted"),
        (
            "The deer stands on our right.",
            0.8,
            "refuted",
        ),  # 1.5 m long, seen from its tail: 0.3 m to either side
    ],
)
def test_sides_of_the_placed_hazard(words: str, y: float, due: str):
    assert verdicts(words, known(deer(20.0, y))) == [f"side {due}"]


@pytest.mark.parametrize(
    "words",
    [
        "Because of the deer we steer to the left.",
        "The deer is not on the left.",
        "The deer will be on the left by then.",
        "The deer isn't in our lane.",
    ],
)
def test_steering_denials_and_plans_place_nothing(words: str):
    assert verdicts(words, known(deer(20.0, -3.0))) == []


def test_left_to_right_is_a_motion_and_no_side():
    words = "The deer is crossing from left to right."
    assert verdicts(words, known(deer(20.0, 4.0, 0.0, -2.0))) == ["its motion possible"]
    assert verdicts(words, known(deer(20.0, 4.0, 0.0, 2.0))) == ["its motion refuted"]


@pytest.mark.parametrize(
    ("words", "vx", "vy", "due"),
    [
        ("The deer is stationary.", 0.0, 0.0, "possible"),
        ("The deer is standing still.", 0.0, 2.0, "refuted"),
        ("The deer is crossing from the left.", 0.0, -2.0, "possible"),
        ("The deer is crossing from the left.", 0.0, 2.0, "refuted"),
        ("The deer is running towards us.", -5.0, 0.0, None),
        ("A deer is coming towards us.", 0.0, 0.0, "refuted"),
        ("A deer is coming towards us.", -5.0, 0.0, "possible"),
    ],
)
def test_motion_of_the_placed_hazard(words: str, vx: float, vy: float, due: str | None):
    found = [v for v in verdicts(words, known(deer(20.0, 0.0, vx, vy))) if v.startswith("its motion")]
    assert found == ([f"its motion {due}"] if due else [])


@pytest.mark.parametrize(
    ("words", "facts", "due"),
    [
        ("We are stopped at the light.", known(speed=10.0), "refuted"),
        ("The ego vehicle is stationary.", known(speed=0.0), "possible"),
        ("We are driving at 36 km/h.", known(speed=10.0), "possible"),
        ("Travelling at about 70 km/h, we see a bend.", known(speed=10.0), "refuted"),
        ("We are going 22 mph.", known(speed=10.0), "possible"),  # 9.8 m/s
        ("We have been braking for a while.", known(decel=2.0), "possible"),
        ("We have been braking for a while.", known(), "refuted"),
        ("We are already accelerating.", known(decel=2.0), "refuted"),
        ("The car is already turning left.", known(yaw_rate=0.2), "possible"),
        ("The car is already turning left.", known(yaw_rate=-0.2), "refuted"),
        ("We are reversing.", known(), "refuted"),
        ("My speed is 90 km/h.", known(speed=10.0), "refuted"),
        ("The ego vehicle moves at 10 m/s.", known(speed=10.0), "possible"),
        ("The ego vehicle moves at 25 m/s.", known(speed=10.0), "refuted"),
        ("We currently travel at 90 km/h.", known(speed=10.0), "refuted"),
        ("Our car stands.", known(speed=10.0), "refuted"),
        ("Having been stationary for a while, we see the deer.", known(deer(), speed=10.0), "refuted"),
    ],
)
def test_own_motion_against_the_recorded_one(words: str, facts: Known, due: str):
    assert verdicts(words, facts) == [f"own motion {due}"]


@pytest.mark.parametrize(
    "words",
    [
        "The speed limit is 100 km/h.",
        "Slow to 20 km/h.",
        "We should be stopped by then.",
        "The truck is driving at 90 km/h.",
        "I turn left.",
        "The car ahead moves at 90 km/h.",
        "We aren't stopped.",
        "Soon we are stopped.",
        "If we are stopped, we wait.",
    ],
)
def test_plans_limits_and_others_are_no_own_motion(words: str):
    assert verdicts(words, known()) == []


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Two answers of a planner that looks ahead only: one claims what is behind it, one where the car stands still."""
    root = make_bench(tmp_path / "b", 2, {"blind": blind}, arms=("hazard",)).root
    store = Store(root)
    for i, words in enumerate(("A van is right behind us.", "We are stopped. The road is free.")):
        path = store.rollout_path("blind", "hazard", case_id(i))
        path.write_text(path.read_text().replace("It is clear ahead.", words))
    assert main(["traces", "claims", str(root), "--planner", "blind", "--arms", "hazard"]) == 0
    out = capsys.readouterr().out
    assert "direction: 1 refuted, 0 possible, 0 unknown" in out
    assert "own motion: 1 refuted, 0 possible, 0 unknown" in out
    assert "it drives 12.0 m/s" in out
    assert "No claim was read in 3 of 5 sentences" in out
    assert main(["traces", "claims", str(root), "--planner", "lind", "--arms", "hazard"]) == 2
    (root / "runs" / "blind").rename(root / "runs" / "my_module.blind")
    assert len(cfgen.check_claims(root, "blind", arms="hazard").answers) == 2
    assert len(cfgen.check_claims(root, "my_module:blind", arms="hazard").answers) == 2
    (root / "runs" / "my_module.blind").rename(root / "runs" / "blind")
    capsys.readouterr()
    main(["report", str(root), "--out", str(tmp_path / "r"), "--panels", "0"])
    rows = (tmp_path / "r" / "tables" / "seen.csv").read_text().splitlines()[1:]
    assert rows == ["blind,direction,1,0,0", "blind,own motion,1,0,0"]
    assert "A van is right behind us." in (tmp_path / "r" / "tables" / "seen-refuted.csv").read_text()
    json.loads((tmp_path / "r" / "report.json").read_text())
    with pytest.raises(InputError, match=r"'nobody' has no words .* scored here: blind; score it first"):
        cfgen.check_claims(root, "nobody")
