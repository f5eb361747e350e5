"""A key that must never show, and retries that do not wait."""

import pytest

from cfgen.inpaint.gemini_image import inpainter
from cfgen.models import client, limits

KEY = "AIzaSECRET-of-the-test-0123456789"


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    async def quick(call, meter):
        return await limits.with_retries(call, meter, first_wait=0.01)

    monkeypatch.setattr(client, "with_retries", quick)


@pytest.fixture
def small(monkeypatch):
    """Small pictures go out: what is tested with them does not depend on their size."""
    monkeypatch.setitem(inpainter.SIDES, "1K", 384)
