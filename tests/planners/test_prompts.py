"""Prompts and parsers from files; speeds and curvatures integrated; answers in the forms of others."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from cfgen.core.errors import InputError
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.prompts import (
    create_parser,
    create_prompt,
    integrate,
    lightemma,
    load_files,
    openemma,
    parsed,
    past_actions,
    shipped_prompts,
    speed_curvature,
)
from cfgen.planners.protocol import Response
from cfgen.planners.registry import open_planner
from cfgen.records import Motion
from tests.judge.fake_gemini import FakeServer
from tests.judge.fake_gemini import openai as openai_reply
from tests.planners.test_vlm_planners import asked


def test_speeds_and_curvatures_drive_a_circle_exactly():
    """Half a circle of 20 m to the left in 10 steps ends 40 m to the left, turned by pi."""
    v = np.pi * 20 / 5.0
    path = integrate(np.full(10, v), np.full(10, 1 / 20))
    np.testing.assert_allclose(path[-1], [0.0, 40.0, np.pi], atol=1e-9)
    np.testing.assert_allclose(np.hypot(path[:, 0], path[:, 1] - 20.0), 20.0, atol=1e-9)
    np.testing.assert_allclose(integrate([4.0, 2.0, 0.0], [0.0, 0.0, 0.3])[:, 0], [2.0, 3.0, 3.0])


def test_past_actions_are_those_of_the_circle_that_was_driven():
    t = np.round(np.arange(-20, 1) * 0.25, 2)
    turn = 0.2 * t
    poses = tuple((float(np.sin(a) / 0.02), float((1 - np.cos(a)) / 0.02), float(a)) for a in turn)
    observation = asked()
    object.__setattr__(observation, "history", Motion(t=tuple(t), poses=poses, v=(10.0,) * len(t)))
    v, curvature = past_actions(observation)
    assert len(v) == 11  # 5 s at 2 Hz
    np.testing.assert_allclose(v, 10.0)
    np.testing.assert_allclose(curvature, 0.02, atol=1e-3)


@pytest.mark.parametrize(
    ("parser", "answer", "horizon_s", "end"),
    [
        (lightemma, "[(8.0, 0.0), (7.0, 0.0), (6.0, 0.0), (5.0, 0.0), (4.0, 0.0), (4.0, 0.0)]", 3.0, 17.0),
        (lightemma, "```\n[(8, 0), (8.0, 1e-3), (8,0), (8,0), (8,0), (8,0)]\n```", 3.0, None),
        (
            speed_curvature,
            "[8.0, 0.0], [6.0,0], [4.0, 0.0], [2, 0], [0,0], [0,0], [0,0], [0,0], [0,0], [0,0]",
            5.0,
            10.0,
        ),
    ],
)
def test_answers_in_the_forms_of_others_are_plans(parser, answer, horizon_s, end):
    answers = {"scene": "A deer on the road.", "intent": "Slow down for it.", "plan": answer}
    found = parsed(parser, answers, asked(), {})
    assert isinstance(found, Response), found
    _, plan = to_plan(found)
    assert len(plan.waypoints) == horizon_s / 0.25
    assert (plan.trace.scene, plan.trace.justification) == ("A deer on the road.", "Slow down for it.")
    if end is not None:
        assert plan.waypoints[-1][0] == pytest.approx(end, abs=0.05)


def test_openemma_is_read_as_openemma_reads_it():
    """Its own arithmetic: SciPy's trapezoids over n points of a time from 0 to n, v in m per 0.5 s, k in 100/m."""
    rng = np.random.default_rng(3)
    v, k = rng.uniform(2, 6, 12).round(1), rng.uniform(-3, 3, 12).round(1)
    found = parsed(
        openemma, {"plan": ", ".join(f"[{a},{b}]" for a, b in zip(v, k, strict=True))}, asked(), {}
    )
    v, k, t = v[:10], k[:10] / 100, np.linspace(0, 10, 10)
    theta = cumulative_trapezoid(k * v, t, initial=0)
    theirs = [cumulative_trapezoid(v * f(theta), t, initial=0)[1:] for f in (np.cos, np.sin)]
    np.testing.assert_allclose(found.waypoints[:, :2], np.transpose(theirs), atol=1e-9)
    np.testing.assert_allclose(found.t, 0.5 * np.arange(1, 10))


