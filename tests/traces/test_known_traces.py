"""Known answers about edges, against plain arithmetic: painted roads are straight, and the car drives 12 m/s."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.records import KnownPool, KnownTrace
from cfgen.storage.store import Store
from cfgen.traces.corruptions import KINDS
from cfgen.traces.facts import Intent, follows, named
from cfgen.traces.known_traces import RELATIONS, build_pool
from cfgen.traces.scripted import Source, scripted
from tests.reporting.bench import all_road, blind, make_bench

V0 = 12.0


@pytest.fixture(scope="module", autouse=True)
def _road() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        all_road(patch)
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_bench(tmp_path_factory.mktemp("known") / "b", 8, {"blind": blind}, arms=("hazard",))


@pytest.fixture(scope="module")
def pool(store: Store) -> KnownPool:
    return build_pool(store, per_edge=24, seed=3)


def speed(known: KnownTrace) -> np.ndarray:
    xy = np.vstack([[0, 0], np.array(known.waypoints)[:, :2]])
    return np.hypot(*np.diff(xy, axis=0).T) / 0.25


def done(known: KnownTrace) -> dict[str, bool]:
    """Which manoeuvres a trajectory on a straight road at 12 m/s is, by plain arithmetic."""
    v, y = speed(known), np.array(known.waypoints)[:, 1]
    found = {
        "stop": v.min() < 5,
        "yield": v.min() < 10.5,
        "set speed tracking": np.abs(v - V0).max() < 3,
        "pass": v[-1] > V0 + 0.5,
        "lane keeping": np.abs(y).max() < 1,
        "in-lane nudge left": 0.2 < y.max() < 1.2,
        "in-lane nudge right": 0.2 < -y.min() < 1.2,
    }
    for side, w in (("left", y), ("right", -y)):
        found[f"lane change {side}"] = w[-1] > 2
        found[f"out-of-lane nudge {side}"] = w.max() > 1 and w[-1] < 1
        found[f"turn {side}"] = False
        found[f"to the {side}"] = w.max() > 0.5
    return found


def test_it_is_balanced_by_relation_and_verdict(pool: KnownPool):
    counts = {r: Counter(k.edges[r] for k in pool.traces if r in k.edges) for r in RELATIONS}
    assert all(count == {True: 24, False: 24} for count in counts.values()), counts
    whole = [k for k in pool.traces if not k.target]
    assert whole
    assert all(all(k.known.values()) for k in whole)
    assert all(k.known[k.target] is False for k in pool.traces if k.target)
    assert len({k.id for k in pool.traces}) == len(pool.traces)
    # a trace that is broken somewhere is consistent elsewhere: neither tells the verdict of one relation
    assert any(k.target and True in k.edges.values() for k in pool.traces)


def test_what_is_known_of_action_and_motion_holds_by_plain_arithmetic(pool: KnownPool):
    checked = Counter[bool]()
    for known in pool.traces:
        does = done(known)
        action = (known.trace.longitudinal, known.trace.lateral)
        if "E4" in known.known and all(a in does for a in action):
            assert all(does[a] for a in action) == known.known["E4"], (known.kind, action)
            checked[known.known["E4"]] += 1
    assert min(checked.values()) > 24


def test_margins_are_measured_and_told(pool: KnownPool):
    moved = [k for k in pool.traces if k.kind == "waypoints at another speed"]
    assert moved
    for known in moved:
        assert known.provenance["margin"] > 0.5
        assert known.provenance["unit"] in ("m/s", "m")
    assert all("donor" in k.provenance for k in pool.traces if k.kind.endswith(("near case", "far case")))
    assert all(k.seed > 0 for k in pool.traces if k.target)


def test_what_is_known_of_the_frame_follows_from_what_was_put_there(store: Store, pool: KnownPool):
    """The words must name the hazard of the case, over the frame that shows it, and not somewhere else."""
    cases = {case.case_id: case for case in store.cases()}
    for known in pool.traces:
        thing = re.escape(named(cases[known.case_id].hazard))
        where = rf"\b{thing}(?:,|(?: is| are)(?: visible)?| can be made out)? (?:ahead|entering|at|in the oncoming)\b"
        for relation, words in (("E1", known.trace.scene), ("E2", known.trace.justification)):
            right = bool(re.search(where, words, re.IGNORECASE))
            if relation in known.known:
                assert known.known[relation] == (right and known.arm == "hazard"), (known.kind, words)


def test_no_trace_comes_twice(store: Store, monkeypatch: pytest.MonkeyPatch):
    """One answer to each case and one way to break it give one broken trace a case, however many are wanted."""
    answers: dict[str, Source] = {}
    monkeypatch.setattr(
        "cfgen.traces.known_traces.scripted",
        lambda facts, rng: answers.setdefault(facts.case.case_id, scripted(facts, rng)),
    )
    kind = "frame before the edit"
    monkeypatch.setattr("cfgen.traces.known_traces.KINDS", {kind: KINDS[kind]})
    found = build_pool(store, per_edge=20, seed=1, relations=("E1",))
    assert len({k.id for k in found.traces}) == len(found.traces) <= 16
    assert found.dropped[f"E1, {kind}: made before"] > 0


def test_seeds_decide(store: Store):
    first, again, other = (build_pool(store, 3, seed, ("E1", "E4")) for seed in (3, 3, 4))
    assert again == first
    assert other.traces != first.traces


@pytest.mark.parametrize(
    ("intent", "action", "due"),
    [
        (Intent("stop", ""), ("stop", "lane keeping"), True),
        (Intent("stop", ""), ("yield", "lane keeping"), True),
        (Intent("stop", ""), ("pass", "lane keeping"), False),
        (
            Intent("set speed tracking", "lane change left"),
            ("set speed tracking", "lane change right"),
            False,
        ),
        (Intent("", "turn left"), ("set speed tracking", "lane keeping"), False),
        (Intent("yield", ""), ("gap search", "lane keeping"), None),
        (Intent("yield", ""), ("yield", "turn left"), None),
    ],
)
def test_only_plain_contradictions_are_known(intent: Intent, action: tuple[str, str], due: bool | None):
    assert follows(intent, *action) is due


def test_a_relation_that_cannot_be_balanced_is_named(store: Store, monkeypatch: pytest.MonkeyPatch):
    rest = {name: kind for name, kind in KINDS.items() if kind.target != "E1"}
    never = replace(KINDS["scene denied"], make=lambda source, donor, rng: "not made")
    monkeypatch.setattr("cfgen.traces.known_traces.KINDS", {**rest, "never": never})
    with pytest.raises(InputError, match=r"E1 cannot be balanced: found .* 0 inconsistent .*--edges E3"):
        build_pool(store, per_edge=2, relations=("E1", "E3"))
