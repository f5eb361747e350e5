"""A whole experiment from one file: what cannot work is refused first, and it goes on where it was."""

from pathlib import Path

import pytest

import cfgen
from cfgen.library.experiment import Experiment
from tests.benches import run

SMALL = """
bench: out/bench
build: {n: 2, hazards: "cone_line,work_barrier", jobs: 1, controls: none}
planners:
  - cruise
  - {planner: scripted, name: careful, options: {kind: notices_and_brakes}}
report: {out: out/page, panels: 1}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "experiment.yaml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an experiment that ran."""
    file = written(tmp_path_factory.mktemp("experiment"), SMALL)
    code, text, err = run("run", file, "--quiet")
    assert code == 0, err
    assert "Strict success" in text
    return file


def test_it_builds_scores_and_reports(done: Path):
    assert (done.parent / "out" / "page" / "index.html").is_file()
    bench = cfgen.open_benchmark(done.parent / "out" / "bench")
    assert len(bench) == 2
    # without a model the judge leaves words, and with them overall, out
    assert bench.run("careful").success().rates["waypoints"].hits == 2
    assert bench.run("cruise").success().rates["waypoints"].hits == 0


def test_a_second_time_nothing_is_done_again(done: Path):
    folder = done.parent / "out" / "bench"
    before = {p: p.stat().st_mtime_ns for p in folder.glob("[rc]*/*/*/*.json")}
    assert len(before) == 2 + 8  # cases, and answers of two planners
    again = cfgen.run(done, quiet=True)
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert [r.planner for r in again.runs] == ["cruise", "careful"]


def test_a_planner_that_cannot_be_run_does_not_cost_the_others(done: Path):
    text = SMALL.replace("planners:\n", 'planners:\n  - "tests.planners.bad_planners:NoPlan"\n')
    code, out, err = run("run", written(done.parent, text), "--quiet")
    assert code == 1
    assert "fell short: tests.planners.bad_planners:NoPlan under offline: " in err
    assert "Run('careful'" in out


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("n: 2", "n: two", "build.n: expected a whole number, found 'two'"),
        ("n: 2, ", "", "build.n: expected this field, found none"),
        ("n: 2", "n: 2, n: 3", "key 'n' is given twice (line 3, column 15)"),
        ("bench: out/bench", "", "bench: expected this field, found none"),
        (
            "build:",
            "biuld:",
            "build: expected this field, found none; biuld: unknown field (did you mean 'build'?)",
        ),
        ("jobs: 1", "job: 1", "build.job: unknown field (did you mean 'jobs'?)"),
        ("jobs: 1", "jobs: -1", "build.jobs: expected a number of processes"),
        (
            "cone_line",
            "cone_lin",
            "build: hazard 'cone_lin' is not in the taxonomy (did you mean 'cone_line'?)",
        ),
        ("panels: 1", "panels: many", "report.panels: expected a whole number"),
        ("panels: 1", "planners: []", "report.planners: expected one name at least, found ''"),
        ("name: careful", "name: ''", "planners.1.name: "),
        ("name: careful", "nmae: careful", "planners.1.nmae: unknown field (did you mean 'name'?)"),
        ("jobs: 1", "where: sped > 3", "build.where 'sped > 3': no scene has a tag 'sped' (did you mean"),
        ("report:", "judges: [jury]\nreport:", "judge 'jury' is not known"),
        ("report:", "judges: [{judge: offline, options: {nose: 1}}]\nreport:", "nose"),
        ("bench: out/bench", "bench: [", "not readable as YAML"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_that_names_it_before_anything_is_done(
    tmp_path: Path, was: str, now: str, message: str
):
    assert was in SMALL
    code, out, err = run("run", written(tmp_path, SMALL.replace(was, now)), "--quiet")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_who_or_what_cannot_be_scored_is_named_before_anything_is_done(tmp_path: Path):
    good = "tests.planners.bad_planners:Good"
    wrong = {
        "cruize": "a .jsonl file of outputs (did you mean 'cruise'?)",
        "answers.jsonl": "answers.jsonl: cannot read",
        "nomod:X": "planner 'nomod:X': module 'nomod' is not found",
        f"{good}d": "module 'tests.planners.bad_planners' has no 'Goodd'",
        f"{{planner: '{good}', options: {{wheels: 4}}}}": f"planner '{good}': got an unexpected keyword argument",
        "cmd:no-such-program": "expected a program, found none called 'no-such-program'",
        "'http://:80'": "expected http://HOST:PORT, found no host",
        "{planner: scripted, options: {wheels: 4}}": "planner 'scripted': options {'wheels': 4} do not fit",
        "{planner: alpamayo, options: {wheels: 4}}": "planner 'alpamayo': got an unexpected keyword argument",
    }
    more = {
        "openai": "model provider 'openai': missing a required argument",
        "{planner: cruise, name: careful}": "",
        "{planner: cruise, name: careful, options: {}}": "is kept under the name 'careful', as planners.1 is",
    }
    arms = {
        "hazrd": "found 'hazrd' (did you mean 'hazard'?); build.controls and build.distances add more",
        "null": "score.arms: expected any of original, hazard, rerun, found 'null'",
    }
    for planners, names in ((wrong, {}), (more, arms)):
        lines = "".join(f"  - {planner}\n" for planner in planners)
        arm_list = ", ".join(["hazard", *names])
        text = f"bench: b\nbuild: {{n: 1, controls: []}}\nplanners:\n{lines}score: {{arms: [{arm_list}]}}\n"
        code, _, err = run("run", written(tmp_path, text))
        assert code == 2
        for i, message in enumerate(planners.values()):
            assert message in err
            assert (f"planners.{i}: " in err) == bool(message)
        for message in names.values():
            assert message in err
    assert list(tmp_path.iterdir()) == [tmp_path / "experiment.yaml"]


def test_many_mistakes_are_told_together(tmp_path: Path):
    text = SMALL.replace("- cruise", "- cruize").replace("cone_line", "cone_lin").replace("kind:", "kin:")
    code, _, err = run(
        "run", written(tmp_path, text + "score: {arms: [hazrd, nuisance]}\njudges: [offlin]\n")
    )
    assert code == 2
    for place in ("'hazrd'", "'nuisance'", "'cone_lin'", "planners.0: ", "planners.1: ", "judges.0: "):
        assert place in err
    assert list(tmp_path.iterdir()) == [tmp_path / "experiment.yaml"]

    fields = ", ".join(f"a{i}: 1" for i in range(14))
    err = run("run", written(tmp_path, SMALL.replace("panels: 1", fields)))[2]
    assert err.count("unknown field") == 10
    assert "; and 4 more" in err


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("full", "full: expected an empty folder or an earlier report, found other files"),
        ("afile", "afile: expected a folder, found a file at "),
        ("out/bench", "out/bench: expected a folder of its own, found that of the benchmark "),
        ("out", "out: expected a folder of its own, found that of the benchmark "),
    ],
)
def test_a_report_that_could_not_be_written_is_refused_before_anything_is_built(
    tmp_path: Path, target: str, message: str
):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    (tmp_path / "afile").write_text("")
    file = written(tmp_path, SMALL.replace("out: out/page", f"out: {target}"))
    code, out, err = run("run", file, "--quiet")
    assert (code, out) == (2, "")
    assert f"report.out: {tmp_path}/{message}" in err
    assert not (tmp_path / "out").exists()


