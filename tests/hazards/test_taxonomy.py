"""The taxonomy that ships, and the words a typo is answered with."""

from pathlib import Path

import pytest

from cfgen.core.errors import InputError
from cfgen.hazards.taxonomy import load_taxonomy, merge_taxonomy

SHIPPED = load_taxonomy()
CLUSTERS = {
    "Construction",
    "Intersections",
    "Pedestrians",
    "Cyclists",
    "Multi-Lane Maneuvers",
    "Single-Lane Maneuvers",
    "Cut-ins",
    "Foreign Object Debris",
    "Special Vehicles",
    "Spotlight",
    "Others",
}
#: What the papers and CODA, Bench2Drive and the gaps name, by the words that an entry must use.
NAMED = (
    "fire,wrong way,fallen cyclist,losing balance,pedestrian walking into,construction worker,"
    "high-visibility vest beside a stopped truck,fallen tree,tram,tricycle,trailer,excavator,moped,stroller,"
    "wheelchair,cart,cone,barrier,bollard,dog,cat ,debris,suitcase,dustbin,concrete block,generator,chair,"
    "box,garbage bag,rock,tyre,traffic island,stalled,turning across,behind a parked car,"
    "out of control,ambulance,parked in the lane,crashed,opening its door,pulling out,smoke,water,power line,"
    "flock,hole,overturned,driving across from the side,braking hard,road-work"
)
VALID = """
cluster: Others
hazards:
  rock:
    name: rock
    why: It is hard.
    size: {length: 1, width: 1, height: 1}
    prompt: a rock
    zones: [ego_lane]
"""
NULL = """
cluster: Control
null_edit:
  nothing:
    name: nothing
    why: Nothing changes.
    size: {length: 1, width: 1, height: 1}
    prompt: the same road
    zones: [ego_lane]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rocks.yaml").write_text(VALID)
    (tmp_path / "null.yaml").write_text(NULL)
    return tmp_path


def test_ships_enough_and_covers_every_cluster():
    assert len(SHIPPED.hazards) >= 45
    assert SHIPPED.null.kind == "null"
    assert {h.cluster for h in SHIPPED.hazards} == CLUSTERS


@pytest.mark.parametrize("word", NAMED.split(","))
def test_covers_what_the_sources_name(word: str):
    said = (f"{h.id} {h.name} {h.prompt} ".replace("_", " ").lower() for h in SHIPPED)
    assert any(word in text for text in said)


def test_hash_follows_content_not_file_names(folder: Path):
    before = load_taxonomy(folder).hash
    (folder / "rocks.yaml").rename(folder / "stones.yaml")
    assert load_taxonomy(folder).hash == before
    (folder / "stones.yaml").write_text(VALID.replace("length: 1", "length: 2"))
    assert load_taxonomy(folder).hash != before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("zones: [ego_lane]", "zones: [ego_lain]"),
            r"rock: zones\.0: .*'ego_lain' \(did you mean 'ego_lane'",
        ),
        (("prompt: a rock", "prompt: ''"), "rock: prompt: expected words"),
        (("height: 1", "hight: 1"), r"size\.height: expected this.*size\.hight: unknown .* 'height'"),
        (("height: 1", "height: -1"), r"size\.height: input should be greater than 0, found -1"),
        (("why:", "whi:"), r"whi: unknown field \(did you mean 'why'"),
        (("hazards:", "hasards:"), r"rocks\.yaml: .* found 'hasards' \(did you mean 'hazards'"),
        (("  rock:\n", "  rock:\n    motion: {kind: crossing}\n"), "expected speed 0 for kind static"),
        (("  rock:\n", "  rock:\n    motion: {kind: cross, speed: [1, 2]}\n"), r"motion\.kind: .*'crossing'"),
        (("  rock:\n", "  rock:\n    distance: {min_m: 50, max_m: 20}\n"), "expected min_m < max_m"),
        (("  rock:\n", "  rock:\n    distance: {decel: [4, 2]}\n"), "expected 0 < low < high"),
        (("  rock:\n", "  rock:\n    id: stone\n"), "id: follows from where the entry stands"),
        (("    name: rock\n", "    name: rock\n    name: stone\n"), "key 'name' is given twice"),
        (("zones: [ego_lane]", "zones: [ego_lane"), r"rocks\.yaml: not readable as YAML"),
        (("  rock:\n", "  nothing:\n"), r"rocks\.yaml: entry 'nothing' is already defined in null\.yaml"),
    ],
)
def test_a_typo_is_named_with_its_place(folder: Path, change: tuple[str, str], said: str):
    assert change[0] in VALID
    (folder / "rocks.yaml").write_text(VALID.replace(*change))
    with pytest.raises(InputError, match=said):
        load_taxonomy(folder)


OWN = """\
hazards:
  kangaroo:
    name: kangaroos hopping across the lane
    size: {length: 1.5, width: 0.9, height: 0.85}
    zones: [crossing]
    motion: {kind: crossing, speed: [1.0, 2.5]}
  deer:
    name: a deer made of bronze
    size: {length: 1.6, width: 0.5, height: 1.5}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN)
    return file


def test_own_hazards_are_added_to_the_shipped_ones(own: Path):
    found = load_taxonomy(own)
    assert [h.id for h in found.own] == ["kangaroo", "deer"]
    assert len(found.hazards) == len(SHIPPED.hazards) + 1
    assert found.null == SHIPPED.null
    assert found.get("deer").name == "a deer made of bronze"
    roo = found.get("kangaroo")
    assert (roo.cluster, roo.prompt, roo.zones) == ("Own", roo.name, ("crossing",))
    assert found.hash != SHIPPED.hash
    own.write_text(OWN.replace("height: 0.85", "height: 0.9"))
    assert load_taxonomy(own).hash != found.hash
    assert merge_taxonomy(found.own) == found


def test_own_hazards_alone_keep_only_the_null_edit(own: Path):
    found = load_taxonomy(own, only=True)
    assert [h.id for h in found] == ["deer", "kangaroo", SHIPPED.null.id]
    own.write_text(OWN + NULL.replace("cluster: Control", ""))
    assert load_taxonomy(own, only=True).null.id == load_taxonomy(own).null.id == "nothing"
