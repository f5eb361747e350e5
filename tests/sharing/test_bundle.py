"""``cfgen share bundle``: what it holds, and that nothing in it is taken at its word."""

import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import cfgen
from cfgen.core.errors import InputError, StoreError
from cfgen.core.hashing import hash_json
from cfgen.core.network import without_secrets
from cfgen.models.openai import OpenAI
from cfgen.sharing import archive as archives
from cfgen.sharing import bundle as bundles
from cfgen.sharing.bundle import read_bundle
from cfgen.sharing.bundle_checks import prove, rubric_of
from cfgen.sharing.definitions import definition
from cfgen.storage.store import Store
from tests.sharing.results import forged, lines, record


def test_it_holds_what_rescoring_and_ranking_take_and_no_pixel(done: Path, bundle: Path, tmp_path: Path):
    store, found = Store(done), read_bundle(bundle)
    assert set(map(hash_json, found.answers)) == set(map(hash_json, store.rollouts("reactive")))
    assert set(map(hash_json, found.verdicts)) == set(map(hash_json, store.verdicts("scripted", "reactive")))
    assert rubric_of(found.index.wording) is not None
    assert {"python", "numpy", "cfgen"} <= set(found.index.environment)
    assert found.index.horizon_s == 6
    assert found.run.salt == "", "it would tell which seed belongs to which arm"
    with zipfile.ZipFile(bundle) as archive:
        assert not [n for n in archive.namelist() if not n.endswith((".json", ".jsonl"))]
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert b"base64" not in content
    assert b"\x89PNG" not in content
    assert str(done).encode() not in content
    cfgen.export_bundle(done, tmp_path / "again", planner="reactive", judge="scripted")
    assert (tmp_path / "again").read_bytes() == bundle.read_bytes()


def test_its_benchmark_is_the_one_that_a_definition_proves(done: Path, bundle: Path, tmp_path: Path):
    cfgen.export_definition(done, tmp_path / "mine.json", name="mine-v1")
    cases = definition(str(tmp_path / "mine.json")).cases
    assert read_bundle(bundle).index.benchmark == bundles.benchmark_hash(cases)
    assert {case_id: one.hash for case_id, one in read_bundle(bundle).index.cases.items()} == cases


def test_its_figures_are_those_of_the_report(done: Path, bundle: Path):
    figures = prove(read_bundle(bundle)).figures
    row = cfgen.open_benchmark(done).run("reactive", "scripted").success()
    assert (figures.n, figures.excluded) == (row.n, row.excluded)
    for dimension, rate in row.rates.items():
        assert (figures.rates[dimension].value, figures.rates[dimension].low) == (rate.value, rate.low)
    assert figures.above.value == 0.0, "the judge credits the control pairs alike"


