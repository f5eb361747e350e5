"""The local judge and the local planner: real transformers code on a tiny model with random weights."""

import time

import numpy as np
import pytest

from cfgen.judge.registry import create_judge
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.protocol import Observation, TimedImage
from cfgen.planners.registry import open_planner
from cfgen.records import Camera, Motion
from tests.judge.items import CAMERA, items, judged
from tests.tiny_models import tiny_llava


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tiny_llava(tmp_path_factory.mktemp("llava")))


def test_a_model_that_babbles_is_a_failed_row_and_the_same_one_each_time(folder: str):
    found = [
        judged(create_judge("local", model=folder, device="cpu", max_new_tokens=24), items(1))
        for _ in range(2)
    ]
    verdict = found[0][0]
    assert verdict.status == "failed"
    assert verdict.votes[0].raw
    assert verdict.votes[0].usage["output_tokens"] <= 24
    assert verdict.votes == found[1][0].votes


def test_as_a_planner_its_babble_is_a_fault(folder: str):
    history = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(8.0,))
    image = TimedImage(0.0, np.zeros((CAMERA.height, CAMERA.width, 3), np.uint8))
    cameras: dict[str, Camera] = {"front": CAMERA}
    asked = Observation("a", 1, {"front": (image,)}, cameras, history)
    options = {"model": folder, "device": "cpu", "max_new_tokens": 24, "look": {"frame_times": [0.0]}}
    planner = open_planner("local", options)
    try:
        answer = planner.ask([asked])[0]
    finally:
        planner.close()
    with pytest.raises(PlanFaultError, match=r"answer is cut|<wp>: expected waypoints"):
        raise answer if isinstance(answer, PlanFaultError) else _fault(answer)


def _fault(answer) -> PlanFaultError:
    with pytest.raises(PlanFaultError) as caught:
        to_plan(answer)
    return caught.value


def test_it_sees_the_four_pictures(folder: str, monkeypatch):
    judge = create_judge("local", model=folder, device="cpu", max_new_tokens=4)
    judged(judge, items(1))
    model, seen = judge.models[0]._model, []
    generate = model.generate

    def watched(**inputs):
        seen.append(inputs["pixel_values"].shape[0])
        return generate(**inputs)

    monkeypatch.setattr(model, "generate", watched)
    judged(judge, items(1))
    assert seen[0] == 4


def test_a_batch_is_one_pass_of_the_model_and_answers_as_one_by_one(folder: str, monkeypatch):
    alone = judged(create_judge("local", model=folder, device="cpu", max_new_tokens=6), items(2))
    judge = create_judge("local", model=folder, device="cpu", max_new_tokens=6, batch=2)
    judged(judge, items(1))
    model, rows = judge.models[0]._model, []
    generate = model.generate

    def watched(**inputs):
        rows.append(len(inputs["input_ids"]))
        return generate(**inputs)

    monkeypatch.setattr(model, "generate", watched)
    (first, slow), second = items(2)
    together = judged(judge, [(first, lambda: (time.sleep(0.1), slow())[1]), second])
    assert rows[0] == 2  # however long one takes to prepare; those that are of no use are asked for once more
    assert [v.votes[0].raw for v in together] == [v.votes[0].raw for v in alone]
