import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.baselines import constant_turn, write_text
from cfgen.planners.protocol import Observation, Truth
from cfgen.planners.registry import open_planner
from cfgen.planners.verified import Verified, check_plan, create_verifier, oracle_score
from cfgen.records import Motion, Placement, Size
from tests.judge.fake_gemini import FakeServer, openai
from tests.planners.random_planner import RandomPlanner

STILL = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(10.0,))


def question(seed: int = 1, **fields) -> Observation:
    return Observation("q", seed, {}, {}, STILL, **fields)


def said(longitudinal: str, justification: str, path: np.ndarray, lateral: str = "lane keeping"):
    return to_plan(write_text("A road.", justification, longitudinal, lateral, path))[1]


def braking(speed: float, brake: float) -> np.ndarray:
    t = np.minimum(np.arange(1, 25) * 0.25, speed / brake)
    return np.column_stack([speed * t - brake * t**2 / 2, 0 * t, 0 * t])


CRUISE, BRAKE = constant_turn(10.0, 0.0), braking(10.0, 3.0)
ASIDE = np.column_stack([CRUISE[:, 0], np.linspace(0, 3.2, 24), np.full(24, 0.05)])


@pytest.mark.parametrize(
    ("plan", "score"),
    [
        (said("stop", "It brakes for the dog.", BRAKE), 1.0),
        (said("stop", "It brakes for the dog.", CRUISE), 1 / 3),
        (said("set speed tracking", "It keeps its speed.", CRUISE), 1.0),
        (said("set speed tracking", "It keeps its speed.", BRAKE), 1 / 3),
        (said("pass", "It overtakes the van.", BRAKE), 1 / 3),
        (said("yield", "It gives way.", BRAKE, "lane change left"), 2 / 3),
        (said("", "", CRUISE, ""), 0.5),
        (said("set speed tracking", "The lane is free: no need to brake.", CRUISE), 1.0),
        (said("set speed tracking", "It does not slow down or stop.", CRUISE), 1.0),
        (said("set speed tracking", "It keeps its speed without braking.", BRAKE), 1 / 3),
        (said("stop", "I will not keep my speed but brake for the dog.", BRAKE), 1.0),
        (said("stop", "There is no gap, so it brakes.", CRUISE), 1 / 3),
        (said("yield", "I don't accelerate.", BRAKE), 1.0),
        (said("stop", "It brakes for the dog.", np.zeros((24, 3))), 0.0),
        (said("stop", "It brakes.", np.vstack([CRUISE[:8], np.repeat(CRUISE[7:8], 16, 0)])), 0.0),
    ],
)
def test_words_are_held_against_the_waypoints(plan, score: float):
    assert check_plan(plan, 10.0).score == pytest.approx(score)


def test_a_lane_change_is_seen_on_its_side():
    left = said("set speed tracking", "", ASIDE, "lane change left")
    right = said("set speed tracking", "", ASIDE, "lane change right")
    assert check_plan(left, 10.0).broken == ()
    assert check_plan(right, 10.0).broken == ("lateral: lane change right",)


def consistent(mode: str, **options) -> float:
    """Share of 60 questions whose executed plan does what it says."""
    planner = Verified(RandomPlanner().plan, mode, **options)
    answers = [planner.plan([question(seed)])[0] for seed in range(60)]
    plans = [to_plan(a)[1] for a in answers if not isinstance(a, PlanFaultError)]
    return float(np.mean([check_plan(p, 10.0).score == 1.0 for p in plans]))


def test_verification_selects_plans_that_keep_their_word():
    assert consistent("random", n=4) < 0.85
    assert consistent("best_of_n", n=4) > 0.95
    assert consistent("early_exit", n=4) > 0.95


