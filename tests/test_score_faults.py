"""What goes wrong while a planner is scored: lost servers, faults of cfgen, and how they are made good."""

import contextlib
import json
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import cfgen
import cfgen.rollouts.runner
from cfgen.planners import retries
from cfgen.planners.answer import to_plan
from cfgen.planners.settings import Patience
from cfgen.storage.store import Store
from examples.planner_server import Handler
from tests.benches import copy, run, tree


@pytest.fixture
def out(bench: Path, tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(retries, "PATIENCE", Patience(first_pause_s=0.02, growth=2.0))
    return copy(bench, tmp_path / "b")


def score(out: Path, planner: object, *more: str) -> tuple[int, str, str]:
    return run("score", out, "--planner", str(planner), "--name", "p", "--quiet", *more)


class Quick(Handler):
    """Needs no pictures. ``busy``: the id that it has no time for, or "first"; ``most``: answers until it goes."""

    busy = ""
    most = 10**6

    def log_message(self, *_):
        """Keep the test output clean."""

    def do_GET(self) -> None:
        self.reply({"cameras": [], "frame_times": [], "deterministic": False})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["observations"]
        if self.busy == "first":
            type(self).busy = asked[0]["id"]
        if asked[0]["id"] == self.busy:
            self.send_error(503, "loading the weights")
            return
        type(self).most -= 1
        if self.most == 0:
            # before the last answer, so that nobody connects after it
            self.server.socket.shutdown(socket.SHUT_RDWR)
            self.server.socket.close()
        self.reply({"answers": [self.plan(o) for o in asked]})


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], port: int = 0):
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    thread = threading.Thread(target=_until_closed, args=(server,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.stop = True
        server.server_close()
        thread.join()


def _until_closed(server) -> None:
    server.timeout = 0.02
    with contextlib.suppress(OSError, ValueError):
        while not getattr(server, "stop", False) and server.socket.fileno() >= 0:
            server.handle_request()


def test_a_server_that_comes_back_costs_no_answer(out: Path):
    class Going(Quick):
        most = 3

    with serving(Going) as port:
        waiting = threading.Timer(0.4, lambda: stack.append(_start_when_free(port)))
        stack: list[ThreadingHTTPServer] = []
        waiting.start()
        code, text, err = score(out, f"http://127.0.0.1:{port}")
        waiting.join()
    _end(stack)
    assert code == 0, err
    assert "p: 10 answers, 0 failed" in text


def _start_when_free(port: int) -> ThreadingHTTPServer:
    """On a busy machine the first server may not be gone yet."""
    while True:
        try:
            return _start(port)
        except OSError:
            time.sleep(0.05)


def _start(port: int) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", port), Quick)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _end(servers: list[ThreadingHTTPServer]) -> None:
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_server_that_is_gone_for_good_ends_the_run_without_failures_of_the_unasked(out: Path):
    class Going(Quick):
        most = 3

    with serving(Going) as port:
        code, _, err = score(out, f"http://127.0.0.1:{port}", "--planner-retries", "1")
    assert code == 1
    assert f"planner 'http://127.0.0.1:{port}' cannot be reached any more (connection failed" in err
    assert "3 of 10 questions were asked" in err
    assert "run the same command to go on" in err
    assert err.count("\n") == 1
    assert [r.status for r in Store(out).rollouts("p")] == ["ok"] * 3
    servers = [_start(port)]
    code, text, err = score(out, f"http://127.0.0.1:{port}")
    _end(servers)
    assert code == 0, err
    assert "p: 10 answers, 0 failed" in text


def test_what_a_busy_server_lost_is_asked_again_with_retry_failed_and_judged_again(out: Path):
    store = Store(out)

    class Busy(Quick):
        busy = "first"

    with serving(Busy) as port:
        code, text, err = score(out, f"http://127.0.0.1:{port}", "--planner-retries", "1")
        assert code == 1
        assert "fell short: 1 of 10 answers of planner 'p' were lost, for example to: HTTP 503: " in err
        assert "1  had a server that was out of service, for example: HTTP 503: " in text
        assert "1 of these may be mended by asking again: the same command with --retry-failed" in text
        (lost,) = [r for r in store.rollouts("p") if r.status == "failed"]
        case = lost.case_id
        assert [v.case_id for v in store.verdicts("offline", "p") if v.status == "planner_failed"] == [case]
        before = tree(out, "runs/p/*/*.json", "verdicts/offline/p/*/*.json")
        assert score(out, f"http://127.0.0.1:{port}", "--planner-retries", "0")[0] == 1
        assert tree(out, "runs/p/*/*.json", "verdicts/offline/p/*/*.json") == before

        Busy.busy = ""
        code, text, err = score(out, f"http://127.0.0.1:{port}", "--retry-failed")
    assert code == 0, err
    assert "p: 10 answers, 0 failed" in text
    assert "planner_failed" not in {v.status for v in store.verdicts("offline", "p")}
    after = tree(out, "runs/p/*/*.json", "verdicts/offline/p/*/*.json")
    assert {name for name in before if before[name] != after[name]} == {
        f"runs/p/{lost.arm}/{case}.0.json",
        f"verdicts/offline/p/hazard/{case}.0.json",
    }
    assert run("bench", "verify", out)[0] == 0


def test_a_planners_own_failure_is_asked_again_only_with_retry_all(out: Path, tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    asked = {"case_id": Store(out).case_ids()[0], "arm": "hazard"}
    path.write_text(json.dumps({**asked, "waypoints": [[0, 0]]}))
    code, text, err = score(out, path)
    assert code == 1
    assert "10  gave an answer that is not a plan, for example: " in text
    assert "10 of these are the planner's own and count against it; --retry-all asks them again" in text
    assert "every answer of planner 'p' failed: 10 times it gave an answer that is not a plan (" in err

    def times() -> set[int]:
        return {p.stat().st_mtime_ns for p in out.glob("runs/p/*/*.json")}

    before = times()
    score(out, path, "--retry-failed")
    assert times() == before
    score(out, path, "--retry-all")
    assert not times() & before


def test_a_fault_stays_with_its_answer_and_is_mended_by_asking_again(out: Path, monkeypatch):
    broken = Store(out).cases()[1].case_id

    def breaks(_):
        raise ZeroDivisionError("here")

    def read(self, question, answer):
        if (question.case_id, question.arm) == (broken, "hazard"):
            monkeypatch.setattr(cfgen.rollouts.runner, "to_plan", breaks)
        try:
            return keep(self, question, answer)
        finally:
            monkeypatch.setattr(cfgen.rollouts.runner, "to_plan", to_plan)

    keep = cfgen.rollouts.runner.QueryRunner._read
    monkeypatch.setattr(cfgen.rollouts.runner.QueryRunner, "_read", read)
    code, text, err = score(out, "cruise")
    assert code == 1
    assert "p: 10 answers, 0 failed, 1 faults" in text
    assert f"fault: case {broken}, arm hazard: reading the answer: ZeroDivisionError: here" in text
    assert "cfgen broke on 1 answers" in err
    found = next(r for r in Store(out).rollouts("p") if r.fault)
    assert found.status == "failed"
    assert found.failure == "fault"
    assert found.fault is not None
    assert found.fault.inputs["case_id"] == broken
    assert found.fault.inputs["seed"] == found.seed
    with pytest.raises(ZeroDivisionError):
        score(out, "cruise", "--retry-failed", "--strict")
    monkeypatch.setattr(cfgen.rollouts.runner.QueryRunner, "_read", keep)
    code, text, err = score(out, "cruise", "--retry-failed")
    assert code == 0, err
    assert "p: 10 answers, 0 failed\n" in text


def test_a_frame_that_cannot_be_read_costs_its_answer(out: Path):
    case = Store(out).cases()[0]
    (Store(out).case_dir(case.case_id) / "augmented.png").write_bytes(b"\x89PNG cut short")
    code, text, _ = score(out, "reactive")
    assert code == 1
    assert "p: 10 answers, 0 failed, 1 faults" in text
    assert f"case {case.case_id}, arm hazard: reading the frames: cfgen.core.errors.InputError: " in text
    code, _, err = score(out, "reactive", "--retry-failed", "--strict")
    assert code == 2
    assert "augmented.png: expected an image" in err


def test_answers_that_were_cut_are_counted_and_no_reason_moves_the_terminal(out: Path, tmp_path: Path):
    path, rows = tmp_path / "answers.jsonl", []
    for number, case in enumerate(Store(out).cases()):
        points = [[k, 0] for k in range(24 - (number == 0))]
        for arm in ("original", "hazard"):
            rows.append({"case_id": case.case_id, "arm": arm, "text": "deer " * 9, "waypoints": points})
    rows[0]["waypoints"] = "\x1b[2J"
    path.write_text("\n".join(map(json.dumps, rows)))
    code, text, err = score(out, path, "--max-answer-chars", "30")
    assert code == 0, err
    assert "9 answers were cut, as their words were longer than --max-answer-chars" in text
    assert "\x1b" not in text + err


def test_hopeless_retries_are_given_up_until_an_answer_comes(monkeypatch):
    from cfgen.planners.answer import PlanFaultError
    from cfgen.planners.protocol import Requirements
    from cfgen.planners.registry import OpenPlanner

    monkeypatch.setattr(retries, "PATIENCE", Patience(first_pause_s=0.0))
    calls: list[str] = []

    def ask(observations):
        calls.extend(observations)
        return [o if o.startswith("good") else PlanFaultError("slow", "timeout") for o in observations]

    asking = retries.RetryingPlanner(OpenPlanner("p", "p", "", Requirements(), ask), 2, quiet=True)
    for token in ("a", "b", "c", "d", "good", "e"):
        asking.ask([token])
    assert [calls.count(t) for t in ("a", "b", "c", "d", "good", "e")] == [3, 3, 3, 1, 1, 3]
