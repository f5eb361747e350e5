"""Claims of a bundle that stand on nothing: who judges, what replies say, what known answers gave, secrets."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cfgen.core.errors import InputError
from cfgen.core.network import without_secrets
from cfgen.models.openai import OpenAI
from cfgen.records import JudgeRun
from cfgen.sharing import bundle as bundles
from cfgen.sharing.bundle import read_bundle
from cfgen.sharing.consistent import wrong_models, wrong_probe
from cfgen.sharing.proof import prove
from tests.sharing.results import forged, lines, record

HASH = "sha256:" + "1" * 64


def asked(spec: str, **model: str) -> JudgeRun:
    told = {"judge": "j", "spec": spec, "rubric": "cfgen", "rubric_version": "2", "rubric_hash": HASH}
    return JudgeRun(**told, options={"models": [model], "votes": 1})


def test_a_judge_is_of_the_provider_that_it_was_given_as():
    told = {"model": "judgex", "provider": "openai"}
    assert not [*wrong_models(asked("openai judgex", **told))]
    for other in ({**told, "provider": "gemini"}, {"model": "judgex"}):
        (wrong,) = wrong_models(asked("openai judgex", **other))
        assert "is given as 'openai judgex', but its options say provider" in wrong


def test_a_panel_has_two_models_of_named_providers():
    told = {"model": "judgex", "provider": "openai"}
    (wrong,) = wrong_models(asked("panel", **told))
    assert wrong.endswith("tell of 1 models")
    pair = {"models": [told, {**told, "provider": "<b>x</b>"}]}
    (wrong,) = wrong_models(asked("panel").model_copy(update={"options": pair}))
    assert "provider '<b>x</b>', which is no name of one" in wrong


@pytest.mark.parametrize("version", ["0.1.1", ""])
def test_texts_are_held_whatever_version_a_bundle_names(version: str, bundle: Path, tmp_path: Path):
    other = forged(
        bundle, tmp_path / "a", bundles.INDEX, record(lambda told: told.update(cfgen_version=version))
    )
    lied = forged(
        other, tmp_path / "b", bundles.VERDICTS, lines(lambda rows: rows[0].update(explanation="human"))
    )
    with pytest.raises(InputError, match="'explanation' of the verdict"):
        prove(read_bundle(lied))


# --- secrets --------------------------------------------------------------------------------------------


def test_an_address_is_told_without_what_may_hold_a_key():
    for address in ("http://me:pw@host/v1?key=q#f", "http://host/v1#pw", "http://me:p?w@host/v1"):
        assert without_secrets(f"at {address} and") == "at http://host/v1 and"
    assert without_secrets("{'a': 'http://h/v1?pw', 'b': 2}") == "{'a': 'http://h/v1', 'b': 2}"


def test_a_model_has_no_query_in_its_address():
    with pytest.raises(
        InputError, match=r"without a query, .* http://host/v1; the key comes from"
    ) as refused:
        OpenAI("m", base_url="http://me:pw@host/v1?key=secret9")
    assert not re.search("pw|secret9", str(refused.value))


@pytest.mark.parametrize("file", [bundles.JUDGE, bundles.PLANNER])
def test_a_bundle_with_a_key_in_an_address_is_not_added(file: str, bundle: Path, tmp_path: Path):
    def leak(told: dict) -> None:
        where = told["options"]["models"][0] if file == bundles.JUDGE else told["fingerprint"]
        where["option base_url"] = "https://host/v1?api_key=sekret123"

    with pytest.raises(InputError, match="an address with a password or a query") as refused:
        prove(read_bundle(forged(bundle, tmp_path / "b", file, record(leak))))
    assert "sekret123" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"option x": "y" * 2_000_000}, "tells something in 2000000 characters"),
        ({f"file {i}": "y" * 1000 for i in range(1100)}, "its planner's record has 11"),
    ],
)
def test_a_planner_tells_so_much_and_no_more(change: dict, words: str, bundle: Path, tmp_path: Path):
    filled = record(lambda told: told["fingerprint"].update(change))
    with pytest.raises(InputError, match=words):
        prove(read_bundle(forged(bundle, tmp_path / "b", bundles.PLANNER, filled)))


# --- words of verdicts and answers ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "field",
    [
        {"element_type": "deer"},
        {"explanation": "It stops."},
        {"flags": ["tie"]},
        {"notes": ["modified answer: cut"]},
    ],
    ids=lambda field: next(iter(field)),
)
def test_a_verdicts_words_are_those_of_its_reply(field: dict, bundle: Path, tmp_path: Path):
    changed = forged(bundle, tmp_path / "b", bundles.VERDICTS, lines(lambda r: r[0].update(field)))
    with pytest.raises(InputError, match=r"is not what its own reply says|do not fit the answers"):
        prove(read_bundle(changed))


def test_a_plans_faults_are_those_of_its_text(bundle: Path, tmp_path: Path):
    def change(answers: list[dict]) -> None:
        answers[0]["plan"]["faults"] = ["<think>: expected one block, found none"]

    with pytest.raises(InputError, match="has a text with other faults than its plan tells"):
        prove(read_bundle(forged(bundle, tmp_path / "b", bundles.ANSWERS, lines(change))))


# --- known answers ----------------------------------------------------------------------------------------


def _diagonal(told: dict) -> None:
    told.update(confusion=[[60, 0, 0], [0, 60, 0], [0, 0, 60]], n=180)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda told: told.update(kappa=0.95), "kappa 0.95 in the agreement on overall, but its table gives"),
        (lambda told: told.update(accuracy=1.0), "accuracy 1.0 in the agreement on overall"),
        (_diagonal, "a table of agreement on overall that its kinds and misses do not give"),
        (lambda told: told.update(confusion=[]), "no table of agreement on overall"),
    ],
)
def test_agreement_follows_from_kinds_and_misses(
    change: Callable[[dict], None], words: str, probed: Path, tmp_path: Path
):
    def changed(told: dict) -> None:
        change(told["agreement"]["overall"])

    with pytest.raises(InputError, match=words):
        prove(read_bundle(forged(probed, tmp_path / "b", bundles.PROBE, record(changed))))


def test_the_half_is_the_one_whose_answers_were_asked(probed: Path):
    found = read_bundle(probed).probe
    assert found is not None
    for half in ("tune", ""):
        assert "answers of 'free: " in wrong_probe(found.model_copy(update={"half": half}))
