"""The inpainter through the real SDK, against a server on loopback that draws."""

import json
import sys
import time

import numpy as np
import pytest

from cfgen.core.errors import CfgenError, InpaintPutOffError, InpaintRefusedError, InputError
from cfgen.inpaint.gemini_image import inpainter
from cfgen.inpaint.paste import blend, weights
from cfgen.inpaint.protocol import InpaintResult
from cfgen.inpaint.registry import create_inpainter
from tests.inpaint.gemini_image.conftest import KEY
from tests.inpaint.gemini_image.fake_images import (
    ImageServer,
    answer_with,
    blocked,
    draw,
    painted,
    pictures,
    prompt,
    refusal,
)
from tests.inpaint.gemini_image.requests import hazard, request
from tests.judge.fake_gemini import Response, fault

pytest.importorskip("google.genai")
pytestmark = pytest.mark.usefixtures("small")


def make(server, **options):
    return create_inpainter("nano-banana", {"base_url": server.url, **options})


def ask(server, *requests, **options):
    return make(server, **options).inpaint(requests or [request()])


def first(*answers):
    """One after another, the last one from then on."""
    return lambda asked, number: (
        a(asked, number) if callable(a := answers[min(number, len(answers) - 1)]) else a
    )


# --- what comes back --------------------------------------------------------------------------------------


def test_the_hazard_lands_in_its_place_and_the_rest_is_the_original():
    asked = request()
    with ImageServer(lambda r, n: answer_with(draw(r, shift=(6, -4), tone=7))) as server:
        [result] = ask(server, asked)
    assert isinstance(result, InpaintResult)
    after = blend(asked.image, result.image, weights(asked.mask, result.alpha))
    changed = (np.abs(after.astype(int) - asked.image).max(2) > 25) & (asked.mask > 0)
    x0, y0, x1, y1 = asked.placement.box_px
    inset = asked.setting.camera.cx - asked.camera.cx, asked.setting.camera.cy - asked.camera.cy
    rows, columns = np.nonzero(changed)
    found = columns.min() + inset[0], rows.min() + inset[1], columns.max() + inset[0], rows.max() + inset[1]
    assert np.abs(np.subtract(found, (x0, y0, x1, y1))).max() < 3
    assert np.array_equal(after[asked.mask == 0], asked.image[asked.mask == 0])
    report = result.report
    assert report["residual"]["corrected"]
    assert report["drift"]["mean"] < 2 < report["raw_drift"]["mean"]
    assert report["calls"][0]["usage"]["images"] == 1
    assert json.loads(json.dumps(report)) == report


def test_what_is_sent_is_the_crop_in_a_shape_that_is_taken_and_the_words_name_place_and_size(monkeypatch):
    monkeypatch.setitem(inpainter.SIDES, "1K", 1024)
    asked = request()
    with ImageServer() as server:
        ask(server, asked, model="some-image-model")
    [sent] = server.asked
    assert "models/some-image-model:generateContent" in sent.path
    config = sent.json["generationConfig"]
    assert config == {
        "responseModalities": ["IMAGE"],
        "imageConfig": {"aspectRatio": "1:1", "imageSize": "1K"},
    }
    [picture] = pictures(sent)
    assert picture.shape == (1024, 1024, 3)
    for words in ("striped barrier", "1.5 m high", " away; a lane", "touches the road", "its front is seen"):
        assert words in prompt(sent)
    assert "systemInstruction" not in sent.json


@pytest.mark.parametrize(
    ("size", "mime"),
    [
        ((384, 384), "image/png"),
        ((300, 300), "image/jpeg"),
        ((640, 632), "image/webp"),
        ((384, 680), "image/jpeg"),
    ],
)
def test_answers_of_any_size_and_format(size, mime):
    with ImageServer(lambda r, n: answer_with(draw(r, size), mime)) as server:
        [result] = ask(server)
    assert isinstance(result, InpaintResult), result
    assert result.report["answer_size"] == [size[1], size[0]]
    assert result.alpha.max() == 1


def test_the_size_can_be_left_to_the_model():
    with ImageServer() as server:
        ask(server, image_size="")
    assert server.asked[0].json["generationConfig"]["imageConfig"] == {"aspectRatio": "1:1"}


def test_a_guide_goes_along_beside_the_crop():
    plain = request()
    guide = plain.image.copy()
    guide[170:220, 185:225] = (250, 0, 0)
    with ImageServer() as server:
        ask(server, request(guide=guide))
        null = request(guide=plain.image, hazard=hazard(kind="null"))
        ask(server, null)
    both, alone = server.asked
    crop, shown = pictures(both)
    assert np.abs(crop.astype(int) - shown).max() > 100
    assert "The second picture" in prompt(both)
    assert len(pictures(alone)) == 1
    assert "exactly as it is" in prompt(alone)


# --- refusals and faults ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "outcome", "reason"),
    [
        (refusal("IMAGE_SAFETY"), "refused", "IMAGE_SAFETY"),
        (refusal("NO_IMAGE", "I would rather not."), "refused", "NO_IMAGE"),
        (refusal("STOP", "Here is your picture!"), "refused", "no picture"),
        (blocked(), "refused", "PROHIBITED_CONTENT"),
        (answer_with(b"hello, I am no picture"), "unusable", "no whole picture"),
        (answer_with(np.zeros((384, 384, 3), np.uint8)), "unusable", "another picture"),
        (lambda r, n: answer_with(pictures(r)[0]), "unusable", "nothing new"),
    ],
)
def test_what_is_no_edit_is_asked_for_in_other_words_and_then_refused(bad, outcome, reason, tmp_path):
    with ImageServer(first(bad, painted)) as server:
        [result] = ask(server)
        words = [prompt(r) for r in server.asked]
    assert isinstance(result, InpaintResult)
    tried, done = result.report["calls"]
    assert tried["outcome"] == outcome
    assert reason in tried["reason"]
    assert done["wording"] == 1
    assert words[0] != words[1]
    with ImageServer(first(bad)) as server:
        [refused] = ask(server, rewordings=1, cache=str(tmp_path))
    assert isinstance(refused, InpaintRefusedError)
    assert reason in str(refused)
    assert [c["outcome"] for c in refused.report["calls"]] == [outcome] * 2
    assert len(server.asked) == 2


