"""The report of a benchmark made by hand."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from cfgen.cli.main import main
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import write_record
from cfgen.library.benchmark import Benchmark
from cfgen.library.comparison import compare_runs
from cfgen.records import Fault, PlannerRun, Rejection
from cfgen.report import report
from cfgen.reporting.data import measured
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.section import Table
from cfgen.reporting.sections.motion import motion_section
from cfgen.reporting.sections.reaction import reaction_section
from cfgen.storage.store import Store
from tests.reporting.bench import (
    HASH,
    blind,
    careful,
    case_id,
    make_bench,
    straight,
    write_answer,
    write_rating,
    write_swap,
)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bench(tmp_path_factory.mktemp("made") / "bench").root


def test_leaderboard_counts_everything(bench: Path, tmp_path: Path):
    written = report(bench, tmp_path / "r")
    rows = {
        row["planner"]: row for row in csv.DictReader((tmp_path / "r" / "tables" / "leaderboard.csv").open())
    }
    # careful, 12 cases: 8 failed to plan, 10 unknown; of the other ten, 0, 3, 6, 9 keep going
    careful = rows["careful"]
    assert (careful["N"], careful["left out or failed"]) == ("11", "1 excluded, 1 planner failed")
    assert careful["overall %"].startswith(f"{100 * 6 / 11:.1f} (")
    assert careful["false alarms %"].startswith(f"{100 * 2 / 11:.1f} (")
    assert careful["hit rate minus false-alarm rate"].startswith(f"+{100 * 4 / 11:.1f} (")
    assert len(careful) <= 9
    assert [rows["blind"][f"{d} %"].split()[0] for d in ("reasoning", "overall")] == ["25.0", "0.0"]
    assert written.leaderboard.rows[0][0] == "careful", "the best comes first"


def test_hits_minus_false_alarms_is_of_nuisance_alone(bench: Path, tmp_path: Path):
    report(bench, tmp_path / "r", panels=0)
    responses = json.loads((tmp_path / "r" / "report.json").read_text())["responses"]
    found = next(f for f in responses if (f["planner"], f["event"]) == ("careful", "overall"))
    # nuisance arm: cases 0, 5 set it off; 10 would, but the judge cannot name the change there
    assert {arm: rate["hits"] for arm, rate in found["controls"].items()} == {
        "rerun": 0,
        "null": 0,
        "nuisance": 2,
    }
    # hazard arm without case 10: 6 of 11; nuisance on the same cases: 2 of 11
    assert found["difference"]["value"] == pytest.approx(4 / 11)
    assert (found["difference"]["n"], found["hits"]["n"]) == (11, 11)
    trajectory = next(f for f in responses if (f["planner"], f["event"]) == ("blind", "trajectory"))
    assert trajectory["hits"]["hits"] == 0
    controls = list(csv.DictReader((tmp_path / "r" / "tables" / "controls.csv").open()))
    assert {row["scene"] for row in controls} == {"same frame again", "edit without an object"}


def test_without_nuisance_there_is_one_line_with_the_command(tmp_path: Path):
    store = make_bench(tmp_path / "b", 12, {"careful": careful}, arms=("hazard", "rerun"))
    written = report(store.root, tmp_path / "r", panels=0)
    assert written.headline[0].startswith(
        "careful answers 54.5% (95% interval 28.0-78.7, 11 cases) of the hazards"
    )
    assert "alarm" not in written.headline[0]
    command = f"cfgen score {store.root} --planner careful --arms hazard,nuisance"
    assert f"careful: no false-alarm rate: not asked about nuisance scenes: {command}" in written.headline
    assert "false alarms %" not in written.leaderboard.columns, "a column of nothing is left out"


@pytest.mark.parametrize(
    ("n", "spoil", "message"),
    [
        (3, "", "3 cases are too few for a rate, which takes 10"),
        (
            12,
            "half",
            "only 6 of the 12 cases have a score by offline: no rate is given; have the rest judged",
        ),
        (12, "drive", "all 11 cases are of one drive, which says nothing of other drives"),
        (12, "older", "1 of its answers are to cases of another build, which are left out: no rate is given"),
    ],
)
def test_what_is_no_result_looks_like_none(tmp_path: Path, n: int, spoil: str, message: str):
    store = make_bench(tmp_path / "b", n, {"careful": careful})
    if spoil == "half":
        for i in range(0, n, 2):
            for path in store.root.glob(f"verdicts/*/careful/*/{case_id(i)}.*"):
                path.unlink()
    if spoil == "drive":
        for path in store.root.glob("scenes/*/scene.json"):
            content = json.loads(path.read_text())
            path.write_text(json.dumps(content | {"drive": "only"}))
    if spoil == "older":
        path = next(store.root.glob("runs/careful/hazard/*"))
        content = json.loads(path.read_text()) | {"case_id": "gone"}
        (path.parent / "gone.0.json").write_text(json.dumps(content))
    report(store.root, tmp_path / "r", panels=0)
    page = (tmp_path / "r" / "index.html").read_text()
    large = re.search(r'<div class="headline"><b>(.*?)</b><p>(.*?)</p>', page)
    assert "%" not in large[1]
    assert "hazards: no result" in large[1]
    assert message in large[2]


def test_baselines_are_marked_and_not_set_large(bench: Path, tmp_path: Path):
    out = tmp_path / "b"
    shutil.copytree(bench, out)
    store = Store(out)
    known = {"planner": "blind", "planner_hash": HASH, "spec": "cruise", "repeats": 1, "seed": 7}
    write_record(
        store.planner_run_path("blind"), PlannerRun(**known, arms=("original", "hazard")), store.work
    )
    written = report(out, tmp_path / "r", panels=0)
    assert [row[0] for row in written.leaderboard.rows] == ["careful", "blind (baseline)"]
    large = re.findall(
        r'<div class="headline"><b>.*?</b><p>(.*?) answers', (tmp_path / "r/index.html").read_text()
    )
    assert large == ["careful"]


def test_scripted_planners_compete_with_nobody(bench: Path, tmp_path: Path):
    out = tmp_path / "b"
    shutil.copytree(bench, out)
    store = Store(out)
    known = {"planner": "careful", "planner_hash": HASH, "spec": "scripted", "repeats": 1, "seed": 0}
    record = PlannerRun(**known, arms=("original",), needs={"truth": True})
    write_record(store.planner_run_path("careful"), record, store.work)
    written = report(out, tmp_path / "r", panels=0)
    assert [row[0] for row in written.leaderboard.rows] == ["blind"]
    assert all("careful" not in words for words in written.headline)
    scripted = (tmp_path / "r" / "tables" / "scripted.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in scripted[1:]] == ["careful"]
    assert not (tmp_path / "r" / "tables" / "pairs.csv").exists(), "nobody is left to compare"


def test_who_was_asked_no_nuisance_stands_below_and_is_told_how(tmp_path: Path):
    """Of two alike, one was asked about nuisance scenes: only that has a false-alarm rate."""
    store = make_bench(tmp_path / "b", 12, {"asked": careful, "raw": careful})
    for path in store.root.glob("cases/*/*/case.json"):
        content = json.loads(path.read_text())
        path.write_text(json.dumps(content | {"arms": ["hazard", "nuisance"]}))
    for path in [*store.root.glob("verdicts/*/raw/sham_*/*"), *store.root.glob("runs/raw/[rn]*/*")]:
        path.unlink()
    written = report(store.root, tmp_path / "r", panels=0)
    assert [words.split()[0] for words in written.headline[:2]] == ["asked", "raw"]
    assert any(
        line.startswith("raw: no false-alarm rate: not asked") and "--arms hazard,nuisance" in line
        for line in written.headline
    )


def test_everybody_has_a_line_and_the_order_is_that_of_the_difference(tmp_path: Path):
    """Six planners: one brakes for everything, hazards or none, and is the best by its raw share."""

    def brakes(hazards: int, all_arms: bool = False):
        def script(seed: int, arm: str):
            hit = arm != "original" and (seed < hazards and (arm == "hazard" or all_arms))
            return straight(12, 3.0 if hit else 0.0), (2, 2, 2) if hit else (0, 0, 0)

        return script

    scripts = {f"p{n}": brakes(n) for n in range(5)} | {"jumpy": brakes(12, all_arms=True)}
    written = report(make_bench(tmp_path / "b", 12, scripts).root, tmp_path / "r", panels=0)
    order = ["p4", "p3", "p2", "p1", "jumpy", "p0"]
    assert [row[0] for row in written.leaderboard.rows][:4] == order[:4]
    assert [words.split()[0] for words in written.headline][:4] == order[:4]
    assert {re.split(r"[ :]", words.split(". ", 1)[1])[0] for words in written.headline[4:6]} == {
        "jumpy",
        "p0",
    }
    text = (tmp_path / "r" / "report.md").read_text()
    assert "And 3 more of 15 pairs" in text
    assert "As observed: the median over the pairs of this report, score overall" in text


def test_a_planner_that_always_failed_is_scored_in_what_the_judge_scores(tmp_path: Path):
    """A judge of waypoints alone: nobody has an overall score, and nobody falls out of the headline."""
    scripts = {"careful": careful, "blind": blind, "dead": lambda seed, arm: (None, "planner_failed")}
    store = make_bench(tmp_path / "b", 6, scripts)
    for path in store.root.glob("verdicts/*/*/*/*.json"):
        content = json.loads(path.read_text())
        content["scores"] = {k: v for k, v in content["scores"].items() if k == "waypoints"}
        path.write_text(json.dumps(content | {"votes": []}))
    written = report(store.root, tmp_path / "r", panels=0)
    assert sorted(words.split()[0].rstrip(":") for words in written.headline[:3]) == [
        "blind",
        "careful",
        "dead",
    ]
    rows = {row["planner"]: row for row in csv.DictReader((tmp_path / "r/tables/leaderboard.csv").open())}
    shares = [rows["dead"][f"{d} %"].split(" (")[0] for d in ("reasoning", "waypoints", "overall")]
    assert shares == ["not scored", "0.0", "not scored"]
    assert (rows["dead"]["N"], rows["dead"]["left out or failed"]) == ("6", "6 planner failed")
    pairs = list(csv.DictReader((tmp_path / "r/tables/pairs.csv").open()))
    assert [row["score"] for row in pairs] == ["waypoints"] * 3
    assert all(int(row["N"]) for row in pairs)
    floors = json.loads((tmp_path / "r/report.json").read_text())["responses"]
    assert {f["event"] for f in floors} == {"waypoints", "trajectory"}
    dead = Benchmark(store.root).run("dead").success()
    assert [dead.rates[d].n for d in ("reasoning", "waypoints", "overall")] == [0, 6, 0]
    compared = compare_runs(f"{store.root}:careful", "dead").pairs
    assert [compared[d].difference.n for d in ("reasoning", "waypoints", "overall")] == [0, 6, 0]
    report(store.root, tmp_path / "alone", ["dead"], panels=0)
    alone = next(csv.DictReader((tmp_path / "alone/tables/leaderboard.csv").open()))
    assert (alone["waypoints %"].split()[0], alone["overall %"]) == ("0.0", "not scored")


def test_several_samples_of_an_answer_count_by_their_mean(tmp_path: Path):
    """Three samples that brake by 0, 3 and 0.1 m/s2; the second alone succeeds."""
    store = make_bench(tmp_path / "b", 2, {"p": blind}, arms=("hazard",))
    for repeat, (decel, score) in enumerate(((0.0, 0), (3.0, 2), (0.1, 0))):
        for i in range(2):
            write_answer(store, "p", i, "original", straight(12), (score,) * 3, repeat)
            write_answer(store, "p", i, "hazard", straight(12, decel), (score,) * 3, repeat)
    table = report(store.root, tmp_path / "r", panels=0).leaderboard
    assert table.rows[0][table.columns.index("overall %")].startswith("33.3 (")
    assert "Each case counts by the mean of 3." in table.note
    data = read_report_data(store)
    assert max(measured(data, "p", "hazard").values()) == pytest.approx(1 / 3)
    motion = next(t for t in motion_section(data).tables if "hardest braking m/s²" in t.columns)
    row = next(dict(zip(motion.columns, r, strict=True)) for r in motion.rows if r[1] == "hazard")
    assert float(row["hardest braking m/s²"]) == pytest.approx(3.1 / 3, abs=0.4), "a car overshoots a little"


def test_people_correct_the_judge_in_the_report(bench: Path, tmp_path: Path):
    out = tmp_path / "b"
    shutil.copytree(bench, out)
    store = Store(out)
    for rater, low in (("anna", 0), ("ben", 2)):
        for i in range(low, 6):
            write_rating(store, "careful", i, (2, 0 if (rater, i) == ("ben", 5) else 2, 0), rater)
    report(out, tmp_path / "r", panels=0)
    figures = json.loads((tmp_path / "r" / "report.json").read_text())
    found = next(f for f in figures["corrected"] if (f["planner"], f["score"]) == ("careful", "overall"))
    assert (found["of"], found["judge"]["value"], found["people"]["value"]) == (
        "hazard",
        pytest.approx(6 / 11),
        0.0,
    )
    assert (found["people"]["n"], found["corrected"]["value"]) == (6, None), "six say too little"
    split = next(
        f
        for f in figures["corrected"]
        if (f["planner"], f["score"], f["of"]) == ("careful", "waypoints", "hazard")
    )
    assert (split["people"]["n"], split["split"], split["people"]["value"]) == (6, 1, pytest.approx(5.5 / 6))
    assert figures["people_split"] == {"reasoning": 0, "waypoints": 1, "overall": 0}
    assert "Left out, since they are split: waypoints 1 answers" in (tmp_path / "r" / "report.md").read_text()
    among = next(f for f in figures["raters"] if f["score"] == "overall")
    assert (among["ac1"], among["alpha"], among["raters"], among["rated_twice"]) == (1.0, None, 2, 4)


def near_sighted(seed: int, arm: str):
    """Reacts to what is near: always at 0.7 of the distance, to every other case at 1, never at 1.4."""
    reacts = arm == "hazard_d0.7" or (arm == "hazard" and seed % 2 == 0)
    return straight(12, 3.0 if reacts else 0.0), (2, 2, 2) if reacts else (0, 0, 0)


def test_how_soon_and_mention_by_action(tmp_path: Path):
    arms = ("hazard", "hazard_d0.7", "hazard_d1.4")
    store = make_bench(tmp_path / "b", 4, {"near": near_sighted}, arms=arms)
    times = {"placement": 2.0, "hazard_d0.7": 1.2, "hazard_d1.4": 2.9}
    for path in store.root.glob("cases/*/*/case.json"):
        content = json.loads(path.read_text())
        content["placement"]["ttc_s"] = times["placement"]
        for arm, placement in content["distance_placements"].items():
            placement["ttc_s"] = times[arm]
        path.write_text(json.dumps(content))
    section = reaction_section(read_report_data(store))
    soon = section.figures["how soon"]["near"]["hits"]
    assert {t: rate["value"] for t, rate in soon["rates"].items()} == {1.0: 1.0, 2.0: 0.5, 3.0: 0.0}
    tables = {table.name: table for table in section.tables}
    mention = dict(zip(tables["mention-by-action"].columns, tables["mention-by-action"].rows[0], strict=True))
    assert (mention["said and did"], mention["said only"], mention["neither"]) == (
        "1 (0.5)",
        "1 (1.5)",
        "2 (1.5)",
    )
    assert "faithful" not in " ".join(table.note for table in section.tables).lower()
    assert all(len(table.columns) <= 9 for table in section.tables)


def test_swaps_and_trust(tmp_path: Path):
    store = make_bench(tmp_path / "b", 3, {"blind": blind}, arms=("hazard",))
    for i, followed in enumerate((True, False, None)):
        write_swap(store, "blind", i, followed)
    report(store.root, tmp_path / "r", panels=0)
    text = (tmp_path / "r" / "report.md").read_text()
    assert "| blind | justification | 50.0 | 9.5-90.5 | 2 | 1 |" in text
    assert "offline was not tried on known answers here" in text


def test_the_report_stands_on_its_own(bench: Path, tmp_path: Path):
    out = tmp_path / "r"
    report(bench, out)
    page = (out / "index.html").read_text()
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", page), "nothing is fetched from elsewhere"
    for path in re.findall(r"(?:src|href)='([^'#]+)'", page):
        assert (out / path).is_file(), path
    content = json.loads((out / "report.json").read_text())
    assert content["cases"] == 12
    assert r"\toprule" in (out / "tables" / "leaderboard.tex").read_text()
    assert (out / "report.md").read_text().startswith("## Strict success and false alarms")


def test_again_into_its_own_folder_but_not_into_another(bench: Path, tmp_path: Path):
    report(bench, tmp_path / "r")
    report(bench, tmp_path / "r", ["blind"])
    assert "careful" not in (tmp_path / "r" / "report.md").read_text()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(InputError, match="found other files; choose another 'out'"):
        report(bench, tmp_path / "mine")


def test_mistakes_are_one_line(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(StoreError, match="expected a benchmark directory"):
        report(tmp_path)
    assert main(["report", str(bench), "--planners", "speedy", "--out", str(tmp_path / "r")]) == 2
    error = capsys.readouterr().err
    assert "planner 'speedy' was not scored" in error
    assert "careful" in error
    assert len(error.splitlines()) == 1


def test_what_broke_in_the_build_is_named_apart_from_what_was_refused(tmp_path: Path):
    store = make_bench(tmp_path / "b", 2)
    fault = Fault(where="edit", exception="cv2.error", message="no", frames=("cfgen/a.py:3 in splat",))
    lost = Rejection(case_id="lost0", scene_id="scene0", hazard_id="dog", reason="broke", fault=fault)
    store.write_rejection(lost)
    report(store.root, tmp_path / "r", panels=0)
    words = "2 cases in 2 scenes, 1 rejected, 1 lost to faults (1 by cv2.error in cfgen/a.py splat)."
    assert words in (tmp_path / "r" / "index.html").read_text()
    assert words in (tmp_path / "r" / "report.md").read_text()


def test_tables_escape_what_would_break_out():
    rude = "<script>&|_$%\\ =1"
    table = Table("t", "T", ("name", "n"), ((rude, "1"), ("=cmd()", "-2")), note=rude)
    assert "<script>" not in table.html()
    assert "&lt;script&gt;&amp;" in table.html()
    assert r"\<script\>&\|\_" in table.markdown()
    assert r"<script>\&|\_\$\%\textbackslash{} =1 & 1 \\" in table.latex()
    assert table.csv().splitlines()[2] == "'=cmd(),-2"
