"""``cfgen share leaderboard``: like with like, nothing believed, and pages that say who vouches for what."""

import csv
import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import cfgen
from cfgen.core.errors import InputError
from cfgen.judge.registry import create_judge
from cfgen.judge.validation import probe
from cfgen.sharing import bundle as bundles
from cfgen.sharing.leaderboard import BUNDLE, ENTRY, Board
from cfgen.sharing.site import known_answers, write_site
from tests.benches import run
from tests.sharing.results import forged, lines, record, reply, scored

NASTY = '<script>alert("x")</script>\u202egnp'


@pytest.fixture(scope="module")
def benches(bench: Path, done: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``good`` is judged by 2s, ``cruise`` too; those in ``strict`` by less."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "one").symlink_to(done)
    shutil.copyfile(done.parent / "bench-replies.json", folder / "one-replies.json")
    scored(bench, folder / "other", judge_says=reply(1, 0, 0))
    for name, where, planner in (
        ("good", "one", "reactive"),
        ("cruise", "one", "cruise"),
        ("strict", "other", "reactive"),
    ):
        cfgen.export_bundle(folder / where, folder / name, planner=planner, judge="scripted")
    return folder


@pytest.fixture
def board(benches: Path, tmp_path: Path) -> Path:
    entries = (benches / name for name in ("good", "cruise", "strict"))
    code, _, err = run("share", "leaderboard", "add", tmp_path / "board", *entries)
    assert (code, err) == (0, "")
    return tmp_path / "board"


def test_only_like_stands_beside_like(board: Path, tmp_path: Path):
    code, said, err = run("share", "leaderboard", "page", board, "--out", tmp_path / "site")
    assert (code, err) == (0, "")
    assert "3 entries in 2 tables" in said
    tables = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert [sorted(row["planner"] for row in t["rows"]) for t in tables] == [
        ["cruise", "reactive"],
        ["reactive"],
    ]
    index = (tmp_path / "site" / "index.html").read_text()
    assert index.count("<table>") == 2
    assert index.count(">self-reported</td>") == 3
    assert "not to be compared" in index
    row = r'</a></th><td class="word">self-reported</td><td>\+0\.0 \(-[\d.]+ to \+[\d.]+\)</td><td>100\.0 '
    assert re.search(row, index)
    assert index.count("scroll it sideways") == 2
    assert re.search(r"<dd>scripted: .*sha256:\w+", index)
    titles = re.findall(r"<h2>(Benchmark .*?judged by scripted, table t\w{12})</h2>", index)
    assert len(set(titles)) == 2
    rows = list(csv.reader((tmp_path / "site" / "leaderboard.csv").open()))
    assert len(rows) == 4
    assert not list((tmp_path / "site" / "entries").glob("*.cfgen-bundle")), "answers stay unless wanted"


def test_an_entry_without_nuisance_scenes_has_no_false_alarm_rate(bench: Path, done: Path, tmp_path: Path):
    shutil.copytree(bench, tmp_path / "bench")
    judge = {"file": str(done.parent / "bench-replies.json")}
    cfgen.score(
        tmp_path / "bench", "reactive", judge="scripted", judge_options=judge, arms=("hazard",), quiet=True
    )
    cfgen.export_bundle(tmp_path / "bench", tmp_path / "bundle", planner="reactive", judge="scripted")
    board = Board(tmp_path / "board", create=True)
    board.add(tmp_path / "bundle")
    write_site(board, tmp_path / "site")
    assert ">self-reported</td><td>-</td><td>100.0 " in (tmp_path / "site" / "index.html").read_text()
    (page,) = (tmp_path / "site" / "entries").glob("*.html")
    assert "no false-alarm rate: ask it about nuisance scenes" in page.read_text()


def test_known_answers_are_marked_as_the_submitters_word(done: Path, tmp_path: Path):
    shutil.copytree(done, tmp_path / "bench", symlinks=True)
    judge = create_judge("scripted", file=str(done.parent / "bench-replies.json"))
    probe(tmp_path / "bench", judge, ["ignores"], quiet=True)
    cfgen.export_bundle(tmp_path / "bench", tmp_path / "bundle", planner="reactive", judge="scripted")
    board = Board(tmp_path / "board", create=True)
    board.add(tmp_path / "bundle")
    code, said, _ = run("share", "leaderboard", "page", board.root, "--out", tmp_path / "site")
    assert (code, said.endswith("1 entries in 1 tables\n")) == (0, True)
    told = "told by the submitter: tried on too little to count as tested: right in 0/0/0% of 2 known answers"
    assert told in (tmp_path / "site" / "index.html").read_text()
    (row,) = board.rows()
    ours = replace(row, entry=row.entry.model_copy(update={"kind": "rerun"}))
    assert known_answers(ours).startswith("tried on too little")


def test_the_same_twice_is_said_and_stands_once(board: Path, benches: Path):
    code, said, _ = run("share", "leaderboard", "add", board, benches / "good")
    assert code == 0
    assert "was there already, byte for byte, as self-reported; not added again" in said
    assert run("share", "leaderboard", "check", board)[:2] == (0, "3 of 3 entries verify\n")


def test_an_entry_edited_in_any_byte_is_named_in_one_line(board: Path, benches: Path, tmp_path: Path):
    name = next(n for n in Board(board).names() if n.startswith("cruise-"))
    file = board / "entries" / name / BUNDLE
    data = file.read_bytes()
    other = forged(
        benches / "cruise", tmp_path / "whole", bundles.PLANNER, record(lambda r: r.update(spec="x"))
    )
    for content in (data[:99] + bytes([data[99] ^ 1]) + data[100:], data + b"0", b"", other.read_bytes()):
        file.write_bytes(content)
        code, said, err = run("share", "leaderboard", "check", board)
        assert code == 1
        assert (said.count("\n"), err) == (2, "")
        assert f"entry '{name}': " in said
        assert "2 of 3 entries verify" in said
    code, _, err = run("share", "leaderboard", "page", board, "--out", tmp_path / "site")
    assert code == 2
    assert f"entry '{name}'" in err
    assert not (tmp_path / "site").exists()
    file.write_bytes(data)
    told = board / "entries" / name / ENTRY
    told.write_text(told.read_text().replace("self-reported", "rerun"))
    assert "it was changed" in run("share", "leaderboard", "check", board)[1]


def test_what_does_not_verify_is_not_added(board: Path, benches: Path, tmp_path: Path):
    def cherry(records: list[dict]) -> None:
        del records[0]

    bad = forged(benches / "good", tmp_path / "bad", bundles.VERDICTS, lines(cherry))
    told = forged(
        benches / "good", tmp_path / "told", bundles.PLANNER, record(lambda r: r["needs"].update(truth=True))
    )
    for bundle, words in (
        (bad, "holds no verdict on"),
        (told, "competes with nobody"),
    ):
        code, _, err = run("share", "leaderboard", "add", board, bundle)
        assert code == 2
        assert re.search(words, err)
        assert str(bundle) in err
    assert len(Board(board).names()) == 3


def test_all_bundles_are_looked_at_and_each_that_fails_is_named(benches: Path, tmp_path: Path):
    bad = [tmp_path / name for name in ("first", "second")]
    for path in bad:
        path.write_bytes(b"no bundle")
    assert run("share", "leaderboard", "add", tmp_path / "none", *bad)[0] == 2
    assert not (tmp_path / "none").exists(), "nothing is begun for what does not verify"
    given = (bad[0], benches / "good", bad[1], benches / "cruise")
    code, said, err = run("share", "leaderboard", "add", tmp_path / "board", *given)
    assert (code, said.count(": added, self-reported"), err.count("\n")) == (1, 2, 2)
    assert all(f"cfgen: error: {path}" in err for path in bad)
    assert len(Board(tmp_path / "board").names()) == 2


def test_what_a_bundle_says_is_text_on_every_page(benches: Path, tmp_path: Path):
    def nasty(run_: dict) -> None:
        run_.update(spec=NASTY, sight=[NASTY], fingerprint={NASTY: NASTY})

    bundle = forged(benches / "good", tmp_path / "nasty", bundles.PLANNER, record(nasty))
    bundle = forged(
        bundle,
        tmp_path / "nastier",
        bundles.INDEX,
        record(lambda r: r.update(blocks=NASTY, environment={NASTY: NASTY})),
    )
    made = Board(tmp_path / "board", NASTY, create=True)
    made.add(bundle)
    write_site(made, tmp_path / "site", bundles=True)
    pages = [p.read_text() for p in (tmp_path / "site").rglob("*.html")]
    assert len(pages) == 2
    assert sum(page.count("&lt;script&gt;") for page in pages) >= 6
    assert not any("<script" in page or "\u202e" in page for page in pages)
    assert all("default-src 'none'; style-src 'self'" in page for page in pages)


def test_stored_answers_are_judged_again_and_say_so(board: Path, benches: Path):
    replies = benches / "stricter.json"
    replies.write_text(json.dumps({"default": reply(0, 0, 0)}))
    judge = ("--judge", "scripted", "--judge-options", f"file={replies}", "--quiet")
    names = [n for n in Board(board).names() if not n.startswith("cruise")]
    command = ("share", "leaderboard", "rejudge", "--board", board, benches / "one")
    code, said, err = run(*command, "--entries", ",".join(names), *judge)
    assert code == 0, err
    assert said.count("added, rejudged") == 2
    assert err.count("has not been tested on known answers") == 1
    assert f"cfgen judge validate {benches / 'one'} " in err, "a folder that is still there"
    rows = [row for row in Board(board).rows() if row.entry.kind == "rejudged"]
    assert {row.proof.figures.rates["overall"].value for row in rows} == {0.0}
    assert all(row.entry.of for row in rows)
    assert not (benches / "one" / "verdicts" / "strict").exists()


def test_the_same_verdicts_of_the_maintainers_own_judge_vouch_for_a_row(board: Path, benches: Path):
    name = next(n for n in Board(board).names() if n.startswith("cruise-"))
    judge = ("--judge", "scripted", "--judge-options", f"file={benches / 'one-replies.json'}", "--quiet")
    code, said, _ = run(
        "share", "leaderboard", "rejudge", "--board", board, benches / "one", "--entries", name, *judge
    )
    assert code == 0
    assert f"{name}: the same byte for byte as the self-reported one, which is rejudged now" in said
    assert Board(board).row(name).entry.kind == "rejudged"
    assert run("share", "leaderboard", "check", board)[0] == 0


def test_answers_are_judged_again_on_their_own_benchmark_only(board: Path, benches: Path, tmp_path: Path):
    fewer = tmp_path / "fewer"
    shutil.copytree(benches / "one", fewer)
    shutil.rmtree(sorted(fewer.glob("cases/*/*"))[0])
    command = ("share", "leaderboard", "rejudge", "--board", board, fewer)
    code, _, err = run(*command)
    assert code == 2
    assert "give the benchmark that it was scored on" in err
    assert "expected one of" in run(*command, "--entries", "nobody")[2]


def test_a_container_is_run_on_a_private_split(bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    split = tmp_path / "split"
    shutil.copytree(bench, split)
    docker = tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nshift 6\nexec "$@"\n')
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}:/usr/bin:/bin")
    planner = tmp_path / "mine.py"
    planner.write_text(
        "class Mine:\n    needs = {'cameras': ('front',)}\n"
        "    def plan(self, seen):\n"
        "        return [{'text': 'I go on.', 'waypoints': [[i, 0, 0] for i in range(1, 25)]} for _ in seen]\n"
    )
    monkeypatch.chdir(tmp_path)
    code, said, err = run(
        *("share", "leaderboard", "run", "--board", tmp_path / "board", split, "--planner", "mine:Mine"),
        *("--python", f"docker run -i --rm --network none image {sys.executable}"),
        *("--arms", "hazard", "--quiet"),
    )
    assert code == 0, err
    assert ": added, rerun" in said
    assert "run -i --rm --network none image" in (tmp_path / "asked").read_text()
    (row,) = Board(tmp_path / "board").rows()
    assert row.bundle.run.network == ("none (docker: --network none, as its command line gives it)",)
    assert row.bundle.index.arms == ("original", "hazard")
    assert row.bundle.run.spec.startswith("mine:Mine")
    assert "docker" in " ".join(row.bundle.run.sight)


def test_a_board_is_one_folder_and_a_site_another(board: Path, tmp_path: Path):
    with pytest.raises(InputError, match="found something else"):
        cfgen.open_board(tmp_path, create=True)
    with pytest.raises(InputError, match="found nothing"):
        cfgen.open_board(tmp_path / "none")
    with pytest.raises(InputError, match="earlier site"):
        cfgen.write_leaderboard(board, board)
    with pytest.raises(InputError, match="no entry yet"):
        cfgen.write_leaderboard(cfgen.open_board(tmp_path / "new", create=True).root, tmp_path / "site")
