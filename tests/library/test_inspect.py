"""The task of inspect_ai: planner and judge are its models, and its figures are those of ``cfgen score``."""

import json
import shutil
from pathlib import Path

import pytest
from inspect_ai import eval as run_task
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    get_model,
)

import cfgen
from cfgen.core.errors import InputError
from cfgen.library.inspect import hazards, words_of
from cfgen.metrics.success import dimensions_scored
from cfgen.planners.vlm import SYSTEM
from cfgen.records import DIMENSIONS
from cfgen.sharing.bundle import Figures
from cfgen.storage.store import Store
from tests.judge.fake_gemini import FakeServer, openai
from tests.sharing.results import reply

ARMS = ("hazard", "null", "nuisance")
STEPS = "\n".join(f"<wp>[{{0}}{i}.0, 0.0, 0.0]</wp>" for i in range(1, 25))
ACTION = "<action>\nLongitudinal: {1}\nLateral: lane keeping\n</action>\n"
THINK = '<think>\n{{"scene": "A road.", "move_justification": "{2}"}}\n</think>\n'
GOES = (THINK + ACTION + STEPS).format("1", "set speed tracking", "It is clear.")
STOPS = (THINK + ACTION + STEPS).format("", "stop", "Cones block the lane.")


def _pictures(messages: list) -> list[str]:
    return [
        c.image for m in messages if not isinstance(m.content, str) for c in m.content if c.type == "image"
    ]


def _said(text: str) -> ModelOutput:
    """With its tokens counted: counting them would load a vocabulary from elsewhere."""
    made = ModelOutput.from_content("mockllm", text)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


def _planner():
    """Stops and goes in turn."""
    seen: list[list] = []

    def answer(messages, tools, choice, config) -> ModelOutput:
        seen.append(messages)
        return _said(STOPS if len(seen) % 2 else GOES)

    return get_model("mockllm/planner", custom_outputs=answer, memoize=False), seen


def _grader(replies: list[str]):
    asked: list[list] = []

    def answer(messages, tools, choice, config) -> ModelOutput:
        asked.append(messages)
        return _said(replies[(len(asked) - 1) % len(replies)])

    return get_model("mockllm/grader", custom_outputs=answer, memoize=False), asked


def _evaluated(tmp_path: Path, made, model, **options):
    (log,) = run_task(
        made, model=model, log_dir=str(tmp_path / "logs"), display="none", max_samples=1, **options
    )
    assert log.status == "success", log.error
    return log


def _means(log) -> dict[str, float]:
    return {s.name: next(iter(s.metrics.values())).value for s in log.results.scores}


