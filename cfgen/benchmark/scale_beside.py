"""A gate that holds the scale of what was added against the real cars and people near it."""

from cfgen.benchmark.gates import GateInput
from cfgen.perception.camera import scale_at, sights
from cfgen.records import GateResult

#: What was added may be so many times as large, or as small, as real things say that it should be.
MOST_APART = 1.25


def scale_beside(edit: GateInput) -> GateResult | None:
    """What was added has the scale of the real cars and people near its foot line.

    The value is inserted ÷ real: the median over those within 1.6 times its distance below the horizon (1.8 times,
    where there is none), where a detector saw them whole and their width and height agree. It is None, and the gate
    passes with "not judged", where there are none or nobody looked for them. None where nothing was added, or where
    only colours tell the road.
    """
    if edit.look is None or edit.hazard.kind == "null":
        return None
    things = edit.look(edit.original).things
    scale = None
    reason = "not judged: nobody looked for cars and people (perception option 'things')"
    if things is not None:
        scale = scale_at(edit.camera, edit.placement.foot_px, sights(edit.camera, things))
        reason = "not judged: no real car or person of a sure size near it"
    ratio = None
    if scale is not None:
        ratio, count = round(scale[0], 3), scale[1]
        factor = max(ratio, 1 / max(ratio, 1e-6))
        reference = f"what is real near it ({count} seen)"
        reason = "" if factor <= MOST_APART else f"it is drawn {ratio:.2f} times the scale of {reference}"
    return GateResult(
        gate="scale-beside",
        passed=scale is None or not reason,
        value=ratio,
        bound=f"{1 / MOST_APART:g} to {MOST_APART:g}",
        reason=reason,
    )