def test_a_refusal_spares_the_others():
    def answer(asked, number):
        return refusal() if "mattress" in prompt(asked) else painted(asked, number)

    with ImageServer(answer) as server:
        found = ask(
            server, request(1), request(2, hazard=hazard(name="mattress", prompt="a mattress")), request(3)
        )
    assert [type(f) for f in found] == [InpaintResult, InpaintRefusedError, InpaintResult]
    assert len(server.asked) == 5


def test_rate_limits_and_passing_faults_are_waited_out():
    times = []

    def answer(asked, number):
        times.append(time.monotonic())
        early = [fault(429, headers={"retry-after": "0.5"}), fault(500), fault(503), Response(b'{"cand')]
        return early[number] if number < len(early) else painted(asked, number)

    with ImageServer(answer) as server:
        [result] = ask(server)
    assert times[1] - times[0] >= 0.5
    told = [c["outcome"] for c in result.report["calls"]]
    assert told == ["failed: rate", *["failed: transient"] * 3, "answered"]


def test_a_body_that_ends_early_is_a_passing_fault():
    class Cutting(ImageServer):
        async def _respond(self, request):
            response = await super()._respond(request)
            if self._asked == 1:
                response.headers = {"content-length": str(len(response.body) + 999), "connection": "close"}
                self.cut = True
            return response

        async def _serve(self, reader, writer):
            self.cut = False
            drain = writer.drain

            async def cut():
                await drain()
                if self.cut:
                    writer.close()

            writer.drain = cut
            await super()._serve(reader, writer)

    with Cutting() as server:
        [result] = ask(server)
    assert [c["outcome"] for c in result.report["calls"]] == ["failed: transient", "answered"]


def test_a_slow_answer_is_a_passing_fault():
    with ImageServer(latency=1.5) as server:
        [result] = ask(server, timeout_s=0.3, retries=1)
    assert isinstance(result, InpaintPutOffError)
    assert "Timeout" in str(result)
    assert len(server.asked) == 2


def test_a_service_that_is_down_puts_off_and_refuses_nothing():
    with ImageServer(lambda r, n: fault(503, "overloaded")) as server:
        found = ask(server, request(1), request(2), retries=1)
    assert [type(f) for f in found] == [InpaintPutOffError] * 2
    assert "overloaded" in str(found[0])
    assert "later" in str(found[0])


def test_one_request_that_always_fails_is_refused(tmp_path):
    def answer(asked, number):
        return fault(500, "boom") if "mattress" in prompt(asked) else painted(asked, number)

    bad = request(2, hazard=hazard(name="mattress", prompt="a mattress"))
    with ImageServer(answer) as server:
        good, poison = ask(server, request(1), bad, retries=1, cache=str(tmp_path))
        [again] = ask(server, bad, retries=1, cache=str(tmp_path))
    assert isinstance(good, InpaintResult)
    assert isinstance(poison, InpaintRefusedError)
    assert isinstance(again, InpaintRefusedError)
    assert "boom" in str(poison)


def test_a_model_that_never_draws_stops_the_build_instead_of_using_up_its_scenes():
    with ImageServer(lambda r, n: refusal("STOP", "A fine road.")) as server:
        found = ask(server, *map(request, range(4)), rewordings=0)
    assert [type(f) for f in found] == [InpaintPutOffError] * 4
    assert "whether the model draws pictures" in str(found[0])


def test_a_request_that_cannot_work_is_refused_at_once():
    with ImageServer(lambda r, n: fault(400, "image too large")) as server:
        [refused] = ask(server)
    assert isinstance(refused, InpaintRefusedError)
    assert "image too large" in str(refused)
    assert len(server.asked) == 1


# --- keys and options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_refused_key_is_one_error_that_does_not_show_it(status, tmp_path):
    with (
        ImageServer(lambda r, n: fault(status, f"API key not valid: {KEY}.")) as server,
        pytest.raises(InputError) as caught,
    ):
        ask(server, request(1), request(2), cache=str(tmp_path))
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__
    assert KEY not in "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())


def test_no_key_says_what_to_set(monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(InputError, match=r"GEMINI_API_KEY; set it, or use --inpainter composite"):
        create_inpainter("nano-banana").inpaint([request()])


def test_the_other_key_will_do(monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    with ImageServer() as server:
        assert isinstance(ask(server)[0], InpaintResult)
    assert server.asked[0].headers["x-goog-api-key"] == KEY


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.genai", None)
    monkeypatch.delattr("google.genai", raising=False)
    with pytest.raises(CfgenError, match=r"\.\[gemini\]"):
        create_inpainter("nano-banana").inpaint([request()])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_size": "8K"}, "1K, 2K, 4K or nothing"),
        ({"rewordings": 9}, "rewordings"),
        ({"votes": 2}, "for judges"),
        ({"rmp": 3}, "'rmp' is not known"),
        ({"max_usd": 3}, "needs prices"),
        ({"max_usd": 3, "usd_image": 0.04, "critic_model": "m"}, "critic_usd_in"),
    ],
)
def test_options_that_cannot_be_are_named(options, message):
    with pytest.raises(InputError, match=message):
        create_inpainter("nano-banana", options)
