"""Known answers about driving aside: only where the frame shows room; nothing is known near the lane's edge."""

from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import project
from cfgen.geometry.path import path_of_plan
from cfgen.perception.view import SceneView
from cfgen.planners.responders import Target
from cfgen.records import Trace
from cfgen.storage.store import Store
from cfgen.traces.facts import CaseFacts, ComposedTrace, Content, Intent, Room, relations
from cfgen.traces.known_traces import bounded
from cfgen.traces.scripted import _ways, acted, case_facts
from cfgen.traces.settings import POOL
from tests.reporting.bench import blind, make_bench, straight


@cache
def grid() -> np.ndarray:
    x, y = np.meshgrid(np.arange(3.0, 120.0, 0.25), np.arange(-15.0, 15.0, 0.1))
    return np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> CaseFacts:
    root = tmp_path_factory.mktemp("room") / "b"
    return case_facts(Store(make_bench(root, 1, {"blind": blind}, arms=("hazard",)).root))[0]


def painted(facts: CaseFacts, left: float, right: float, parked: tuple[float, float] | None = None) -> Room:
    """Road from ``left`` to ``right`` m, without what stands on the right of it from ``parked`` m to m ahead."""
    camera, points = facts.room.camera, grid()
    road = (points[:, 1] < left) & (points[:, 1] > right)
    if parked:
        road &= ~((points[:, 0] > parked[0]) & (points[:, 0] < parked[1]) & (np.abs(points[:, 1]) > 2))
    px, valid = project(camera, points)
    plane = np.zeros((camera.height, camera.width), bool)
    at = np.rint(np.where(valid[:, None], px, -1)).astype(int)
    inside = (at >= 0).all(1) & (at < (camera.width, camera.height)).all(1)
    # far points last: a cell shows road where any of its ground is road
    plane[at[inside & road][:, 1], at[inside & road][:, 0]] = True

    plane = cv2.morphologyEx(plane.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 9), np.uint8)) > 0
    view = SceneView(plane, np.zeros_like(plane), (camera.width, camera.height), None, {"name": "test"})
    return Room(path_of_plan(straight(8)), camera, view)


@pytest.mark.parametrize(
    ("left", "right", "parked", "allowed"),
    [
        (12, -12, None, {"nudge left", "nudge right", "lane change left"}),
        (12, -1.6, None, {"nudge left", "lane change left"}),
        (1.6, -1.6, None, set()),
        (12, -12, (12, 40), set()),
    ],
    ids=["wide", "kerb", "narrow", "cars on both sides"],
)
def test_a_way_aside_needs_road_that_is_seen(facts: CaseFacts, left, right, parked, allowed):
    """Towards the kerb a lane needs a line as well; what is on the recorded way needs nothing."""
    base = replace(facts.base, speed=8.0)
    room = painted(facts, left, right, parked)
    ways = [(m, side) for m in ("nudge", "lane change") for side in ("left", "right")]
    assert {f"{m} {side}" for m, side in ways if room.allows(acted(base, m, side))} == allowed
    assert room.allows(acted(base, "stop", "left"))


def test_without_room_no_plan_is_known_to_be_consistent(facts: CaseFacts):
    """Nobody looked at the painted frames: such plans are not drawn from, and what breaks words is still known."""
    assert {m for m, _ in _ways(facts)} == {"keep", "stop", "yield"}
    aside = acted(facts.base, "nudge", "left")
    for action, known in (
        ("out-of-lane nudge left", {}),
        ("out-of-lane nudge right", {"E4": False, "E5": False}),
    ):
        trace = Trace(longitudinal="set speed tracking", lateral=action)
        found = relations(
            facts, "hazard", ComposedTrace(trace, aside, intent=Intent("", f"to the {action.split()[-1]}"))
        )
        assert {e: found[e].kept for e in ("E4", "E5") if e in found} == known


@pytest.mark.parametrize(
    ("lateral", "own", "said", "shown"),
    [
        (0.3, "ahead in our lane", "ahead in our lane", True),
        (-1.4, "entering our lane from the right", "ahead in our lane", None),
        (-1.4, "ahead on the right", "ahead on the right", None),
        (-1.4, "ahead on the right", "ahead on the left", False),
        (-4.0, "ahead on the right", "ahead on the right", True),
        (-4.0, "ahead on the right", "at the right edge of the road", None),
        (-4.0, "ahead on the right", "ahead in our lane", False),
        (-1.4, "ahead on the right", "on the left shoulder, well away from our lane", False),
        (-4.0, "ahead on the right", "on the right shoulder, well away from our lane", None),
    ],
)
def test_near_the_lanes_edge_nothing_is_known(facts: CaseFacts, lateral, own, said, shown):
    target = Target(20, 22, lateral, 0.5, "lane", 1.5)
    at = replace(facts, target=target, place=own)
    assert at.shows(Content(at.thing, said), "hazard") is shown


def test_more_than_the_cases_can_give_is_said_at_once():
    with pytest.warns(UserWarning, match=r"500 of either verdict .* 12 cases .* give 180 at most"):
        assert bounded(500, 12) == 12 * POOL.most_per_case == 180
    assert bounded(100, 12) == 100
