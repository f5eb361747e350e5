"""Known answers about edges, against plain arithmetic: painted roads are straight, and the car drives 12 m/s."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.records import KnownPool, KnownTrace
from cfgen.storage.store import Store
from cfgen.traces.corruptions import KINDS
from cfgen.traces.facts import named
from cfgen.traces.failures import FAILURES
from cfgen.traces.intent import Intent, follows, read_intent
from cfgen.traces.pool import RELATIONS, build_pool
from cfgen.traces.sources import Source, announced, scripted
from cfgen.traces.wordings import MANOEUVRES, VAGUE, say
from cfgen.traces.written import Corruptor, SecondModel
from tests.reporting.bench import all_road, blind, case_id, make_bench, straight, write_answer

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
    return build_pool(store, ("scripted",), per_edge=24, seed=3)


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


def test_synthetic_failures_say_the_right_thing_and_do_another(store: Store):
    """Words and action are those of a whole trace; by plain arithmetic the motion is not."""
    found = build_pool(store, ("scripted",), per_edge=60, seed=4, wanted=("E4", "E5"))
    failed = [k for k in found.traces if k.provenance.get("synthetic")]
    assert {k.kind.partition(" (")[0] for k in failed} == set(FAILURES)
    for known in failed:
        assert known.known.get("E3", True), "the action follows from the words"
        v, y = speed(known), np.array(known.waypoints)[:, 1]
        if known.kind.startswith("falls short"):
            assert v.min() > 0.75 * V0
            assert np.abs(y).max() < 0.8
        if known.kind.startswith("begins too late"):
            assert np.allclose(v[:15], V0, atol=0.01)
            assert np.abs(y[:15]).max() < 0.01
        if known.kind.endswith("(action)") and known.trace.lateral in done(known):
            assert not (done(known).get(known.trace.longitudinal, True) and done(known)[known.trace.lateral])


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
        "cfgen.traces.pool.scripted",
        lambda facts, rng: answers.setdefault(facts.case.case_id, scripted(facts, rng)),
    )
    kind = "frame before the edit"
    monkeypatch.setattr("cfgen.traces.pool.KINDS", {kind: KINDS[kind]})
    found = build_pool(store, ("scripted",), per_edge=20, seed=1, wanted=("E1",))
    assert len({k.id for k in found.traces}) == len(found.traces) <= 16
    assert found.dropped[f"E1, {kind}: made before"] > 0


def test_seeds_decide(store: Store):
    first, again, other = (build_pool(store, ("scripted",), 3, seed, ("E1", "E4")) for seed in (3, 3, 4))
    assert again == first
    assert other.traces != first.traces


def test_every_wording_is_read_as_what_it_means():
    for name, (longitudinal, lateral, wordings) in MANOEUVRES.items():
        for wording in wordings:
            for side in ("left", "right"):
                words = say(wording, "a fallen tree", "at the right edge of the road", side)
                assert read_intent(words) == announced(name, side), words
                assert follows(read_intent(words), longitudinal, lateral.format(side=side)) is True
    several = [say(w, "wild boars", "ahead") for _, _, wordings in MANOEUVRES.values() for w in wordings]
    assert not [
        words for words in several if re.search(r"boars(?: ahead)? (?:is|asks|leaves|makes)\b", words)
    ]
    assert {read_intent(say(w, "a deer", "ahead on the left")) for w in VAGUE} == {None}


@pytest.mark.parametrize(
    ("words", "means"),
    [
        ("Yield to the cross traffic since it is turning right ahead.", Intent("yield", "")),
        ("Turn right at the intersection because the light is green.", Intent("", "turn right")),
        ("We do not brake, because the road is clear.", Intent("set speed tracking", "")),
        ("Accelerate to pass the slower car.", Intent("pass", "")),
        ("Keep distance to the lead vehicle because it is slowing.", None),
        ("We brake and then accelerate.", None),
        ("Steer left, then right.", None),
        ("The brake lights of the truck are on.", None),
    ],
)
def test_words_are_read_strictly(words: str, means: Intent | None):
    assert read_intent(words) == means


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


def test_stored_answers_and_other_peoples_words_are_sources(store: Store, tmp_path: Path):
    said = tmp_path / "answers.json"
    rows = [
        {"cot": "Yield to the cyclist since it is crossing."},
        {"cot": "Accelerate, since the light is green."},
        {"cot": "Hello."},
    ]
    said.write_text(json.dumps(rows * 3))
    found = build_pool(store, (str(said),), per_edge=6, seed=1, wanted=("E3", "E4", "E5"))
    assert {k.source for k in found.traces} == {"answers.json"}
    assert found.dropped["source: words that cannot be acted out on a lane"] == 3
    for known in found.traces:  # yields brake, accelerations do not
        if not known.target:
            assert (speed(known).min() < 10) == ("Yield" in known.trace.justification)
            assert (speed(known)[-1] > V0) == ("Accelerate" in known.trace.justification)


def test_a_planners_own_consistent_answers(store: Store, tmp_path: Path):
    """Of two answers with the same words the one that brakes is consistent."""
    own = make_bench(tmp_path / "b", 4, {"blind": blind}, arms=("hazard",))
    for i in range(4):
        write_answer(own, "mine", i, "original", straight(12, 3.0 if i % 2 else 0.0), "")
        path = own.rollout_path("mine", "original", case_id(i))
        text = path.read_text().replace("It is clear ahead.", "The car slows down.")
        path.write_text(text)
    found = build_pool(own, ("mine",), per_edge=2, seed=1, wanted=("E3", "E4"))
    assert {k.provenance["of"] for k in found.traces} == {f"original/{case_id(i)}.0.json" for i in (1, 3)}
    assert found.dropped["source: not consistent on E4"] == 2
    assert any(k.kind == "justification negated" for k in found.traces)


def test_mistakes_are_one_line(store: Store):
    for sources, wanted, said in (
        (("nobody",), RELATIONS, "sources: expected scripted, blind or a file"),
        (("blind",), RELATIONS, r"'blind' has no answer that is known to be consistent .* add scripted ones"),
    ):
        with pytest.raises(InputError, match=said):
            build_pool(store, sources, per_edge=2, wanted=wanted)


def test_a_relation_that_cannot_be_balanced_is_named(store: Store, tmp_path: Path):
    said = tmp_path / "one.json"
    said.write_text(json.dumps([{"cot": "Yield to the cyclist."}]))
    with pytest.raises(InputError, match=r"E1 cannot be balanced: found 0 consistent .*--edges E3"):
        build_pool(store, (str(said),), per_edge=2, wanted=("E1", "E3"))


def written(tmp_path: Path, **fields: str) -> str:
    path = tmp_path / "written.json"
    path.write_text(json.dumps({"default": json.dumps(fields)}))
    return str(path)


def test_a_model_writes_corruptions_and_geometry_filters_them(store: Store, tmp_path: Path):
    """Its action contradicts what stops or slows, and fits what keeps its speed in its lane."""
    reply = {
        "scene": "An empty road.",
        "justification": "The car speeds up.",
        "longitudinal": "pass",
        "lateral": "lane keeping",
    }
    corruptor = Corruptor("scripted", {"file": written(tmp_path, **reply)})
    found = build_pool(store, ("scripted",), per_edge=15, seed=2, written=corruptor)
    models = [k for k in found.traces if k.kind.endswith("written by a model")]
    assert models
    assert {k.target for k in models} <= {"E3", "E4"}, "a rewritten scene is for a second model to confirm"
    assert any("written by a model: nothing tells" in why for why in found.dropped)
    for known in models:
        if known.target == "E4":
            assert (known.trace.longitudinal, known.trace.lateral) == ("pass", "lane keeping")
            assert not done(known)["pass"] or not done(known)["lane keeping"]
        assert known.provenance["model"] == "scripted"


def test_a_second_model_confirms_or_drops(store: Store, tmp_path: Path):
    edges = {
        **{f"E{i}": "CONSISTENT" for i in range(1, 6)},
        **{f"E{i}_why": "" for i in range(1, 6)},
        "confidence": "LOW",
    }
    for verdict, kept in (("INCONSISTENT", True), ("CONSISTENT", False)):
        path = tmp_path / f"{verdict}.json"
        path.write_text(json.dumps({"default": json.dumps({**edges, "E2": verdict})}))
        second = SecondModel(store, "scripted", {"file": str(path)})
        corruptor = Corruptor(
            "scripted",
            {
                "file": written(
                    tmp_path, scene="An empty road.", justification="x", longitudinal="pass", lateral="merge"
                )
            },
        )
        found = build_pool(store, ("scripted",), 6, 2, ("E2-scene",), second, corruptor)
        confirmed = [k for k in found.traces if k.provenance.get("confirmed")]
        assert bool(confirmed) is kept
        assert all(k.trace.scene == "An empty road." for k in confirmed)
        assert any("second model: called consistent" in why for why in found.dropped) is not kept
