"""The control object is looked for before a case is painted."""

from types import SimpleNamespace

import pytest

from cfgen.benchmark.builder import CaseBuilder
from cfgen.hazards.placement import Control
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.records import Planned


def placed(alike: set[str], expected: bool, last: bool = True, anywhere: bool = True) -> CaseBuilder:
    """A case with two placements, "near" and "far", after it looked for its places."""

    def control(hazard, placement, closest=False):
        beside = placement in alike or (closest and anywhere)
        return Control(hazard, ("beside",) if beside else (), placement in alike)

    benchmark = {"seed": 0, "controls": ("nuisance",), "protocol": "even"}
    context = SimpleNamespace(
        taxonomy=load_taxonomy(),
        look=lambda hazard, planned: None,
        sized=lambda hazard, seed: hazard,
        benchmark=SimpleNamespace(**benchmark, decel_band=(1.0, 4.0), horizon=4.0),
        fault=lambda *_: None,
        free_placements=lambda *_: SimpleNamespace(find=lambda *_: ["near", "far"], control=control),
    )
    builder = CaseBuilder(context, Planned(case_id="c", scene_id="s", hazard_id="deer", alike=expected), last)
    builder.scene = None
    builder.place()
    return builder


@pytest.mark.parametrize("expected", [True, False])
def test_only_places_with_an_alike_control_object_are_painted(expected):
    builder = placed({"far"}, expected)
    assert list(builder.placements) == ["far"]
    assert [control.alike for control in builder.controls] == [True]


def test_a_pair_without_one_is_refused_where_one_was_planned_and_takes_the_closest_where_none_was():
    refused = placed(set(), True)
    assert not refused.placements
    assert refused.refusal.startswith("no place for its control object")
    closest = placed(set(), False)
    assert not closest.refusal
    assert list(closest.placements) == ["near"]
    assert [control.placements for control in closest.controls] == [("beside",)]


def test_where_there_is_none_at_all_only_the_last_reserve_goes_without():
    assert placed(set(), False, last=False, anywhere=False).refusal
    assert not placed(set(), False, last=False).refusal
    assert list(placed(set(), False, anywhere=False).placements) == ["near"]
