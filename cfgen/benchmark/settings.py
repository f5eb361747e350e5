"""The tuned numbers of benchmark, each with its unit and what it decides."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GateSettings:
    """Bounds of the gates on an edit. Tuned on edits of the demo scenes and the known real drive: stricter
    ones refuse good edits, looser ones let through what floats, shows a seam or is hardly seen."""

    #: Planners shrink a frame to at most this many pixels. A pixel has changed visibly when its largest
    #: channel moved by more than this (8 bit): above noise and JPEG.
    changed: int = 10
    #: Visible pixels that a hazard needs, in the frame and at the planner's size, and as a share of its box.
    min_pixels: int = 100
    min_planner_pixels: int = 60
    min_share: float = 0.1
    #: Mean colour distance (8-bit RGB) of the visible change at the planner's size.
    min_contrast: float = 28.0
    #: Base of the change above or below where the hazard stands: pixels, plus a share of its height in the
    #: picture.
    base_px: float = 4.0
    base_share: float = 0.14
    #: Step across the mask's border (8 bit): of the mean over a stretch, and the share of pixels with a
    #: visible one.
    max_step: float = 5.0
    max_step_share: float = 0.04
    stretch: int = 24
    #: Median shift (8 bit) of what lies RIM_PX inside the border: more is a box of another tone, however soft
    #: its edge.
    max_tone: float = 3.0
    rim_px: int = 5
    #: Height seen in the picture, as a share of the placed box's, may differ by so much, and by so many pixels
    #: more: what is small, thin on top or as dark as what is behind it is not seen to its last row.
    apart: float = 0.25
    slack_px: float = 4.0
    #: What repainting alone changes is left out: so many times its 98th percentile in the mask beside the box
    #: (8 bit), at most; and from so many pixels on.
    above_noise: float = 1.3
    most_noise: float = 40.0
    few: int = 30
    #: Road away from the edit that may be seen no more, and that may be seen for the first time, as shares of
    #: all road in the frame before. A network takes heart where it was unsure before: new road says less.
    most_lost: float = 0.1
    most_new: float = 0.3
    #: What lies this near to the edit, as a share of the frame's width, may be seen otherwise: networks look
    #: around.
    near: float = 0.02
    #: From this height and these sides on, m, a thing hides road: share of its lower half where none is seen
    #: any more.
    tall_m: float = 1.2
    wide_m: float = 1.4
    least_hidden: float = 0.3
    #: Cells of road behind it that are enough to tell.
    enough: int = 30


GATE = GateSettings()


@dataclass(frozen=True)
class MaskSettings:
    """How segments are read: the ground, what is nearer, the hazard itself. Tuned on the demo scenes,
    whose masks are known: stricter numbers leave more to the placement's box, looser ones take the road
    for the hazard."""

    #: Ground that shows what is driven on: m along the path.
    ahead_m: tuple[float, float, float] = (7.0, 9.0, 12.0)
    #: Share of the points ahead that one segment must hold to be the ground ahead.
    holds: float = 0.6
    #: Ground is at least this share of the frame, and no more than the other: the whole picture is no ground.
    shares: tuple[float, float] = (0.02, 0.7)
    #: Ground does not rise above the horizon by more than this share of itself; the car ahead does.
    rises: float = 0.02
    #: Points asked about at most.
    asked: int = 32
    #: Something stands nearer when it meets the ground this much nearer: metres, and share of the distance.
    nearer_m: float = 0.3
    nearer_share: float = 0.04
    #: A gap no wider than this between two places where a thing meets the ground is bridged, m: between the
    #: wheels.
    gap_m: float = 3.2
    #: From its nearest to its farthest foot a single object, such as a car, is no deeper than this, m.
    compact_m: float = 7.0
    #: What fills more of the frame than this is no single thing.
    most_nearer: float = 0.5
    #: A segment of which more is plain ground is a marking or a shadow, unless more than _TALL of it is above
    #: the horizon.
    flat: float = 0.5
    tall: float = 0.03
    #: A pixel counts as changed above this, 8 bit, and above this multiple of what the model changed around
    #: the object.
    changed: float = 12.0
    over_rest: float = 2.5
    most: float = 40.0
    #: Share of the strongest change from which a pixel beside the segment is of the object.
    certain: float = 0.35
    #: Below this agreement between a segment and the change nothing is known about the object.
    min_fit: float = 0.3
    #: Share of its light that the ground loses from where on to where shadow is counted in full; channels
    #: alike within.
    shade: tuple[float, float] = (0.03, 0.08)
    same: float = 0.25
    #: Around the placement's box this share of its height may be the object's; the rest of the mask is left as
    #: it was.
    rest: float = 0.15
    #: Share of the object's height that is its base, and the margins in pixels: a share of its height, and at
    #: least.
    base: float = 0.25
    margin: float = 0.03
    least: float = 2.0
    #: Share of the hazard's box that nearer things may hide at t0.
    max_hidden: float = 0.5
    #: Share of its footprint that must lie on the ground segment that the car drives on.
    on_ground: float = 0.8


MASK = MaskSettings()


@dataclass(frozen=True)
class DetectorSettings:
    """What a detector must find of an edit. Tuned on the demo scenes: stricter numbers refuse good edits."""

    #: Share of what is found that lies where pixels could change.
    min_inside: float = 0.95
    #: Area of what is found as a share of the placement's box.
    min_size: float = 0.2
    #: The detector looks at a square around the edit: this many times its longer side, and at least so many
    #: pixels.
    around: float = 3.0
    min_side: int = 320
    #: Height in pixels from which a hazard that must be seen is refused when it is not.
    large_px: float = 45.0
    #: The same of a detector with a fixed list of classes, around the hazard: what is small in its input is
    #: missed, so the window is scaled up.
    reach: float = 2.2
    min_side_px: int = 160
    #: Share of what is found that has to lie on the hazard's box, or of that box that what is found has to
    #: cover.
    on_it: float = 0.5


DETECTION = DetectorSettings()


@dataclass(frozen=True)
class ArmSettings:
    """Where the control arms stand: wider bands find more places and compare less alike ones."""

    #: so many places of a control object are painted, more only while gates refuse all; its changed area and summed
    #: difference may differ from the hazard's by this share
    nuisance_tries: int = 3
    alike: float = 0.3
    #: a hazard at another distance may be this share off it
    distance_slack: float = 0.05


ARM = ArmSettings()


@dataclass(frozen=True)
class PlanSettings:
    """How slots are planned. By the shares of pairs that are accepted on the demo scenes and the known real drive."""

    #: Slots that are planned at once, the first time and at most: fewer start sooner, more are more even.
    window: int = 100
    most_window: int = 1000
    #: Reserves of each slot, and how much each counts against its hazard, in cases.
    reserves: int = 5
    reserve_share: float = 0.2
    #: Cases of a hazard that the assignment of a window may choose besides an even share.
    copies: int = 4
    #: What it counts against a pair that no control object looks alike, in cases of its hazard.
    unlike: float = 3.0
    #: What it counts against a pair that the hazard is in view or in motion early.
    early: float = 0.6
    #: Where the paper's protocol asks for no band, m/s^2.
    any_decel: tuple[float, float] = (0.3, 20.0)


PLAN = PlanSettings()
