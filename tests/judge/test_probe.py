"""Known answers as a command: a small benchmark of real drives, the offline judge, and what is written."""

import warnings
from collections import Counter
from pathlib import Path

import pytest

from cfgen.benchmark.verifying import Verification
from cfgen.build import build
from cfgen.cli.main import main
from cfgen.core.files import read_record
from cfgen.judge.asking import Pictures
from cfgen.judge.free_answers import free_answers
from cfgen.judge.offline.judge import OfflineJudge
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.judge.validation import KNOWN, probe
from cfgen.models.base import Picture
from cfgen.options import BuildOptions, ScoreOptions
from cfgen.planners.responders import KINDS
from cfgen.records import DIMENSIONS, ProbeRun
from cfgen.records.judge_validation import FREE
from cfgen.score import score
from cfgen.storage.store import Store

#: Hazards that answers in free words of both halves are about.
ANSWERED = ("cyclist_fallen", "dog", "fallen_tree", "manhole_open", "mattress", "cone_line")


@pytest.fixture(autouse=True)
def _few_free_answers_will_do(monkeypatch):
    """Five cases show few of the things that free answers are about."""
    monkeypatch.setattr("cfgen.records.judge_validation.ENOUGH_FREE", 0)
    monkeypatch.setattr("cfgen.records.judge_validation.ENOUGH_FREE_KINDS", 0)