def test_lightemma_is_integrated_by_euler_as_there():
    actions = [(8.0, 0.02), (7.0, 0.03), (6.0, -0.01), (5.0, 0.0)]
    x = y = heading = 0.0
    theirs = []
    for speed, curvature in actions:
        x, y = x + speed * np.cos(heading) * 0.5, y + speed * np.sin(heading) * 0.5
        heading += curvature * speed * 0.5
        theirs.append((x, y, heading))
    found = parsed(lightemma, {"plan": str(actions)}, asked(), {})
    np.testing.assert_allclose(found.waypoints, theirs, atol=1e-12)


def test_an_answer_that_holds_no_pairs_is_named():
    refusal = parsed(openemma, {"plan": "I am sorry, I cannot help with that."}, asked(), {})
    assert isinstance(refusal, PlanFaultError)
    assert "I am sorry" in str(refusal)


def test_every_shipped_prompt_fits_its_parser_and_names_no_hazard():
    assert shipped_prompts() == ["lightemma", "openemma"]
    for name in shipped_prompts():
        prompt = create_prompt(name)
        create_parser(prompt.parser)
        answers = dict.fromkeys(prompt.stages, "said before")
        words = " ".join(prompt.fill(stage, asked(), answers) for stage in prompt.stages)
        assert "{{" not in words
        assert "hazard" not in words.lower()


PROMPT = """
frame_times: [-0.5, 0.0]
stages:
  scene: What is ahead?
  plan: "It drives at {{speed}} m/s. Ahead: {{scene}} Where to?"
"""
PARSER = """
import numpy as np
def parse(answers, observation):
    stop = float(answers["plan"].split()[-1])
    t = np.arange(1, 9) * 0.5
    points = np.column_stack([np.minimum(observation.speed * t, stop), 0 * t])
    return {"text": answers["scene"], "waypoints": points, "t": t}
"""


def test_a_prompt_and_a_parser_of_the_users_are_asked_and_read(tmp_path: Path):
    (tmp_path / "mine.yaml").write_text(PROMPT)
    (tmp_path / "mine.py").write_text(PARSER)
    seen: list[str] = []

    def says(request, number):
        words = request.json["messages"][-1]["content"]
        seen.append(words[-1]["text"])
        assert sum(part["type"] == "image_url" for part in words) == 3  # as many as the observation holds
        return openai_reply("A deer." if number % 2 == 0 else "Stop after 12.5")

    with FakeServer(says) as server:
        options = {"model": "m", "base_url": f"{server.url}/v1", "prompt": f"{tmp_path}/mine.yaml"}
        planner = open_planner("openai", {**options, "parser": f"{tmp_path}/mine.py"})
        try:
            answer = planner.ask([asked()])[0]
        finally:
            planner.close()
    assert seen == ["What is ahead?", "It drives at 8.00 m/s. Ahead: A deer. Where to?"]
    assert planner.needs.frame_times == (-0.5, 0.0)
    text, plan = to_plan(answer)
    assert text == "A deer."
    assert len(plan.waypoints) == 16  # 4 s
    assert plan.waypoints[-1][0] == pytest.approx(12.5)


def test_what_is_in_a_file_is_part_of_who_plans(tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(PROMPT)
    before = load_files({"prompt": str(file)})
    file.write_text(PROMPT.replace("Where to?", "And now?"))
    assert load_files({"prompt": str(file)}) != before


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("stages: {}", "field 'stages': expected names with the text of each"),
        ("stages: {a: hello}\nwords: 1", "expected fields system, .* found words"),
        ("stages: {a: '{{b}}', b: x}", "stage 'a': '{{b}}' is not known there; expected one of speeds"),
        ("stages: [", "expected YAML"),
    ],
)
def test_what_is_no_prompt_is_named(text: str, why: str):
    with pytest.raises(InputError, match=why):
        create_prompt({"file": "p.yaml", "text": text})


def test_what_is_no_parser_is_named():
    for text, why in (("x = 1", "expected a function 'parse"), ("1 / 0", "cannot be run .ZeroDivisionError")):
        with pytest.raises(InputError, match=why):
            create_parser({"file": "p.py", "text": text})
    with pytest.raises(InputError, match="did you mean 'lightemma'"):
        create_prompt("lightema")
    with pytest.raises(InputError, match=r"cannot read nowhere/p\.yaml"):
        load_files({"prompt": "nowhere/p.yaml"})
    broken = create_parser({"file": "p.py", "text": "def parse(answers, observation): return answers['b']"})
    assert "parser: raised KeyError" in str(parsed(broken, {"a": ""}, asked(), {}))
