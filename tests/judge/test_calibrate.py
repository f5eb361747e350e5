"""A judge against people: worked by hand, from the command line, and kept apart from the benchmark."""

from pathlib import Path

import pytest

from cfgen.app.campaigns.exchange import import_ratings
from cfgen.benchmark.verifying import Verification
from cfgen.build import build
from cfgen.cli.main import main
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_record, write_record
from cfgen.judge.calibrate import calibrate
from cfgen.models.base import Reply
from cfgen.options import BuildOptions, ScoreOptions
from cfgen.records import DIMENSIONS, Calibration
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.sections.agreement import people_section
from cfgen.score import score
from cfgen.storage.store import Store

HEAD = "rater,planner,case_id,reasoning,waypoints,overall\n"


@pytest.fixture(scope="module")
def bench(real: Path, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("calibrate") / "bench"
    build(BuildOptions(n=4, out=out, scenes=real / "udacity_hmb3" / "scenes", seed=5, jobs=1, quiet=True))
    for kind in ("notices_and_brakes", "ignores"):
        score(ScoreOptions(bench=out, planner="scripted", planner_options={"kind": kind}, quiet=True))
        reads_words(Store(out), f"scripted-{kind}", 2 if kind == "notices_and_brakes" else 0)
    return out


def reads_words(store: Store, planner: str, value: int) -> None:
    """As a judge that also scores reasoning and overall would have it."""
    for verdict in store.verdicts("offline", planner):
        if verdict.status == "scored":
            store.write_verdict(verdict.model_copy(update={"scores": dict.fromkeys(DIMENSIONS, value)}))


@pytest.fixture
def csv(bench, tmp_path):
    """Ann agrees with the judge everywhere; Bob calls every ignored hazard's reasoning a 1."""
    rows = []
    for case in Store(bench).cases():
        for rater, ignored in (("ann", "0,0,0"), ("bob", "1,0,0")):
            rows.append(f"{rater},scripted-notices_and_brakes,{case.case_id},2,2,2")
            rows.append(f"{rater},scripted-ignores,{case.case_id},{ignored}")
    path = tmp_path / "ratings.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n")
    return path


def test_agreement_worked_by_hand(bench, csv):
    import_ratings(bench, csv)
    found = calibrate(bench, "offline")
    assert found.raters == ("ann", "bob")
    assert (found.n, found.unscored) == (8, 0)
    # the two disagree on the ignored half, so no majority there: 4 answers are left, all 2, and kappa is undefined
    assert found.against_people["reasoning"].n == 4
    assert found.split["reasoning"] == 4
    assert found.against_people["reasoning"].kappa is None
    assert found.against_people["overall"].kappa == 1.0
    assert found.against_people["overall"].recall == (1.0, None, 1.0)
    pairs = found.pairs["reasoning"]
    assert pairs["ann ~ offline"].kappa == 1.0
    # half agree; by chance a quarter would: (1/2 - 1/4) / (1 - 1/4)
    assert pairs["bob ~ offline"].kappa == pytest.approx(1 / 3)
    assert pairs["ann ~ bob"].kappa_interval is not None
    assert read_record(Store(bench).calibration_path("offline"), Calibration, check=True) == found
    assert Verification(bench).run() == []


def test_ratings_only_grow_and_repeats_are_skipped(bench, csv):
    import_ratings(bench, csv)
    assert import_ratings(bench, csv) == 0
    case_id = Store(bench).cases()[0].case_id
    csv.write_text(HEAD + f"ann,scripted-ignores,{case_id},UNKNOWN,,\n")
    assert import_ratings(bench, csv) == 1
    path = Store(bench).rating_path("ann", "scripted-ignores", case_id)
    from cfgen.records import RatingFile

    history = read_record(path, RatingFile).history
    assert len(history) >= 2
    assert history[-1].scores == {"reasoning": None, "waypoints": None, "overall": None}


def test_a_benchmark_with_a_rated_scene_is_refused(bench, csv, capsys):
    import_ratings(bench, csv)
    with pytest.raises(InputError, match="calibrated on"):
        calibrate(bench, "offline", [bench])
    assert main(["judge", "calibrate", str(bench), "--benchmarks", str(bench)]) == 2
    assert "build it from other scenes" in capsys.readouterr().err


@pytest.fixture
def elsewhere(real, tmp_path) -> Path:
    """A benchmark on another scene than any of ``bench``."""
    out = tmp_path / "elsewhere"
    scenes = real / "udacity_lanelines" / "scenes"
    build(BuildOptions(n=1, out=out, scenes=scenes, seed=5, jobs=1, quiet=True))
    return out


