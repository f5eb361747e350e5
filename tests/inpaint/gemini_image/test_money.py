"""How fast it asks, what it keeps, and what it may spend."""

import time

import numpy as np
import pytest

from cfgen.core.errors import InpaintPutOffError
from cfgen.inpaint.protocol import InpaintResult
from cfgen.inpaint.registry import create_inpainter
from cfgen.models.limits import Ledger, in_words
from tests.inpaint.gemini_image.fake_images import ImageServer, painted, refusal
from tests.inpaint.gemini_image.requests import request

pytest.importorskip("google.genai")
pytestmark = pytest.mark.usefixtures("small")


def ask(server, *requests, **options):
    return create_inpainter("nano-banana", {"base_url": server.url, **options}).inpaint(requests)


def test_no_more_at_once_than_agreed_and_no_faster():
    with ImageServer(latency=0.1) as server:
        start = time.monotonic()
        ask(server, *map(request, range(6)), concurrency=2, rpm=1200)
        assert time.monotonic() - start >= 5 * 0.05 * 0.95
    assert server.most_at_once == 2


def test_answers_are_kept_by_what_decides_them_and_refusals_are_not(tmp_path):
    with ImageServer(lambda r, n: painted(r, n) if n else refusal()) as server:
        [once] = ask(server, request(), cache=str(tmp_path))
        [again] = ask(server, request(), cache=str(tmp_path), concurrency=3)
        assert len(server.asked) == 2
        assert np.array_equal(once.image, again.image)
        assert once.report == again.report
        ask(server, request(), cache=str(tmp_path), model="another")
        ask(server, request(seed=2), cache=str(tmp_path))
        assert len(server.asked) == 4


def test_a_budget_stops_before_it_is_exceeded_and_holds_over_runs(tmp_path):
    options = {"cache": str(tmp_path), "usd_image": 0.1, "concurrency": 4}
    with ImageServer() as server:
        found = ask(server, *map(request, range(6)), max_usd=0.35, **options)
        assert [type(f) for f in found].count(InpaintResult) == len(server.asked) == 3
        put_off = [f for f in found if isinstance(f, InpaintPutOffError)]
        assert "$0.30" in str(put_off[0])
        assert "larger --budget" in str(put_off[0])
        ask(server, *map(request, range(6)), max_usd=0.35, **options)
        assert len(server.asked) == 3
        found = ask(server, *map(request, range(6)), max_usd=0.7, **options)
    assert {type(f) for f in found} == {InpaintResult}
    assert len(server.asked) == 6


def test_without_a_price_for_pictures_the_first_answer_tells_the_cost():
    with ImageServer() as server:
        found = ask(server, *map(request, range(6)), max_usd=0.1, usd_out=30.0)
    assert len(server.asked) == 3  # 1200 tokens at $30 a million each
    assert sum(isinstance(f, InpaintPutOffError) for f in found) == 3


def test_the_number_of_requests_can_be_bounded(tmp_path):
    with ImageServer() as server:
        found = ask(server, *map(request, range(3)), max_requests=2, cache=str(tmp_path))
        assert "2 requests" in str(next(f for f in found if isinstance(f, InpaintPutOffError)))
    assert len(server.asked) == 2


def test_what_was_asked_without_a_price_counts_once_there_is_one(tmp_path):
    with ImageServer() as server:
        ask(server, request(1), request(2), cache=str(tmp_path))
        assert "no prices given" in in_words(Ledger(tmp_path).total())
        [found] = ask(server, request(3), cache=str(tmp_path), usd_image=0.1, max_usd=0.25)
        assert isinstance(found, InpaintPutOffError)
        [found] = ask(server, request(3), cache=str(tmp_path), usd_image=0.1, max_usd=0.35)
        assert isinstance(found, InpaintResult)
        assert "$0.10, 2 of them without a price" in in_words(Ledger(tmp_path).total())


def test_a_ledger_cut_off_by_a_kill_still_adds_up(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.add("m", "edit", True, {"images": 1.0, "usd": 0.1})
    ledger.path.write_text(ledger.path.read_text() + '\n{"model": "m", "fo')
    ledger.add("m", "edit", True, {"images": 1.0, "usd": 0.2})
    assert (ledger.total().requests, ledger.total().usd) == (2, pytest.approx(0.3))
