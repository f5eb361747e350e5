"""From rollouts to a consistency table, with a scripted model in place of a real one."""

import json
from pathlib import Path

import pytest

import cfgen.traces.check
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.judge.rubrics.faithfulness import FIELDS
from cfgen.judge.rubrics.registry import create_rubric
from cfgen.metrics.faithfulness import EDGES
from cfgen.storage.store import Store
from cfgen.traces.check import check_traces
from cfgen.traces.checker import CriticChecker, ModelChecker
from tests.plugins import install
from tests.reporting.bench import blind, case_id, make_bench


def reply(**changes: str) -> str:
    fields = {**dict.fromkeys(FIELDS, ""), **dict.fromkeys(EDGES, "CONSISTENT"), "confidence": "HIGH"}
    return json.dumps({**fields, **changes})


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return make_bench(tmp_path / "bench", 4, {"blind": blind}, arms=("hazard",)).root


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Case 1's hazard answer breaks E4, case 2's is never readable, case 3's only the second time."""
    replies = {
        f"hazard.{case_id(1)}.0": reply(E4="INCONSISTENT", E4_why="the speed stays at 43 km/h"),
        f"hazard.{case_id(2)}.0": "I would rather not say.",
        f"hazard.{case_id(3)}.0": ["CONSISTENT, all of it", reply()],
    }
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"replies": replies, "default": reply()}))
    return path


def asked(bench: Path, replies: Path | str) -> list[str]:
    """The command that puts the answers of ``blind`` to a scripted judge."""
    judge = ["--planner", "blind", "--judge", "scripted", "--judge-options", f"file={replies}"]
    return ["analyze", "traces", "check", str(bench), *judge]


