"""People beside vehicles: a worker at a stopped truck, a child stepping out from behind a parked car."""

from __future__ import annotations

import math

from cars import build_car
from common import Model, Objects, place
from trucks import build_truck_box


def _someone(model: str, variant: str) -> Objects:
    """A person from the people's models."""
    from people import MODELS as PEOPLE

    params = dict(PEOPLE[model].variants[variant])
    return PEOPLE[model].build(params.pop("seed", 0), **params)


def build_truck_and_worker(seed: int) -> Objects:
    """A box truck stopped with its hazard lights on, somebody in a high-visibility vest at its left rear corner."""
    person = place(_someone("person_vest", "man"), (-2.3, 1.75, 0), math.pi * 0.8)
    return [place([*build_truck_box(seed, lights="hazard"), person], (0, -0.4, 0))]


def build_child_behind_car(seed: int, color: str = "grey") -> Objects:
    """A parked car with a child running out in front of it, to the left."""
    child = place(_someone("child_running", "boy"), (2.75, 1.6, 0), math.pi / 2)
    return [place([*build_car(seed, "hatch", color, driver=False), child], (-0.3, -0.2, 0))]


MODELS = {
    "truck_hivis_person": Model(
        build_truck_and_worker,
        {"a": {}},
        pixels=360,
        samples=12,
    ),
    "child_behind_car": Model(
        build_child_behind_car,
        {"a": {}},
        pixels=360,
        samples=12,
    ),
}
