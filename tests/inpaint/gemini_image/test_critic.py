"""The second opinion: shown before and after, not told what was asked."""

import json

import pytest

from cfgen.core.errors import InpaintRefusedError
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.gemini_image import prompt
from cfgen.inpaint.registry import create_inpainter
from tests.inpaint.gemini_image.fake_images import ImageServer, is_critic, opinion, painted, pictures, refusal
from tests.inpaint.gemini_image.requests import hazard, request

pytest.importorskip("google.genai")
pytestmark = pytest.mark.usefixtures("small")


def ask(server, *requests, **options):
    return create_inpainter("nano-banana", {"base_url": server.url, **options}).inpaint(requests)


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        (opinion(), ""),
        (opinion("a striped board", ["road block", "barricade"]), ""),
        (opinion("a brown dog", ["animal"]), "sees 'a brown dog', asked was 'road-work barrier"),
        (opinion("nothing"), "sees nothing added"),
        (opinion(size="no"), "size"),
        (opinion(place="no"), "place"),
        (refusal("SAFETY"), "no opinion"),
    ],
)
def test_the_critic_is_shown_before_and_after_and_must_name_what_was_asked(said, doubt):
    with ImageServer(lambda r, n: said if is_critic(r) else painted(r, n)) as server:
        [result] = ask(server, request(), critic_model="gemini-critic")
    _, asked = server.asked
    assert "models/gemini-critic:" in asked.path
    before, after = pictures(asked)
    assert before.shape == after.shape == (418, 418, 3)
    assert (before != after).any()
    assert "barrier" not in json.dumps(asked.json).lower()
    if doubt:
        assert isinstance(result, InpaintRefusedError)
        assert str(result).startswith("critic: ")
        assert doubt in str(result)
        assert result.report["calls"][0]["for"] == "edit"
    else:
        assert result.report["critic"]["size"] is True
        assert [c["for"] for c in result.report["calls"]] == ["edit", "critic"]


def test_a_critic_that_sees_something_in_a_null_edit_objects():
    seen = prompt.read_finding(
        json.dumps({"added": "a cat", "other_names": [], "size": "yes", "place": "yes", "why": ""})
    )
    assert "nothing was to be added" in prompt.objection(seen, hazard(kind="null"))
    assert prompt.read_finding('{"added": "x"}') is None
    assert prompt.read_finding("I think") is None


def test_every_hazard_is_matched_by_its_name_and_not_by_another_kind_of_thing():
    def finding(name):
        return prompt.Finding(name, (), True, True, "")

    for one in load_taxonomy(None).hazards:
        assert prompt.objection(finding(one.name), one) == "", one.name
        other = "a traffic cone" if "cone" not in one.name else "a dog"
        assert prompt._kinds(one.name.lower()), one.name
        if prompt._kinds(one.name.lower()).isdisjoint({"cone", "dog"}):
            assert "asked was" in prompt.objection(finding(other), one), one.name