def test_the_usual_place_of_the_report_is_looked_at_as_well(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "bench-report").write_text("")
    code, _, err = run("run", written(tmp_path, SMALL.replace("out: out/page, ", "")), "--quiet")
    assert code == 2
    assert "report.out: " in err


def test_a_file_in_the_place_of_the_benchmark_is_told_of_its_field(tmp_path: Path):
    (tmp_path / "afile").write_text("")
    file = written(tmp_path, SMALL.replace("bench: out/bench", "bench: afile"))
    code, _, err = run("run", file, "--quiet")
    assert code == 2
    assert f"bench: {tmp_path}/afile: expected a folder, found a file at " in err
    assert "--out" not in err
    assert "build: " not in err


def test_a_benchmark_that_was_begun_with_other_settings_is_refused(done: Path):
    before = sorted(done.parent.rglob("*"))
    file = done.with_name("other.yaml")
    file.write_text(SMALL.replace("n: 2", "n: 2, seed: 3"))
    code, _, err = run("run", file, "--quiet")
    file.unlink()
    assert code == 2
    assert "was built with seed = 0, now asked for 3" in err
    assert sorted(done.parent.rglob("*")) == before


def test_a_paid_inpainter_without_a_key_is_not_built(tmp_path: Path, monkeypatch):
    pytest.importorskip("google.genai")
    for key in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    file = written(tmp_path, "bench: b\nbuild: {n: 1, inpainter: nano-banana}\nplanners: [cruise]\n")
    code, _, err = run("run", file, "--quiet")
    assert (code, err.count("\n")) == (2, 1)
    assert "no key in $GEMINI_API_KEY" in err
    assert list(tmp_path.iterdir()) == [file]


def test_a_missing_file_is_named(tmp_path: Path):
    code, _, err = run("run", tmp_path / "none.yaml")
    assert code == 2
    assert "none.yaml: cannot be read" in err


def test_a_rubric_is_found_beside_the_file_and_refused_before_anything_is_built(tmp_path: Path):
    judges = "judges: [{judge: scripted, rubric: words.yaml, options: {file: replies.json}}, offline]"
    file = written(tmp_path, f"bench: b\nbuild: {{n: 2}}\n{judges}\nplanners: [cruise]\n")
    found = Experiment.read(file).judges
    assert [judge.rubric for judge in found] == [str(tmp_path / "words.yaml"), "cfgen"]
    code, _, err = run("run", file)
    assert code == 2
    assert f"judges.0: {tmp_path / 'words.yaml'}: cannot be read" in err
    assert list(tmp_path.iterdir()) == [file]
