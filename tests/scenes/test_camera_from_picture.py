"""What a still tells of its camera: EXIF data written with Pillow, and cars drawn at known places."""

import math

import numpy as np
import pytest
from PIL import ExifTags, Image

from cfgen.geometry.camera import mounted
from cfgen.perception.camera import TOLD, LaneReading, why_unsure
from cfgen.perception.view import SceneView
from cfgen.records import Camera, Size
from cfgen.scenes.folder import load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers import camera_options
from cfgen.scenes.readers.camera_options import CameraOptions, camera_for, in_words
from cfgen.scenes.readers.image import exif_fov_deg
from tests.perception.test_camera import CAR, LENS, PLACES, seen


def picture(path, focal):
    exif = Image.Exif()
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.FocalLengthIn35mmFilm] = focal
    Image.new("RGB", (360, 240)).save(path, exif=exif)
    return path


@pytest.mark.parametrize(("focal", "fov"), [(18, 90.0), (50, 39.6), (0, None), (3, None)])
def test_the_focal_length_in_exif_data(tmp_path, focal, fov):
    found = exif_fov_deg(picture(tmp_path / "a.jpg", focal), 360, 240)
    assert found == (None if fov is None else pytest.approx(fov, abs=0.1)), (
        "as tables of 35 mm lenses have it"
    )


CORNERS = {"r": (220, 0, 0), "g": (0, 220, 0), "b": (0, 0, 220), "w": (220, 220, 220)}


