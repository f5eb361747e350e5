"""Properties of the plan: even, never twice, within what is feasible, the seed's alone."""

from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgen.benchmark.plan import BuildPlan, Survey, assign, kind_of, slots_of
from cfgen.benchmark.settings import PLAN
from cfgen.hazards.placement import Option

SCENES = [f"s{i:02d}" for i in range(12)]
HAZARDS = [f"h{i}" for i in range(5)]
SPOTS = [(1.5, -1), (1.5, 1), (2.5, -1), (2.5, 1), (3.5, -1), (3.5, 1)]


def survey(scene_id: str, hazards=HAZARDS, alike=True) -> Survey:
    return Survey(scene_id, "" if hazards else "no road", dict.fromkeys(hazards, Option(SPOTS, alike)))


class Disk:
    """As much of a store as a plan asks for."""

    def __init__(self, work, n: int, **benchmark):
        given = {
            "seed": 1,
            "protocol": "even",
            "hazard_weights": {},
            "own_hazards": (),
            "own_hazards_only": False,
        }
        self.benchmark = SimpleNamespace(n=n, **{**given, **benchmark})
        self.planned, self.work, self.accepted, self.refused = [], work, set(), set()

    def planning(self):
        return pytest.MonkeyPatch.context()

    def add_planned(self, rows):
        self.planned += rows

    def case_ids(self):
        return self.accepted

    def has_rejection(self, case_id):
        return case_id in self.refused


def plan_of(disk: Disk, feasible) -> BuildPlan:
    return BuildPlan(disk, SCENES, HAZARDS, lambda ids: [survey(s, feasible(s)) for s in ids])


@given(st.lists(st.sets(st.sampled_from(HAZARDS)), min_size=1, max_size=12), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_every_scene_gets_a_hazard_that_is_feasible_in_it_and_no_other(feasible, seed):
    surveys = [survey(s, sorted(hazards)) for s, hazards in zip(SCENES, feasible, strict=False)]
    for one, hazard in zip(surveys, assign(surveys, {}, {}, seed), strict=True):
        assert (hazard in one.options) if one.options else not hazard


@given(st.integers(1, 12), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_an_assignment_is_even_over_hazards_and_fills_up_what_lacks(scenes, seed):
    surveys = [survey(s) for s in SCENES[:scenes]]
    counts = Counter(assign(surveys, {}, {}, seed))
    assert max(counts.values()) - min(counts[h] for h in HAZARDS) <= 1
    assert "h0" not in assign(surveys[:4], {"h0": 5}, {}, seed)


def test_weights_make_a_mix_of_ones_own_and_a_place_for_the_control_object_counts():
    surveys = [survey(s) for s in SCENES]
    counts = Counter(assign(surveys, {}, {"h0": 4.0, "h1": 0.0}, 3))
    assert counts["h0"] == max(counts.values()) >= 6
    assert counts["h1"] == 0
    options = {"h0": Option(SPOTS, False), "h1": Option(SPOTS, True)}
    assert assign([Survey("s", "", options)], {"h1": PLAN.unlike - 1}, {}, 0) == ["h1"]
    options = {"h0": Option(SPOTS), "h1": Option(SPOTS, late=True)}
    assert assign([Survey("s", "", options)], {}, {}, 0) == ["h1"]


def test_responses_and_sides_are_assigned_evenly(tmp_path):
    disk = Disk(tmp_path, 12)
    plan_of(disk, lambda s: HAZARDS).plan_all()
    first = [p for p in disk.planned if not p.reserve]
    assert {*Counter(int(p.decel) for p in first).values()} <= {3, 4, 5}
    assert {*Counter(p.side for p in first).values()} <= {5, 6, 7}


def test_scenes_come_first_each_slot_has_reserves_in_its_scene_and_no_pair_comes_twice(tmp_path):
    disk = Disk(tmp_path, 30)
    plan_of(disk, lambda s: HAZARDS if s != "s03" else []).plan_all()
    slots = slots_of(disk.planned)
    assert [len({p.scene_id for p in slot}) for slot in slots] == [1] * len(slots)
    pairs = [(p.scene_id, p.hazard_id) for p in disk.planned]
    assert len(pairs) == len(set(pairs))
    first = Counter(slot[0].scene_id for slot in slots[:11])
    assert len(first) == 11
    assert "s03" not in first


def test_what_came_to_nothing_is_replaced_and_a_barren_scene_says_why(tmp_path):
    disk = Disk(tmp_path, 8)
    plan = plan_of(disk, lambda s: HAZARDS[:2] if s != "s03" else [])
    first = plan.next_slots()
    assert len(first) == 8
    disk.refused |= {p.case_id for p in first[0]}
    disk.accepted |= {slot[-1].case_id for slot in first[1:]}
    [more] = plan.next_slots()
    assert more[0].slot == 8
    assert more[0].scene_id not in {slot[0].scene_id for slot in first}
    disk.accepted.add(more[0].case_id)
    assert plan.next_slots() == []
    assert set(plan.barren) <= {"s03"}


def test_a_plan_goes_on_as_it_began_and_asks_for_no_scene_twice(tmp_path):
    whole, halves = Disk(tmp_path / "a", 12), Disk(tmp_path / "b", 12)
    plan_of(whole, lambda s: HAZARDS).plan_all()
    asked: list[str] = []

    def look(ids):
        asked.extend(ids)
        return [survey(s) for s in reversed(ids)]

    BuildPlan(halves, SCENES, HAZARDS, look)._next_scenes([], 5)
    BuildPlan(halves, SCENES, HAZARDS, look).plan_all()
    assert halves.planned == whole.planned
    assert len(asked) == len(set(asked))


def test_the_seed_decides(tmp_path):
    plans = set()
    for seed in range(4):
        disk = Disk(tmp_path / str(seed), 6, seed=seed)
        plan_of(disk, lambda s: HAZARDS).plan_all()
        plans.add(tuple((p.scene_id, p.hazard_id) for p in disk.planned))
    assert len(plans) == 4


def test_hazards_that_share_a_model_show_others_of_its_variants(tmp_path):
    disk = Disk(tmp_path, 6)
    cars = ["car_stopped", "car_spun", "red_light_runner"]
    BuildPlan(disk, SCENES, cars, lambda ids: [survey(s, cars) for s in ids]).plan_all()
    looks = [p.look for p in disk.planned if p.hazard_id != "car_stopped"]
    assert len(looks) == len(set(looks))


def test_the_same_cause_counts_once():
    no_place = "no placement: none of 48 places works: 40 not on clear road, 8 cut off by the frame"
    assert kind_of(no_place) == "no placement: mostly not on clear road"
    assert kind_of("seam: a step of 4.5 (of 3) along it; base: low") == "seam: a step of # along it"
