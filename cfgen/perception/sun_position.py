"""Where the sun stands at a time and a place, and in the ego frame of a scene that tells both."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

#: Keys of a scene that tell its place: degrees north, degrees east, degrees of the ego's x axis clockwise from north.
PLACE_KEYS = ("latitude_deg", "longitude_deg", "heading_deg")


def sun_position(time: datetime, latitude_deg: float, longitude_deg: float) -> tuple[float, float]:
    """Azimuth (clockwise from north) and elevation (without refraction) of the sun, rad.

    The equations of NOAA's solar calculator (after Meeus, Astronomical Algorithms, 1991): within 0.05 degrees from
    1970 to 2060. ``time`` carries its zone.
    """
    days = time.timestamp() / 86400
    t = (days + 2440587.5 - 2451545) / 36525  # Julian centuries since 2000
    mean_longitude = math.radians((280.46646 + t * (36000.76983 + 0.0003032 * t)) % 360)
    anomaly = math.radians(357.52911 + t * (35999.05029 - 0.0001537 * t))
    centre = (
        (1.914602 - t * (0.004817 + 0.000014 * t)) * math.sin(anomaly)
        + (0.019993 - 0.000101 * t) * math.sin(2 * anomaly)
        + 0.000289 * math.sin(3 * anomaly)
    )
    node = math.radians(125.04 - 1934.136 * t)
    longitude = mean_longitude + math.radians(centre - 0.00569 - 0.00478 * math.sin(node))
    tilt = math.radians(23.4392911 - t * (0.0130042 + t * (1.64e-7 - 5.04e-7 * t)) + 0.00256 * math.cos(node))
    declination = math.asin(math.sin(tilt) * math.sin(longitude))
    ascension = math.atan2(math.cos(tilt) * math.sin(longitude), math.cos(longitude))
    # mean longitude less right ascension, with the aberration that the former lacks, is the equation of time
    equation = mean_longitude - math.radians(0.00569) - ascension
    hour = 2 * math.pi * (days % 1) - math.pi + equation + math.radians(longitude_deg)
    phi = math.radians(latitude_deg)
    up = math.sin(phi) * math.sin(declination) + math.cos(phi) * math.cos(declination) * math.cos(hour)
    north = math.cos(phi) * math.sin(declination) - math.sin(phi) * math.cos(declination) * math.cos(hour)
    east = -math.cos(declination) * math.sin(hour)
    return math.atan2(east, north) % (2 * math.pi), math.asin(min(max(up, -1.0), 1.0))


def sun_by_time(timestamp: str, extra: Mapping[str, Any]) -> np.ndarray | None:
    """(3,) unit vector to the sun in the ego frame at t0; it may point below the ground.

    None: the scene does not tell its time (ISO 8601 with its zone) or its place (:data:`PLACE_KEYS`).
    """
    try:
        time = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    if time.tzinfo is None or not all(key in extra for key in PLACE_KEYS):
        return None
    latitude, longitude, heading = (float(extra[key]) for key in PLACE_KEYS)
    azimuth, rise = sun_position(time, latitude, longitude)
    left = math.radians(heading) - azimuth
    flat = math.cos(rise)
    return np.array([flat * math.cos(left), flat * math.sin(left), math.sin(rise)])
