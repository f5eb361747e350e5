"""What can be added to a scene, and where it stands."""

from typing import Literal, Self

from pydantic import Field

from cfgen.core.record import Record
from cfgen.records.base import Count, Identifier, Zone


class Size(Record):
    """Metres: length along the object's own x (its front), width along y, height along z."""

    length: float = Field(gt=0, le=40)
    width: float = Field(gt=0, le=40)
    height: float = Field(gt=0, le=20)


class DistancePolicy(Record):
    """Where along the path a hazard may stand.

    ``decel`` is the band of constant deceleration (m/s^2) that stopping short of it would require; None takes
    the build's default band. ``min_m`` and ``max_m`` bound the distance in any case. ``least_px`` is how high its box
    in the frame has to be: lower ones nobody recognizes.
    """

    decel: tuple[float, float] | None = None
    min_m: float = Field(default=6.0, gt=0)
    max_m: float = Field(default=100.0, gt=0)
    least_px: float = Field(default=0.0, ge=0)


class HazardMotion(Record):
    """How the object moves in the world: ``kind`` relative to the ego path, ``speed`` range in m/s."""

    kind: Literal["static", "crossing", "contraflow", "along"] = "static"
    speed: tuple[float, float] = (0.0, 0.0)
    #: what crosses may have stood at the road's edge before; false: a rider, who came rolling
    waits: bool = True


class Hazard(Record):
    """One entry of the taxonomy."""

    id: Identifier
    kind: Literal["hazard", "nuisance", "null"] = "hazard"
    name: str
    cluster: str
    #: one line: why a driver must respond
    why: str
    size: Size
    #: length and width of what stands on the ground where that is less than the size, m: flames under a plume
    footprint: tuple[float, float] | None = None
    prompt: str = ""
    negative_prompt: str = ""
    zones: tuple[Zone, ...] = Field(min_length=1)
    motion: HazardMotion = HazardMotion()
    #: object's front relative to the ego path direction
    heading: Literal["along", "facing", "across", "any"] = "any"
    distance: DistancePolicy = DistancePolicy()
    #: what of the road it needs in view, or told of by the scene's ``road``; "street": any but a motorway
    road: Literal["any", "junction", "rails", "street"] = "any"
    #: for breakdowns only, never shown to a judge
    responses: tuple[Literal["stop", "brake", "yield", "nudge", "lane change", "follow", "none"], ...] = (
        "brake",
    )
    #: sprite or 3-D model for the inpainters that need no prompt; None: generative inpainters only
    model: str | None = None
    #: which of the model's variants shows, counted round from any; None: the case's seed decides
    look: Count | None = None
    #: what a detector with COCO's classes may rightly take it for; (): none of them fits, and it is not judged
    seen_as: tuple[str, ...] = ()
    #: such a detector has to see it where it is large enough, or the edit is refused
    refuse_unseen: bool = False
    #: share of the noise with which a generative inpainter repaints another's insert of it; None takes the default
    repaint: float | None = Field(default=None, ge=0, le=1)
    #: drawn by builds that name no hazards; false: for want of being recognized, only where it is asked for by name
    by_default: bool = True

    @property
    def standing(self) -> Size:
        """The part of its box that takes up ground."""
        length, width = self.footprint or (self.size.length, self.size.width)
        return Size(length=length, width=width, height=self.size.height)


class Placement(Record):
    """A pose on the road in the ego frame at t0, and what follows from it through the front camera."""

    zone: Zone
    x: float
    y: float
    yaw: float
    #: world velocity in the ego frame at t0, m/s
    vx: float = 0.0
    vy: float = 0.0
    #: s relative to t0: it stood still before, e.g. waited at the kerb; None: it was moving all along
    moving_since: float | None = Field(default=None, le=0)
    #: s relative to t0: something real hid it before; None: it shows whenever it is in view
    visible_since: float | None = Field(default=None, le=0)
    size: Size
    #: arc length along the ego path and signed offset to its left, m
    distance_m: float
    lateral_m: float
    #: constant deceleration after 0.5 s that stops 2 m short of it, m/s^2
    required_decel: float
    #: to the collision at constant speeds, s from t0
    ttc_s: float | None = None
    #: how long it has been in view, and on its way where it moves, at t0, s; as far as the history goes
    in_view_s: float | None = None
    #: contact point of the object's centre on the ground, pixels
    foot_px: tuple[float, float]
    #: x0, y0, x1, y1 of the projected box, pixels, clipped to the frame
    box_px: tuple[float, float, float, float]

    def at(self, t: float) -> Self:
        """The placement at time ``t``, s relative to t0: constant velocity once it moves. Pixels stay those of t0."""
        if self.vx == self.vy == 0:
            return self
        moved = t if self.moving_since is None else max(t, self.moving_since)
        return self.model_copy(update={"x": self.x + self.vx * moved, "y": self.y + self.vy * moved})

    def hidden_at(self, t: float) -> bool:
        """Whether something real hides it at time ``t``."""
        return self.visible_since is not None and t < self.visible_since