def _same_by_cfgen(bench: Path, tmp_path: Path, log, judge: str, **options) -> tuple:
    """The same answers through ``cfgen score``: figures and verdicts."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(
            json.dumps({"case_id": sample.id, "arm": arm, "text": said["text"]}) + "\n"
            for sample in log.samples
            for arm, said in sample.metadata["cfgen_answers"].items()
        )
    )
    copy = tmp_path / "bench"
    shutil.copytree(bench, copy)
    run = cfgen.score(copy, str(answers), judge=judge, arms=ARMS, quiet=True, judge_options=options or None)
    verdicts = run.verdicts
    store = Store(copy)
    blocks = {case_id: case_id for case_id in store.case_ids()}
    figures = Figures.of(verdicts, blocks, dimensions_scored(verdicts))
    return figures, {(v.case_id, v.arm): (v.status, v.scores) for v in verdicts}


def _of_log(log) -> dict:
    return {
        (v["case_id"], v["arm"]): (v["status"], v["scores"])
        for sample in log.samples
        for score in sample.scores.values()
        for v in score.metadata["verdicts"]
    }


def test_any_models_of_inspect_plan_and_judge_as_cfgen_does(bench: Path, tmp_path: Path):
    planner, seen = _planner()
    words = reply(2, 2, 2)
    grader, asked = _grader([words])
    log = _evaluated(
        tmp_path,
        hazards(str(bench), arms=",".join(ARMS), frame_times=[0]),
        planner,
        model_roles={"grader": grader},
    )
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps({"default": words}))
    figures, verdicts = _same_by_cfgen(bench, tmp_path, log, "scripted", file=str(replies))
    assert _of_log(log) == verdicts
    means = _means(log)
    assert means["response"] == pytest.approx(100 * figures.above.value)
    for dimension in DIMENSIONS:
        assert means[dimension] == pytest.approx(100 * figures.rates[dimension].value)
        assert means[f"{dimension}_sham_null"] == 100.0
    assert len(seen) == 2 * 4
    for messages in seen:  # each by itself, and not told which arm it is
        assert [m.role for m in messages] == ["system", "user"]
        assert messages[0].text == SYSTEM
        assert not any(word in messages[1].text for word in (*ARMS, "original"))
    assert len({_pictures(messages)[-1] for messages in seen}) == 8, "four frames of two cases"
    assert all("UNKNOWN" in messages[0].text and len(_pictures(messages)) == 4 for messages in asked)


def test_offline_scores_and_failed_answers_are_those_of_cfgen_score(bench: Path, tmp_path: Path):
    said = iter([STOPS, GOES, "I will drive.", GOES, STOPS, GOES, STOPS, GOES])
    planner = get_model(
        "mockllm/p",
        custom_outputs=map(_said, said),
        memoize=False,
    )
    log = _evaluated(tmp_path, hazards(str(bench), arms=ARMS, judge="offline", frame_times=[0]), planner)
    figures, verdicts = _same_by_cfgen(bench, tmp_path, log, "offline")
    assert _of_log(log) == verdicts
    assert "planner_failed" in {status for status, _ in verdicts.values()}
    assert _means(log)["waypoints"] == pytest.approx(100 * figures.rates["waypoints"].value)
    assert _means(log)["response"] == pytest.approx(100 * figures.above.value)


def test_a_server_of_openais_kind_and_the_log_for_the_viewer(bench: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def answer(request, number):
        return openai(reply(1, 0, 0) if "UNKNOWN" in json.dumps(request.json) else GOES)

    with FakeServer(answer) as server:
        log = _evaluated(
            tmp_path,
            hazards(str(bench), frame_times=[0]),
            get_model("openai/m", base_url=f"{server.url}/v1", memoize=False, responses_api=False),
        )
        sent = [r.json for r in server.requests]
    assert len(sent) == 2 * 2 + 2
    assert _means(log)["overall"] == 0.0
    read = read_eval_log(log.location)
    assert read.eval.task.endswith("hazards")
    (sample, _) = read.samples
    assert "It <b>brakes</b>." in next(iter(sample.scores.values())).explanation
    assert [m.role for m in sample.messages] == ["system", "user", "assistant"] * 2


def test_what_it_cannot_do_is_refused(bench: Path, tmp_path: Path):
    with pytest.raises(InputError, match="expected 'hazard' among them"):
        hazards(str(bench), arms="null")
    with pytest.raises(InputError, match="'nobody'"):
        hazards(str(bench), judge="nobody", frame_times=[0])
    with pytest.raises(InputError, match="needs a frame of 'front' at -1 s"):
        hazards(str(bench))


def test_reasons_that_inspect_took_out_of_the_text_are_put_back():
    """As its providers part what an OpenAI-compatible server says; a model's own thoughts beside it stay beside it."""
    reasons, rest = GOES.split("</think>\n")
    inner = reasons.removeprefix("<think>\n").strip()
    taken = ContentReasoning(reasoning=inner, internal="think")
    thoughts = ContentReasoning(reasoning="Hm.", internal="reasoning_content")
    signed = ContentReasoning(reasoning="Hm.", signature="x")
    for beside in ([], [thoughts], [signed]):
        message = ChatMessageAssistant(content=[*beside, taken, ContentText(text=rest)])
        assert words_of(ModelOutput.from_message(message)) == GOES
    assert words_of(_said(GOES)) == GOES