@pytest.fixture(scope="module")
def bench(real: Path, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("probe") / "bench"
    scenes = real / "udacity_hmb3" / "scenes"
    build(BuildOptions(n=5, out=out, scenes=scenes, hazards=ANSWERED, seed=3, jobs=1, quiet=True))
    return out


def test_every_kind_of_responder_has_a_known_answer():
    assert {k.after for k in KNOWN.values()} | {k.before for k in KNOWN.values()} - {""} == set(KINDS)
    assert len(KNOWN) >= 12


def test_the_offline_judge_knows_the_answers_on_real_drives(bench):
    found = probe(bench, OfflineJudge(), quiet=True)
    scripted = {k: f for k, f in found.kinds.items() if k in KNOWN}
    n = sum(f.n for f in scripted.values())
    assert n >= 5 * 13
    assert found.failed == 0
    assert sum(f.right["waypoints"] for f in scripted.values()) >= 0.95 * n
    assert found.unknown_found == 1.0
    assert found.kinds["edit_without_an_object"].n == 5
    assert found.kinds["harmless_object_ignored"].n >= 1
    stored = read_record(Store(bench).probe_path("offline"), ProbeRun, check=True)
    assert stored == found
    assert Verification(bench).run() == []


def test_every_case_is_asked_about_in_12_kinds_and_what_is_left_out_has_a_reason(bench):
    found = probe(bench, OfflineJudge(), quiet=True)
    assert found.cases == 5
    assert found.fewest_kinds >= 12
    assert sum(kind.n == 5 for kind in found.kinds.values()) >= 12
    assert found.kinds.keys() >= KNOWN.keys()
    for name in KNOWN:
        assert found.kinds[name].n + sum(found.kinds[name].left_out.values()) == 5
        assert "" not in found.kinds[name].left_out
    free = Counter(FREE + a.kind for a in free_answers(("test",)))
    assert found.kinds.keys() - KNOWN.keys() == free.keys()
    for name, count in free.items():
        assert found.kinds[name].n + sum(found.kinds[name].left_out.values()) == count


def test_a_judge_counts_as_tested_after_enough_kinds(bench):
    options = ScoreOptions(bench=bench, planner="cruise", quiet=True)
    probe(bench, OfflineJudge(), kinds=["ignores"], quiet=True)
    with pytest.warns(UserWarning, match="12 kinds of .* found 1 on the case.*--judge offline$"):
        score(options)
    probe(bench, OfflineJudge(), limit=1, quiet=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(options)


def test_only_free_answers_that_nothing_was_tuned_on_make_a_judge_tested(bench, monkeypatch):
    """Whatever it answers: a judge is asked either half, and only one of them counts."""
    kinds = [FREE + kind for kind in ("noticed_and_acts", "denial", "general_word")]
    halves = {
        half: probe(bench, OfflineJudge(half), kinds, quiet=True, half=half) for half in ("tune", "test")
    }
    halves = {half: run.model_copy(update={"fewest_kinds": 12}) for half, run in halves.items()}
    assert halves["tune"].free > 0
    assert halves["test"].free > 0
    assert [halves[half].enough for half in ("tune", "test")] == [False, True]
    monkeypatch.setattr("cfgen.records.judge_validation.ENOUGH_FREE", halves["test"].free + 1)
    [lack] = halves["test"].lacks
    free = halves["test"].free
    asked = sum(found.n > 0 for found in halves["test"].kinds.values())
    unasked = sum(sum(found.left_out.values()) for found in halves["test"].kinds.values())
    assert lack.startswith(f"{free + 1} free answers of 0 kinds, found {free} of {asked}: ")
    assert f"and {unasked} have none here. A benchmark with more cases" in lack
    assert "half on which nothing is tuned" in halves["tune"].lacks[0]
    assert not halves["test"].model_copy(update={"half": "", "free": 99}).enough


def test_false_and_missed_twos_are_counted_apart(bench):
    class Generous(OfflineJudge):
        def judge(self, items, done):
            twos = dict.fromkeys(DIMENSIONS, 2)
            super().judge(items, lambda v: done(v.model_copy(update={"status": "scored", "scores": twos})))

    kinds = ["notices_and_brakes", "brakes_without_a_reason", "same_frame_twice"]
    found = probe(bench, Generous("generous"), kinds, quiet=True)
    n = {k: found.kinds[k].n for k in kinds}
    false = n["brakes_without_a_reason"] + n["same_frame_twice"]
    assert found.twos("reasoning", free=False) == (false, false, 0, n["notices_and_brakes"])
    assert found.twos("waypoints", free=False)[0] == n["same_frame_twice"]
    assert found.kinds["notices_and_brakes"].false_two == dict.fromkeys(DIMENSIONS, 0)


def test_what_a_judge_leaves_out_is_neither_right_nor_wrong(bench):
    found = probe(bench, OfflineJudge("motion"), kinds=["ignores"], quiet=True)
    assert found.accuracy == {"waypoints": 1.0}
    assert found.kinds["ignores"].unjudged == {"reasoning": found.n, "waypoints": 0, "overall": found.n}


def test_no_verdict_counts_as_wrong(bench):
    class Mute(OfflineJudge):
        def judge(self, items, done):
            return None

    found = probe(bench, Mute("mute"), kinds=["ignores"], limit=2, quiet=True)
    assert found.failed == found.n == 2
    assert found.accuracy == dict.fromkeys(DIMENSIONS, 0.0)
    assert Counter(m.status for m in found.misses) == {"failed": 2}


def test_probe_from_the_command_line(bench, capsys):
    arguments = [
        "judge",
        "validate",
        str(bench),
        "--cases",
        "1",
        "--kinds",
        "ignores,same_frame_twice",
        "--quiet",
    ]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "ignores" in out
    assert "UNKNOWN where nothing was added: 100%" in out
    assert main(["judge", "validate", str(bench), "--kinds", "sings"]) == 2
    assert "sings" in capsys.readouterr().err


def test_no_payload_names_the_hazard_the_inpainter_the_planner_the_arm_or_the_case(bench):
    """Every byte that a model would get, for every case and every arm, from answers that do not name the hazard."""
    items = []

    class Watching(OfflineJudge):
        def judge(self, todo, done):
            items.extend(build() for _, build in todo)

    probe(
        bench,
        Watching("watching"),
        kinds=["ignores", "harmless_object_ignored"],
        quiet=True,
    )
    assert len(items) >= 6
    words = {
        b"composite",
        b"nuisance",
        b"augmented",
        b"original.png",
        b"scripted",
        b"ignores",
        b"probe",
        b"Exif",
    }
    for case in Store(bench).cases():
        words |= {
            w.encode()
            for w in (case.case_id, case.scene_id, case.hazard.id, case.hazard.name, case.hazard.cluster)
        }
    for item in items:
        for form in ("tags", "json"):
            ask = Pictures().ask(item, HAZARD, form)
            quoted = [p for p in ask.turns[0].parts if isinstance(p, str)]
            pictures = [p for p in ask.turns[0].parts if isinstance(p, Picture)]
            assert len(pictures) == 4
            for word in words:
                assert word not in "".join(quoted).encode()
                assert all(word not in p.data for p in pictures)
            assert not any(marker in p.data[:64] for p in pictures for marker in (b"Exif", b"Adobe", b"ICC"))
