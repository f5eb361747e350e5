import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import yaml

from cfgen.core.errors import InputError
from cfgen.planners import retries, serialization
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.protocol import Observation, Requirements, TimedImage
from cfgen.planners.registry import open_planner
from cfgen.records import Camera, Motion
from examples.planner_server import Handler

PROGRAM = f"cmd:{sys.executable} {Path(__file__).parent / 'command_planner.py'}"
STILL = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(8.0,))
EYE = ((0, -1, 0, 0), (0, 0, -1, 1.5), (1, 0, 0, 0), (0, 0, 0, 1))


def question(token: str = "a") -> Observation:
    return Observation(token=token, seed=1, images={}, cameras={}, history=STILL)


def ask(mode: str, *tokens: str, timeout_s: float = 20.0):
    planner = open_planner(f"{PROGRAM} {mode}", timeout_s=timeout_s)
    try:
        return planner.ask([question(t) for t in tokens or ("a",)])
    finally:
        planner.close()


def test_a_program_answers():
    _, plan = to_plan(ask("work")[0])
    assert plan.waypoints[-1][0] == pytest.approx(48.0)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("half", "exit code 0, last on stderr: ready to half|without an end"),
        ("noise", "expected a line of JSON, found b'loading"),
        ("wrong-id", "expected id 'a', found 'z'"),
        ("error", "the planner reported: no GPU"),
    ],
)
def test_a_program_that_misbehaves_is_a_fault(mode: str, reason: str):
    answer = ask(mode)[0]
    assert isinstance(answer, PlanFaultError)
    with pytest.raises(PlanFaultError, match=reason):
        raise answer


def test_a_program_that_dies_is_restarted_and_its_last_words_kept():
    first, second, third = ask("exit", "a", "b", "c")
    assert to_plan(first)
    assert "exit code 9, last on stderr: out of memory" in str(second)
    assert to_plan(third)


def test_a_program_that_hangs_is_ended():
    assert "hung: no line within 0.5 s" in str(ask("hang", timeout_s=0.5)[0])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (f"{PROGRAM} mute", "exit code 4"),
        (f"{PROGRAM} greedy", r"needs: unknown fields \['wheels'\]"),
        ("cmd:/no/such/program", "cannot be started"),
        ("http://127.0.0.1:9", "connection failed"),
    ],
)
def test_what_does_not_start_says_why(spec: str, message: str):
    with pytest.raises(InputError, match=message):
        open_planner(spec)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Quiet(Handler):
    def log_message(self, *_):
        """Keep the test output clean."""


class Broken(Quiet):
    def plan(self, o: dict) -> dict:
        if o["id"] == "b":
            return {"id": o["id"], "waypoints": "none"}
        return super().plan(o)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["observations"][0]["id"] == "500":
            self.send_error(500, "no GPU")
            return
        self.reply({"answers": [self.plan(o) for o in asked["observations"]]})


def test_the_example_server_is_scored_as_documented():
    with serving(Quiet) as url:
        planner = open_planner(url)
        assert planner.needs == Requirements(max_pixels=196_608)
        text, plan = to_plan(planner.ask([question()])[0])
    assert text == "I keep my speed and my lane."
    assert plan.waypoints[0][0] == pytest.approx(2.0)


def test_a_bad_answer_costs_only_its_question():
    with serving(Broken) as url:
        planner = open_planner(url)
        good, bad = planner.ask([question("a"), question("b")])
        assert to_plan(good)
        assert "'waypoints': expected numbers" in str(bad)
        assert "HTTP 500" in str(planner.ask([question("500")])[0])


@pytest.mark.parametrize(("said", "pause"), [("7", 7.0), ("99999", 60.0), ("soon", 2.0), ("0", 2.0)])
def test_a_server_that_asks_to_be_left_alone_is_within_bounds(said: str, pause: float):
    class Busy(Quiet):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(429)
            self.send_header("Retry-After", said)
            self.send_header("Content-Length", "0")
            self.end_headers()

    class Clock(threading.Event):
        def wait(self, timeout=None):
            pauses.append(timeout)
            return False

    pauses: list[float] = []
    with serving(Busy) as url:
        answer = retries.RetryingPlanner(open_planner(url), 1, quiet=True, stopped=Clock()).ask([question()])[
            0
        ]
    assert isinstance(answer, PlanFaultError)
    assert answer.kind == "unavailable"
    assert pauses == [pause]


def test_what_is_sent_is_what_openapi_says():
    spec = yaml.safe_load((Path(serialization.__file__).parent / "openapi.yaml").read_text())
    schemas = spec["components"]["schemas"]
    pixels = np.random.default_rng(0).integers(0, 256, (4, 6, 3), np.uint8)
    camera = Camera(width=6, height=4, fx=5, fy=5, cx=3, cy=2, T_cam_ego=EYE)
    asked = Observation("a", 1, {"front": (TimedImage(0.0, pixels),)}, {"front": camera}, STILL)
    sent = json.loads(json.dumps(serialization.encode(asked)))
    assert set(sent) == set(schemas["Observation"]["properties"])
    assert set(schemas["Requirements"]["properties"]) == {
        f for f in Requirements.__dataclass_fields__ if f != "truth"
    }
    assert sent["history"] == [[0.0, 0.0, 0.0, 8.0]]
