"""Tags of what frames show: looked at once, kept by what was looked at, asked for by conditions."""

import json
import os
import shutil

import cv2
import numpy as np
import pytest

from cfgen.benchmark.scene_choice import choose
from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.perception.road_by_colour import ColourGround
from cfgen.perception.view import Thing
from cfgen.scenes.choosing import matching
from cfgen.scenes.folder import load_scene
from cfgen.scenes.perceived_tags import SEEN_FILE, _things, look
from tests.hazards import drawn
from tests.scenes.conftest import content


class Sees(ColourGround):
    """Colours, with things in the frame, that counts how often it looks."""

    name, weaker, uses_camera = "sees", False, False

    def __init__(self, version: int = 1) -> None:
        super().__init__()
        self.looks, self.version = 0, version

    @property
    def identity(self):
        return {"version": self.version}

    def perceive(self, frames):
        self.looks += len(frames)
        box = (100.0, 44.0, 106.0, 64.0)
        kinds = ("car", "bus", "person")
        found = super().perceive(frames)
        for view in found:
            object.__setattr__(view, "things", tuple(Thing(kind, box, 0.9) for kind in kinds))
        return found


@pytest.fixture(scope="module")
def picture():
    return cv2.resize(drawn.road(shade=(8, 10)), (160, 90), interpolation=cv2.INTER_AREA)


@pytest.fixture
def three(tmp_path, picture):
    """Two scenes by day, one at night; frames at t0 alone."""
    for name, light in (("a", 1), ("b", 0.9), ("dark", 0.2)):
        (tmp_path / name).mkdir()
        told = content() | {"scene_id": name, "history_images": [None] * 8}
        (tmp_path / name / "scene.json").write_text(json.dumps(told))
        cv2.imwrite(str(tmp_path / name / "frame.png"), (picture * light).astype(np.uint8))
    return tmp_path


def test_frames_are_looked_at_once(three):
    sees = Sees()
    assert (look(three, sees).new, sees.looks) == (3, 3)
    _, dark = matching(three, "seen_night and seen_vehicles == 2 and seen_people >= 1")
    assert [scene.name for scene in dark] == ["dark"]
    [day, _] = matching(three, "not seen_night and seen_animals < 1")[1]
    assert 5 <= day.tags["seen_road_m"] <= 70
    assert {"seen_by", "seen_lines", "seen_crossing", "seen_sun"} <= set(day.tags)
    os.utime(three / "a" / "scene.json", (1, 1))
    shutil.move(three / "b", three / "moved")
    with pytest.raises(InputError, match=r"2 of 3 scenes were not looked at .*; run: cfgen scenes tag"):
        matching(three, "seen_night")
    again = look(three, sees)
    assert (again.new, sees.looks) == (0, 3)  # known by what was looked at
    assert len(matching(three, "seen_vehicles > 1")[1]) == 3


@pytest.mark.parametrize(
    ("kind", "box", "score", "counts"),
    [
        ("person", (100, 44, 106, 64), 0.75, 1),
        ("person", (100, 44, 106, 64), 0.65, 0),
        ("person", (100, 44, 103, 64), 0.9, 0),  # a sliver, as of a car's rear
        ("person", (100, 5, 120, 64), 0.9, 0),  # a pole
        ("person", (0, 44, 6, 64), 0.9, 0),  # cut by the frame
        ("dog", (100, 54, 110, 64), 0.9, 1),
        ("car", (100, 5, 103, 64), 0.6, 1),
    ],
)
def test_people_and_animals_are_counted_where_they_are_likely(hand, kind, box, score, counts):
    camera = load_scene(hand()).scene.front
    found = _things([Thing(kind, tuple(map(float, box)), score)], camera)
    assert sum(found.values()) == counts


def test_another_perceiver_looks_again_and_the_frame_names_it(three):
    look(three, Sees())
    first = choose(three, "seen_vehicles > 1", strict=False).sampling
    assert choose(three, "speed > 1", strict=False).sampling.seen_by == ""
    assert look(three, Sees(2)).new == 3
    second = choose(three, "seen_vehicles > 1", strict=False).sampling
    assert first.seen_by.split()[0] == second.seen_by.split()[0] == "sees"
    assert first.seen_by != second.seen_by


def test_what_cannot_be_looked_at_is_told_and_matches_nothing(three, capsys):
    (three / "a" / "frame.png").unlink()
    assert main(["scenes", "list", str(three), "--where", "seen_road_m > 1"]) == 2
    assert "cfgen scenes tag DIR" in capsys.readouterr().err
    assert main(["scenes", "tag", str(three), "--perception", "colour", "--quiet"]) == 1
    told = capsys.readouterr()
    assert "3 scenes: 2 looked at, 0 known before, 1 cannot be" in told.out
    assert "a/frame.png: expected the image" in told.out
    assert [s.name for s in matching(three, "seen_by == 'colour' and not seen_night")[1]] == ["a", "b"]
    assert [s.name for s in matching(three, "seen_road_m >= 0")[1]] == ["b", "dark"]
    shutil.copy(three / "b" / "frame.png", three / "a" / "frame.png")
    assert look(three, ColourGround()).new == 1


def test_a_damaged_file_of_tags_is_made_anew(three):
    look(three, ColourGround())
    for text in ("", "{", '{"cfgen_seen": 9}\n', '{"cfgen_seen": 3, "by": {}}\n["a", 3]\n', "[]\n[]\n"):
        (three / SEEN_FILE).write_text(text)
        with pytest.raises(InputError, match="no scene has a tag 'seen_night'"):
            matching(three, "seen_night")
    assert look(three, ColourGround()).new == 3
    path = three / "a" / "scene.json"
    own = json.loads(path.read_text()) | {"tags": {"seen_night": True}}
    path.write_text(json.dumps(own))
    look(three, ColourGround())
    assert {s.name for s in matching(three, "seen_night")[1]} == {"a", "dark"}  # own tags win
