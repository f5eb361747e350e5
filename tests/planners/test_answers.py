"""What planners give passes one door: kept as plain values, or a recorded failure that names the field."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.core.hashing import canonical_json
from cfgen.core.sanitize import plain_json, plain_numbers, plain_text, visible
from cfgen.planners import runtime
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.protocol import Observation, Response
from cfgen.planners.registry import open_planner
from cfgen.planners.serialization import decode_needs
from cfgen.records import Motion
from tests.planners.nasty_planners import ANSWERS, POINTS

STILL = Motion(t=(0.0,), poses=((0.0, 0.0, 0.0),), v=(8.0,))


def question(token: str) -> Observation:
    return Observation(token=token, seed=1, images={}, cameras={}, history=STILL)


@pytest.fixture(scope="module")
def answers():
    """Every nasty answer, through a real child process, in one batch."""
    planner = open_planner("tests.planners.nasty_planners:Nasty", max_chars=100_000)
    try:
        found = planner.ask([question(token) for token in ANSWERS])
    finally:
        planner.close()
    return dict(zip(ANSWERS, found, strict=True))


REFUSED = {
    "number": "'text': expected a string, found int",
    "strings": "'waypoints': expected numbers",
    "ragged": "'waypoints': expected numbers",
    "too large": "'waypoints': expected numbers",
    "report": "'report': expected an object, found list",
    "trap": "expected readable fields, found Trap",
    "none": "expected text or a Response, found NoneType",
    "object answer": "expected text or a Response, found object",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_a_plan_of_plain_values_or_a_failure_that_says_why(answers, name: str):
    answer = answers[name]
    if name in REFUSED:
        assert isinstance(answer, PlanFaultError)
        assert REFUSED[name] in str(answer)
        return
    text, plan = to_plan(answer)
    assert plan.waypoints[-1][0] == pytest.approx(48.0, rel=1e-3)
    canonical_json([text, answer.report, answer.notes])


@pytest.mark.parametrize(
    ("name", "report", "note"),
    [
        ("numpy", {"a": 1.5, "b": [0, 1, 2], "c": True, "d": 7}, ""),
        ("tensor", {"loss": [1.0, 2.0]}, ""),
        ("bytes", {"raw": "� ok"}, "raw: bytes"),
        ("dataclass", {"cost": {"calls": 3, "usd": 0.5}}, ""),
        ("set", {"seen": [1, 3]}, ""),
        ("nan", {"worst": "nan", "best": "-inf"}, "worst: nan, kept as text"),
        ("circle", {"all": [1, None]}, "within itself"),
        ("huge", {"n": "an integer of 16610 bits"}, "16610 bits"),
        ("keys", {"by": {"1": "a", "(2, 3)": "b", "\\ud800": "c"}}, "name is int"),
        ("object", {"it": "<Unwilling>"}, "Unwilling that cannot be read"),
    ],
)
def test_a_report_becomes_json_and_says_what_was_changed(answers, name: str, report: dict, note: str):
    assert answers[name].report == report
    assert note in " ".join(answers[name].notes)


def test_words_are_kept_visible_and_bounded(answers):
    assert answers["surrogate"].text == "a\\ud83d b"
    assert "1 lone surrogates" in answers["surrogate"].notes[0]
    assert answers["pair"].text == "a\U0001f600 b"
    assert answers["byte words"].text == "é"
    assert answers["no words"].text == ""
    assert len(answers["long"].text) == 100_000
    assert answers["long"].notes == ("text: 50000000 characters, only the first 100000 are kept",)


def test_needs_that_cannot_be_are_named_before_the_first_question():
    with pytest.raises(InputError, match=r"nasty_planners:OddNeeds': .*'frame_times.*found"):
        open_planner("tests.planners.nasty_planners:OddNeeds")


@pytest.mark.parametrize(
    "content",
    [
        {"batch_size": -1},
        {"batch_size": 1.5},
        {"batch_size": True},
        {"cameras": "front"},
        {"frame_times": [float("inf")]},
        {"max_pixels": "many"},
        {"deterministic": "yes"},
    ],
)
def test_needs_over_the_wire_name_the_field(content: dict):
    with pytest.raises(PlanFaultError, match=f"'{next(iter(content))}.*found"):
        decode_needs(content)


def test_masked_points_are_no_points():
    points = np.ma.masked_array(np.zeros((24, 2)), mask=np.zeros((24, 2), bool))
    assert plain_numbers(points).tolist() == points.tolist()
    points.mask[3, 1] = True
    assert np.isnan(plain_numbers(points)[3, 1])
    for mask in (points.mask, np.ones((24, 2), bool)):
        with pytest.raises(PlanFaultError, match="expected finite x and y"):
            to_plan(Response("", np.ma.masked_array(np.zeros((24, 2)), mask=mask)))
    assert np.isnan(plain_numbers([1.0, np.ma.masked])[1])


def test_no_reason_moves_a_terminal():
    fault = PlanFaultError("a\x00b\x1b[2J\x9b c\u202e \ud83d \n é")
    assert str(fault) == "a\\x00b\\x1b[2J\\x9b c\\u202e \\ud83d é"
    assert visible(str(fault)) == str(fault)
    assert visible("tab\tand\nline") == "tab\tand\nline"


def test_needs_over_the_wire_hold_only_what_can_be_stored():
    needs = decode_needs(json.loads('{"cameras": ["fr\\ud83d"]}'))
    assert needs.cameras == ("fr\\ud83d",)
    canonical_json(needs.cameras)
    with pytest.raises(PlanFaultError, match="unknown fields") as found:
        decode_needs(json.loads('{"\\ud83d": 1}'))
    str(found.value).encode()


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_timeout_that_cannot_be_is_named(seconds: float):
    with pytest.raises(InputError, match="timeout: expected more than 0"):
        open_planner("cruise", timeout_s=seconds)


@pytest.mark.parametrize(("kills", "kind"), [(0, "died"), (1, "machine")])
def test_a_worker_that_the_machine_killed_is_told_from_one_that_killed_itself(kills, kind, monkeypatch):
    counts = iter([5, 5 + kills])
    monkeypatch.setattr(runtime, "_kernel_kills", lambda: next(counts))
    planner = open_planner("tests.planners.nasty_planners:Killed")
    try:
        fault = planner.ask([question("pair")])[0]
    finally:
        planner.close()
    assert isinstance(fault, PlanFaultError)
    assert fault.kind == kind
    assert "signal SIGKILL" in str(fault)
    assert ("ran out of memory" in str(fault)) == bool(kills)


def test_a_program_with_a_long_line_or_odd_text_costs_its_question(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    o = json.loads(line)\n"
        "    if 'ask' in o:\n"
        "        print(json.dumps({'needs': {'cameras': [], 'frame_times': []}}), flush=True)\n"
        "        continue\n"
        "    n = {'long': 2000, 'flood': 6_000_000}.get(o['id'], 1)\n"
        f"    print(json.dumps({{'id': o['id'], 'text': '\\ud83d' * n, 'waypoints': {POINTS}}}), flush=True)\n"
    )
    planner = open_planner(f"cmd:{sys.executable} {program}", max_chars=1000)
    try:
        odd, long, flood, after = planner.ask([question(t) for t in ("odd", "long", "flood", "after")])
    finally:
        planner.close()
    assert to_plan(odd)[0] == "\\ud83d"
    assert "2000 characters, only the first 1000 are kept" in long.notes[0]  # type: ignore[union-attr]
    assert "expected a line of at most" in str(flood)
    assert to_plan(after)


def outputs(path: Path, *rows: bytes):
    path.write_bytes(b"".join(rows))
    return open_planner(str(path), max_chars=50)


def line(token: str, **fields: object) -> bytes:
    return json.dumps({"id": token, "waypoints": POINTS, **fields}).encode() + b"\n"


def test_a_file_of_outputs_is_read_as_it_comes(tmp_path: Path):
    bad = {"waypoints": [[float("nan"), 0]] * 24}
    rows = [
        b"\xef\xbb\xbf" + line("a", text="\ud83d"),
        line("b", **bad),
        line("c", text="x" * 60),
        line("d", text=7),
    ]
    separated = json.dumps({"id": "e", "waypoints": POINTS, "text": "a\u2028b"}, ensure_ascii=False)
    planner = outputs(tmp_path / "o.jsonl", *rows, separated.encode() + b"\n")
    a, b, c, d, e = planner.ask([question(t) for t in "abcde"])
    assert to_plan(a)[0] == "\\ud83d"
    with pytest.raises(PlanFaultError, match="finite"):
        to_plan(b)
    assert to_plan(c)[0] == "x" * 50
    assert "line 4: answer: 'text': expected a string, found int" in str(d)
    assert to_plan(e)[0] == "a\u2028b"


def test_where_two_lines_answer_one_question_the_last_counts_and_that_is_told(tmp_path: Path):
    with pytest.warns(UserWarning, match="1 lines answer a question that an earlier line answered"):
        planner = outputs(tmp_path / "o.jsonl", line("a", text="first"), line("a", text="second"))
    answer = planner.ask([question("a")])[0]
    assert to_plan(answer)[0] == "second"
    assert answer.notes == ("line 2 of o.jsonl counts, not line 1",)  # type: ignore[union-attr]


def test_plain_values_have_bounds():
    deep: dict = {}
    inner = deep
    for _ in range(5000):
        inner["k"] = inner = {}
    found, notes = plain_json(deep)
    assert len(json.dumps(found)) < 1000
    assert "too deep" in notes[0]
    found, notes = plain_json(list(range(100_000)))
    assert len(found) < 20_001
    assert "values left out" in notes[0]
    found, notes = plain_json({"a": np.zeros(10**6)})
    assert found == {"a": None}
    assert "1000000 numbers" in notes[0]
    assert plain_text("ab", 1) == ("a", ("2 characters, only the first 1 are kept",))
    with pytest.raises(ValueError, match="at most"):
        plain_numbers(np.zeros(10**6))


def test_real_tensors_come_through_whatever_they_require():
    torch = pytest.importorskip("torch")
    points = torch.tensor(POINTS, requires_grad=True)
    _, plan = to_plan(
        {"waypoints": points * 1.0, "t": 0.25 * torch.arange(1, 25), "report": {"loss": points.sum()}}
    )
    assert plan.waypoints[-1][0] == pytest.approx(48.0)
    np.testing.assert_array_equal(plain_numbers(torch.ones(2, 2, dtype=torch.bfloat16)), np.ones((2, 2)))
