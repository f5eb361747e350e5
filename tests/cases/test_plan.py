"""Which scenes leave the draw, and under which words refusals are counted."""

import pytest

from cfgen.cases.plan import GIVE_UP, kind_of, looks, scenes_given_up
from cfgen.listing import Refused
from cfgen.records import Planned

NO_PLACE = "no placement: none of 48 places works: 40 not on clear road, 8 cut off by the frame"


def given_up(outcomes: str, **more) -> dict[str, str]:
    """``outcomes`` of one scene's pairs in order: a(ccepted), r(efused), u(nsuited), f(ault), p(erson), . for open."""
    planned, rejections, accepted = [], [], set()
    for number, outcome in enumerate(outcomes):
        names = {"case_id": f"c{number}", "scene_id": "s", "hazard_id": f"h{number}"}
        planned.append(Planned(**names, round=number))
        if outcome == "a":
            accepted.add(f"c{number}")
        elif outcome != ".":
            by = "somebody" if outcome == "p" else "gates"
            told = {"reason": NO_PLACE, "unsuited": outcome == "u", "broke": outcome == "f", "by": by}
            rejections.append(Refused(**names, **told, whole=None))
    return scenes_given_up(planned, accepted, rejections)


@pytest.mark.parametrize(
    ("outcomes", "left"),
    [
        ("r" * GIVE_UP, True),
        ("r" * (GIVE_UP - 1), False),
        ("a" + "r" * GIVE_UP, True),
        ("r" * (GIVE_UP - 1) + "a" + "r" * (GIVE_UP - 1), False),
        ("r" * (GIVE_UP - 1) + "ufp." * 3, False),
        ("ufp." + "r" * GIVE_UP, True),
    ],
)
def test_a_scene_leaves_after_refusals_in_a_row(outcomes, left):
    assert given_up(outcomes) == (
        {"s": f"{GIVE_UP} refusals in a row, most often: no placement: mostly not on clear road"}
        if left
        else {}
    )


def test_refusals_count_by_their_first_cause():
    assert kind_of(NO_PLACE) == kind_of(NO_PLACE.replace("48", "96").replace("8 cut off by the frame", "1 x"))
    assert (
        kind_of("seam: a step of 31 along the mask's border") == "seam: a step of # along the mask's border"
    )


def test_hazards_that_share_a_model_show_others_of_its_variants():
    models = {"braking": "car", "crossing": "car", "stopped": "car", "deer": "deer"}
    held = [
        Planned(case_id="c", scene_id="s", hazard_id=h, round=0, look=k)
        for h, k in (("braking", 1), ("deer", 0))
    ]
    assert looks(["crossing", "flood", "stopped", "crossing", "deer"], held, models) == [0, None, 2, 3, 1]
