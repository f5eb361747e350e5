"""A hazard stands on the ground segment that the car drives on."""

import numpy as np
import pytest

from cfgen.benchmark.masks import MaskPipeline, ground_ahead
from cfgen.geometry.camera import ground_points
from cfgen.geometry.path import EgoPath
from cfgen.hazards.placement import find_placements
from cfgen.perception.detection import Segment
from tests.benchmark.painted import CAR, ROAD, box_mask, car_ahead, hazard_of, placed
from tests.benchmark.truth import Truth
from tests.hazards import drawn

DEER = hazard_of("deer")
LAWN = 3


def road_and_lawn(half=2.5):
    """Road to ``half`` m beside the path and lawn beyond it, in the labels; the picture shows road all over."""
    image = drawn.road(half=30.0)
    labels = np.zeros(image.shape[:2], int)
    rows, cols = np.mgrid[: image.shape[0], : image.shape[1]]
    xy, valid = ground_points(drawn.CAMERA, np.column_stack([cols.ravel(), rows.ravel()]))
    y = np.where(valid, xy[:, 1], np.nan).reshape(rows.shape)
    labels[np.abs(y) < half] = ROAD
    labels[np.abs(y) >= half] = LAWN
    return image, labels


def test_the_ground_ahead_is_the_segment_there():
    image, labels = road_and_lawn()
    ground, points = ground_ahead(Truth(labels), image, drawn.CAMERA, EgoPath.from_scene(drawn.scene()))
    assert np.array_equal(ground, labels == ROAD)
    assert len(points) == 3


@pytest.mark.parametrize(
    ("x", "y", "wrong"),
    [(15.0, 0.0, ""), (15.0, 4.5, "not on the ground that the car drives on"), (25.0, -1.0, "")],
)
def test_a_footprint_must_lie_on_it(x, y, wrong):
    image, labels = road_and_lawn()
    fault = MaskPipeline(Truth(labels)).fault(drawn.scene(), image, DEER)
    assert fault(placed(DEER, x, y)) == wrong


def test_placements_keep_to_it_and_say_so_when_they_cannot():
    image, labels = road_and_lawn(half=1.5)
    scene = drawn.scene()
    fault = MaskPipeline(Truth(labels)).fault(scene, image, DEER)
    free = find_placements(scene, image, DEER, np.random.default_rng(0))
    kept = find_placements(scene, image, DEER, np.random.default_rng(0), fault=fault)
    assert any(fault(p) for p in free)
    assert kept
    assert not any(fault(p) for p in kept)
    labels[:250][labels[:250] == ROAD] = LAWN  # the road ends before the nearest place
    fault = MaskPipeline(Truth(labels)).fault(scene, image, DEER)
    refused = find_placements(scene, image, DEER, np.random.default_rng(0), fault=fault)
    assert "not on the ground that the car drives on" in refused


def test_of_a_lane_and_the_road_around_it_the_road_counts():
    image, labels = road_and_lawn()
    lane = road_and_lawn(half=1.2)[1] == ROAD

    class LaneFirst(Truth):
        def segment(self, image, prompts):
            found = super().segment(image, prompts)
            return [[Segment(lane, 0.99), *segments] for segments in found]

    fault = MaskPipeline(LaneFirst(labels)).fault(drawn.scene(), image, DEER)
    assert fault(placed(DEER, 15.0, -1.2)) == ""
    assert fault(placed(DEER, 15.0, 4.5)) == "not on the ground that the car drives on"


def test_the_car_ahead_is_no_ground_and_without_ground_the_geometry_decides():
    image, labels = car_ahead(x=10.0, y=0.0)
    labels[box_mask(10.0, 0.0, CAR)] = 2
    ground, _ = ground_ahead(Truth(labels), image, drawn.CAMERA, EgoPath.from_scene(drawn.scene()))
    assert ground is None
    fault = MaskPipeline(Truth(np.zeros_like(labels))).fault(drawn.scene(), image, DEER)
    assert fault(placed(DEER, 15.0, 4.5)) == ""
