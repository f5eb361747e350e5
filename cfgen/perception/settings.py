"""The tuned numbers of perception, each with its unit, what it was tuned on, and what changes when it moves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LaneLineSettings:
    """How lane lines are fitted. Tuned on lines painted through five lenses and on 57 foreign frames."""

    #: px below the horizon under which a line's offset is less than a pixel: nearer points tell nothing
    margin_px: float = 4.0
    #: residual from which a point is not the road's, px; larger lets kerbs and poles count
    outlier_px: float = 2.5
    #: how far a line's middle is off at best, px: the floor of all errors
    noise_px: float = 0.7
    #: a line's points stray together: so many count as independent; more makes the pitch look surer
    independent_points: float = 6.0
    #: D of a bend of 75 m radius seen from 1.5 m: sharper ones are taken for a turn of the camera
    typical_bend: float = 0.01
    #: camera heights within which two lines are parts of one
    same_line: float = 0.3
    #: narrowest and widest own lane, camera heights: others are no lane
    lane_ratio: tuple[float, float] = (1.6, 4.0)
    #: standard error of the pitch, deg, and rows that lines cover, share of the frame's, which halve the confidence
    half_error_deg: float = 0.35
    half_rows: float = 0.06
    #: share of the lines' points that agree: none of it counts, all of it counts
    agree: tuple[float, float] = (0.35, 0.75)
    #: share of the confidence left where road is seen above the horizon, and where but two lines agree: two always do
    road_above: float = 0.3
    only_two: float = 0.8
    #: road so far above the horizon, share of the frame's height, counts as above, and from this share of all road on
    above: float = 0.02
    #: a road that bends more, 1/m, or whose direction is less sure, deg, is no measure of yaw
    straight: float = 1 / 500
    sure_yaw_deg: float = 0.5


@dataclass(frozen=True)
class SizeSettings:
    """What is known of the sizes of cars and people. Sizes and how they stray are those of European and US fleets."""

    #: how far (log) real ones stray: a car's width, its flank, its height, a person's height
    width_strays: float = 0.07
    flank_strays: float = 0.2
    height_strays: float = 0.12
    person_strays: float = 0.12
    #: how wide, in heights, a car is from behind; and how high, in widths, a person that stands
    aspect: tuple[float, float] = (0.85, 1.75)
    upright: float = 1.7
    #: width and height that disagree by more (log) are not those of a car as it stands along the road
    disagree: float = 0.35
    #: smallest box side, and how far edges are off, px; share of a box over which a nearer one hides its foot
    smallest_px: float = 12.0
    edge_px: float = 1.5
    hidden: float = 0.15


@dataclass(frozen=True)
class CameraSettings:
    """How what is seen is weighed against what is stated or usual. Tuned on HMB_3 and 57 foreign frames."""

    #: relative standard error of a size that the camera fit adds; how often a thing is no car or person on the road
    size_strays: float = 0.12
    size_astray: float = 0.2
    #: what is astray is off by so many times its error
    far_off: float = 8.0
    #: how much further than its error, in these, a value is sought
    reach: float = 3.5
    #: who tells a value leaves its variance so many times as large when left out
    decides: float = 1.15
    #: standard errors: of a stated pitch in a single frame, and of that of its lane lines at best, deg
    stated_deg: float = 1.0
    lines_deg: float = 0.2
    #: by how much a road's slope changes, deg/s: how fast neighbouring frames stop to tell
    drift_deg_s: float = 1.0
    #: lowest confidence of lane lines that count as sure
    sure: float = 0.55
    #: how far the median of a drive's frames may be unsure, deg, for half the confidence; error of a pitch at best, deg
    half_spread_deg: float = 0.5
    floor_deg: float = 0.15
    #: widths of lanes, m: beyond them lines alone are believed; fewest frames that tell of lanes, or of cars
    lanes_m: tuple[float, float] = (2.5, 4.2)
    fewest: int = 4
    #: how far (log) all lanes, or all cars, of a drive may differ from what is usual; cars up to here count, m
    lanes_differ: float = 0.12
    cars_differ: float = 0.06
    far_m: float = 80.0
    #: what is off by more than so many errors is off; by more than so many times, absurd
    off: float = 2.0
    absurd: float = 1.6
    #: most relative standard error of the size of what is drawn, and the distance, m, at which a scene must keep to it
    most_error: float = 0.2
    near_m: float = 12.0


@dataclass(frozen=True)
class PastCameraSettings:
    """How past frames' cameras are held to t0. Tuned on the hills of HMB_3."""

    #: frames farther apart, s, show too little of the same; fewer points in both leave the turn to the poses
    gap_s: float = 0.35
    fewest_points: int = 60
    #: a turn that is off the poses' by more between two frames, or pitches in all so far off, deg, is another car's
    most_yaw_deg: float = 1.0
    most_pitch_deg: float = 3.0
    #: from so many frames and metres on they tell how the road curves up or down
    frames: int = 4
    driven_m: float = 10.0
    #: on a road that curves up or down by more, 1/m, lane lines tell the slope of the road far ahead, not of that on
    #: which things are put: there the stated pitch counts
    hill: float = 1 / 2500
    #: frames are looked at so wide, px
    width_px: int = 640


