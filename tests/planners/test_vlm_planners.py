"""A prompted model as a planner: real SDK and real HTTP against a server on loopback."""

import json

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.baselines import constant_turn, write_text
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.registry import open_planner, recordable_options
from cfgen.planners.vlm import SCHEMA, model_planner, question
from cfgen.records import Camera, Motion, Trace
from tests.judge.fake_gemini import FakeServer, fault
from tests.judge.fake_gemini import gemini as gemini_reply
from tests.judge.fake_gemini import openai as openai_reply

pytest.importorskip("openai")
HISTORY = Motion(t=(-0.5, 0.0), poses=((-4.0, 0.0, 0.0), (0.0, 0.0, 0.0)), v=(8.0, 8.0))
EYE = ((0, -1, 0, 0), (0, 0, -1, 1.5), (1, 0, 0, 0), (0, 0, 0, 1))
PATH = constant_turn(8.0, 0.0)
TAGGED = write_text("A deer stands ahead.", "It brakes for the deer.", "stop", "lane keeping", PATH)
AS_JSON = json.dumps(
    {
        "scene": "A deer stands ahead.",
        "move_justification": "It brakes for the deer.",
        "longitudinal": "stop",
        "lateral": "lane keeping",
        "waypoints": PATH.tolist(),
    }
)


def asked(token: str = "a", **fields) -> Observation:
    camera = Camera(width=64, height=48, fx=50, fy=50, cx=32, cy=24, T_cam_ego=EYE)
    pixels = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
    images = tuple(TimedImage(t, pixels) for t in (-1.0, -0.5, 0.0))
    return Observation(token, 1, {"front": images}, {"front": camera}, HISTORY, **fields)


def test_the_prompt_shows_frames_in_order_motion_and_form():
    ask = question(asked(instruction="Turn left in 30m"), "tags")
    parts = [p if isinstance(p, str) else "picture" for p in ask.turns[0].parts]
    assert parts[:6] == [
        "Front camera 1.0 s ago:",
        "picture",
        "Front camera 0.5 s ago:",
        "picture",
        "Front camera now:",
        "picture",
    ]
    assert "v=8.00 m/s" in parts[6]
    assert "Turn left in 30m" in parts[7]
    assert "<wp>[x, y, theta]</wp>" in parts[-1]
    assert not any("hazard" in p.lower() for p in [*parts, ask.system])


def test_a_given_trace_is_told_and_its_gaps_left_open():
    trace = Trace(scene="A road.", justification="It overtakes.")
    words = " ".join(p for p in question(asked(trace=trace), "tags").turns[0].parts if isinstance(p, str))
    assert '"move_justification": "It overtakes."' in words
    assert '"longitudinal"' not in words.split("settled")[1].split("plan for it")[1].split("\n")[1]


def test_an_openai_server_plans_in_one_command():
    with FakeServer(lambda r, n: openai_reply(TAGGED)) as server:
        planner = open_planner("openai", {"model": "m", "base_url": f"{server.url}/v1"})
        try:
            answers = planner.ask([asked(str(k)) for k in range(3)])
        finally:
            planner.close()
    for answer in answers:
        _, plan = to_plan(answer)
        assert plan.trace.longitudinal == "stop"
        assert plan.faults == ()
        np.testing.assert_allclose(plan.waypoints, PATH, atol=1e-3)
        assert answer.report["output_tokens"] == 3


def test_gemini_is_held_to_the_schema(monkeypatch):
    pytest.importorskip("google.genai")
    monkeypatch.setenv("GEMINI_API_KEY", "secret-key")
    with FakeServer(lambda r, n: gemini_reply(AS_JSON)) as server:
        planner = open_planner("gemini", {"model": "m", "base_url": server.url})
        try:
            _, plan = to_plan(planner.ask([asked()])[0])
        finally:
            planner.close()
    assert plan.trace.justification == "It brakes for the deer."
    sent = server.requests[0].json
    assert sent["generationConfig"]["responseJsonSchema"]["required"] == SCHEMA["required"]
    assert sum("inlineData" in p for p in sent["contents"][0]["parts"]) == 3


@pytest.mark.parametrize(
    ("reply", "reason", "form"),
    [
        (openai_reply("I would rather not."), "<wp>: expected waypoints, found none", "tags"),
        (openai_reply(TAGGED[:500], "length"), "the model's answer is cut", "tags"),
        (openai_reply(None), "the model gave an empty reply", "tags"),
        (fault(400, "bad picture"), "the model gave no answer: .*400", "tags"),
        (openai_reply('{"waypoints": 3}'), "expected JSON that fits the schema", "json"),
    ],
)
def test_what_is_no_plan_is_a_fault_of_that_question(reply, reason: str, form: str):
    with FakeServer(lambda r, n: reply) as server:
        planner = model_planner("openai")(model="m", base_url=f"{server.url}/v1", retries=0, form=form)
        answer = planner.plan([asked()])[0]
    assert getattr(answer, "kind", "error") in ("error", "answer"), "nothing that other times would mend"
    with pytest.raises(PlanFaultError, match=reason):
        to_plan(answer)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("openai", {}, "missing a required argument: 'model'"),
        ("openai", {"model": "m", "wheels": 4}, "option 'wheels' is not known"),
        ("openai", {"model": "m", "look": {"size": 3}}, "expected frame_times and/or max_pixels"),
        ("gemini", {"model": "m"}, "no key in"),
    ],
)
def test_what_is_missing_is_named(monkeypatch, name: str, options: dict, message: str):
    for key in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    if name == "openai":
        options = {**options, "base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(InputError, match=message):
        open_planner(name, options)


def test_which_model_plans_is_on_record_and_no_key_is():
    options = {"model": "drive-9", "base_url": "http://me:pw@127.0.0.1:9/v1", "rpm": 5}
    planner = open_planner("openai", options)
    planner.close()
    told = {k: v for k, v in planner.fingerprint.items() if k != "options"}
    assert told == {"option model": "drive-9", "option base_url": "http://127.0.0.1:9/v1"}
    assert recordable_options({"model": "m", "api_key": "sk-1", "hf": "x"}, ours=False) == {
        "option model": "m"
    }
    assert "sk-1" not in str(recordable_options({"api_key": "sk-1", "look": {"token": "sk-1"}}, ours=True))
