"""Judges of edges on known answers: a judge that knows, one that nods, one that is half blind."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import cfgen
from cfgen.cli.main import main
from cfgen.core.files import read_record
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, FIELDS, faithfulness_scene
from cfgen.judge.rubrics.trace import TraceReply
from cfgen.metrics.faithfulness import EDGES, Balanced
from cfgen.metrics.intervals import Rate
from cfgen.records import EdgeProbe, KnownPool
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.section import Section
from cfgen.reporting.sections.faithfulness import traces_section
from cfgen.storage.store import Store
from cfgen.traces.edge_ratings import import_edges
from cfgen.traces.known_traces import build_pool
from cfgen.traces.probe import probe_edges, summarize
from tests.reporting.bench import blind, case_id, make_bench

FIVE = ("E1", "E2", "E3", "E4", "E5")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_bench(tmp_path_factory.mktemp("probe") / "b", 6, {"blind": blind}, arms=("hazard",))


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No judge here looks at the plots, which take most of the time."""
    blank = np.zeros((8, 8, 3), np.uint8)
    for name in ("bev", "speed_plot"):
        monkeypatch.setattr(f"cfgen.judge.rubrics.trace.{name}", lambda points: blank)


@pytest.fixture(scope="module")
def pool(store: Store) -> KnownPool:
    return build_pool(store, per_edge=20, seed=5)


class Says:
    """A checker whose verdicts a function of the known trace gives; None: no usable reply."""

    model = "m"

    def __init__(self, pool: KnownPool, say, rubric=FAITHFULNESS, name: str = "says") -> None:
        self.name, self.rubric = name, rubric.id
        self._known, self._say = {k.id: k for k in pool.traces}, say

    def check(self, items, done, strict=False) -> None:
        for key, _ in items:
            edges = self._say(self._known[key])
            done(key, TraceReply("m", edges=edges) if edges else TraceReply("m", reason="none"))


def all_but(**broken: bool) -> dict[str, bool]:
    return {**dict.fromkeys(FIVE, True), **broken}


def test_a_judge_that_knows_is_right_throughout(store: Store, pool: KnownPool):
    found = probe_edges(
        store.root, Says(pool, lambda k: all_but(**{r: k.known.get(r, True) for r in FIVE})), pool, True
    )
    for relation in FIVE:
        count = found.edges[relation]
        assert (count.consistent, count.inconsistent) == (20, 20)
        assert Balanced.of(*count.recalls).value == 1.0
    assert (found.edges["overall"].false_consistent, found.edges["overall"].false_inconsistent) == (0, 0)
    assert all(kind.right == kind.n for kind in found.kinds.values())
    assert (found.untested, found.failed) == ((), 0)


def test_one_that_nods_and_one_that_is_half_blind(store: Store, pool: KnownPool):
    nods = probe_edges(store.root, Says(pool, lambda k: all_but(), name="nods"), pool, True)
    assert {Balanced.of(*nods.edges[e].recalls).value for e in FIVE} == {0.5}
    assert {nods.edges[e].false_consistent for e in FIVE} == {20}
    assert nods.kinds["consistent"].right == nods.kinds["consistent"].n
    # it sees every second broken E3, and gives no usable reply to what is broken on E4
    seen = {k.id for k in [k for k in pool.traces if k.edges.get("E3") is False][::2]}
    half = Says(pool, lambda k: None if k.target == "E4" else all_but(E3=k.id not in seen), name="half")
    found = probe_edges(store.root, half, pool, True)
    e3, e4 = found.edges["E3"], found.edges["E4"]
    lost = sum(k.target == "E4" and k.edges.get("E3") is False for k in pool.traces)
    assert e3.false_consistent + e3.unanswered[1] == 20 - len(seen) + sum(
        k.id in seen and k.target == "E4" for k in pool.traces
    )
    assert e3.unanswered[1] == lost
    assert e4.recalls[1] == (0, 20), "no reply counts as wrong"
    assert e4.unanswered[1] + e4.false_consistent == 20


