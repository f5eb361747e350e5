"""Time and place to the sun, against published values."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from cfgen.perception.sun_position import sun_by_time, sun_position

PLACE = {"latitude_deg": 39.742476, "longitude_deg": -105.1786, "heading_deg": 90.0}


@pytest.mark.parametrize(
    ("time", "latitude", "longitude", "azimuth", "elevation"),
    [
        # Reda and Andreas, Solar Position Algorithm for Solar Radiation Applications (NREL/TP-560-34302), table A5.1:
        # topocentric azimuth, and elevation before refraction
        ("2003-10-17T12:30:30-07:00", 39.742476, -105.1786, 194.34024, 39.872046),
        # solstice and equinox of 2020: over the tropic and the equator at noon of the equation of time
        ("2020-06-20T21:43:00Z", 90.0, 0.0, None, 23.436),
        ("2020-03-20T03:50:00Z", 90.0, 0.0, None, 0.0),
    ],
)
def test_published_positions(time, latitude, longitude, azimuth, elevation):
    found, rise = sun_position(datetime.fromisoformat(time), latitude, longitude)
    assert math.degrees(rise) == pytest.approx(elevation, abs=0.01)
    if azimuth is not None:
        assert math.degrees(found) == pytest.approx(azimuth, abs=0.02)


def test_in_the_ego_frame_the_afternoon_sun_is_on_the_right_of_who_drives_east():
    sun = sun_by_time("2003-10-17T19:30:30Z", PLACE)
    azimuth = math.degrees(math.atan2(sun[1], sun[0]))
    assert azimuth == pytest.approx(90 - 194.34, abs=0.05)
    assert np.linalg.norm(sun) == pytest.approx(1)
    west = sun_by_time("2003-10-17T19:30:30Z", PLACE | {"heading_deg": 270.0})
    assert west == pytest.approx(sun * (-1, -1, 1))


@pytest.mark.parametrize("timestamp", ["", "yesterday", "2003-10-17T19:30:30"])
def test_no_time_with_a_zone_no_sun(timestamp):
    assert sun_by_time(timestamp, PLACE) is None


def test_no_whole_place_no_sun():
    assert sun_by_time("2003-10-17T19:30:30Z", {"latitude_deg": 1.0}) is None


def test_it_is_night_on_one_side_of_the_earth():
    noon = datetime(2024, 3, 20, 12, tzinfo=UTC)
    assert sun_position(noon, 0, 0)[1] > math.radians(85)
    assert sun_position(noon, 0, 180)[1] < math.radians(-85)
