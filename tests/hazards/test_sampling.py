"""Properties of the plan: even, stratified, never twice, the seed's alone."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from cfgen.benchmark.plan import plan_round
from cfgen.benchmark.settings import PLAN

SCENES = [f"s{i:02d}" for i in range(12)]
HAZARDS = [f"h{i}" for i in range(5)]
pairs = st.sets(st.tuples(st.sampled_from(SCENES), st.sampled_from(HAZARDS)), max_size=40)


@given(pairs, pairs, st.integers(0, 80), st.integers(0, 9))
@settings(max_examples=80, deadline=None)
def test_never_twice_and_as_many_as_there_are(accepted, refused, slots, seed):
    planned = plan_round(SCENES, HAZARDS, accepted, refused, slots, seed)
    assert len(planned) == len(set(planned)) == min(slots, 60 - len(accepted | refused))
    assert not set(planned) & (accepted | refused)


@given(st.integers(1, 60), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_even_over_scenes_and_hazards(slots, seed):
    planned = plan_round(SCENES, HAZARDS, [], [], slots, seed)
    scenes, hazards = Counter(s for s, _ in planned), Counter(h for _, h in planned)
    in_scenes, in_hazards = [scenes[s] for s in SCENES], [hazards[h] for h in HAZARDS]
    assert max(in_scenes) - min(in_scenes) <= 1
    # exact while every scene is new; later a scene may already have seen the hazard whose turn it is
    assert max(in_hazards) - min(in_hazards) <= (1 if slots <= len(SCENES) else 3)


def test_the_seed_decides():
    plans = {tuple(plan_round(SCENES, HAZARDS, [], [], 6, seed)) for seed in range(5)}
    assert len(plans) == 5


def test_unused_scenes_come_first_and_a_refused_one_waits_for_untried_ones():
    accepted = [(s, "h0") for s in SCENES[:6]]
    refused = [(SCENES[6], "h1")]
    planned = plan_round(SCENES, HAZARDS, accepted, refused, 6, 0)
    assert [s for s, _ in planned][-1] == SCENES[6]
    assert {s for s, _ in planned} == set(SCENES[6:])
    assert "h0" not in {h for _, h in planned}


def test_a_scene_that_takes_little_waits_like_one_that_has_a_case():
    """SCENES[0] has ``patience`` refusals and no case: the others, with one each, are level with it, and come first."""
    accepted = [(s, "h0") for s in SCENES[1:]]
    refused = [(SCENES[0], f"h{i}") for i in range(PLAN.patience)]
    planned = plan_round(SCENES, HAZARDS, accepted, refused, 11, 0)
    assert sorted(s for s, _ in planned) == SCENES[1:]
    assert plan_round(SCENES, HAZARDS, accepted, refused[1:], 1, 0)[0][0] == SCENES[0]
    # what the scene merely does not suit says nothing against it
    assert plan_round(SCENES, HAZARDS, accepted, refused, 1, 0, refused[:1])[0][0] == SCENES[0]


def test_scenes_named_later_come_when_the_others_have_no_pair_left():
    planned = plan_round(SCENES[:3], HAZARDS, [], [(SCENES[2], "h0")], 12, 0, later=[SCENES[0]])
    assert {s for s, _ in planned[:9]} == {*SCENES[1:3]}
    assert [s for s, _ in planned[9:]] == [SCENES[0]] * 3


def test_refused_pairs_are_replaced_until_the_number_is_reached():
    wanted, bad = 12, {(s, "h0") for s in SCENES}
    accepted: set = set()
    refused: set = set()
    rounds = 0
    while len(accepted) < wanted:
        planned = plan_round(SCENES, HAZARDS, accepted, refused, wanted - len(accepted), 1)
        accepted |= set(planned) - bad
        refused |= set(planned) & bad
        rounds += 1
    assert rounds <= 6
    assert len({s for s, _ in accepted}) == wanted
