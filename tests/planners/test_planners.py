import json
import re
import time

import numpy as np
import pytest

import cfgen.planners.retries
from cfgen.core.errors import InputError
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.baselines import constant_turn
from cfgen.planners.outputs import token_of
from cfgen.planners.protocol import Observation, Response
from cfgen.planners.registry import open_planner
from cfgen.planners.retries import heartbeat
from cfgen.planners.settings import Patience
from cfgen.records import Motion

STILL = Motion(t=(-0.5, 0.0), poses=((-5.0, 0.0, -0.1), (0.0, 0.0, 0.0)), v=(10.0, 10.0))


def question(token: str = "a", logged: Motion | None = None) -> Observation:
    return Observation(token=token, seed=1, images={}, cameras={}, history=STILL, logged=logged)


def ask(spec: str, *tokens: str, timeout_s: float = 20.0):
    planner = open_planner(f"tests.planners.bad_planners:{spec}", timeout_s=timeout_s)
    try:
        return planner.ask([question(t) for t in tokens or ("a",)])
    finally:
        planner.close()


def test_cruise_keeps_speed_and_yaw_rate():
    planner = open_planner("cruise")
    _, plan = to_plan(planner.ask([question()])[0])  # type: ignore[arg-type]
    np.testing.assert_allclose(plan.waypoints, constant_turn(10.0, 0.2), atol=1e-3)
    assert plan.trace.longitudinal == "set speed tracking"
    assert plan.faults == ()


def test_logged_replays_the_drive_and_fails_without_one():
    future = Motion(t=(2.0, 4.0, 6.0), poses=((20, 0, 0), (40, 0, 0), (60, 0, 0)), v=(10, 10, 10))
    planner = open_planner("logged")
    assert planner.replays_log
    _, plan = to_plan(planner.ask([question(logged=future)])[0])  # type: ignore[arg-type]
    np.testing.assert_allclose(np.array(plan.waypoints)[:, 0], np.arange(1, 25) * 2.5, atol=1e-6)
    fault = planner.ask([question()])[0]
    assert isinstance(fault, PlanFaultError)
    assert "no recorded future" in str(fault)


def test_a_class_by_name_answers_from_its_own_process():
    assert to_plan(ask("Good")[0])[1].waypoints[-1][0] == pytest.approx(30.0)


def test_another_language_is_kept_and_its_actions_named_as_unknown():
    _, plan = to_plan(ask("OtherLanguage")[0])
    assert plan.trace.scene == "前方有一头鹿。"
    assert plan.trace.longitudinal == ""
    assert any("'减速' is not in the vocabulary" in fault for fault in plan.faults)


def test_a_flood_on_stdout_does_not_reach_ours(capfd):
    to_plan(ask("Prints")[0])
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Throws", r"raised RuntimeError: no idea \(bad_planners.py:\d+\)"),
        ("Exits", "ended with exit code 3"),
        ("Number", "expected text or a Response, found int"),
        ("TooFew", "expected 1 answers, found 0"),
    ],
)
def test_every_misbehaviour_is_a_fault_with_a_reason(name: str, reason: str):
    answer = ask(name)[0]
    assert isinstance(answer, PlanFaultError)
    assert re.search(reason, str(answer))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("la la la", "expected waypoints, found none"),
        (Response("", np.zeros((23, 3))), r"expected 24 \(0.25 s apart\), found 23"),
        (Response("", np.full((24, 2), np.nan)), "expected finite x and y"),
        (Response("", np.full((24, 2), 1e9)), r"expected \|x\|, \|y\| <= 1000 m, found 1e\+09 m"),
        (Response("", np.zeros((3, 2)), np.array([1.0, 1.0, 2.0])), "times that increase"),
        (Response("", np.zeros((18, 2)), np.arange(1, 19) * 0.1), "last waypoint at 1.8 s"),
    ],
)
def test_an_answer_that_is_no_plan_says_why(answer, reason: str):
    with pytest.raises(PlanFaultError, match=reason):
        to_plan(answer)


def test_a_hang_is_ended_and_the_planner_restarted():
    planner = open_planner("tests.planners.bad_planners:Hangs", timeout_s=0.5)
    try:
        for _ in range(2):
            assert "hung: no answer within 0.5 s" in str(planner.ask([question()])[0])
    finally:
        planner.close()