@pytest.mark.parametrize(
    ("way", "seen_clockwise"),
    [(1, "rgbw"), (2, "grwb"), (3, "bwrg"), (4, "wbgr"), (5, "rwbg"), (6, "wrgb"), (7, "bgrw"), (8, "gbwr")],
)
def test_a_picture_is_stored_as_its_orientation_says(tmp_path, way, seen_clockwise):
    """Quarters red, green, blue and white, clockwise from the top left in the file; seen by EXIF 2.32, tag 274."""
    stored = np.zeros((160, 240, 3), np.uint8)
    for place, colour in zip(((0, 0), (0, 120), (80, 120), (80, 0)), "rgbw", strict=True):
        stored[place[0] : place[0] + 80, place[1] : place[1] + 120] = CORNERS[colour]
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = way
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.FocalLengthIn35mmFilm] = 28
    Image.fromarray(stored).save(tmp_path / "a.jpg", exif=exif, quality=95)
    import_scenes(open_reader("image", tmp_path / "a.jpg", {}), tmp_path / "out", quiet=True)
    folder = load_scene(tmp_path / "out" / "a_000000")
    shown, camera = folder.image(), folder.scene.front
    assert shown.shape[:2] == (camera.height, camera.width) == ((160, 240) if way < 5 else (240, 160))
    rows, columns = (camera.height // 4, -camera.height // 4), (camera.width // 4, -camera.width // 4)
    quarters = [
        shown[r, c]
        for r, c in (
            (rows[0], columns[0]),
            (rows[0], columns[1]),
            (rows[1], columns[1]),
            (rows[1], columns[0]),
        )
    ]
    nearest = [min(CORNERS, key=lambda name: np.abs(np.array(CORNERS[name]) - q).sum()) for q in quarters]
    assert "".join(nearest) == seen_clockwise
    diagonal = math.hypot(36, 24) / math.hypot(160, 240)
    assert camera.width / camera.fx == pytest.approx(camera.width * diagonal / 28, rel=0.01)


class Eyes:
    """Sees no line, and cars where the true camera would show them."""

    name, weaker, options, identity, uses_camera = "eyes", False, {}, {}, False

    def __init__(self, things):
        self.things = things

    def perceive(self, frames):
        none = np.zeros((72, 128), bool)
        return [SceneView(none, none, (1280, 720), self.things, {"name": "eyes"}) for _ in frames]


def found(things, **wanted):
    fov = math.degrees(2 * math.atan(640 / 1000))
    return camera_for(
        1280,
        720,
        CameraOptions(**wanted),
        [np.zeros((720, 1280, 3), np.uint8)],
        Eyes(things),
        exif_fov_deg=fov,
    )


def test_cars_mend_a_guessed_camera():
    camera, told = found(seen(*PLACES))
    assert told["from"]["camera_height_m"] == told["from"]["horizon_row"] == "sizes"
    assert told["sizes"] == 4
    assert told["from"]["fov_deg"] == "EXIF"
    true = Camera(**LENS, T_cam_ego=mounted(1.5, math.radians(1.0)))
    horizon = 359.5 - 1000 * math.tan(math.radians(1.0))
    assert told["values"]["horizon_row"] == pytest.approx(horizon, abs=6)
    assert told["values"]["camera_height_m"] == pytest.approx(1.5, abs=0.12)
    assert camera.fx == pytest.approx(true.fx, rel=0.001)
    assert "from the sizes of 4 cars or people: height 1." in in_words(told)
    assert "from the picture's EXIF data: field of view 65 degrees" in in_words(told)
    assert "sizes 12 m away good to " in in_words(told)
    assert not why_unsure({TOLD: told})


def test_a_picture_that_tells_nothing_leaves_a_guess_in_doubt():
    told = found(())[1]
    assert (told["from"]["camera_height_m"], told["from"]["horizon_row"]) == ("guess", "guess")
    assert "may be off by" in why_unsure({TOLD: told})
    assert not why_unsure({TOLD: found((), camera_height_m=1.5, horizon_row=340.0)[1]}), "told by the user"


@pytest.mark.parametrize(("lines_m", "refused"), [(1.6, False), (2.6, True)])
def test_lane_lines_that_the_cars_contradict_leave_the_size_in_doubt(monkeypatch, lines_m, refused):
    """Rails or bays taken for the own lane: four cars tell 1.5 m."""
    lines = LaneReading(1.0, 0.0, 3.5 / lines_m, 0.1, lines=3, confidence=0.96)
    monkeypatch.setattr(camera_options, "typical", lambda each: lines)
    told = found(seen(*PLACES)).provenance
    why = f"lane lines say a height of {lines_m:.2f} m, the sizes of things 1."
    assert (why in why_unsure({TOLD: told}), why in in_words(told)) == (refused, refused)
    assert (told["confidence"] < 0.6) == refused
    assert why_unsure({TOLD: found(seen(*PLACES), camera_height_m=1.5).provenance}) == ""


class Road(Eyes):
    """Sees a road up to row 400 of 720, and nothing else: the horizon is some 5% of the height above that."""

    def perceive(self, frames):
        road = np.zeros((72, 128), bool)
        road[40:, 30:100] = True
        return [SceneView(road, road & False, (1280, 720), (), {"name": "road"}) for _ in frames]


def test_where_the_road_ends_tells_of_the_horizon():
    images = [np.zeros((720, 1280, 3), np.uint8)]
    told = camera_for(1280, 720, CameraOptions(), images, Road(()))[1]
    assert told["from"]["horizon_row"] == "the road's far end"
    assert told["values"]["horizon_row"] == pytest.approx(364, abs=12)
    assert "from the road's far end: horizon at row" in in_words(told)


def test_a_height_that_no_road_vehicle_has_is_not_believed_and_the_scene_is_refused():
    """Cars 1.8 times as large as any say that the camera is 1.8 times as low as it is."""
    large = seen(*PLACES, size=Size(**{name: 1.8 * value for name, value in CAR}))
    _, told = found(large)
    assert told["unbelieved"].startswith("all clues say a height of 0.")
    assert told["from"]["camera_height_m"] == "guess"
    why = why_unsure({TOLD: told})
    assert "expected 1 to 3 m" in why
    assert "--options camera_height_m=..." in why
    assert "not believed: all clues" in in_words(told)
    _, told = found(large, camera_height_m=0.83)
    assert why_unsure({TOLD: told}) == "", "a user may have one"


@pytest.mark.parametrize(("yaw", "refused"), [(8.0, False), (27.0, True)])
def test_lines_far_off_the_cars_direction_are_not_its_roads(monkeypatch, yaw, refused):
    lines = LaneReading(1.0, yaw, 2.5, 0.1, lines=3, confidence=0.8)
    monkeypatch.setattr(camera_options, "typical", lambda each: lines)
    _, told = found(())
    assert (("27 degrees off" in why_unsure({TOLD: told})), told["from"]["yaw_deg"]) == (
        refused,
        "guess" if refused else "lane lines",
    )
    assert why_unsure({TOLD: found((), yaw_deg=yaw).provenance}) == ""
