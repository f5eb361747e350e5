"""Drawn roads with cars whose true masks are known, and hazards placed on them."""

import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import project
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.inpaint.edit import EditJob
from cfgen.inpaint.region import seen_by
from cfgen.perception.mask_shapes import polygon
from cfgen.records import Size
from tests.hazards import drawn
from tests.inpaint.composite.test_composite import make_placement

CAR = Size(length=4.4, width=1.9, height=1.6)
ROAD, THING = 1, 2
FRONT = ("front", 0.0)


def box_mask(x, y, size, camera=drawn.CAMERA, yaw=0.0):
    """(H, W) bool: an upright box on the ground."""
    corners, valid = project(camera, box_corners([x], [y], [yaw], size)[0])
    assert valid.all()
    return polygon((camera.height, camera.width), corners)


def hazard_of(name):
    hazard = load_taxonomy(None).get(name)
    return hazard.model_copy(update={"size": Composite().sizes(hazard)[0]})


def placed(hazard, x, y, yaw=1.5, camera=drawn.CAMERA):
    return seen_by(camera, make_placement(hazard, x, y, yaw))


def job_of(image, hazard, placement, **more):
    scene = drawn.scene()
    return EditJob(scene, {FRONT: image, **more}, hazard, placement, 5)


def car_ahead(x=14.0, y=-1.2):
    """A road with a car on it: the picture, and its labels with road and car."""
    labels = np.zeros((drawn.CAMERA.height, drawn.CAMERA.width), int)
    image = drawn.road()
    labels[185:] = ROAD
    labels[box_mask(x, y, CAR)] = THING
    return drawn.put(image, x, y, CAR), labels
