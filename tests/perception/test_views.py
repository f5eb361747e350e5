"""What frames show: kept once seen, the same from memory, from a file and after a disturbance of the network."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.perception.protocol import CameraFrame
from cfgen.perception.view import SceneView, Thing
from cfgen.perception.views import Views
from tests.hazards import drawn


class Counting:
    """Sees road below a row that moves each time it is asked."""

    name, options, identity, weaker, uses_camera = "counting", {}, {"version": "1"}, False, False

    def __init__(self):
        self.asked = 0

    def perceive(self, frames):
        self.asked += len(frames)
        road = np.zeros((30, 40), bool)
        road[10 + self.asked :] = True
        return [SceneView(road, road & False, (80, 60), None, {"name": self.name}) for _ in frames]


def frame(level=90):
    return CameraFrame(np.full((60, 80, 3), level, np.uint8), drawn.CAMERA, drawn.path())


def test_a_frame_is_looked_at_once_and_read_back_by_another_process(tmp_path):
    first = Counting()
    views = Views.of(first, tmp_path)
    [seen] = views.see([frame()])
    assert views.see([frame(), frame()])[1] is seen
    assert first.asked == 1
    other = Counting()
    other.asked = 7  # another machine: it would see something else
    [again] = Views.of(other, tmp_path).see([frame()])
    assert other.asked == 7
    assert (again.road == seen.road).all()
    assert again.size == seen.size


def test_another_frame_and_another_perceiver_are_looked_at(tmp_path):
    views = Views.of(Counting(), tmp_path)
    views.see([frame(), frame(91)])
    assert views.perceiver.asked == 2
    other = Counting()
    other.identity = {"version": "2"}
    Views.of(other, tmp_path).see([frame()])
    assert other.asked == 1


def test_a_damaged_file_is_looked_at_again(tmp_path):
    Views.of(Counting(), tmp_path).see([frame()])
    [file] = tmp_path.rglob("*.png")
    whole = file.read_bytes()
    for damaged in (whole[:50], b"", whole[:-20], b"no picture"):
        file.write_bytes(damaged)
        again = Counting()
        [view] = Views.of(again, tmp_path).see([frame()])
        assert again.asked == 1
        assert view.road.sum() == 19 * 40
        assert file.read_bytes() == whole


def test_what_stands_nearer_stands_lower_and_reaches_into_the_box():
    """A hazard's box 100 px square that stands on row 190; 5% of it may be reached into, and 5% is no difference."""
    box, foot = np.array([100.0, 100.0, 200.0, 200.0]), 190.0
    nearer = {
        (150, 120, 250, 240): True,
        (150, 120, 250, 194): False,
        (150, 120, 250, 196): True,
        (196, 120, 300, 240): False,
        (194, 120, 300, 240): True,
        (0, 120, 106, 240): True,
        (0, 120, 104, 240): False,
        (120, 201, 180, 240): False,
    }
    for thing, before in nearer.items():
        things = (Thing("car", thing, 0.9),)
        view = SceneView(np.ones((4, 4), bool), np.zeros((4, 4), bool), (400, 400), things, {})
        assert view.before(box, foot) == (list(things) if before else []), thing
    assert (
        SceneView(np.ones((4, 4), bool), np.zeros((4, 4), bool), (400, 400), None, {}).before(box, foot) == []
    )


@pytest.mark.parametrize("likely", [False, True])
def test_a_view_survives_its_file_to_the_bit(likely):
    rng = np.random.default_rng(0)
    view = SceneView(
        rng.random((45, 80)) > 0.5,
        rng.random((45, 80)) > 0.9,
        (1280, 720),
        (Thing("car", (1.5, 2.0, 30.25, 40.0), 0.75),),
        {"name": "drawn", "weights": "sha256:ab"},
        rng.random((45, 80)) > 0.3 if likely else None,
    )
    again = SceneView.from_png(view.png())
    assert (again.likely is None) == (not likely)
    assert np.array_equal(again.likely, view.likely)
    assert (again.road == view.road).all()
    assert (again.lanes == view.lanes).all()
    assert (again.size, again.things, again.by) == (view.size, view.things, view.by)


def test_shares_and_points_follow_the_pixels_of_the_frame():
    """The left half of a frame of 200 x 100 is road, on a grid of another shape."""
    road = np.zeros((30, 40), bool)
    road[:, :20] = True
    view = SceneView(road, road & False, (200, 100), None, {})
    assert view.is_road(np.array([[98.0, 50.0], [101.0, 50.0], [-3.0, 5.0], [np.nan, 2.0]])).tolist() == [
        True,
        False,
        False,
        False,
    ]
    square = np.array([[50.0, 20.0], [150.0, 20.0], [150.0, 80.0], [50.0, 80.0]])
    assert view.share(square) == pytest.approx(0.5, abs=0.03)
    assert view.share(square - np.array([55, 0])) == 1.0
    assert view.share(square + np.array([1000, 0])) == 0.0


def test_the_stored_picture_shows_road_in_green(tmp_path: Path):
    road = np.zeros((30, 40), bool)
    road[20:] = True
    file = tmp_path / "view.png"
    file.write_bytes(SceneView(road, road & False, (80, 60), None, {}).png())
    picture = cv2.imread(str(file))
    assert (picture[25, 5] == (0, 255, 0)).all()
    assert (picture[5, 5] == 0).all()


def test_what_is_known_is_not_lost_while_the_rest_is_looked_at(monkeypatch):
    monkeypatch.setattr("cfgen.perception.views.LIMIT", 2)
    views = Views.of(Counting())
    [first] = views.see([frame(90)])
    views.see([frame(91)])
    many = views.see([frame(level) for level in (90, 92, 93, 94)])
    assert many[0] is first
    assert views.perceiver.asked == 5
