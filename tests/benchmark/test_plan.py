"""Which scenes leave the draw, and under which words refusals are counted."""

from types import SimpleNamespace

import pytest

from cfgen.benchmark.plan import (
    BuildPlan,
    looks,
    refusals_in_a_row,
    scenes_given_up,
    scenes_to_skip,
)
from cfgen.benchmark.settings import PLAN
from cfgen.records import Planned
from cfgen.storage.listing import Refused

NO_PLACE = "no placement: none of 48 places works: 40 not on clear road, 8 cut off by the frame"


def told(outcomes: str) -> tuple[list, set, list]:
    """``outcomes`` of one scene's pairs in order: a(ccepted), r(efused), u(nsuited), f(ault), p(erson), . for open."""
    planned, rejections, accepted = [], [], set()
    for number, outcome in enumerate(outcomes):
        names = {"case_id": f"c{number}", "scene_id": "s", "hazard_id": f"h{number}"}
        planned.append(Planned(**names, round=number))
        if outcome == "a":
            accepted.add(f"c{number}")
        elif outcome != ".":
            by = "somebody" if outcome == "p" else "gates"
            more = {"reason": NO_PLACE, "unsuited": outcome == "u", "broke": outcome == "f", "by": by}
            rejections.append(Refused(**names, **more, whole=None))
    return planned, accepted, rejections


@pytest.mark.parametrize(
    ("outcomes", "in_row"),
    [
        ("r" * PLAN.give_up, PLAN.give_up),
        ("a" + "r" * PLAN.give_up, PLAN.give_up),
        ("r" * (PLAN.give_up - 1) + "a" + "r" * (PLAN.give_up - 1), PLAN.give_up - 1),
        ("r" * (PLAN.give_up - 1) + "ufp." * 3, PLAN.give_up - 1),
        ("ufp." + "r" * PLAN.later, PLAN.later),
        ("ufp." + "r" * (PLAN.later - 1), PLAN.later - 1),
    ],
)
def test_a_scene_leaves_after_refusals_in_a_row_the_sooner_where_none_gave_a_case(outcomes, in_row):
    planned, accepted, rejections = told(outcomes)
    rows = refusals_in_a_row(planned, accepted, rejections)
    words = {"s": f"{in_row} refusals in a row, most often: no placement: mostly not on clear road"}
    assert scenes_to_skip(rows, True) == (words if in_row >= PLAN.give_up else {})
    assert scenes_to_skip(rows, False) == (words if in_row >= PLAN.later else {})
    assert scenes_given_up(planned, accepted, rejections) == scenes_to_skip(rows, "a" in outcomes)


@pytest.mark.parametrize(("refused", "left"), [(PLAN.later, []), (PLAN.give_up, ["bad"])])
def test_a_plan_draws_later_from_a_scene_refused_often_and_counts_it_as_untried_until_it_leaves(
    monkeypatch, refused, left
):
    hazards = [f"h{i:02d}" for i in range(PLAN.give_up + 4)]

    def one(scene_id, hazard_id):
        name = f"{scene_id}-{hazard_id}"
        return Planned(case_id=name, scene_id=scene_id, hazard_id=hazard_id, round=0)

    planned = [one("good", hazards[0]), *(one("bad", hazard) for hazard in hazards[:refused])]
    rejections = [
        Refused(p.case_id, "bad", p.hazard_id, NO_PLACE, "gates", False, False, None) for p in planned[1:]
    ]
    monkeypatch.setattr("cfgen.benchmark.plan.short_rejections", lambda store: rejections)
    benchmark = SimpleNamespace(n=99, seed=1, sampling=None, own_hazards=(), own_hazards_only=False)
    store = SimpleNamespace(benchmark=benchmark, planned=planned)
    plan = BuildPlan(store, ["bad", "good"], hazards, [])
    more = plan._more(planned, planned[:1], 99)
    order = [p.scene_id for p in more]
    assert order == ["good"] * (len(hazards) - 1) + ["bad"] * (0 if left else len(hazards) - refused)
    assert [*plan.drawn_from] == [scene for scene in ("bad", "good") if scene not in left]


NO_ROAD = "no road found in the frame: "
BY = ", as perception 'twinlitenet' sees it"


def test_hazards_that_share_a_model_show_others_of_its_variants():
    models = {"braking": "car", "crossing": "car", "stopped": "car", "deer": "deer"}
    held = [
        Planned(case_id="c", scene_id="s", hazard_id=h, round=0, look=k)
        for h, k in (("braking", 1), ("deer", 0))
    ]
    assert looks(["crossing", "flood", "stopped", "crossing", "deer"], held, models) == [0, None, 2, 3, 1]
