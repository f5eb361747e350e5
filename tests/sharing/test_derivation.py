"""What can be derived is derived again: verdicts that were made up are named, and their entry is ranked no more."""

import json
import shutil
from pathlib import Path

import pytest

import cfgen
from cfgen.core.errors import StoreError
from cfgen.core.files import write_record
from cfgen.records import Verdict
from cfgen.sharing import bundle as bundles
from cfgen.sharing.leaderboard import Board
from cfgen.storage.store import Store
from tests.benches import run
from tests.sharing.results import ARMS, forged, record

TWO = {"waypoints": 2}


@pytest.fixture(scope="module")
def honest(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``cruise``, which never answers a hazard, judged by measurement."""
    out = tmp_path_factory.mktemp("honest") / "bench"
    shutil.copytree(bench, out)
    cfgen.score(out, "cruise", arms=ARMS, quiet=True)
    return out


def made_up(bench: Path, out: Path, judge: str = "offline", **change: object) -> Path:
    """A copy in which every verdict on the hazard, and its votes, say 2; every hash fits."""
    shutil.copytree(bench, out)
    store = Store(out)
    for verdict in store.verdicts(judge, "cruise", "hazard"):
        votes = tuple(
            v.model_copy(update={"scores": TWO, "status": "scored", **change}) for v in verdict.votes
        )
        store.write_verdict(verdict.model_copy(update={"scores": TWO, "status": "scored", "votes": votes}))
    return out


def as_bundle(bench: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """By an exporter from which its author took the check."""
    with monkeypatch.context() as patched:
        patched.setattr(bundles, "contradictions", lambda *_: iter(()))
        cfgen.export_bundle(bench, out, planner="cruise")
    return out


def test_a_verdict_without_a_model_is_measured_again(honest: Path, tmp_path: Path):
    assert run("bench", "verify", honest)[0] == 0
    bench = made_up(honest, tmp_path / "bench")
    code, said, err = run("bench", "verify", bench)
    assert code == 1, said
    assert "2 faults" in err
    expected = []
    for verdict in Store(honest).verdicts("offline", "cruise", "hazard"):
        path = Store(bench).verdict_path("offline", "cruise", "hazard", verdict.case_id)
        flags = "".join(f"; {flag}" for flag in verdict.flags)
        honest_words = f"scored; waypoints {verdict.scores['waypoints']}{flags}"
        expected.append(f"{path}: expected {honest_words}, found scored; waypoints 2{flags}")
    assert [line for line in expected if line not in said] == []
    with pytest.raises(
        StoreError, match=r"expected scored; waypoints .*, found scored; waypoints 2"
    ) as refused:
        cfgen.export_bundle(bench, tmp_path / "bundle", planner="cruise")
    assert any(line in str(refused.value) for line in expected)
    assert not (tmp_path / "bundle").exists()


def test_a_planners_failure_stays_one_whoever_judges(done: Path, tmp_path: Path):
    bench = tmp_path / "bench"
    shutil.copytree(done, bench)
    store = Store(bench)
    answer = store.rollouts("cruise", "hazard")[0]
    failed = {"status": "failed", "failure": "error", "reason": "broke", "plan": None}
    store.write_rollout(answer.model_copy(update=failed))
    path = store.verdict_path("scripted", "cruise", "hazard", answer.case_id)
    assert f"{path}: expected planner_failed, found scored" in run("bench", "verify", bench)[1]


def test_a_models_score_follows_from_its_reply(done: Path, tmp_path: Path):
    bench = tmp_path / "bench"
    shutil.copytree(done, bench)
    store = Store(bench)
    verdict = store.verdicts("scripted", "cruise", "hazard")[0]
    path = store.verdict_path("scripted", "cruise", "hazard", verdict.case_id)
    lower: dict[str, object] = {"scores": {**verdict.scores, "overall": 1}}
    write_record(path, Verdict.model_validate(verdict.model_copy(update=lower).model_dump()))
    said = run("bench", "verify", bench)[1]
    assert f"{path}: expected scored; reasoning 2; waypoints 2; overall 2, found scored; " in said
    assert said.count("expected scored") == 1


def test_a_made_up_entry_is_contradicted_in_its_own_table_and_ranked_no_more(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    bundle = as_bundle(made_up(honest, tmp_path / "forged"), tmp_path / "mine", monkeypatch)
    board = tmp_path / "board"
    assert run("share", "leaderboard", "add", board, bundle)[0] == 0, "no frames, so nobody can tell yet"
    assert page(board, tmp_path / "before")[0]["kind"] == "self-reported"

    code, said, err = run("share", "leaderboard", "rejudge", "--board", board, honest, "--quiet")
    assert code == 0, err
    assert "added, rejudged" in said
    first, last = page(board, tmp_path / "site")
    assert first["kind"] == "rejudged"
    assert first["figures"]["rates"]["waypoints"]["value"] == 0
    assert last["figures"] is None
    name = next(row.entry.entry for row in Board(board).rows() if row.entry.kind == "rejudged")
    assert last["contradicted"] == f"2 of 6 verdicts differ: entry {name}, judged by the board's maintainer"
    html = (tmp_path / "site" / "index.html").read_text()
    assert html.count("<table>") == 1
    assert "+100.0" not in html
    assert ">contradicted</td>" in html
    assert run("share", "leaderboard", "check", board)[0] == 0


def page(board: Path, out: Path) -> list[dict]:
    """The rows of its only table, in their order."""
    cfgen.write_leaderboard(board, out)
    (table,) = json.loads((out / "leaderboard.json").read_text())
    return table["rows"]


def test_options_that_a_judge_never_has_make_no_table_of_ones_own(honest: Path, tmp_path: Path):
    cfgen.export_bundle(honest, tmp_path / "bundle", planner="cruise")
    out = forged(
        tmp_path / "bundle", tmp_path / "alone", bundles.JUDGE, record(lambda r: r.update(options={"x": 1}))
    )
    code, _, err = run("share", "leaderboard", "add", tmp_path / "board", out)
    assert code == 2
    assert "expected judge 'offline' without options, found {'x': 1}" in err


def test_claimed_drives_are_those_of_the_benchmark(honest: Path, tmp_path: Path):
    """Cases of drives of their own have narrower intervals, and a table of their own."""
    cfgen.export_bundle(honest, tmp_path / "bundle", planner="cruise")

    def alone(index: dict) -> None:
        index["blocks"] = "cases"

    out = forged(tmp_path / "bundle", tmp_path / "alone", bundles.INDEX, record(alone))
    board = Board(tmp_path / "board", create=True)
    added = board.add(out)
    assert run("share", "leaderboard", "rejudge", "--board", board.root, honest, "--quiet")[0] == 0
    assert "drives, horizon or cases differ" in board.row(added.entry.entry).entry.contradicted


def test_a_model_judges_again_with_the_entrys_own_options(done: Path, bundle: Path, tmp_path: Path):
    board = Board(tmp_path / "board", create=True)
    name = board.add(bundle).entry.entry
    command = ("share", "leaderboard", "rejudge", "--board", board.root, done, "--quiet")
    code, _, err = run(*command)
    assert code == 2
    assert "give what lacks by --judge-options" in err or "file" in err, "a stranger names no file"
    code, said, err = run(*command, "--judge-options", f"file={done.parent / 'bench-replies.json'}")
    assert code == 0, err
    assert f"{name}: the same byte for byte as the self-reported one, which is rejudged now" in said
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"default": "nothing"}))
    code, _, err = run(*command, "--judge-options", f"file={other}", "--entries", name)
    assert code == 2
    assert "whose rows are another table" in err
