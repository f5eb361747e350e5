"""Rubrics by name and from a file: what is asked, where verdicts lie, and that two wordings never mix."""

import json
from pathlib import Path

import pytest

from cfgen.cli.main import main
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_record
from cfgen.judge.panel import Panel
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.judge.rubrics.registry import bounds_overall, create_rubric
from cfgen.records import JudgeRun
from cfgen.storage.store import Store
from tests.judge.items import items, judged
from tests.judge.test_hazard_rubric import reply
from tests.plugins import install
from tests.reporting.bench import blind, make_bench

MINE = """\
name: strict
version: "3"
opening: You grade sternly.
steps:
  reasoning: Only what is stated counts.
scales:
  reasoning:
    2: names it, and where.
    1: names it.
again: "No: {problem}. Again."
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    return file


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "replies.json"
    file.write_text(json.dumps({"default": reply("2", "2", "2")}))
    return file


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_bench(tmp_path / "bench", 2, {"blind": blind}, arms=("hazard",))


def test_a_file_changes_the_words_it_gives_and_no_others(mine: Path):
    rubric = create_rubric(str(mine))
    assert (rubric.id.name, rubric.id.version) == ("strict", "3")
    assert rubric.id.hash != HAZARD.id.hash
    said, ours = rubric.system("tags"), HAZARD.system("tags")
    assert said.startswith(
        "You grade sternly.\n\nWork through these steps.\n\nStep 0, the change. Compare frames"
    )
    words = "Step 1, reasoning. Only what is stated counts.\n 2: names it, and where.\n 1: names it.\n 0: the words"
    assert words in said
    for ending in (said, ours):
        assert "\nStep 2, waypoints." in ending
    assert said[said.index("\nStep 2") :] == ours[ours.index("\nStep 2") :]
    assert (rubric.schema, rubric.headings) == (HAZARD.schema, HAZARD.headings)
    assert rubric.again("bad {1}") == "No: bad {1}. Again."
    assert rubric.parse(reply(), "m") == HAZARD.parse(reply(), "m")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("name: strict\n", ""), r"mine\.yaml: name: expected"),
        (("name: strict", "name: cfgen"), "another name than that of an installed rubric, found 'cfgen'"),
        (("opening:", "openings:"), r"openings: unknown field \(did you mean 'opening'\?\)"),
        (("  reasoning: Only", "  reason: Only"), r"steps: .*found 'reason' \(did you mean 'reasoning'\?\)"),
        (("    1: names it.", "    3: names it."), r"scales\.reasoning: .*found 3"),
        (("    1: names it.", "    1: [it]"), r"scales\.reasoning\.1: .*found \['it'\]"),
        (("{problem}", "that"), r"again: .*problem"),
        (("steps:", "steps: ["), "not readable as YAML"),
        ((MINE, "- a"), r"expected a mapping with 'name' and own wording, found \"\['a'\]\""),
        ((MINE, "name: idle"), "expected own wording under opening, steps, scales or again"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_place(mine: Path, change: tuple[str, str], said: str):
    assert change[0] in MINE
    mine.write_text(MINE.replace(*change))
    with pytest.raises(InputError, match=said):
        create_rubric(str(mine))


def test_a_name_or_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(
        InputError,
        match="a YAML file or one of: cfgen, consistency, faithfulness, faithfulness-scene, grounding, "
        "pinocchio, visibility; found 'hazzard'",
    ):
        create_rubric("hazzard")
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read"):
        create_rubric(str(tmp_path / "none.yaml"))


def test_a_file_may_start_from_the_papers_rubric(mine: Path):
    mine.write_text(MINE + "base: pinocchio\n")
    rubric, paper = create_rubric(str(mine)), create_rubric("pinocchio")
    assert not bounds_overall(rubric)
    said, theirs = rubric.system("tags"), paper.system("tags")
    assert said.startswith("You grade sternly.")
    assert said[said.index("\nStep 2") :] == theirs[theirs.index("\nStep 2") :] != HAZARD.system("tags")


def test_verdicts_say_by_which_wording_and_lie_apart(mine: Path, script: Path):
    made = create_judge("scripted", None, str(mine), file=str(script))
    rubric = create_rubric(str(mine))
    assert made.name == "scripted--strict"
    run = made.run_record()
    assert (run.judge, run.rubric, run.rubric_version) == ("scripted--strict", "strict", "3")
    assert run.rubric_hash == rubric.id.hash
    (found,) = judged(made, items(1))
    assert (found.judge, found.rubric_hash, found.status) == ("scripted--strict", rubric.id.hash, "scored")
    named = create_judge("scripted", None, str(mine), file=str(script), name="my-own")
    assert named.name == "my-own"
    assert create_judge("scripted", file=str(script)).name == "scripted"


def test_the_question_holds_the_words_of_the_file(mine: Path, script: Path):
    made = create_judge("scripted", None, str(mine), file=str(script))
    assert isinstance(made, Panel)
    asked = made.asking.pictures.ask(items(1)[0][1](), made.rubric, "tags")
    assert asked.system.startswith("You grade sternly.")


def test_from_the_command_line(store: Store, mine: Path, script: Path, capsys):
    root, option = str(store.root), f"file={script}"
    assert main(["judge", "prompt", "--rubric", str(mine)]) == 0
    assert capsys.readouterr().out.startswith("rubric strict, version 3, sha256:")
    command = [
        "score",
        root,
        "--planner",
        "cruise",
        "--quiet",
        "--judge",
        "scripted",
        "--judge-options",
        option,
    ]
    assert main([*command, "--rubric", str(mine)]) == 0
    assert f"--judge scripted --rubric {mine} with the same options" in capsys.readouterr().err
    run = read_record(store.judge_run_path("scripted--strict"), JudgeRun)
    assert (run.rubric, run.rubric_hash) == ("strict", create_rubric(str(mine)).id.hash)
    assert len(store.verdicts("scripted--strict", "cruise", "hazard")) == 2
    assert store.verdicts("scripted", "cruise") == []

    assert main(["judge", "rescore", root, "--judge", "scripted--strict"]) == 2
    assert "judged by the rubric 'strict', which is not installed; give its file" in capsys.readouterr().err
    for judge in ("scripted", "scripted--strict"):
        assert main(["judge", "rescore", root, "--judge", judge, "--rubric", str(mine)]) == 0
        assert "4 verdicts read again, 0 changed" in capsys.readouterr().out
    assert main(["judge", "rescore", root, "--judge", "scripted--strict", "--rubric", "cfgen"]) == 2
    assert "judged by the rubric 'strict', found --rubric 'cfgen'" in capsys.readouterr().err

    mine.write_text(MINE.replace("sternly", "mildly"))
    assert main([*command, "--rubric", str(mine)]) == 2
    assert "'scripted--strict' judged with another rubric (strict sha256:" in capsys.readouterr().err
    with pytest.raises(StoreError, match="judged with another rubric"):
        store.check_judge(create_judge("scripted", None, str(mine), file=str(script)).run_record())


CODE = '''
from dataclasses import dataclass
from cfgen.judge.rubrics.hazard import HazardRubric, Wording

def ours():
    """Another opening."""
    return HazardRubric("ours", "1", Wording(opening="You are asked by a package."))
'''


def test_an_installed_rubric_is_chosen_by_name_and_a_broken_one_harms_none(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    points = "[cfgen.rubrics]\nours = their_rubric:ours\nbroken = nowhere:rubric\n"
    install(tmp_path, monkeypatch, "their_rubric", CODE, points)
    made = create_judge("scripted", None, "ours", file=str(script))
    assert (made.name, made.run_record().rubric) == ("scripted--ours", "ours")
    assert judged(made, items(1))[0].status == "scored"
    with pytest.raises(InputError, match=r"rubric plug-in 'broken' .* failed to import"):
        create_judge("scripted", None, "broken", file=str(script))


# --- refused before the planner is asked ----------------------------------------------------------------------


MEMBERS = json.dumps([{"judge": "openai", "model": model} for model in "ab"])


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (("--judge", "openai", "--judge-options", "model=m"), "no key in $OPENAI_API_KEY"),
        (("--judge", "gemini", "--judge-options", "model=m"), "no key in $GEMINI_API_KEY"),
        (("--judge", "gemini"), "missing a required argument: 'model'"),
        (("--judge", "offline", "--judge-options", "temprature=0"), "unexpected keyword argument 'temprature'"),
        (("--judge", "ofline"), "judge 'ofline' is not known"),
        (("--judge", "scripted", "--judge-options", "file=/nowhere.json"), "/nowhere.json"),
        (("--rubric", "/nowhere.yaml"), "/nowhere.yaml: cannot be read"),
        (
            ("--judge", "panel", "--judge-options", f"members={MEMBERS}"),
            "no key in $OPENAI_API_KEY",
        ),
    ],
    ids=lambda v: v[-1][:24] if isinstance(v, tuple) else "",
)  # fmt: skip
def test_a_judge_that_cannot_work_is_refused_before_the_first_question(
    store: Store, judge: tuple[str, ...], said: str, monkeypatch, capsys
):
    for module in ("httpx", "google.genai"):
        pytest.importorskip(module)
    for key in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    assert main(["score", str(store.root), "--planner", "cruise", "--quiet", *judge]) == 2
    assert said in capsys.readouterr().err
    assert not (store.root / "runs" / "cruise").exists()