def test_a_calibration_counts_in_the_benchmark_it_was_kept_from(bench, csv, elsewhere, capsys):
    import_ratings(bench, csv)
    found = calibrate(bench, "offline", [elsewhere])
    assert read_record(Store(elsewhere).calibration_path("offline"), Calibration, check=True) == found
    assert Verification(elsewhere).run() == []
    assert main(["score", str(elsewhere), "--planner", "cruise", "--quiet"]) == 0
    assert "calibrated on 8 answers that people rated" in capsys.readouterr().out
    assert counts_in_report(elsewhere) == {"yes"}
    other = found.model_copy(update={"rubric_hash": "sha256:" + "1" * 64})
    write_record(Store(elsewhere).calibration_path("offline"), other, Store(elsewhere).work)
    with pytest.warns(UserWarning, match="with another wording of its rubric"):
        assert score(ScoreOptions(bench=elsewhere, planner="cruise", quiet=True)).calibrated == 0


def test_a_calibration_on_scenes_of_the_benchmark_does_not_count_there(bench, csv, elsewhere):
    import_ratings(bench, csv)
    found = calibrate(bench, "offline", [elsewhere])
    with pytest.warns(UserWarning, match="does not count as calibrated.*people rated 4 of its scenes"):
        own = score(
            ScoreOptions(bench=bench, planner="scripted", planner_options={"kind": "ignores"}, quiet=True)
        )
    assert own.calibrated == 0
    assert counts_in_report(bench) == {"no: 4 of its scenes were rated"}
    # the same calibration, in a benchmark that has since been given one of the rated scenes
    store = Store(elsewhere)
    late = {**store.benchmark.scenes, "late": found.scenes[0]}
    store.write_benchmark(store.benchmark.model_copy(update={"scenes": late}))
    with pytest.warns(UserWarning, match="for example 'late'"):
        assert score(ScoreOptions(bench=elsewhere, planner="cruise", quiet=True)).calibrated == 0


def counts_in_report(bench: Path) -> set[str]:
    table = next(t for t in people_section(read_report_data(Store(bench))).tables if t.name == "calibration")
    return {row[-1] for row in table.rows}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("rater,planner\na,b\n", "case_id"),
        (HEAD + "a,p,nowhere,1,1,1\n", "nowhere"),
        (HEAD + "a,p,CASE,3,1,1\n", "reasoning"),
        (HEAD + "a/b,p,CASE,1,1,1\n", "rater"),
    ],
)
def test_a_bad_table_is_named_by_line(bench, tmp_path, content, named):
    path = tmp_path / "bad.csv"
    path.write_text(content.replace("CASE", Store(bench).cases()[0].case_id))
    with pytest.raises(InputError, match=named):
        import_ratings(bench, path)


def test_from_the_command_line(bench, csv, capsys):
    import_ratings(bench, csv)
    assert main(["judge", "calibrate", str(bench)]) == 0
    out = capsys.readouterr().out
    assert "ann ~ bob" in out
    assert "recall of failures" in out
    assert main(["judge", "rescore", str(bench), "--judge", "offline"]) == 0
    assert f"{len(Store(bench).verdict_paths('offline', '*'))} verdicts read again" in capsys.readouterr().out
    assert main(["judge", "rescore", str(bench), "--judge", "nobody"]) == 2


def test_verdicts_of_two_wordings_or_models_are_not_mixed(bench, tmp_path):
    replies = tmp_path / "r.json"
    replies.write_text('{"default": "rubbish"}')
    options = {"file": str(replies), "name": "mine"}

    def run(**more):
        score(
            ScoreOptions(
                bench=bench, planner="scripted", planner_options={"kind": "ignores"}, judge="scripted",
                judge_options=options, quiet=True, **more,
            )
        )  # fmt: skip

    run()
    assert {v.status for v in Store(bench).verdicts("mine", "scripted-ignores")} == {"failed"}
    replies.write_text('{"default": "other rubbish"}')
    with pytest.raises(StoreError, match="name="):
        run()


def test_failed_verdicts_are_asked_again_only_on_request(bench, tmp_path, monkeypatch):
    from cfgen.models.scripted import Scripted
    from tests.judge.test_hazard_rubric import reply

    replies = tmp_path / "r.json"
    replies.write_text('{"default": "rubbish"}')

    def run(**more):
        score(
            ScoreOptions(
                bench=bench, planner="scripted", planner_options={"kind": "ignores"}, judge="scripted",
                judge_options={"file": str(replies), "name": "again"}, quiet=True, **more,
            )
        )  # fmt: skip
        return {v.status for v in Store(bench).verdicts("again", "scripted-ignores")}

    async def answers(self, ask):
        return Reply(reply("0", "0", "0"))

    assert run() == {"failed"}
    monkeypatch.setattr(Scripted, "ask", answers)
    assert run() == {"failed"}
    assert run(retry_failed=True) == {"scored"}