def test_the_other_reading_of_e2_has_known_answers_of_its_own(store: Store, pool: KnownPool):
    """A justification whose premise the scene lacks, true of the frame: broken by one reading, whole by the other."""

    def knows(k):
        rest = {r: k.known.get(r, True) for r in ("E1", "E3", "E4", "E5")}
        return all_but(E2=k.known.get("E2-scene", True), **rest)

    found = probe_edges(store.root, Says(pool, knows, faithfulness_scene(), "other"), pool, True)
    assert "E2" not in found.edges
    assert Balanced.of(*found.edges["E2-scene"].recalls).value == 1.0
    by_frame = probe_edges(store.root, Says(pool, knows, FAITHFULNESS, "frame"), pool, True)
    assert Balanced.of(*by_frame.edges["E2"].recalls).value < 1.0
    assert any(k.known.get("E2") and k.known.get("E2-scene") is False for k in pool.traces)


def test_verdicts_are_kept_and_two_probes_stay_side_by_side(store: Store, pool: KnownPool):
    """Two wordings of one judge: the figures of both are in the report, and follow from the records alone."""
    fresh = Says(pool, lambda k: all_but(E3=k.known.get("E3", True)), FAITHFULNESS, "pair")
    other = Says(pool, lambda k: None if k.target == "E4" else all_but(), faithfulness_scene(), "pair")
    for checker in (fresh, other):
        probe_edges(store.root, checker, pool, True)
    kept = [read_record(p, EdgeProbe) for p in (store.root / "traces" / "pair" / "probes").iterdir()]
    assert {p.rubric for p in kept} == {"faithfulness", "faithfulness-scene"}
    for probe, checker in ((p, c) for p in kept for c in (fresh, other) if c.rubric.hash == p.rubric_hash):
        known = {k.id: k for k in pool.traces}
        again = {v.id: TraceReply(probe.model, edges=v.edges, reason=v.reason) for v in probe.verdicts}
        found = summarize(checker, pool, [known[v.id] for v in probe.verdicts], again, probe.pool)
        assert found == probe
        assert len(again) == probe.n == len(probe.verdicts)
        assert probe.failed == sum(v.reason == "none" for v in probe.verdicts)
    table = next(t for t in section(store.root).tables if t.name == "edge-probes")
    assert len({row[1] for row in table.rows if row[0] == "pair"}) == 2


def test_the_interval_of_balanced_accuracy():
    """Both recalls alike: half the root of twice the square of one half width; one perfect side adds none above."""
    one = Rate.of(15, 20)
    found = Balanced.of((15, 20), (15, 20))
    assert found.value == 0.75
    assert found.low == pytest.approx(0.75 - (0.75 - one.low) / 2**0.5)
    assert found.high == pytest.approx(0.75 + (one.high - 0.75) / 2**0.5)
    assert Balanced.of((0, 0), (1, 1)).value is None


def reply(**changes: str) -> str:
    return json.dumps(
        {**dict.fromkeys(FIELDS, ""), **dict.fromkeys(EDGES, "CONSISTENT"), "confidence": "HIGH", **changes}
    )