@dataclass(frozen=True)
class AnnotatedRoadSettings:
    """How an annotated road is laid into frames, and where its vehicles were before t0. Set by reason, not tuned."""

    #: cells of the ground, m: the width of a painted line; smaller ones cost memory. Polygons count within this, m
    cell_m: float = 0.1
    within_m: tuple[float, float] = (-200.0, 200.0)
    #: columns of the grid on which frames show it: as colours have it
    width_px: int = 320
    #: cuts through a vehicle beside the camera, of which those before it outline what is in view
    slices: int = 9
    #: what drives within this angle of the road, rad, and this near the own path, m, follows its bends
    parallel: float = 0.35
    beside_m: float = 20.0


@dataclass(frozen=True)
class NoRoadPictureSettings:
    """When a front frame is black or shows no road. Tuned on 152 road frames, and on rooms."""

    #: at which cfgen's own network looks, px
    size_px: tuple[int, int] = (320, 180)
    #: brightest hundredth (8 bit) of a picture that shows anything; median from which a road must be seen
    black: float = 16.0
    by_day: float = 50.0


@dataclass(frozen=True)
class LightEstimateSettings:
    """How the light is read off frames. Weights are log likelihoods, set on 66 demo frames of known suns and checked on
    72 of a real drive (see tools/light_fit); larger ones make the direction of more frames sure, and more of it wrong.
    """

    #: weights of the darker side, of the sky's slope, of shadows that all agree, and against a sun ahead, which glares
    dark_side: float = 1.4
    sky_slope: float = 2.5
    shadows: float = 10.0
    glare: float = 0.6
    #: weights of all clues together below which they are worth less
    enough: float = 0.3
    #: slope of a clear sky's log brightness that counts in full, 1/deg
    full_slope: float = 0.012
    #: metres of shadow edges that count half
    shadow_m: float = 40.0
    #: elevation taken for a sun that is out of view; lower ones throw longer shadows, which show more where wrong
    elevation_deg: float = 50.0
    #: what a neighbouring frame weighs, and the most that neighbours add to the log odds of hard shadows
    neighbor: float = 0.5
    neighbor_hardness: float = 3.0
    #: scenes before and after that are looked at, and the most of a drive that may be missing between two, s
    neighbors: int = 5
    missing_s: float = 5.0
    #: log odds of hard shadows, for each of ``hardness_signs``, and without any: 1.6 times the fit of tools/light_fit,
    #: so that dull frames stay below what a thin sun is drawn from; the most at night
    hardness: tuple[float, ...] = (7.2, 5.2, 1.6, 1.4, 2.0)
    hardness_bias: float = -2.6
    night_hardness: float = -3.0
    #: log odds of shade, set on real drives: how blue ground is, how far (log) below a white card, below lit road; 1
    shade: tuple[float, ...] = (4.0, 2.0, 3.0, -9.5)
    #: levels (linear) that four fifths, and nearly all, of a frame by night are below
    night: tuple[float, float] = (0.1, 0.5)
    #: half the width of the strip of road that is searched for shadows, and how far ahead it and edges are seen, m
    half_m: float = 1.5
    far_m: float = 60.0
    edges_m: float = 45.0
    #: from an edge to its bright and dark side, px of 640; the most that one pixel of it counts, m
    edge_px: float = 4.0
    edge_pixel_m: float = 0.5
    #: steps (log) from which an edge counts and counts in full, and the most; how much bluer than dark its shade is
    edge_step: tuple[float, float] = (0.3, 0.5)
    edge_most: float = 2.2
    edge_blue: tuple[float, float] = (0.09, 0.16)
    #: edges so near the road's direction may be seams, ruts and paint
    along_deg: float = 6.0
    #: hardness from which a road is less surely wet, and from which on it is dry
    dry: tuple[float, float] = (0.4, 0.6)
    #: correlation of what the road shows with what stands above it, from which it is wet, and surely wet
    mirror: tuple[float, float] = (0.42, 0.5)


LIGHT = LightEstimateSettings()
ANNOTATED = AnnotatedRoadSettings()
NO_ROAD_PICTURE = NoRoadPictureSettings()
LANE_LINES, SIZES, CAMERA, PAST_CAMERAS = (
    LaneLineSettings(),
    SizeSettings(),
    CameraSettings(),
    PastCameraSettings(),
)
