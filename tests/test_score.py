"""The score story on real drives: resumable, blind, and clear about planners that fail."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.judge.offline.judge import OfflineJudge
from cfgen.judge.protocol import JudgeItem
from cfgen.planners.outputs import check_lines, token_of
from cfgen.planners.protocol import Requirements
from cfgen.records import JudgeRun
from cfgen.rollouts.inputs import RolloutInputs, arm_inputs, question_seed
from cfgen.storage.store import Store
from tests.benches import copy, kill_when, run, tree


@pytest.fixture
def out(bench: Path, tmp_path: Path) -> Path:
    return copy(bench, tmp_path / "b")


def score(out: Path, planner: str, *more: str) -> tuple[int, str, str]:
    return run("score", out, "--planner", planner, "--quiet", *more)


def test_cruise_is_scored_and_never_succeeds(out: Path):
    code, text, _ = score(out, "cruise")
    assert code == 0
    assert "cruise: 10 answers, 0 failed" in text
    assert f"Next: cfgen report {out}" in text
    verdicts = Store(out).verdicts("offline", "cruise")
    assert len(verdicts) == 5
    assert all(v.arm == "hazard" for v in verdicts)
    assert all(v.scores["waypoints"] == 0 for v in verdicts if v.status == "scored")
    assert run("bench", "verify", out)[0] == 0
    code, text, _ = run("report", out)
    assert code == 0
    assert "cruise" in text
    before = {p: p.stat().st_mtime_ns for p in out.glob("runs/cruise/*/*.json")}
    score(out, "cruise")
    assert {p: p.stat().st_mtime_ns for p in out.glob("runs/cruise/*/*.json")} == before, "nothing again"


def test_the_responder_that_notices_and_brakes_does_better_than_the_one_that_ignores(out: Path):
    names = {}
    for kind in ("notices_and_brakes", "ignores"):
        _, text, _ = score(out, "scripted", "--planner-options", f"kind={kind}")
        names[kind] = text.split(":")[0]
    verdicts = {kind: Store(out).verdicts("offline", name) for kind, name in names.items()}
    twos = {kind: sum(v.scores.get("waypoints") == 2 for v in found) for kind, found in verdicts.items()}
    assert twos["notices_and_brakes"] >= 4
    assert twos["ignores"] == 0
    scored = [v for v in verdicts["ignores"] if v.status == "scored"]
    assert {tuple(v.scores) for v in scored} == {("waypoints",)}, "without a model only motion is"
    assert "offline: waypoints scored; reasoning and overall not scored" in text


def test_planning_and_judging_apart_give_what_they_give_together(out: Path, bench: Path, tmp_path: Path):
    together = copy(bench, tmp_path / "together")
    score(together, "reactive", "--arms", "hazard,rerun")
    code, text, _ = score(out, "reactive", "--arms", "hazard,rerun", "--judge", "none")
    assert code == 0
    assert "reactive: 15 answers, 0 failed" in text
    assert f"Next: cfgen judge run {out} --planners reactive" in text
    assert not list(out.glob("verdicts/**/*.json"))
    asked = {p: p.stat().st_mtime_ns for p in out.glob("runs/**/*.json")}
    code, text, _ = run("judge", "run", out, "--quiet")
    assert code == 0
    assert "offline: 5 scored" in text
    assert "offline: control pairs, 5 scored" in text
    assert tree(out, "verdicts/**/*.json") == tree(together, "verdicts/**/*.json")
    assert {p: p.stat().st_mtime_ns for p in out.glob("runs/**/*.json")} == asked
    code, _, err = run("judge", "run", out, "--planners", "reactif")
    assert code == 2
    assert "expected one that has answers" in err
    assert "did you mean 'reactive'" in err


def test_no_frame_stands_for_two_times(out: Path):
    store = Store(out)
    inputs, question = RolloutInputs(store, 7), arm_inputs(store, ("hazard",), 1)[1]
    needs = Requirements(frame_times=(-0.3, -0.2, -0.1, 0.0))
    there = sorted(f.t for f in inputs._folder(question.case.scene_id).scene.frames)
    assert there[-2:] == [-0.25, 0.0]
    with pytest.raises(
        InputError, match=r"needs a frame of 'front' at -0\.[13] s.*--frame-times 0,0\.1,0\.2,0\.25,0\.3,0\.5"
    ):
        inputs.observation(question, needs)


def test_a_killed_run_goes_on_to_the_same_end(out: Path, bench: Path, tmp_path: Path):
    other = copy(bench, tmp_path / "undisturbed")
    score(other, "cruise")
    kill_when(
        ["score", str(out), "--planner", "cruise"], lambda: len(list(out.glob("runs/cruise/*/*.json"))) > 2
    )
    score(out, "cruise")
    ended = tree(out, "verdicts/**/*.json")
    assert ended
    assert ended == tree(other, "verdicts/**/*.json")
    plans = [[r.plan for r in Store(root).rollouts("cruise")] for root in (out, other)]
    assert plans[0] == plans[1]


def test_what_a_planner_gets_does_not_tell_the_arm(out: Path):
    store = Store(out)
    inputs = RolloutInputs(store, 7)
    needs = Requirements(frame_times=(-0.5, 0.0))
    for case in store.cases():
        original, hazard = (
            inputs.observation(q, needs) for q in arm_inputs(store, ("hazard",), 1) if q.case == case
        )
        assert original.token != hazard.token
        assert original.seed != hazard.seed
        assert original.truth is hazard.truth is original.logged is hazard.logged is None
        words = json.dumps([original.token, hazard.token, original.instruction]).lower()
        assert not any(w in words for w in ("hazard", "original", case.case_id, case.hazard.id))
        assert (original.images["front"][-1].pixels != hazard.images["front"][-1].pixels).any()
        assert original.images["front"][-1].pixels.flags.writeable is False


def test_a_bad_planner_fails_every_question_and_the_run_ends(out: Path):
    code, text, err = score(out, "tests.planners.bad_planners:Throws")
    assert code == 1
    assert "every answer of planner 'tests.planners.bad_planners.Throws' failed: 10 times it " in err
    assert "10 answers, 10 failed" in text
    planner = text.split(":")[0]
    rollouts = Store(out).rollouts(planner)
    assert all(r.status == "failed" and r.reason for r in rollouts)
    verdicts = Store(out).verdicts("offline", planner)
    assert {v.status for v in verdicts} == {"planner_failed"}
    assert run("bench", "verify", out)[0] == 0


def test_a_planner_on_the_command_line_and_its_name(out: Path):
    code, text, _ = score(out, "tests.planners.bad_planners:Good", "--name", "mine")
    assert code == 0
    assert "mine: 10 answers, 0 failed" in text
    _, _, err = score(out, "tests.planners.bad_planners:Throws", "--name", "mine")
    assert "has answers of another version of this planner" in err


def test_outputs_made_elsewhere(out: Path, tmp_path: Path):
    inputs = tmp_path / "inputs"
    code, text, _ = run("planner", "export-inputs", out, "--out", inputs, "--quiet")
    assert code == 0
    assert "10 questions" in text
    questions = [json.loads(line) for line in (inputs / "inputs.jsonl").read_text().splitlines()]
    assert len({q["id"] for q in questions}) == 10
    keys = [(case, arm, 0) for case in Store(out).case_ids() for arm in ("original", "hazard")]
    worked_out = {token_of(*key) for key in keys} | {
        question_seed(Store(out).benchmark.seed, *key) for key in keys
    }
    assert not worked_out & {value for q in questions for value in (q["id"], q["seed"])}
    listing = " ".join(str(p) for p in inputs.rglob("*")).replace(str(tmp_path), "").lower()
    assert not any(w in listing for w in ("hazard", "original", "cone", "barrier"))
    answers = tmp_path / "answers.jsonl"
    rows = [
        {"id": q["id"], "waypoints": [[q["speed"] * 0.25 * k, 0.0] for k in range(1, 25)]}
        for q in questions[1:]
    ]
    run("planner", "export-inputs", out, "--out", tmp_path / "again", "--quiet")
    again = (tmp_path / "again" / "inputs.jsonl").read_text()
    assert not any(q["id"] in again for q in questions)
    answers.write_text("\n".join(json.dumps(r) for r in rows))
    code, text, _ = score(out, str(answers))
    assert code == 0
    assert "answers: 10 answers, 1 failed" in text
    assert run("bench", "verify", out)[0] == 0


def test_lines_that_answer_nothing_are_counted(bench: Path, tmp_path: Path):
    case = sorted(Store(bench).case_ids())[0]
    row = {"case_id": case, "arm": "hazard", "text": "", "waypoints": [[1.0, 0.0]]}
    (answers := tmp_path / "half.jsonl").write_text(json.dumps(row) + '\n{"id": "other", "text": ""}\n')
    with pytest.warns(UserWarning, match="1 of 2 lines answer no question that is asked"):
        check_lines(answers, bench / "exports", [(case, "hazard", 0)])


class Asked:
    """A judge that keeps what it is shown."""

    name, note = "asked", ""

    def __init__(self):
        self.shown: dict[tuple[str, str], JudgeItem] = {}

    def run_record(self) -> JudgeRun:
        return OfflineJudge(self.name).run_record()

    def judge(self, items, done) -> None:
        for key, build in items:
            self.shown[key.case_id, key.arm] = build()
        OfflineJudge(self.name).judge(items, done)


def test_a_control_is_judged_as_if_it_were_the_answer_to_the_hazard(
    out: Path, monkeypatch: pytest.MonkeyPatch
):
    """Same frames and the same original as the hazard's pair; only the answer is the control's own."""
    judge = Asked()
    monkeypatch.setattr(sys.modules["cfgen.score"], "create_judge", lambda *_, **__: judge)
    code, text, _ = score(out, "reactive", "--arms", "hazard,rerun")
    assert code == 0
    assert "asked: control pairs, 5 scored" in text
    store = Store(out)
    assert {v.arm for v in store.verdicts("asked", "reactive")} == {"hazard", "sham_rerun"}
    answers = {(r.case_id, r.arm): r for r in store.rollouts("reactive")}
    assert {arm for _, arm in answers} == {"original", "hazard", "rerun"}
    for case in store.cases():
        true, sham = (judge.shown[case.case_id, pair] for pair in ("hazard", "sham_rerun"))
        for same in ("key", "original", "modified", "original_text", "original_plan", "camera"):
            assert getattr(true, same) == getattr(sham, same), same
        assert sham.modified_plan == answers[case.case_id, "rerun"].plan
        assert sham.modified_text == answers[case.case_id, "rerun"].text
        assert true.modified_plan == answers[case.case_id, "hazard"].plan


def test_no_version_shares_a_seed(out: Path):
    assert score(out, "cruise", "--arms", "hazard,rerun", "--repeats", "2")[0] == 0
    seeds = [r.seed for r in Store(out).rollouts("cruise")]
    assert len(seeds) == len(set(seeds)) == 5 * 3 * 2


def test_nuisance_is_asked_by_default_where_a_case_has_it(out: Path):
    run_record = Store(out).planner_run_path("cruise")
    assert score(out, "cruise", "--judge", "none")[0] == 0
    assert json.loads(run_record.read_text())["arms"] == ["original", "hazard"], (
        "no case of this build has it"
    )
    path = next(out.glob("cases/*/*/case.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"arms": ["hazard", "nuisance"]}))
    score(out, "cruise", "--judge", "none")
    assert json.loads(run_record.read_text())["arms"] == ["original", "hazard", "nuisance"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--planner", "cruize"), "planner 'cruize': expected a name"),
        (("--planner", "cruise", "--judge", "jury"), "jury"),
        (("--planner", "cruise", "--arms", "nuisance"), "controls and distances come from the build"),
        (("--planner", "cruise", "--planner-options", "speed=3"), "options {'speed': 3} do not fit"),
        (("--planner", "cruise", "--planner-options", "speed"), "KEY=VALUE"),
        ((), "expected PLANNER, found none"),
    ],
)
def test_bad_usage_is_one_clear_line(out: Path, arguments, message: str):
    code, _, err = run("score", out, "--quiet", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_planner_that_needs_what_the_scenes_lack_is_told_so(out: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "greedy.py").write_text(
        "from tests.planners.bad_planners import Good\nfrom cfgen.planners.protocol import Requirements\n"
        "class Greedy(Good):\n    needs = Requirements(cameras=('rear',))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    code, _, err = score(out, "greedy:Greedy")
    assert code == 2
    assert "planner needs camera 'rear', found only: front" in err


def test_frames_before_t0_show_the_hazard_where_it_was(out: Path):
    store = Store(out)
    inputs = RolloutInputs(store, 7)
    needs = Requirements(frame_times=(-1.0, 0.0))
    changed = 0
    for question in arm_inputs(store, ("hazard",), 1):
        if question.arm == "hazard":
            before = inputs.observation(type(question)(question.case, "original", 0), needs)
            after = inputs.observation(question, needs)
            pair = [o.images["front"][0].pixels.astype(int) for o in (before, after)]
            changed += bool(np.abs(pair[0] - pair[1]).max() > 10)
    assert changed >= 4


def test_interventions_tell_a_mediated_planner_from_a_rationalizing_one(out: Path):
    shares = {}
    for name in ("Mediated", "Rationalizing"):
        code, text, err = score(out, f"tests.planners.trace_planners:{name}", "--intervene")
        assert code == 0, err
        rows = Store(out).interventions(f"tests.planners.trace_planners.{name}")
        shares[name] = sum(r.followed is True for r in rows) / len(rows)
        assert {r.swap for r in rows} >= {"longitudinal", "lateral"}
        assert f"swaps followed, all: {100 * shares[name]:.1f}%" in text
    assert shares["Mediated"] > 0.9
    assert shares["Rationalizing"] == 0.0
    assert run("bench", "verify", out)[0] == 0
    _, _, err = score(out, "cruise", "--intervene")
    assert "needs one that plans for a given trace" in err


def test_a_planner_that_only_says_it_is_deterministic_is_found_out(out: Path):
    _, _, err = score(out, "tests.planners.bad_planners:IgnoresTheSeed")
    assert (
        "answers one question in two ways: use observation.seed, or set needs.deterministic to False" in err
    )
    _, _, err = score(out, "tests.planners.bad_planners:Good")
    assert "deterministic" not in err