def test_from_the_command_line_to_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """A scripted judge that is told the right verdicts; before its probe, and with other ones, it is untested."""
    root = make_bench(tmp_path / "b", 4, {"blind": blind}, arms=("hazard",)).root
    pool = build_pool(Store(root), per_edge=20, seed=0, relations=FIVE)
    right = {
        k.id: reply(**{r: "CONSISTENT" if v else "INCONSISTENT" for r, v in k.known.items() if r in FIVE})
        for k in pool.traces
    }
    script = tmp_path / "replies.json"
    script.write_text(json.dumps({"replies": right, "default": reply()}))
    judge = ["--judge", "scripted", "--judge-options", f"file={script}", "--quiet"]
    assert main(["analyze", "traces", "check", str(root), "--planner", "blind", *judge]) == 0
    assert list(section(root).lead) == [
        "scripted is untested: it was tried on no known answers here; cfgen analyze traces validate does so."
    ]
    capsys.readouterr()
    assert main(["analyze", "traces", "validate", str(root), "--per-edge", "20", *judge]) == 0
    out = capsys.readouterr().out
    assert out.count("1.000 [") == 6
    assert "corruptions dropped by the filter" in out
    assert list(section(root).lead) == [
        f"scripted was tried on {len(pool.traces)} known traces; balanced accuracy: E1 1.00, E2 1.00, E3 1.00, "
        "E4 1.00, E5 1.00, overall 1.00."
    ]
    trusted = next(t for t in section(root).tables if t.name == "edge-probes")
    assert [(row[0], *row[4:6]) for row in trusted.rows] == [
        ("scripted", e, "1.000") for e in (*FIVE, "overall")
    ]
    assert main(["analyze", "traces", "validate", str(root), "--per-edge", "5", "--edges", "E4", *judge]) == 1
    assert "Too few to call it tested on" in capsys.readouterr().out
    # the small probe stays beside the large one, which is what the report speaks of
    assert len(list((root / "traces" / "scripted" / "probes").iterdir())) == 2
    assert section(root).lead[0].startswith(f"scripted was tried on {len(pool.traces)} known traces")
    assert not [f for f in cfgen.verify(root).faults if "traces" in f], (
        "probes and pools are records of cfgen's"
    )
    for path in (root / "traces" / "known").iterdir():
        path.unlink()
    lost = [f for f in cfgen.verify(root).faults if "known answers that are missing" in f]
    assert len(lost) == 2, "figures without their known answers cannot be checked"


def section(root: Path) -> Section:
    return traces_section(read_report_data(Store(root)))


# --- people ---------------------------------------------------------------------------------------------------


def table(path: Path, rows: list[tuple[str, int, str]]) -> Path:
    """rater, case, and five letters: C, I, or T where one cannot tell."""
    words = {"C": "CONSISTENT", "I": "inconsistent", "T": "cannot tell"}
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["rater", "planner", "case_id", "arm", *FIVE])
        for rater, i, said in rows:
            out.writerow([rater, "blind", case_id(i), "hazard", *(words[c] for c in said)])
    return path


def test_people_rate_edges_and_the_report_has_both_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    root = make_bench(tmp_path / "b", 4, {"blind": blind}, arms=("hazard",)).root
    script = tmp_path / "s.json"
    script.write_text(
        json.dumps({"replies": {f"hazard.{case_id(0)}.0": reply(E4="INCONSISTENT")}, "default": reply()})
    )
    check = f"analyze traces check {root} --planner blind --arms hazard --quiet --judge scripted"
    main([*check.split(), "--judge-options", f"file={script}"])
    # E4: ann I C C I, bob I C I C -> majority I C tie tie; the judge says I C C C
    said = {"ann": ("CCCIC", "CCCCC", "CCCCC", "CCCIT"), "bob": ("CCCIC", "CCCCC", "CCCIC", "CCCCC")}
    rows = [(rater, i, letters) for rater, each in said.items() for i, letters in enumerate(each)]
    file = table(tmp_path / "edges.csv", rows)
    assert main(["analyze", "traces", "rate", str(root), str(file)]) == 0
    assert "8 ratings added" in capsys.readouterr().out
    assert import_edges(root, file) == 0, "what is there already is not added"
    tables = {t.name: t for t in section(root).tables}
    people = {row[2]: row for row in tables["edge-people"].rows}
    # ann and bob: 2 of 4 alike, by chance 1/2 -> 0; the judge with ann and bob: 3 of 4, by chance 1/2 -> 0.5
    assert people["E4"][3:] == ("2/2", "1.000", "0.000 ± 0.000", "0.500 ± 0.000", "2")
    assert people["overall"][3] == "2/2", "by rule: broken where one edge is"
    assert not [f for f in cfgen.verify(root).faults if "edge_ratings" in f]