def test_one_bad_question_does_not_cost_its_batch():
    answers = ask("OnceBad", "a", "b", "c")
    assert [isinstance(a, PlanFaultError) for a in answers] == [False, True, False]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cruize", "expected a name"),
        ("tests.planners.bad_planners:Nobody", "has no 'Nobody'"),
        ("tests.nowhere:X", "module 'tests.nowhere' is not found"),
        ("tests.planners.bad_planners:WantsTruth", "needs.truth is for cfgen's own"),
        ("tests.planners.bad_planners:NoPlan", "is no planner: expected a method 'plan"),
        ("missing.jsonl", "cannot read"),
    ],
)
def test_what_is_no_planner_is_named(spec: str, message: str):
    with pytest.raises(InputError, match=message):
        open_planner(spec)


def test_outputs_are_found_by_token_and_by_case(tmp_path):
    points = constant_turn(4, 0).tolist()
    rows = [
        {"id": "tok", "waypoints": points},
        {"case_id": "c", "arm": "hazard", "waypoints": points, "text": "x"},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows))
    planner = open_planner(str(path))
    assert planner.name == "mine"
    answers = planner.ask([question("tok"), question(token_of("c", "hazard", 0)), question("other")])
    assert [to_plan(a)[1].waypoints[0][0] for a in answers[:2]] == [1.0, 1.0]  # type: ignore[arg-type]
    assert "no line for this question" in str(answers[2])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1: expected a JSON object.*was its writer stopped"),
        ('{"text": "no name"}', "line 1"),
        ("", "empty"),
    ],
)
def test_a_bad_outputs_file_names_the_line(tmp_path, line: str, words: str):
    path = tmp_path / "mine.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match=rf"mine.jsonl.*{words}"):
        open_planner(str(path))


def test_another_rate_and_horizon_is_resampled():
    t = np.arange(1, 65) * 0.1
    _, plan = to_plan(Response("", np.column_stack([10 * t, 0 * t]), t))
    np.testing.assert_allclose(np.array(plan.waypoints)[:, 0], np.arange(1, 25) * 2.5, atol=1e-6)


@pytest.mark.parametrize(("hz", "until", "n"), [(2, 4.0, 16), (2, 3.0, 12), (10, 6.4, 24), (10, 3.9, 15)])
def test_a_shorter_plan_keeps_its_own_horizon(hz, until, n):
    """NAVSIM's 4 s, nuScenes' 3 s, Alpamayo's 6.4 s; braking at 2 m/s^2 from 12 m/s, in closed form."""
    t = np.arange(1, round(until * hz) + 1) / hz
    _, plan = to_plan(Response("", np.column_stack([12 * t - t**2, 0 * t]), t))
    grid = 0.25 * np.arange(1, n + 1)
    np.testing.assert_allclose(np.array(plan.waypoints)[:, 0], 12 * grid - grid**2, atol=0.1)


def test_whatever_ends_plan_is_named_and_floods_no_terminal(capfd):
    planner = open_planner("tests.planners.nasty_planners:Ending")
    tokens = ("interrupt", "exit", "halt", "memory", "fork", "none", "text", "one", "good")
    try:
        found = {token: planner.ask([question(token)])[0] for token in tokens}
    finally:
        planner.close()
    assert to_plan(found["fork"])
    assert to_plan(found["good"])
    assert str(found["interrupt"]).startswith("raised KeyboardInterrupt")
    assert str(found["exit"]).startswith("raised SystemExit: 0 (nasty_planners.py:")
    assert str(found["halt"]).startswith("raised Halted: no more (nasty_planners.py:")
    assert [found[t].kind for t in ("interrupt", "halt", "memory")] == ["error", "error", "machine"]
    assert str(found["none"]) == "plan() returned None, expected a list of 1 answers"
    assert str(found["text"]) == "plan() returned str, expected a list of 1 answers"
    assert str(found["one"]) == "plan() returned Response, expected a list of 1 answers"
    assert "Traceback" not in capfd.readouterr().err


def test_a_planner_that_does_not_start_is_given_up_in_time_and_waited_for_aloud(capsys, monkeypatch):
    monkeypatch.setattr(cfgen.planners.retries, "PATIENCE", Patience(heartbeat_s=0.2))
    message = r"did not start within 0.5 s; --startup-timeout-s gives it more"
    with heartbeat("the planner to start"), pytest.raises(InputError, match=message):
        open_planner("tests.planners.nasty_planners:Slow", startup_s=0.5)
    assert "cfgen: waiting for the planner to start, 0 s\n" in capsys.readouterr().err
    with pytest.raises(InputError, match="startup timeout: expected more than 0"):
        open_planner("cruise", startup_s=0)
    with heartbeat("nothing", quiet=True):
        time.sleep(0.3)
    assert capsys.readouterr().err == ""
