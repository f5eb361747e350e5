"""The tuned numbers of the judges."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ChangeSettings:
    """What counts as the one new element between two frames; tuned on painted objects in frames of Udacity's HMB_3."""

    #: of 255: smallest difference where nothing else differs, and where compression leaves noise; lower: noise counts
    exact_difference: float = 5.0
    noisy_difference: float = 12.0
    #: times the pair's median difference; lower: JPEG blocks count as a change
    noise_factor: float = 8.0
    #: of 255, after blurring: an object keeps it, grain and resampling do not
    coarse_difference: float = 8.0
    #: of the frame: smallest change, and the largest that can still be one element
    least_share: float = 6e-5
    most_share: float = 0.5
    #: of the object's height in the picture: in its lowest part a shadow can lie beside it
    foot: float = 0.15
    #: of the changed pixels: with fewer left once shadow is taken off, all of it counts as the object
    least_body: float = 0.15
    #: m: beyond it a pixel row spans too much road to place anything
    farthest_m: float = 150.0
    #: s before t0 from which on history frames tell how it moves; longer: what set out late counts as slower
    past_s: float = 1.05
    least_span_s: float = 0.2
    #: of the change's 95th percentile: what differs strongly; share of a row or column that makes it part of the change
    strong_share: float = 0.2
    strong_line: float = 0.05
    #: px by which a change's edges are uncertain, m/s below which it stands whatever pixels say, and share by which its
    #: distance is uncertain; lower: what stands seems to move along the line of sight
    foot_px: float = 3.0
    least_mps: float = 0.5
    distance_share: float = 0.12


@dataclass(frozen=True)
class MotionSettings:
    """How two plans are told apart and held against a place; tuned on the tuning half of ``scenarios/probes``."""

    #: below these, two plans look alike on the plots: m along, as a share of the way, m beside, m/s
    same_along_m: float = 0.8
    same_along_share: float = 0.015
    same_beside_m: float = 0.25
    same_speed_mps: float = 0.6
    #: m/s shed and m held back that make it braking
    brake_mps: float = 1.0
    brake_m: float = 0.8
    #: m: overlap this small is within what pixels can tell
    touch_m: float = 0.2
    #: m passed farther from the place that make it steering away
    away_m: float = 0.25
    #: m passed closer to the place that make it turning towards, with more than `arrival_turning` of its speed left
    towards_m: float = 0.5
    arrival_turning: float = 0.3
    #: share of the original's speed left on contact, and s of delay there, that make braking too late: 0.9 and 0.03 s
    #: are left of braking in the last moment, 0.9 and 0.15 s of shedding a tenth early
    arrival: float = 0.85
    delay_s: float = 0.1
    #: m/s: slower at its end a plan comes no nearer
    stands_mps: float = 0.5


@dataclass(frozen=True)
class DrivableSettings:
    """When a plan can be no response; tuned on scrambled, zigzag and off-road plans over 40 drives."""

    #: m ahead: nearer a plan has hardly left its lane, and farther a car is a few pixels
    nearest_m: float = 5.0
    farthest_m: float = 50.0
    #: m beside the original way that are as good as on it
    beside_m: float = 1.5
    #: m nearer to its way at which there must be no road, either, and beyond the polygons of a map: shoulder and verge
    verge_m: float = 1.5
    #: share of the ground under the car seen as road: off it, and, on the original way, known to be seen
    off_road: float = 0.15
    on_road: float = 0.7
    #: waypoints off the road that make a plan leave it
    least_waypoints: int = 3
    #: no lane of the car's own road lies so far to the side, m; nor is it crossed so steeply, rad, once so far off, m
    far_aside_m: float = 10.0
    steep: float = 0.7
    aside_m: float = 5.0


CHANGE = ChangeSettings()
MOTION = MotionSettings()
DRIVABLE = DrivableSettings()
