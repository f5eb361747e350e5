"""Scenes chosen by their tags: conditions and the index."""

import json
import os
import time

import pytest

from cfgen.benchmark.scene_choice import choose
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.scenes import choosing
from cfgen.scenes.choosing import condition, matching, tagged_scenes
from cfgen.scenes.tags import tags_of

TAGS = {"speed": 8.0, "road": ["urban", "junction"], "light": "night", "wet": True, "drive": "d1"}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("speed > 5 and road == 'junction'", True),
        ("5 < speed <= 8", True),
        ("road != 'urban'", False),
        ("road in ('rural', 'urban') and not wet", False),
        ("light not in ['day', 'dusk']", True),
        ("light == 'day' or speed >= 8", True),
        ("wet", True),
        ("rain == 'none'", False),  # a tag that it lacks
        ("rain != 'none'", False),
        ("not (speed > 9)", True),
    ],
)
def test_a_condition_holds(text, holds):
    assert condition(text).holds(TAGS) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("speed >", "expected a condition, found invalid syntax; write like speed > 5"),
        ("__import__('os').system('true')", "is no comparison of a tag with values"),
        ("speed > open('x')", r"expected a text in quotes, a number or a list, found 'open\('x'\)'"),
        ("speed.real > 3", "compares no tag"),
        ("road in 'junction'", "is no comparison of a tag with values"),
        ("(" * 400 + "wet" + ")" * 400, "expected a condition, found too many nested"),
    ],
)
def test_what_is_no_condition_is_refused(text, says):
    with pytest.raises(InputError, match=says):
        condition(text)


def test_a_number_is_not_compared_with_a_text():
    with pytest.raises(
        InputError, match=r"expected two numbers or two texts to compare, found 8\.0 and 'fast'"
    ):
        condition("speed > 'fast'").holds(TAGS)


def test_tags_of_a_scene():
    content = {
        "scene_id": "a", "source": "log", "timestamp": "2021-06-29T14:00:00Z", "road": "junction", "width": 640,
        "history": [[-2.5, 0, -0.1, 10], [0, 0, 0, 10.0]], "history_t": [-0.25, 0], "future": [[1, 0, 0, 9]] * 8,
        "extrinsics": {"pitch_deg": 1}, "cameras": [{}], "tags": {"light": "dusk", "road": ["junction", "wide"]},
    }  # fmt: skip
    assert tags_of(content) == {
        "id": "a", "source": "log", "timestamp": "2021-06-29T14:00:00Z", "month": 6, "hour": 14, "width": 640,
        "road": ["junction", "wide"], "light": "dusk", "speed": 10, "speed_kmh": 36, "turn_deg_s": 22.918,
        "motion": "known", "future_s": 2, "cameras": 2,
    }  # fmt: skip
    assert tags_of({"scene_id": "b", "speed_t0": 3, "tags": ["wet"]})["wet"] is True
    with pytest.raises(ValueError, match="tags: 'rain': expected a text"):
        tags_of({"scene_id": "c", "tags": {"rain": {"mm": 3}}})


@pytest.fixture
def many(tmp_path, monkeypatch):
    """600 scenes: 100 at night, of which 30 at junctions; 50 of the 500 by day at junctions."""
    for i in range(600):
        night = i < 100
        junction = i < 30 or 100 <= i < 150
        content = {"scene_id": f"s{i}", "speed_t0": i / 20, "tags": {"light": "night" if night else "day"}}
        folder = tmp_path / f"d{i // 100}" / f"s{i}"
        folder.mkdir(parents=True)
        (folder / "scene.json").write_text(json.dumps(content | {"road": "junction" if junction else "lane"}))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    return tmp_path


def test_an_index_is_kept_and_follows_changes(many, monkeypatch):
    scenes, matched = matching(many, "light == 'night' and road == 'junction'")
    assert (len(scenes), len(matched)) == (600, 30)
    (kept,) = (many / ".cache" / "cfgen" / "index").iterdir()
    read, look = [], choosing._look
    monkeypatch.setattr(choosing, "_look", lambda folder: read.append(folder.name) or look(folder))
    path = many / "d0" / "s0" / "scene.json"
    path.write_text(path.read_text().replace("night", "dusk"))
    os.utime(path, (time.time() + 5, time.time() + 5))
    (many / "d5" / "s599" / "scene.json").write_text("{")
    (many / "d5" / "s598" / "scene.json").unlink()
    found = {scene.name: scene for scene in tagged_scenes(many)}
    assert sorted(read) == ["s0", "s599"]
    assert len(found) == 599
    assert found["d0/s0"].tags["light"] == "dusk"
    assert "d5/s599/scene.json: cannot be read" in found["d5/s599"].wrong
    kept.write_text("damaged")
    assert len(matching(many, "light == 'night'")[1]) == 99


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("sped > 3", r"no scene has a tag 'sped' \(did you mean 'speed'\?\)"),
        ("speed > 900", "none of its 600 scenes meets --where 'speed > 900'"),
    ],
)
def test_what_cannot_be_chosen_is_said(many, where, says):
    with pytest.raises(InputError, match=says):
        choose(many, where, strict=False)


def test_scenes_list_counts(many, capsys):
    assert main(["scenes", "list", str(many), "--where", "speed < 10", "--count", "road"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "200 of 600 scenes match",
        "     120  lane",
        "      80  junction",
    ]