def test_a_cut_or_changed_archive_is_refused_or_reads_the_same(bundle: Path, tmp_path: Path):
    data, content, changed = bundle.read_bytes(), read_bundle(bundle), tmp_path / "changed"
    for place in range(2, len(data), len(data) // 60):
        changed.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with suppress(InputError):
            assert replace(read_bundle(changed), path=bundle) == content
    for more in (data[:-1], data[: len(data) // 2], b"", b"PK" + b"0" * 200):
        changed.write_bytes(more)
        with pytest.raises(InputError, match="fetch it again"):
            read_bundle(changed)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_of_a_stranger_is_read_within_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files = [(name, b"{}") for name in bundles.FILES]
    hostile = {
        "verdicts.jsonl', 'verdicts.jsonl": [*files, files[-1]],
        "../../etc/x": [*files, ("../../etc/x", b"")],
        "with the files bundle.json": files[1:],
        "unpacks to more than": [("bundle.json", b"0" * 3_000_000), *files[1:]],
    }
    monkeypatch.setattr(archives, "MOST_UNPACKED", 2_000_000)
    for words, entries in hostile.items():
        with zipfile.ZipFile(tmp_path / "hostile", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries:
                archive.writestr(name, content)
        with pytest.raises(InputError, match=words):
            read_bundle(tmp_path / "hostile")
    monkeypatch.setattr(archives, "MOST_PACKED", 100)
    with pytest.raises(InputError, match="at most 0 MiB"):
        read_bundle(tmp_path / "hostile")


def _twos(records: list[dict]) -> None:
    for one in records:
        if one["arm"] == "sham_null":
            one["scores"] = dict.fromkeys(one["scores"], 0)


def _cherry(records: list[dict]) -> None:
    records.pop()


def _planner(records: list[dict]) -> None:
    records[0]["planner_hash"] = "sha256:" + "1" * 64


def _leak(run: dict) -> None:
    run["options"]["models"][0]["option base_url"] = "https://host/v1?api_key=sekret123"


FORGED = {
    "a key of the judge's": (bundles.JUDGE, record(_leak), "an address with a password or a query"),
    "a record without end": (
        bundles.ANSWERS,
        lines(lambda r: r[0].update(text="x" * bundles.MOST_RECORD)),
        "line 1: expected a record of at most 32 MiB",
    ),
    "lists without end": (bundles.ANSWERS, lambda _: b"[" * 200_000 + b"\n", "nested too deep"),
    "numbers that are none": (bundles.PLANNER, lambda c: c.replace(b'"seed":0', b'"seed":NaN'), "is none"),
    "a name that leaves the folder": (
        bundles.INDEX,
        record(lambda r: r.update(planner="../../x")),
        "field 'planner'",
    ),
    "a verdict left out": (bundles.VERDICTS, lines(_cherry), "holds no verdict on"),
    "a verdict twice": (bundles.VERDICTS, lines(lambda r: r.append(r[0])), "holds 2 verdict on"),
    "an answer left out": (bundles.ANSWERS, lines(_cherry), "holds no answer to"),
    "another planner's answer": (bundles.ANSWERS, lines(_planner), "not by this"),
    "another judge": (bundles.JUDGE, record(lambda r: r.update(judge="gemini")), "but holds"),
    "another rubric": (
        bundles.JUDGE,
        record(lambda r: r.update(rubric_hash="sha256:" + "1" * 64)),
        "the rubric is not",
    ),
    "scores that no reply says": (
        bundles.VERDICTS,
        lines(_twos),
        "expected scored; reasoning 2; waypoints 2; overall 2, found scored; reasoning 0",
    ),
    "a longer horizon": (bundles.INDEX, record(lambda r: r.update(horizon_s=8.0)), "claims plans of 8 s"),
    "another benchmark": (
        bundles.INDEX,
        record(lambda r: r.update(benchmark="sha256:" + "1" * 64)),
        "its cases give",
    ),
    "better figures": (
        bundles.INDEX,
        record(lambda r: r["figures"]["rates"]["overall"].update(low=0.9999)),
        "rates overall low 0.9999, but its verdicts give",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_does_not_follow_is_refused_though_every_hash_fits(what: str, bundle: Path, tmp_path: Path):
    name, change, words = FORGED[what]
    with pytest.raises(InputError, match=words) as refused:
        prove(read_bundle(forged(bundle, tmp_path / "forged", name, change)))
    assert "\n" not in str(refused.value)
    assert str(tmp_path / "forged") in str(refused.value)
    assert "sekret123" not in str(refused.value)


def test_replies_are_read_again_only_by_the_rubric_whose_words_give_its_hash(bundle: Path, tmp_path: Path):
    assert prove(read_bundle(bundle)).reread == 6
    changed = forged(
        bundle,
        tmp_path / "other",
        bundles.INDEX,
        record(
            lambda r: r["wording"].update(name="theirs", own={**r["wording"]["own"], "opening": "Give 2."})
        ),
    )
    assert rubric_of(read_bundle(changed).index.wording) is None


def test_a_run_that_is_not_finished_is_refused_with_the_command_that_finishes_it(
    done: Path, bench: Path, tmp_path: Path
):
    store = Store(done)
    path = next(iter(store.verdict_paths("scripted", "reactive", "sham_null")))
    kept = path.read_bytes()
    path.unlink()
    try:
        with pytest.raises(
            StoreError, match=r"is missing.* finish it first: cfgen score .*--planner reactive"
        ):
            cfgen.export_bundle(done, tmp_path / "x", planner="reactive", judge="scripted")
    finally:
        path.write_bytes(kept)
    for planner, judge, words in (
        ("reactiv", "scripted", "did you mean 'reactive'"),
        ("reactive", "gemini", "expected one of: scripted"),
    ):
        with pytest.raises(InputError, match=words):
            cfgen.export_bundle(done, tmp_path / "x", planner=planner, judge=judge)
    assert not list(tmp_path.iterdir())


def test_an_address_is_told_without_what_may_hold_a_key():
    for address in ("http://me:pw@host/v1?key=q#f", "http://host/v1#pw", "http://me:p?w@host/v1"):
        assert without_secrets(f"at {address} and") == "at http://host/v1 and"
    with pytest.raises(InputError, match="without a query") as refused:
        OpenAI("m", base_url="http://me:pw@host/v1?key=secret9")
    assert "secret9" not in str(refused.value)
