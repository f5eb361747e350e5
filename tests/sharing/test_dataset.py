"""``cfgen share hf``: what others load is what was built, and says what it is."""

import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from datasets import load_dataset
from PIL import Image

import cfgen
from cfgen.cli.main import main
from cfgen.core.files import read_image
from cfgen.scenes.licences import card_id, check_redistribution, notices
from cfgen.sharing.dataset import source_type
from cfgen.storage.store import Store


@pytest.fixture(scope="module")
def exported(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hf") / "my set"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left to tell
        assert cfgen.export_hf(bench, out, creator="A <b>lab</b>", quiet=True) == 2
    return out


def test_load_dataset_gives_what_was_built(exported: Path, bench: Path, tmp_path: Path):
    rows = load_dataset(str(exported), split="test", cache_dir=str(tmp_path))
    store = Store(bench)
    assert [row["case_id"] for row in rows] == store.case_ids()
    for row in rows:
        case = store.case(row["case_id"])
        root = store.case_dir(case.case_id)
        for column, file in (("original", "original.png"), ("augmented", "augmented.png")):
            assert np.array_equal(row[column], read_image(root / file))
        assert np.array_equal(row["mask"], read_image(root / "mask.png", "L"))
        assert row["null"].size == row["original"].size
        assert (row["hazard"], row["distance_m"]) == (case.hazard.id, case.placement.distance_m)
        assert cfgen.records.Case.model_validate_json(row["case"]) == case
        assert row["provenance"]["scene_hash"] == case.provenance.scene_hash
        assert len(row["original_history"]) == len(row["augmented_history"]) == len(row["history_t"]) > 0


def test_the_card_tells_counts_acceptance_licences_and_that_it_is_synthetic(exported: Path, bench: Path):
    card = (exported / "README.md").read_text()
    accepted, tried = cfgen.open_benchmark(bench).built.acceptance["cone_line"]
    assert f"| cone\\_line | {accepted} | {tried} |" in card
    assert "license: apache-2.0" in card
    assert "| cfgen demo scenes, path-traced | Apache-2.0 | 2 |" in card
    assert "AI-generated" in card
    assert "`compositeSynthetic`" in card
    assert r"**Made by.** A \<b\>lab" in card
    usual = "Motivation Composition Splits Sampling Collection People Consent Maintenance"
    assert all(f"- **{question}" in card for question in usual.split())
    assert "cfgen did not blur them" in card


def test_changed_pictures_say_so_in_their_xmp_and_nothing_else_does(exported: Path, bench: Path):
    hazards = {case.hazard.id for case in Store(bench).cases()}
    said = {}
    for path in exported.glob("test/images/*.png"):
        with Image.open(path) as picture:
            said[path.name] = picture.info.get("xmp", b"").decode()
    packets = {text for name, text in said.items() if ".original" not in name and ".mask." not in name}
    assert {bool(said[name]) for name in said if ".original" in name or ".mask." in name} == {False}
    [packet] = packets  # one and the same in the hazard and in the null arm
    assert source_type("composite") in packet
    assert not any(hazard in packet for hazard in hazards)
    # what planners see stays bare: nothing of a file tells the arms apart
    assert not any(b"adobe.xmp" in path.read_bytes() for path in bench.rglob("cases/**/*.png"))


def test_who_drew_decides_the_term():
    assert source_type("composite").endswith("/compositeSynthetic")
    assert source_type("sdxl", "composite").endswith("/compositeWithTrainedAlgorithmicMedia")
    assert source_type("somebody_elses").endswith("/compositeWithTrainedAlgorithmicMedia")


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("Apache-2.0", "apache-2.0"),
        ("BSD-2-Clause", "bsd-2-clause"),
        ("MIT, research use only", "other"),
        ("CC BY-NC-SA 4.0", "other"),
        ("unknown", "other"),
    ],
)
def test_only_licences_that_are_known_to_permit_it_are_open(licence: str, expected: str):
    assert card_id(licence) == expected


def test_every_licence_that_forbids_it_is_named_at_once(tmp_path: Path):
    found = Counter({("CC BY-NC-SA 4.0", "a"): 2, ("unknown", "b"): 1, ("MIT", "c"): 3, ("ND", "d"): 1})
    with pytest.raises(cfgen.InputError) as error:
        check_redistribution(tmp_path, found, ["ND"])
    assert "'CC BY-NC-SA 4.0' (2 scenes of 'a'), 'unknown' (1 scenes of 'b')" in str(error.value)
    assert str(error.value).endswith("--allow-licenses 'CC BY-NC-SA 4.0' --allow-licenses 'unknown'")


def test_what_licences_ask_for_is_handed_on(exported: Path, tmp_path: Path):
    notice = (exported / "NOTICE.md").read_text()
    assert "Apache-2.0 (https://spdx.org/licenses/Apache-2.0.html)" in notice
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in notice
    (tmp_path / "LICENSE").write_text("Copyright (c) 2018 Somebody")
    said = notices(Counter({("MIT", "a drive"): 1, ("CC BY 4.0", "another"): 2}), [tmp_path / "LICENSE"])
    assert "Permission is hereby granted" in said
    assert "Copyright (c) 2018 Somebody" in said
    assert "link to the licence" in said
    assert "{" not in said


def test_a_source_that_forbids_it_is_refused_by_name(other_licence: Path, tmp_path: Path, capsys):
    out = tmp_path / "out"
    command = ["share", "hf", str(other_licence), "--out", str(out), "--quiet"]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "'CC BY-NC-SA 4.0'" in said
    assert f"cfgen share recipe {other_licence}" in said
    assert not out.exists()
    assert main([*command, "--allow-licenses", "CC BY-NC-SA 4.0"]) == 0
    assert "warning: --creator: not given" in capsys.readouterr().err
    assert "license: other" in (out / "README.md").read_text()


def test_words_of_a_source_are_one_cell_and_one_line(other_licence: Path, tmp_path: Path, capsys):
    """They come from somebody's scene.json."""
    source = "a | b\n---\nlicense: mit\n# x" + "y" * 3000
    for file in other_licence.glob("scenes/*/scene.json"):
        told = json.loads(file.read_text())
        file.write_text(json.dumps({**told, "source": source}))
    command = ["share", "hf", str(other_licence), "--out", str(tmp_path / "out"), "--quiet"]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 1000
    made = ["--allow-licenses", "CC BY-NC-SA 4.0", "--creator", "me\n# us | we"]
    assert main([*command, *made]) == 0
    card, notice = ((tmp_path / "out" / name).read_text() for name in ("README.md", "NOTICE.md"))
    assert r"| a \| b --- license: mit # xyyy" in card
    assert "| CC BY-NC-SA 4.0 | 2 |" in card
    assert r"**Made by.** me # us \| we" in card
    assert all("\nlicense: mit" not in text and "y" * 300 not in text for text in (card, notice))


def test_a_changed_picture_is_not_exported(other_licence: Path, tmp_path: Path):
    case = Store(other_licence).case_ids()[0]
    (Store(other_licence).case_dir(case) / "mask.png").write_bytes(b"x")
    with pytest.raises(cfgen.StoreError, match=r"mask\.png: was changed; run: cfgen bench verify"):
        cfgen.export_hf(other_licence, tmp_path / "out", allow_licenses=["CC BY-NC-SA 4.0"], quiet=True)
    assert [p.name for p in tmp_path.iterdir()] == ["bench"]