def test_checked_resumed_and_reported(
    bench: Path, script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    command = asked(bench, script)
    assert main([*command, "--quiet"]) == 0
    assert "7 answers checked, 1 without a usable reply" in capsys.readouterr().out
    store = Store(bench)
    found = {(v.arm, v.case_id): v for v in store.trace_verdicts("blind")}
    assert len(found) == 8
    broken = found["hazard", case_id(1)]
    assert (broken.edges["E4"], broken.why) == (False, {"E4": "the speed stays at 43 km/h"})
    assert found["hazard", case_id(3)].status == "checked"
    unread = found["hazard", case_id(2)]
    assert (unread.status, unread.edges) == ("failed", {})
    assert unread.reason

    script.write_text(json.dumps({"replies": {}, "default": reply(E1="INCONSISTENT")}))
    main([*command, "--quiet"])
    assert {v.edges.get("E1") for v in store.trace_verdicts("blind")} == {True, None}, (
        "what is checked is kept"
    )

    main(["report", str(bench), "--out", str(tmp_path / "r"), "--panels", "0"])
    table = (tmp_path / "r" / "tables" / "faithfulness.csv").read_text().splitlines()
    assert table[1].startswith("blind,scripted,original,100.0,")
    # hazard: cases 0 and 3 whole, case 1 broken, case 2 unchecked
    assert table[2].split(",")[:4] == ["blind", "scripted", "hazard", "66.7"]
    assert table[2].endswith(",100.0,100.0,100.0,66.7")
    more = (tmp_path / "r" / "tables" / "faithfulness-2.csv").read_text().splitlines()
    assert more[2] == "blind,scripted,hazard,100.0,3,1", "E5, N and unchecked"


def test_inconsistency_and_grounding(bench: Path, tmp_path: Path):
    """The trace says: "A straight road." and "It is clear ahead."; both claim something that can be seen."""
    first, second = (f"hazard.{case_id(i)}.0" for i in (0, 1))
    answers = {
        "consistency": {first: "NO", second: "perhaps"},
        "grounding": {first: ["CORRECT", "INCORRECT"], second: "?"},
    }
    for rubric, default in (("consistency", "YES"), ("grounding", "CORRECT")):
        path = tmp_path / f"{rubric}.json"
        path.write_text(json.dumps({"replies": answers[rubric], "default": default}))
        assert main([*asked(bench, path), "--arms", "hazard", "--rubric", rubric, "--quiet"]) == 0
    found = {(v.rubric, v.case_id): v for v in Store(bench).trace_verdicts("blind")}
    claims = found["grounding", case_id(0)].claims
    assert (claims.correct, claims.incorrect) == (1, 1)
    assert "expected YES or NO, found 'perhaps'" in found["consistency", case_id(1)].reason
    main(["report", str(bench), "--out", str(tmp_path / "r"), "--panels", "0"])
    rows = (tmp_path / "r" / "tables" / "claims.csv").read_text().splitlines()[1:]
    # consistency: one NO of three; grounding: (1/2 + 1 + 1) / 3
    assert rows == [
        "blind,scripted-consistency,hazard,33.3,-,3,1",
        "blind,scripted-grounding,hazard,-,83.3,3,1",
    ]


def test_a_rubric_of_somebody_elses_is_listed_printed_and_asked(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    code = (
        "from dataclasses import replace\n"
        "from cfgen.judge.rubrics.consistency import consistency\n"
        "def polite():\n"
        '    """Whether the words are polite."""\n'
        "    return replace(consistency(), name='polite', wording='YES if polite, else NO.')\n"
    )
    install(tmp_path, monkeypatch, "manners", code, "[cfgen.rubrics]\npolite = manners:polite\n")
    assert main(["list", "rubrics"]) == 0
    assert "Whether the words are polite." in capsys.readouterr().out
    assert main(["judge", "prompt", "--rubric", "polite"]) == 0
    assert "YES if polite, else NO." in capsys.readouterr().out
    script = tmp_path / "polite.json"
    script.write_text(json.dumps({"default": "NO"}))
    assert main([*asked(bench, script), "--arms", "hazard", "--rubric", "polite", "--quiet"]) == 0
    found = [v for v in Store(bench).trace_verdicts("blind") if v.rubric == "polite"]
    assert {(v.checker, v.consistent) for v in found} == {("scripted-polite", False)}


def test_mistakes_name_the_remedy(bench: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(InputError, match="no model to ask about traces; use one of: gemini"):
        ModelChecker("offline", {})
    asks = [*asked(bench, "x"), "--rubric"]
    for name, said in (
        ("cfgen", "'cfgen' is about pairs of answers; choose one about traces, such as 'faithfulness'"),
        ("groundin", "found 'groundin' (did you mean 'grounding'?)"),
    ):
        assert main([*asks, name]) == 2
        assert said in capsys.readouterr().err
    with pytest.raises(
        InputError, match=r"'grounding' is about one answer by itself; .* with: cfgen analyze traces"
    ):
        create_rubric("grounding")
    with pytest.raises(InputError, match="score it first"):
        check_traces(bench, "nobody", CriticChecker("/nowhere"))


def test_an_answer_that_breaks_is_a_fault_and_the_rest_goes_on(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    script = tmp_path / "said.json"
    script.write_text(json.dumps({"replies": {}, "default": reply(E4="INCONSISTENT", E4_why="\ud83d")}))
    command = [*asked(bench, script), "--quiet"]
    real = cfgen.traces.check.trace_item

    def breaks(inputs, case, rollout):
        if (case.case_id, rollout.arm) == (case_id(1), "hazard"):
            raise ZeroDivisionError("by nought")
        return real(inputs, case, rollout)

    monkeypatch.setattr(cfgen.traces.check, "trace_item", breaks)
    assert main(command) == 1
    assert "7 answers checked, 0 without a usable reply, 1 faults" in capsys.readouterr().out
    faults = [v.fault for v in Store(bench).trace_verdicts("blind") if v.fault]
    assert [f.exception for f in faults] == ["ZeroDivisionError"]
    with pytest.raises(ZeroDivisionError):
        main([*command, "--strict", "--retry-failed"])
    monkeypatch.setattr(cfgen.traces.check, "trace_item", real)
    assert main([*command, "--retry-failed"]) == 0
    assert "8 answers checked" in capsys.readouterr().out
    assert main(command) == 0
