"""The documentation's model provider as if its package were installed, and a server that it can ask."""

import json
from pathlib import Path

import pytest

from tests.judge.fake_gemini import FakeServer, Response

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "model_provider.py"


def install(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``house`` known to this process and to those it starts."""
    info = site / "model_provider-1.dist-info"
    info.mkdir(parents=True)
    (site / "model_provider.py").write_text(EXAMPLE.read_text())
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: model-provider\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[cfgen.models]\nhouse = model_provider:House\n")
    monkeypatch.syspath_prepend(str(site))


def server(says) -> FakeServer:
    """Answers ``says(sent)`` to each question, which cost 100 tokens."""

    def answer(request, number) -> Response:
        found = says(request.json)
        if isinstance(found, Response):
            return found
        return Response(json.dumps({"text": found, "tokens": 100}).encode())

    return FakeServer(answer)
