"""Models in the making of known answers, asked by their real SDKs: servers on loopback stand in for their makers."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import cfgen
from cfgen.cli.main import main
from cfgen.core.errors import Shortfall
from cfgen.core.hashing import hash_json
from cfgen.judge.rubrics.faithfulness import FIELDS
from cfgen.metrics.faithfulness import EDGES
from cfgen.storage.store import Store
from tests.judge.fake_gemini import FakeServer, Request, Response, fault, gemini, openai
from tests.reporting.bench import make_bench

pytest.importorskip("google.genai")
pytest.importorskip("openai")
KEY = "AIzaSECRET-of-the-test-0123456789"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    blank = np.zeros((8, 8, 3), np.uint8)
    for name in ("bev", "speed_plot"):
        monkeypatch.setattr(f"cfgen.traces.probe.{name}", lambda points: blank)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_bench(tmp_path / "b", 6, {}, arms=("hazard",))


def words(request: Request) -> str:
    """All text of a request, of either interface."""
    return "\n".join(re.findall(r'"text": ?"((?:[^"\\]|\\.)*)"', json.dumps(request.json)))


def readable(asked: str) -> bool:
    return crc32(asked.encode()) % 5 > 1


def writes(request: Request, number: int) -> Response:
    """A corruptor, alike for the same question: some replies are refused, some no JSON.

    Its action contradicts what stops or slows, and fits what gathers speed in its lane.
    """
    asked = words(request)
    if not readable(asked):
        refuses = crc32(asked.encode()) % 5
        return gemini("", finish="SAFETY") if refuses else gemini("I would rather not.")
    given = {
        "scene": "The street lies empty.",
        "justification": "We speed up and carry on.",
        "longitudinal": "pass",
        "lateral": "lane keeping",
    }
    keys = asked.rpartition("Keys:")[2]
    return gemini(json.dumps({name: said for name, said in given.items() if name in keys}))


def says(**edges: str) -> Callable[[Request, int], Response]:
    """A judge of edges in OpenAI's interface that finds these, and all else consistent."""
    reply = dict.fromkeys(FIELDS, "") | dict.fromkeys(EDGES, "CONSISTENT") | edges | {"confidence": "HIGH"}
    return lambda request, number: openai(json.dumps(reply))


def options(corruptor: FakeServer, other: FakeServer, **limits: int) -> dict:
    """One model writes; another confirms, and is the judge that is probed."""
    asked = {"model": "second", "base_url": f"{other.url}/v1", "form": "json", "retries": 0}
    return {
        "judge": "openai",
        "judge_options": asked,
        "rubric": "faithfulness-scene",
        "edges": ("E2-scene", "E3", "E4"),
        "sources": "scripted",
        "per_edge": 10,
        "corruptor": "gemini",
        "corruptor_options": {"model": "writer", "base_url": corruptor.url, "retries": 0, **limits},
        "second": "openai",
        "second_options": asked,
        "quiet": True,
    }


def test_one_model_writes_and_another_confirms(store: Store):
    """What geometry cannot tell is kept where the second model calls it inconsistent; refusals are counted."""
    with FakeServer(writes) as corruptor, FakeServer(says(E2="INCONSISTENT")) as other:
        probe, pool = cfgen.probe_traces(store.root, **options(corruptor, other))
        asked, judged = [words(r) for r in corruptor.requests], len(other.requests)
        again = cfgen.probe_traces(store.root, **options(corruptor, other))
        once_more = {words(r) for r in corruptor.requests[len(asked) :]}
        assert len(other.requests) == judged, "replies are cached"
    assert hash_json(again[1]) == hash_json(pool)
    assert len(set(asked)) == 10, "every source once"
    assert once_more == {one for one in asked if not readable(one)}, "what could be read is cached"
    refused = sum(n for why, n in pool.dropped.items() if "written by a model" in why and "repl" in why)
    assert refused == len(once_more) > 0
    assert (pool.corruptor, pool.second, probe.model) == ("writer", "second", "second")
    written = [k for k in pool.traces if "model" in k.provenance]
    assert {k.provenance["model"] for k in written} == {"writer"}
    scenes = [k for k in written if k.target == "E2-scene"]
    assert {k.trace.scene for k in scenes} == {"The street lies empty."}
    assert {k.provenance.get("confirmed") for k in scenes} == {"second model"}
    assert probe.edges["E2-scene"].false_consistent == 0
    told = asked[0]
    assert "SCENE (quoted)" in told
    assert not re.search(r"scene\d|painted|hazard|inconsistent", told.partition("SCENE")[2])
    assert not [c.case_id for c in store.cases() if c.case_id in "".join(asked)]
    assert KEY not in "".join(p.read_text() for p in store.root.rglob("*.json"))


def test_a_spent_budget_or_a_refused_key_writes_nothing(store: Store, capsys: pytest.CaptureFixture[str]):
    with FakeServer(writes) as corruptor, FakeServer(says()) as other:
        given = options(corruptor, other, max_requests=3, concurrency=1)
        with pytest.raises(Shortfall, match="the budget is spent"):
            cfgen.probe_traces(store.root, **given)
    with FakeServer(lambda r, n: fault(403, "no")) as refused:
        given = f"--corruptor gemini --corruptor-options model=w --corruptor-options base_url={refused.url}"
        command = f"traces probe {store.root} --verifier offline --edges E4 --quiet {given}"
        assert main(command.split()) == 2
    assert "corruptor 'gemini': Gemini answered 403 for model 'w'" in capsys.readouterr().err
    assert not (store.root / "traces").exists()
