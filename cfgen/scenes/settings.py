"""The tuned numbers of scenes, each with its unit, what it was tuned on, and what changes when it moves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class UnknownCameraSettings:
    """A camera that nobody calibrated. Tuned on the development half of the foreign frames (tools/foreign_frames)."""

    #: what is usual: horizontal field of view, degrees, and height, m; and how far off, as shares of the frame's height
    #: and of the usual height, a horizon and a height are that nobody tells
    fov_deg: float = 60.0
    height_m: float = 1.4
    row_error: float = 0.06
    height_error: float = 0.4
    #: heights in which the camera of a road vehicle stands, m: what is said beyond them is not believed
    heights_m: tuple[float, float] = (1.0, 3.0)
    #: lane lines that say more of the yaw, degrees, are those of another road, a forecourt or a car park's bays
    most_yaw_deg: float = 15.0
    #: cameras that look down more, degrees, see no road that anything stands on
    most_down_deg: float = 40.0
    #: standard errors of lane lines' horizon, deg, at best, and of a height by the own lane's width, as a share: lanes
    #: are not all as wide; and how often two clear lines are not those of one lane
    lines_deg: float = 0.3
    lines_height: float = 0.12
    other_lane: float = 0.1
    #: the horizon is so far above the far end of the road that is seen, and that much off, as shares of the frame's
    #: height; and how often something hides that end, or it is a crest
    above_end: float = 0.05
    end_error: float = 0.03
    hidden_end: float = 0.25
    #: how far the ground far off tilts against that under the camera, rad
    tilt: float = 0.012
    #: a value that weak clues have moved so far, as a share of the frame's or the usual height, is no mere guess
    moved: float = 0.01
    #: lane lines and sizes of things disagree that tell heights further apart than this factor, where sizes know it so
    #: well (relative error)
    disagree: float = 1.2
    sizes_know: float = 0.28
    #: pixels along a side below which a picture shows nothing of a road
    least_px: int = 32


@dataclass(frozen=True)
class CheckSettings:
    """When ``cfgen scenes check`` warns. Tuned on the data sets that readers import."""

    #: shortest history and future, s: what planners see, and Waymo's whole future
    history_s: float = 1.9
    future_s: float = 4.9
    #: a single speed may differ from what the poses around it say by so much, m/s, or by this share of it
    jump_mps: float = 0.3
    jump_share: float = 0.03
    #: a gap between frames from here on, s: planners ask for frames at uneven times
    frame_gap_s: float = 0.4
    #: mean absolute difference, grey levels, below which a moving car's frame is a repeat
    same_pixels: float = 0.4
    #: share of annotated and seen road that is both, below which they disagree: of 33 demo scenes the least was 0.43;
    #: with the road 10 m aside the median was 0
    least_overlap: float = 0.3
    #: frames of a scene that the calibration is held against, s
    calibration_times: tuple[float, ...] = (0.0, -1.0, -2.0)
    #: a stated angle that is off by more, deg, is told; and by how much a driver's path blurs the yaw, deg a scene
    pitch_off_deg: float = 0.5
    wander_deg: float = 1.0


@dataclass(frozen=True)
class PositionTrackSettings:
    """From satellite fixes, or from nothing, to motion. ``smooth`` was tuned on Udacity's HMB_1 (docs/scenes.md)."""

    #: weight of a smooth way against fixes that are some 0.5 m off: what is slower than half a second is kept
    smooth: float = 0.1
    #: below this speed, m/s, the direction of travel is noise, and the last one is kept
    moving_mps: float = 1.0
    #: a single fix that is reached and left faster than this, m/s, is none: no car
    leap_mps: float = 150.0
    #: a way shorter than this, m, does not tell how two worlds are turned against each other
    turning_m: float = 20.0
    #: receivers tell a fix a second: what they lack at either end of a video is told from here on, s
    short_s: float = 1.5
    #: what is taken where nothing moves that could be measured, m/s
    usual_mps: float = 10.0


@dataclass(frozen=True)
class ShowSettings:
    """What drawings of scenes look like. Nothing but them changes."""

    #: half of the width of the corridor along the path, m, and where distances stand beside it, m
    half_width_m: float = 1.0
    marks_m: tuple[int, ...] = (5, 10, 20, 30, 50, 80)
    #: of the page: width of front frames and of the others, px
    frame_px: int = 960
    thumb_px: int = 320


CHECK = CheckSettings()
MOTION = PositionTrackSettings()
SHOW = ShowSettings()
UNKNOWN_CAMERA = UnknownCameraSettings()