def test_calls_are_counted_and_early_exit_saves_them():
    spent = {}
    for mode, options in {
        "best_of_n": {"n": 4, "m": 3},
        "early_exit": {"n": 4},
        "self_consistency": {"n": 4, "m": 3},
    }.items():
        planner = Verified(RandomPlanner().plan, mode, **options)
        reports = [planner.plan([question(seed)])[0].report["verified"] for seed in range(20)]
        spent[mode] = sum(r["plan_calls"] + r["verifier_calls"] for r in reports)
    assert spent["self_consistency"] == 20 * 4 * (3 + 1)
    assert spent["best_of_n"] <= spent["self_consistency"]
    assert spent["early_exit"] < spent["best_of_n"] / 2


def test_self_consistency_takes_the_most_common_meta_action():
    words = ["stop", "stop", "yield", "stop", "yield", "pass", "pass", "stop"]

    def ask(observations):
        return [
            write_text("", "", words[int(o.token.split(".")[1])], "lane keeping", CRUISE)
            for o in observations
        ]

    answer = Verified(ask, "self_consistency", n=4, m=1).plan([question()])[0]
    assert to_plan(answer)[1].trace.longitudinal == "stop"


def test_the_oracle_knows_the_hazard_and_the_log():
    place = Placement(
        zone="ego_lane", x=20, y=0, yaw=0, size=Size(length=1, width=1, height=1), distance_m=20, lateral_m=0,
        required_decel=2.5, foot_px=(0, 0), box_px=(0, 0, 1, 1),
    )  # fmt: skip
    with_hazard = question(truth=Truth(None, place))
    stops, goes = said("stop", "", BRAKE), said("stop", "", CRUISE)
    assert oracle_score(with_hazard, stops) > oracle_score(with_hazard, goes)
    logged = Motion(t=(3.0, 6.0), poses=((30, 0, 0), (60, 0, 0)), v=(10, 10))
    on_log = question(logged=logged)
    assert oracle_score(on_log, goes) > oracle_score(on_log, stops)


def test_no_plan_among_the_candidates_is_a_fault():
    planner = Verified(lambda observations: ["nonsense"] * len(observations), n=3)
    assert "none of 3 sampled answers is a plan" in str(planner.plan([question()])[0])


def test_it_opens_by_its_spec_with_options_for_both():
    planner = open_planner(
        "verified:tests.planners.random_planner:RandomPlanner", {"mode": "early_exit", "n": 5}
    )
    try:
        assert planner.name == "verified.tests.planners.random_planner.RandomPlanner.early_exit"
        report = planner.ask([question()])[0].report["verified"]
        assert 1 <= report["plan_calls"] <= 5
    finally:
        planner.close()


@pytest.mark.parametrize("options", [{"mode": "wish"}, {"n": 0}, {"threshold": 2}])
def test_bad_options_are_named(options):
    with pytest.raises(InputError, match=r"verified planner: .*expected"):
        open_planner("verified:cruise", options)


def test_a_model_verifies_candidates_and_bad_replies_score_nothing():
    pytest.importorskip("openai")

    def judge(request, number):
        words = request.json["messages"][-1]["content"]
        table = next(p["text"] for p in reversed(words) if p["type"] == "text" and "trajectory" in p["text"])
        stops = table.strip().endswith(" 0 km/h")
        says_stop = any("It brakes" in p.get("text", "") for p in words)
        return openai(
            "nonsense" if number == 0 else f"<verdict>{'YES' if stops == says_stop else 'NO'}</verdict>"
        )

    with FakeServer(judge) as server:
        options = {"model": "m", "base_url": f"{server.url}/v1"}
        verifier = create_verifier("openai", options)
        assert verifier(question(), "It brakes.", said("stop", "It brakes.", BRAKE), 0) == 0.0
        planner = Verified(RandomPlanner().plan, "best_of_n", n=4, m=2, verifier=verifier)
        answers = [planner.plan([question(seed)])[0] for seed in range(12)]
    plans = [to_plan(a)[1] for a in answers if not isinstance(a, PlanFaultError)]
    assert np.mean([check_plan(p, 10.0).score == 1.0 for p in plans]) > 0.9
    assert answers[0].report["verified"]["verifier_calls"] <= 8


def test_an_unknown_verifier_is_named():
    with pytest.raises(InputError, match="verifier 'oracle' is not known"):
        create_verifier("oracle")
