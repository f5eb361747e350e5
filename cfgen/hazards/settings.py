"""The tuned numbers of hazards, each with its unit and what it decides."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PoseSettings:
    """Which poses are tried. Tuned on the known real drive and the demo scenes: wider bounds try more
    places that later tests refuse, narrower ones leave scenes without a place."""

    #: Width of a lane where the scene does not say, m (``extra: lane_width_m``).
    lane_width_m: float = 3.5
    #: From the ego origin to the car's nose, and from there to where it should stop short, m. Braking begins after
    #: this, s.
    nose_m: float = 3.8
    short_of_m: float = 2.0
    reaction_s: float = 0.5
    #: Nearer than this to the collision, s, nobody could answer in time.
    least_ttc_s: float = 2.0
    #: Where the band would put a hazard farther than this, m, it is hardly seen: a harder response is allowed, up to
    #: this, m/s^2.
    in_sight_m: float = 60.0
    most_decel: float = 6.0
    #: Annotated lanes count up to here along the path and to either side of it, m.
    lanes_to_m: float = 40.0
    lanes_aside_m: float = 14.0
    #: Poses tried for each zone, and for a control object beside the road.
    tries: int = 64
    tries_harmless: int = 256
    #: Motor vehicles ahead drive at up to this share of the own speed.
    fastest: float = 0.6
    #: Share of poses on the kerb's side, away from oncoming traffic.
    kerb_side: float = 0.7
    #: What is harmless stands at most this far off the lane's edge, m.
    farthest_beside_m: float = 7.0
    #: What stands beside the lane reaches at least this far into it; what parks is tried up to this far off
    #: the road's edge, m.
    least_inwards_m: float = 0.3
    most_off_edge_m: float = 0.5
    #: A single line that puts the lane's middle further off the path, m, is not the own lane's.
    most_off_m: float = 0.8
    #: A single line on the kerb's side this near to the path, m, runs under the car: the own lane may lie on
    #: either side.
    under_m: float = 1.0
    #: Slower objects ahead are only in the way below this share of the ego speed.
    slower: float = 0.7
    #: What drives along the lane swerves by at most this in 2 s, m. Largest turn off the way that things face,
    #: rad.
    straight_m: float = 0.1
    yaw: float = 0.12
    #: Objects longer than this, m, cannot stand at any angle in a lane.
    long_m: float = 3.0


POSES = PoseSettings()


@dataclass(frozen=True)
class PlacementSettings:
    """What must hold at t0. Tuned on the known real drive (72 scenes) by looking at what was placed:
    stricter numbers lose places, looser ones draw hazards over kerbs, verges and nearer vehicles."""

    #: Planners shrink a frame to at most this many pixels; the area of a box there, and its shorter side, are
    #: at least:
    planner_pixels: int = 196608
    min_area_px: float = 90.0
    min_side_px: float = 5.0
    #: Share of the projected box that lies in the frame: of what stands, and of what comes in from outside or stands
    #: beside the road.
    inside: float = 0.9
    inside_entering: float = 0.6
    #: Share of the footprint on clear road: of a hazard, and of a harmless object, which may stand on the
    #: verge.
    clear: float = 0.88
    clear_harmless: float = 0.35
    #: Ends of a footprint may have this much less clear road than the whole: a nearer car may hide one.
    end_slack: float = 0.25
    #: Road darker than this (8 bit) shows nothing that is put on it.
    min_brightness: float = 7.0
    #: A strip from and to this far beyond what stands beside the road, m, and the most of it that may be clear
    #: road.
    beside_m: tuple[float, float] = (0.4, 2.6)
    most_beside: float = 0.8
    #: Within so much of where colours are looked at, m, nothing is known of what lies beyond.
    unknown_m: float = 3.8
    along_m: tuple[float, float, float] = (20.0, 30.0, 40.0)
    #: Cells of the map of free placements, m along and across, and how far it reaches to either side and ahead, m;
    #: finer ones tell no more than a frame's pixels do. Points of a footprint that are looked up, along and across.
    cell_m: tuple[float, float] = (0.5, 0.25)
    aside_m: float = 14.0
    ahead_m: float = 115.0
    points: tuple[int, int] = (7, 7)
    #: The verge beside an annotated road is taken for free ground up to here, m; beside one that is seen, up to here.
    verge_m: float = 2.5
    verge_seen_m: float = 1.0
    #: A control object's distance and area may differ from the hazard's by this share; and by how much a place where
    #: one looks alike is preferred, in the score of placements and in m/s^2.
    alike: float = 0.3
    prefers_alike: float = 2.0
    #: Where one looks alike nowhere, it is looked for from here on, m.
    nearest_m: float = 8.0
    #: What has been in view or in motion for this long, s, came late; and by how much what crosses and sets off late is
    #: preferred, in the same scores.
    late_s: float = 1.0
    prefers_late: float = 1.0
    #: A strip along what parks, from and to this far beyond its outer side, m, and the most of it that may be
    #: road: the road's edge is then 1.5 m off at most.
    parked_m: tuple[float, float] = (0.5, 2.5)
    most_parked: float = 0.5
    #: Nobody parks and no child plays on a motorway: roads on which the car is faster, m/s, or that the scene
    #: calls so.
    motorway_speed: float = 25.0
    #: Share of what stands beside the road that may be on it.
    most_on_road: float = 0.25
    #: Of so many hazards a placement is looked for in each scene, with so many tries: more need longer and leave the
    #: plan more to choose from.
    surveyed: int = 18
    survey_tries: int = 4
    #: So many placements are enough, of a hazard and of its control object; so many are tried against their past.
    candidates: int = 3
    controls: int = 5
    most_tried: int = 12
    #: Things may be drawn in another size by this share, as far as the road's rise and fall over the last
    #: metres goes on.
    most_off_size: float = 0.3
    #: Lines that leave the guessed way may be a little short, m.
    bends_slack_m: float = 1.0


PLACEMENT = PlacementSettings()


@dataclass(frozen=True)
class HistorySettings:
    """What must hold in the 2 s before t0. Tuned on the known real drive's past frames: stricter numbers
    lose places, looser ones let hazards pop in, or stand where something drove."""

    #: What shows less of its box than this, px^2 at the planner's size, need not show.
    small_px: float = 12.0
    #: Less of its box than this in the frame: it is coming in at the frame's side, and need not be on clear
    #: road.
    coming_in: float = 0.6
    #: The longest that something that crosses may have been on its way, s; before, it waited at the road's
    #: edge.
    longest_s: float = 2.0
    #: The road's edge is looked for along its way in such steps, m: so much on from there hardly any is road.
    edge_step_m: float = 0.1
    beyond_m: float = 0.8
    most_beyond: float = 0.2
    #: The edge of the road, not of a view that ends early, is at most so far within the line that it is to be
    #: beyond, m.
    within_line_m: float = 0.4
    #: What waits stands so far beyond that line, m. Share of where a rider comes from that is road, or as
    #: flat.
    beyond_line_m: float = 0.2
    flat: float = 0.5
    #: While it stands at the road's edge, road must be seen so far before it, m, or half its length: it is
    #: half beyond.
    before_it_m: float = 1.0
    #: A past frame needs this much less clear road than t0: there it is further away, and poses are less sure.
    slack: float = 0.15
    #: A car pitches by this much between frames, rad: road is looked for so far above and below a place too.
    pitch: float = 0.0035
    #: A ground point whose log brightness, green or blue changed by more than this since has something else on
    #: it.
    bright: float = 0.7
    green: float = 0.2
    blue: float = 0.5
    #: This share of such points under it, or just before it, says: something real was there.
    taken: float = 0.35
    #: How finely it is looked for along the lines of sight, m, and at how many points of the hazard's width.
    step_m: float = 1.5
    across: int = 9
    #: Ground closer to the camera than this is not looked at, m: nothing stands there.
    close_m: float = 5.0
    #: What hides it stands this much nearer at least, m: what is closer may have driven through its place.
    nearer_m: float = 5.0


HISTORY = HistorySettings()


@dataclass(frozen=True)
class OccupancySettings:
    """Whether a vehicle stood or drove there. Tuned on the known real drive: stricter numbers miss small
    vehicles, looser ones take shadows and patches for vehicles."""

    #: A car narrower than this share of the frame's height is too small for a detector; larger ones are made
    #: as small.
    small: float = 0.043
    #: The road before the place tells how road looks: from and to, as shares of the distance.
    before: tuple[float, float] = (0.55, 0.85)
    #: Its lower end is so much darker than that (log of 8 bit), and so many times as much as road strays.
    darker: float = 0.15
    strays: float = 2.5
    #: Added to 8-bit brightness before the logarithm: below it noise rules; darker road shows nothing.
    dark: float = 6.0
    night: float = 15.0
    #: It is dark over so much of its width, m, so much of it at the place; and goes on for so much upwards, m,
    #: of which such a share is no road.
    wide_m: float = 1.1
    shared_m: float = 0.4
    tall_m: float = 0.7
    upright: float = 0.6
    #: What is no road differs from it by so much (log), either way.
    other: float = 0.1
    #: Rows by which poses are off, px at 960 columns, and its distance as bumps and pitch have it, as a share.
    rows_px: float = 1.0
    along: float = 0.06
    #: Of that, at t0, whose frame says where the place is.
    now: float = 0.5
    #: By how much a vehicle's foot may be off to the side, m, which a vehicle may also pass by.
    aside_m: float = 0.4
    #: Who stands there, this high and at most this wide, m, is not driven past by less than this, m.
    person: tuple[float, float] = (0.9, 1.2)
    passed_by_m: float = 0.4
    #: Where the motion is a guess, the way ahead is off by this angle, rad.
    guessed: float = 0.05
    #: What is less than so far beyond it, m, has just driven off it.
    just_off_m: float = 4.0
    #: A vehicle ahead drives as fast as the own car: where there is no past frame, it was where it drove so
    #: long before, s.
    before_s: float = 2.0
    #: Room around a vehicle, m, as its speed is not constant. What is slower than this, m/s, has driven off
    #: nothing.
    room_m: float = 0.3
    stands: float = 0.5
    #: Share of a hazard's box that a nearer vehicle covers when it hides it whole.
    whole: float = 0.98


OCCUPANCY = OccupancySettings()
