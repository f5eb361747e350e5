"""How the SDK of the Gemini judge is started."""

import ssl

import pytest

from cfgen.judge.registry import create_judge
from tests.judge.fake_gemini import FakeServer
from tests.judge.items import items, judged

pytest.importorskip("google.genai")
pytest.importorskip("aiohttp")


def test_certificates_are_read_once_for_all_that_the_sdk_might_send_with(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "none")
    real, read = ssl.create_default_context, []
    monkeypatch.setattr(ssl, "create_default_context", lambda **told: read.append(told) or real(**told))
    with FakeServer() as server:
        [found] = judged(create_judge("gemini", model="m", base_url=server.url), items(1))
    assert found.status == "scored"
    assert len(read) == 1
