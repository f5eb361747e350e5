"""The demo scenes that ship: they load, their motion is a car's, the future lies on the road, they stay small."""

import json
from pathlib import Path

import numpy as np
import pytest

from cfgen.scenes.check import check_folder
from tools.demo_scenes.motion import FUTURE_T, HISTORY_T, Ride, rows
from tools.demo_scenes.road import Road

SCENES = Path(__file__).resolve().parents[2] / "scenarios" / "scenes"
FOLDERS = sorted(p.parent for p in SCENES.glob("*/scene.json"))


def test_there_are_enough_and_they_are_small():
    assert len(FOLDERS) >= 66
    assert sum(p.stat().st_size for p in SCENES.rglob("*") if p.is_file()) < 30e6


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_motion_is_a_cars(folder: Path):
    record = json.loads((folder / "scene.json").read_text())
    track = np.array(record["history"] + record["future"])
    assert track.shape == (33, 4)
    np.testing.assert_allclose(track[8, :3], 0.0, atol=1e-3)
    step = np.diff(track[:, :2], axis=0)
    length = np.linalg.norm(step, axis=1)
    speed = (track[1:, 3] + track[:-1, 3]) / 2
    np.testing.assert_allclose(length / 0.25, speed, rtol=0.02)
    along = np.arctan2(step[:, 1], step[:, 0])
    middle = (track[1:, 2] + track[:-1, 2]) / 2
    np.testing.assert_allclose(along, middle, atol=0.01)
    assert np.abs(np.diff(track[:, 3]) / 0.25).max() < 3.0
    turn = np.diff(track[:, 2]) / np.maximum(length, 0.1)
    assert (np.abs(turn) * speed**2).max() < 4.0


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_room_for_a_hazard(folder: Path):
    """No other vehicle's box touches the ego's path within 25 m."""
    record = json.loads((folder / "scene.json").read_text())
    path = np.array([[0, 0, 0, 0], *record["future"]])[:, :2]
    fine = np.stack([np.interp(np.linspace(0, 24, 480), np.arange(25), c) for c in path.T], 1)
    near = fine[np.hypot(*fine.T) < 25.0]
    for car in record["traffic"]:
        c, s = np.cos(car["theta"]), np.sin(car["theta"])
        local = (near - [car["x"], car["y"]]) @ np.array([[c, -s], [s, c]])
        assert not ((np.abs(local[:, 0]) < car["length_m"] / 2 + 0.5) & (np.abs(local[:, 1]) < 1.9)).any(), (
            car
        )


def test_a_ride_follows_an_arc_exactly():
    radius, v = 80.0, 12.0
    road = Road([(0, 1 / radius)], start=(0.0, 1.75))
    ride = Ride(road, 0.0, -1.75, [(0.0, v)])
    r = radius + 1.75
    for t, row in zip([*HISTORY_T, *FUTURE_T], [*rows(ride, HISTORY_T), *rows(ride, FUTURE_T)], strict=True):
        turn = v * t / r
        expected = [r * np.sin(turn), r * (1 - np.cos(turn)), turn, v]
        np.testing.assert_allclose(row[:2], expected[:2], atol=0.02)
        assert row[2] == pytest.approx(turn, abs=1e-3)


def test_the_check_finds_no_fault():
    assert {path.name: faults for path, faults in check_folder(SCENES).items() if faults} == {}
