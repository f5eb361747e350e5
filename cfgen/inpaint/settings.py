"""The tuned numbers of inpaint, each with its unit and what it decides."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class LightSettings:
    """How the light in a frame is estimated. Tuned on the frames of the known real drive and stills of
    other cameras, by vehicles beside the insert: the comments say what each decides."""

    #: The frame is looked up at this width, pixels: mirrors in traffic are bent and dirty.
    width: int = 160
    #: What is full in the frame is so many times as bright in truth.
    full: float = 0.95
    brighter: float = 2.5
    far: float = 10000.0
    #: Columns over which what is mirrored runs together: a seam beside what a narrow frame shows would cut a
    #: hood in two.
    seam: float = 3.0
    seam_reach: int = 10
    #: Albedo of worn asphalt, and how far (natural log) roads stray from it.
    asphalt: float = 0.12
    asphalt_spread: float = 0.4
    #: Typical camera contrast (exponent about the road), that of one whose pictures clip, and how far it
    #: strays; shares of full pixels between which it goes from the one to the other.
    contrast: float = 1.1
    steep: float = 1.6
    contrast_spread: float = 0.1
    clipped: tuple[float, float] = (0.003, 0.009)
    #: Albedo of the whitest things; what is added may be so much brighter than the brightest that the frame
    #: shows below the horizon (percentile), and is held to no less than the lowest level.
    whitest: float = 0.8
    over: float = 1.15
    brightest: float = 99.8
    least_peak: float = 0.4
    #: Least of a sun's light that reaches what stands up.
    least_facing: float = 0.3
    white_spread: float = 0.35
    #: Share of the pixels that whites are; level from which one may be burnt out, and the power with which
    #: levels thin out, so that more of them burnt out tells of brighter whites.
    whites: float = 0.015
    burnt: float = 0.96
    tail: float = 0.35
    #: Probability of sun in the hazard's place from which it counts, and from which it counts in full: between
    #: the two it is taken for one behind thin cloud, which errs less either way than all or nothing.
    hazy: float = 0.35
    clear_sun: float = 0.6
    #: A sun whose side is not sure stands this far at least off the line to the camera, along which shadows
    #: hardly show.
    aside: float = math.radians(20)
    #: Most that bright surroundings add to the sky's light on what stands up.
    most_bounce: float = 1.9
    #: Distance taken for what stands along the horizon, m, and extinction of clear air, 1/m.
    far_m: float = 120.0
    clear: float = 0.0003
    #: How much more of a camera's contrast what is brighter than the road gets: curves bend where it is dark.
    brights: float = 1.4
    #: Level of the brightest tenth above the horizon from which it is day, and how much light is left at night
    #: at least; share of the frame above the horizon that tells. By day it was 0.42 or more in 142 frames,
    #: woods included.
    day_sky: float = 0.3
    night: float = 0.05
    above: float = 0.05


LIGHT = LightSettings()


@dataclass(frozen=True)
class OpticsSettings:
    """Sharpness, grain and mosaic of a frame. Tuned against real vehicles in the same places of the known
    real drive: larger blur makes inserts softer than they are, larger grain rougher."""

    #: Blur that rendering and resampling leave in a sprite, pixels, against vehicles in the same places.
    own_blur: float = 0.53
    probe: float = 1.0
    #: Variance that matters, pixels squared, and most that is undone.
    least_missing: float = 0.0225
    most_sharpened: float = 0.5
    #: Variance that codes are blurred by, against light: as vehicles in frames without a mosaic have it.
    in_codes: float = 0.5
    #: Motion over less than this, pixels, shows no blur.
    still: float = 0.5
    #: Pictures of fewer pixels a side show neither sharpness nor grain.
    smallest: int = 32
    #: Edges that blur is measured on, percentiles of all and of those of one direction, and how many it takes.
    strong: float = 98.5
    strong_of_alike: float = 97.0
    enough: int = 50
    #: How much blurrier edges of one direction are than the others in a shaken picture.
    shaken: float = 1.6
    #: Levels between which blocks tell of grain, codes.
    telling: tuple[int, int] = (20, 235)
    #: Variance that the gradient filter itself adds to an edge.
    filter: float = 0.5
    #: Detail counts up to this much, codes: a few strong edges do not decide.
    most_bend: float = 40.0
    #: Share of the pixels that are full from which a sensor clips and does not bend its highlights; code of a
    #: full one.
    clipping: float = 0.006
    full: int = 250
    #: Light beyond a full well that spills, in full wells, its share, and how far, as a share of the frame's
    #: width.
    spill_most: float = 4.0
    spill: float = 0.06
    spill_reach: float = 0.004
    #: Blur of bilinear demosaicing, pixels.
    mosaic_blur: float = 0.25
    #: Gain of colour differences from a sensor's to the picture's.
    matrix: float = 1.8
    #: What demosaicing leaves of the grain of brightness.
    left: float = 0.5


OPTICS = OpticsSettings()


@dataclass(frozen=True)
class ToneSettings:
    """How drawn light becomes a picture. Tuned against real vehicles in the frames of the known real
    drive."""

    #: Share of the frame's brightest from which highlights are compressed, as film and sensors do, instead of
    #: clipped.
    knee: float = 0.7
    #: Most of it, less 1, that dark hair and clothes get: it stands for gloss as well, and they scatter.
    coats: float = 0.2
    #: Most contrast that shadows get: that of things in pictures that clip stands for gloss as well, which
    #: roads lack.
    shadows: float = 1.2
    #: What is lower than this, m, lies in the road.
    stands: float = 0.32
    #: How much of its matt picture's light water gives back from below its surface.
    water: float = 0.65
    #: Daylight below which cameras expose for the night, and how much further light then spills.
    dark: float = 0.5
    glare: float = 2.0
    #: How long the shutter is taken to be open, s: cameras in cars expose by day for 2 to 10 ms.
    shutter_s: float = 0.005
    #: Blur of a null edit, pixels, and share of the frame's grain that is drawn anew: the two leave as much as
    #: there was.
    null_blur: float = 0.45
    fresh: float = 0.45
    #: Colours may be so many times as strong as the frame's most vivid ones, at least so many codes; share of
    #: that from which they are held back; pixels over which colour is a surface's.
    vivid: float = 1.1
    vivid_least: float = 30.0
    vivid_bend: float = 0.7
    vivid_area: float = 1.5


TONE = ToneSettings()


@dataclass(frozen=True)
class SpriteDrawingSettings:
    """How sprites, fires and lamps are drawn. Tuned by looking at night and day frames."""

    #: Oversampling of ground pictures across and down: the ground is seen at a grazing angle.
    across: int = 2
    down: int = 4
    #: Radiant intensity from which a thing lights the road around it: flames, not lamps; how far, m; cells a
    #: side.
    fire: float = 1.5
    fire_reach: float = 9.0
    fire_cells: int = 180
    #: Image level that lamps give a unit of their radiance in the dark.
    lamp: float = 0.6
    #: Most that lamps light the road around them in the dark, in the same unit.
    lamps: float = 2.0
    #: Image level that flames of radiance ``_HOT`` get for a unit of it, at least and at most.
    flame: tuple[float, float] = (0.5, 0.65)
    hot: float = 0.7
    #: Alpha from which on a pixel shows something solid; smoke is where little of what is near is (share of
    #: the view).
    solid: float = 0.95
    thin_reach: float = 0.16
    #: Share of a view that is smoke or flames from which on depths in it mean little.
    hollow: float = 0.15
    #: Around the foot the ground is taken as far as this share of the distance, or less where the lens sees
    #: less.
    ground: tuple[float, float, float, float] = (0.2, 0.1, 0.05, 0.02)


DRAWING = SpriteDrawingSettings()


@dataclass(frozen=True)
class ReflectionSettings:
    """Sheen of a dry and wet road, and water on it. Sheen was tuned under vehicles on overcast frames of
    the known real drive, water by looking."""

    #: Share of the sky's light on a road that is sheen, of dry and of wet asphalt under cloud seen at 2 to 6
    #: degrees.
    share: float = 0.42
    wet_share: float = 0.75
    #: How far down the mirror image goes before it is lost, on a dry and on a wet road, and how far it is
    #: blurred, as shares of a thing's height.
    reach: float = 0.22
    wet_reach: float = 0.8
    blur: float = 0.035
    #: Rows over which an edit fades out at the edge of where it may change.
    rim: int = 4
    #: Columns, as a share of the width, over which what stands deepest is the foot.
    feet: float = 0.15
    #: Reflectance of water seen from straight above.
    straight: float = 0.02
    #: Ripples are seen on the side they turn to the camera: by this much (radians) steeper than still water
    #: would be.
    turned: float = 0.03
    #: Mean slope towards the camera (radians) of the sides that are seen so, where wind ruffles some of the
    #: water: they mirror what stands higher, so that a film before a wood is no dark stain.
    lean: float = 0.05
    #: Slope (RMS, radians) of the ripples too small to be seen one by one; they blur what is mirrored up and
    #: down.
    fine: float = 0.007
    #: Share of its colour that what is mirrored loses: mud and scum on the water are grey.
    murky: float = 0.3
    #: What is brighter than so many times the road is held back, as in a picture exposed for it all.
    glare: float = 3.0
    #: How far off what is mirrored stands, m, and how many times as far as the water at least.
    far: float = 70.0
    beyond: float = 3.0


REFLECTION = ReflectionSettings()


@dataclass(frozen=True)
class SurfaceSettings:
    """How surfaces shine and what is body paint or a pane. Tuned on the sprites that ship, against path-
    traced pictures of them."""

    asphalt: float = 0.1
    #: Reflectance at normal incidence of clear coats, glass and plastic (refractive index 1.5).
    f0: float = 0.04
    #: GGX width of the sun's highlight on the smoothest surface, and what roughness adds: broader than it is,
    #: since the normals are those of 2x2 pixels, as bright in all.
    sharpest: float = 0.085
    rougher: float = 0.5
    #: Most that a highlight adds, in white cards that face the sun: more burns jagged edges.
    brightest: float = 4.0
    #: Most light, in white cards, that something mirrored sends.
    mirrored_most: float = 2.0
    #: Metal flakes in paint: a broad lobe about the sun's highlight in the paint's colour, as a share of the
    #: square root of what is matt, its GGX width squared, and from what gloss on.
    flakes: float = 0.5
    flakes_wide: float = 0.12
    coat: float = 0.8
    #: Lamps and plates, smooth and bright but no coat, turn the sun's light back: gain of their albedo over so
    #: much.
    turned_back: float = 3.0
    bright: float = 0.2
    #: Gloss between which what is bright is a coat or a mirror, no lamp.
    mirror: tuple[float, float] = (0.68, 0.8)
    #: Metres from which on what is bright and smooth is no lamp or plate: both ways, and one way.
    panel: tuple[float, float] = (0.3, 0.75)
    #: Radiance of the sunlit skyline that shiny surfaces mirror, and up to which sine of elevation it stands.
    skyline: float = 0.06
    skyline_top: float = 0.12
    #: Share of the height from which on (in all: over which it sets in) dark things without gloss are panes;
    #: albedo and gloss below which they are; gloss of a pane, whose two faces mirror.
    waist: tuple[float, float] = (0.48, 0.54)
    pane_dark: float = 0.05
    pane_matt: float = 0.25
    pane: float = 1.3
    #: What is seen through a pane is at most this wide, share of the picture's height, and so much darker than
    #: in the open.
    behind: float = 0.2
    shaded: float = 0.97
    #: Gloss between which a coat sets in; over how many pixels normals are evened out; how much of what
    #: mirrors was told as matt; least of its brightest channel that every channel keeps.
    shines: tuple[float, float] = (0.3, 0.6)
    even: float = 1.5
    told: float = 0.8
    left: float = 0.05
    hair: float = 0.03


SURFACE = SurfaceSettings()


@dataclass(frozen=True)
class ReprojectionSettings:
    """How a stored view is seen from another place. Tuned on the sprites that ship: finer is slower,
    coarser leaves holes."""

    #: Points a target pixel, across and down: fewer leave cracks where a surface turns towards the camera.
    density: float = 1.3
    #: Parallax within the object below which all of it moves as one sheet, pixels.
    flat: float = 0.75
    #: Parts this far apart are two, m; what is around the object comes this far behind it.
    step: float = 0.25
    rim: float = 0.2
    #: Most points in all: what is nearer than that is drawn more coarsely.
    most: float = 1.6e7
    #: Levels of nearness that points are sorted by, and rounds of closing cracks, a pixel to each side.
    levels: int = 4000
    rounds: int = 2


REPROJECTION = ReprojectionSettings()


@dataclass(frozen=True)
class AlignmentSettings:
    """How far a redrawn crop may be off the original. Tuned on answers of image services and of diffusion
    models: looser bounds let a shifted or recoloured road through."""

    #: A pixel has changed visibly when its largest channel moved by more than this (8 bit).
    visible: int = 10
    #: Registration is done on at most this many pixels a side.
    side: int = 512
    #: What counts as a believable residual: share of the side that it shifted, change of scale, degrees that
    #: it turned, correlation reached.
    max_shift: float = 0.06
    max_scale: float = 0.06
    max_turn: float = 5.0
    min_correlation: float = 0.6
    #: A correction must lower the drift outside the mask to this share of what it was.
    gain: float = 0.97
    #: Surroundings needed to measure anything: share of the crop.
    least_surroundings: float = 0.1
    #: Bounds of a tone correction: contrast, and what it adds to the middle tone (8 bit).
    tone_factor: tuple[float, float] = (0.8, 1.25)
    tone_shift: float = 50.0
    #: The mask's own neighbourhood tells nothing: what was added reaches into the flow there, pixels.
    rim: int = 6
    #: A tile is judged where so much of it lies in the ring, and where its weaker gradient, mean of squares (8
    #: bit), is strong enough to hold on to.
    least: float = 0.5
    texture: float = 5.0
    #: A flow is believed where it lowers the difference to this share: noise and new detail have a flow as
    #: well.
    explained: float = 0.75
    #: Median shift of a tile that is still none: share of the crop's longer side, and least pixels.
    max_tile_shift: tuple[float, float] = (0.005, 1.5)


ALIGNMENT = AlignmentSettings()


@dataclass(frozen=True)
class GuideSettings:
    """How much of a guide's insert is repainted. Tuned on the demo scenes: more is freer and keeps less of
    size and pose."""

    #: How much of an insert is repainted where neither the hazard nor its taxonomy file says so (``repaint``).
    default_repaint: float = 0.45
    #: Width of the ring around the insert that is repainted with it: share of the object's height, and bounds
    #: in pixels.
    ring_share: float = 0.05
    ring_px: tuple[float, float] = (4.0, 24.0)
    #: Coverage from which on an insert is an object that has a ring, and from which on it is a shadow worth
    #: repainting.
    solid: float = 0.5
    shadow: float = 0.03
    #: Pixels of untouched picture that the mask holds around all that: gates look there for a shift of tone.
    margin: int = 9


GUIDE = GuideSettings()


@dataclass(frozen=True)
class CanvasSettings:
    """How a crop comes to a model's canvas and back."""

    #: Keeps detail that interpolation cannot carry from being blown up on the way back.
    ridge: float = 0.001
    #: Pixels around the mask that tell nothing of the tone: what was painted rings and spills there.
    near: int = 3
    #: Largest correction of a model's tone at the mask's border, 8-bit levels.
    most: float = 16.0
    #: Rounding to whole cells changes the proportions: the second or third size stays as it is.
    most_rounds: int = 8


CANVAS = CanvasSettings()


@dataclass(frozen=True)
class AnswerSettings:
    """How an image service's answer is laid over the crop. Tuned on recorded answers: looser bounds keep
    more of the redrawn road."""

    #: A small crop is enlarged at most this much: beyond it there is nothing to see.
    max_enlarge: float = 4.0
    #: An answer's width over height may differ this much from what was sent and still count as the same shape.
    same_shape: float = 0.02
    #: Difference (8 bit) from which on a pixel may belong to what was added, at least and at most.
    least: float = 8.0
    most: float = 40.0
    #: The threshold against the difference that redrawing left around the mask (its 95th percentile).
    above_noise: float = 1.6
    #: Gaps up to this share of the mask's longer side are closed; specks below this share of its area are
    #: dropped.
    gap: float = 0.03
    speck: float = 0.004
    #: Below this share of the mask nothing was added.
    min_share: float = 0.004
    #: An answer smaller than this, or larger, is none, pixels a side.
    least_side: int = 64
    most_side: int = 8192


ANSWER = AnswerSettings()
