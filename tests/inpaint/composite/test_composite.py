"""The compositor on sprites that ship: metric scale, ground contact, light, repeatability."""

import math

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import at_pose, centre, mounted, project
from cfgen.geometry.frames import pose_at
from cfgen.inpaint.composite import sprites
from cfgen.inpaint.composite.draw import draw, draw_object
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.inpaint.composite.light import Light, estimate
from cfgen.inpaint.composite.optics import measure
from cfgen.inpaint.composite.reflections import reflection
from cfgen.inpaint.edit import EditJob, make_edits
from cfgen.inpaint.protocol import Setting
from cfgen.perception.linear_light import to_linear
from cfgen.records import Camera, Frame, Hazard, HazardMotion, Motion, Placement, Scene, Size

FRONT = ("front", 0.0)
TIMES = (-2.0, -1.5, -1.0, -0.5, 0.0)
PINHOLE = Camera(width=960, height=540, fx=900, fy=900, cx=480, cy=270, T_cam_ego=mounted(1.4, 0.02))
OPENCV = PINHOLE.model_copy(update={"model": "opencv", "distortion": (-0.25, 0.05, 0.0, 0.0, 0.0)})
FISHEYE = PINHOLE.model_copy(
    update={"model": "fisheye", "fx": 500.0, "fy": 500.0, "distortion": (0.02, 0.0, 0.0, 0.0)}
)


def make_hazard(model="cone", kind="hazard", variant="a", motion=None):
    length, width, height = sprites.load(model, variant).size
    return Hazard(
        id=model,
        kind=kind,
        name=model,
        cluster="Construction",
        why="it stands in the lane",
        size=Size(length=length, width=width, height=height),
        zones=("ego_lane",),
        model=None if kind == "null" else model,
        motion=motion or HazardMotion(),
    )


def make_placement(hazard, x=14.0, y=0.3, yaw=0.0, **more):
    return Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=yaw,
        size=hazard.size,
        distance_m=x,
        lateral_m=y,
        required_decel=3.0,
        foot_px=(0.0, 0.0),
        box_px=(0.0, 0.0, 1.0, 1.0),
        **more,
    )


def make_scene(camera=PINHOLE, **more):
    poses = tuple((8 * t, 0.2 * t, -0.03 * t) for t in TIMES)
    return Scene(
        scene_id="s",
        cameras=(camera,),
        frames=tuple(Frame(t=t, image="x.png") for t in TIMES),
        history=Motion(t=TIMES, poses=poses, v=(8,) * 5),
        **more,
    )


def make_road(camera=PINHOLE, grey=95, sky=(150, 180, 215)):
    """A plain road under a plain sky, with grain."""
    noise = np.random.default_rng(3).normal(0, 2, (camera.height, camera.width, 1))
    image = np.full((camera.height, camera.width, 3), grey, float)
    image[: int(camera.cy) - 10] = sky
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def make_light(**more):
    grey = np.full(3, 0.1, np.float32)
    given = {
        "ground": grey,
        "albedo": 0.1,
        "contrast": 1.0,
        "tint": np.ones(3, np.float32),
        "sky": np.ones(3, np.float32),
        "sun": np.zeros(3, np.float32),
        "sun_dir": None,
        "facing": 1.0,
        "peak": 1.0,
        "bounce": 1.0,
        "haze": grey,
        "haze_per_m": 0.0,
        "floor": np.zeros(3, np.float32),
        "day": 1.0,
        "vivid": 200.0,
        "report": {},
    }
    return Light(**(given | more))


def edit_of(hazard, placement, scene=None, images=None, seed=4):
    scene = scene or make_scene()
    images = images or {(f.camera, f.t): make_road(scene.front) for f in scene.frames}
    return make_edits([EditJob(scene, images, hazard, placement, seed)], Composite())[0]


@pytest.mark.parametrize("camera", [PINHOLE, OPENCV, FISHEYE], ids=lambda c: c.model)
@pytest.mark.parametrize("model", ["cone", "barrier"])
@pytest.mark.parametrize(("x", "y"), [(9.0, 0.0), (14.0, -2.5), (55.0, 0.0)])
def test_height_within_3_percent_and_foot_within_2_pixels(camera, model, x, y):
    hazard = make_hazard(model)
    eye = centre(camera)
    facing = math.atan2(eye[1] - y, eye[0] - x)  # its flat side square to the view
    placement = make_placement(hazard, x, y, facing)
    sprite = sprites.load(model, "a")
    # eight times finer, so that whole pixels do not blur the measure
    fine = camera.model_copy(
        update={k: getattr(camera, k) * 8 for k in ("width", "height", "fx", "fy", "cx", "cy")}
    )
    alpha = draw_object(sprite, fine, placement, make_light())[..., 3]
    rows = np.flatnonzero((alpha >= 0.5).any(1))
    reach = sprite.size[0] / 2
    near = (x + reach * math.cos(facing), y + reach * math.sin(facing), 0.0)
    (foot, top, front), _ = project(fine, [(x, y, 0.0), (x, y, hazard.size.height), near])
    metric = foot[1] - top[1]
    # the drawn bottom is the near edge of the base, the drawn top somewhere over the middle
    assert rows[-1] == pytest.approx(front[1], abs=2 * 8)
    drawn = rows[-1] - rows[0] - (front[1] - foot[1])
    assert drawn == pytest.approx(metric, rel=0.03, abs=4)
    columns = np.flatnonzero((alpha >= 0.5).any(0))
    assert (columns[0] + columns[-1]) / 2 == pytest.approx(foot[0], abs=2 * 8)


def test_across_the_history_it_stays_on_its_world_position():
    hazard = make_hazard("drum")
    scene = make_scene()
    edit = edit_of(hazard, make_placement(hazard, 16.0, 0.5), scene)
    original = make_road().astype(float)
    assert len(edit.frames) == len(TIMES)
    height = hazard.size.height
    for (_, t), (image, _) in edit.frames.items():
        camera = at_pose(scene.front, pose_at(scene.history, t))
        (foot, top), _ = project(camera, [(16.0, 0.5, 0.0), (16.0, 0.5, height)])
        stripes = np.abs(image - original).max(-1) > 40  # the base is as dark as the road
        rows, columns = np.nonzero(stripes)
        assert (columns.min() + columns.max()) / 2 == pytest.approx(foot[0], abs=2)
        assert rows.min() == pytest.approx(top[1], abs=2)
        assert rows.max() <= foot[1] + 2


def test_the_ground_darkens_under_it_and_the_sun_casts_the_shadow_away():
    hazard = make_hazard("drum")
    placement = make_placement(hazard, 10.0, 0.0)
    sprite = sprites.load("drum", "a")
    overcast = draw(sprite, PINHOLE, placement, make_light()).shade
    assert overcast.min() < 0.8
    assert overcast.max() <= 1.0 + 1e-3
    left = np.array([0.0, math.cos(0.6), math.sin(0.6)])
    sunny = make_light(sun_dir=left, sky=np.full(3, 0.2, np.float32), sun=np.full(3, 1.4, np.float32))
    drawing = draw(sprite, PINHOLE, placement, sunny)
    (foot,), _ = project(PINHOLE, [(10.0, 0.0, 0.0)])
    dark = drawing.box[0] + np.argwhere(drawing.shade[..., 1] < 0.5)[:, 1]
    assert dark.mean() > foot[0] + 15, "sun on the left, shadow on the right"


def test_a_fire_lights_the_road_around_it(monkeypatch):
    hazard = make_hazard("drum")
    placement = make_placement(hazard, 10.0, 0.0)
    plain = edit_of(hazard, placement, images={FRONT: make_road()})
    orange = np.array([9.0, 4.0, 0.8], np.float32)
    monkeypatch.setattr(sprites.Sprite, "glow", lambda self: (orange, 0.8))
    burning = edit_of(hazard, placement, images={FRONT: make_road()})
    gains = []
    for aside in (1.0, 2.5, 5.0):
        (spot,), _ = project(PINHOLE, [(10.0, aside, 0.0)])
        u, v = spot.round().astype(int)
        patch = np.s_[v - 1 : v + 2, u - 3 : u + 4]
        gain = burning.frames[FRONT][0][patch].astype(float) - plain.frames[FRONT][0][patch]
        gains.append(gain.mean((0, 1)))
    red = [g[0] for g in gains]
    assert red[0] > red[1] > red[2]
    assert red[0] > 15
    assert red[0] > gains[0][2] + 8, "its light is orange"


#: Rows by which what water mirrors stands higher than in still water: ripples are seen on the side turned here.
LEAN = round(2 * 0.05 * PINHOLE.fy)


def test_a_mirrored_ray_is_looked_up_where_it_meets_what_stands_beyond_the_water():
    level = PINHOLE.model_copy(update={"T_cam_ego": mounted(1.4)})
    rows = np.minimum(np.arange(540), 255).astype(np.uint8)
    image = np.repeat(rows[:, None, None], 960, 1).repeat(3, 2)
    mirrored, share = reflection(level, Setting(image, level, make_placement(make_hazard())))
    away = (
        1.4 * PINHOLE.fy / 30
    )  # the water seen 30 rows below the horizon, and a wall three times as far off
    row = 270 - 2 / 3 * (30 + LEAN) + 30 / 3
    expected = to_linear(np.full((1, 1, 3), round(row), np.uint8))[0, 0]
    assert away > 70 / 3
    assert mirrored[300, 480] == pytest.approx(expected, rel=0.03)
    assert share[300, 480] > share[400, 480] > 0.02


def test_same_request_same_bytes_other_seed_other_grain():
    hazard = make_hazard()
    placement = make_placement(hazard)
    first, again, other = (edit_of(hazard, placement, seed=s) for s in (1, 1, 2))
    for key, (image, _) in first.frames.items():
        assert np.array_equal(image, again.frames[key][0])
    assert not np.array_equal(first.frames[FRONT][0], other.frames[FRONT][0])


def test_outside_the_mask_nothing_changes_and_inside_the_cone_is_orange():
    hazard = make_hazard()
    placement = make_placement(hazard)
    edit = edit_of(hazard, placement)
    image, mask = edit.frames[FRONT]
    road = make_road()
    assert np.array_equal(image[mask == 0], road[mask == 0])
    (spot,), _ = project(PINHOLE, [(14.0, 0.3, 0.25)])
    red, green, blue = image[round(spot[1]), round(spot[0])].astype(int)
    assert red > green + 40 > blue + 40


def test_null_edit_reaches_as_far_and_adds_nothing_to_see():
    hazard = make_hazard()
    placement = make_placement(hazard)
    nothing = edit_of(make_hazard(kind="null"), placement)
    something = edit_of(hazard, placement)
    assert nothing.frames.keys() == something.frames.keys()
    for key, (image, mask) in nothing.frames.items():
        assert (mask[something.frames[key][1] > 0] > 0).mean() > 0.97
        change = np.abs(image.astype(int) - make_road())
        assert 0 < change[mask > 0].mean() < 4


def test_null_edit_has_as_much_grain_as_the_road_around_it():
    grain = np.random.default_rng(3).normal(0, 4, make_road().shape[:2])  # of a camera: not of single pixels
    road = (
        np.clip(95.5 + cv2.GaussianBlur(grain, (0, 0), 0.6), 0, 255).astype(np.uint8)[..., None].repeat(3, 2)
    )
    nothing = edit_of(make_hazard(kind="null"), make_placement(make_hazard()), images={FRONT: road})
    image, mask = nothing.frames[FRONT]
    inside = cv2.erode(mask, np.ones((15, 15), np.uint8)) > 0
    rough = [cv2.cvtColor(one, cv2.COLOR_RGB2GRAY).astype(np.float32) for one in (road, image)]
    before, after = ((one - cv2.GaussianBlur(one, (0, 0), 1.0))[inside].std() for one in rough)
    assert after / before == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("grey", [45, 150])
def test_brightness_follows_the_road(grey):
    hazard = make_hazard("drum")
    edit = edit_of(hazard, make_placement(hazard), images={FRONT: make_road(grey=grey)})
    (spot,), _ = project(PINHOLE, [(14.0, 0.3, 0.5)])
    u, v = spot.round().astype(int)
    patch = edit.frames[FRONT][0][v - 8 : v + 8, u - 4 : u + 4].astype(float)
    assert patch[..., 0].mean() > grey, "orange and white are brighter than asphalt"
    assert patch.mean() < 3.2 * grey


def test_light_of_a_plain_road_is_its_own_grey_and_shade_takes_no_sun():
    hazard = make_hazard()
    setting = Setting(make_road(grey=95), PINHOLE, make_placement(hazard))
    light = estimate(setting)
    assert light.ground == pytest.approx(np.full(3, ((95 / 255 + 0.055) / 1.055) ** 2.4), rel=0.05)
    assert light.sun_dir is None
    assert light.sky == pytest.approx(np.ones(3))
    told = estimate(
        Setting(make_road(grey=150, sky=(60, 110, 200)), PINHOLE, setting.placement, {"sun": [0, 1, 1]})
    )
    assert told.sun_dir == pytest.approx([0, math.sqrt(0.5), math.sqrt(0.5)])
    assert told.sky + told.sun * math.sqrt(0.5) == pytest.approx(np.ones(3)), "level ground gets 1 in all"
    none = estimate(
        Setting(make_road(grey=150, sky=(60, 110, 200)), PINHOLE, setting.placement, {"sun": None})
    )
    assert none.sun_dir is None
    dark = make_road(grey=150, sky=(60, 110, 200))
    dark[300:400, 380:580] = (30, 36, 52)
    shaded = estimate(Setting(dark, PINHOLE, setting.placement, {"sun": [0, 1, 1]}))
    assert shaded.report["light"] == "shade"
    assert shaded.sun_dir is None


def test_another_camera_has_its_own_exposure_and_the_front_cameras_sun():
    side = PINHOLE.model_copy(update={"name": "left", "T_cam_ego": mounted(1.5, 0.02, 0.25)})
    base = make_scene(extra={"sun": [0.0, 1.0, 1.0]})
    frames = (*base.frames, Frame(camera="left", t=-0.02, image="y.png"))
    scene = base.model_copy(update={"cameras": (PINHOLE, side), "frames": frames})
    hazard = make_hazard("drum")
    placement = make_placement(hazard, 12.0, 1.5)
    bright, dark = (make_road(side, grey, (60, 110, 200)) for grey in (150, 60))
    images = {FRONT: bright, ("left", -0.02): dark}
    edit = edit_of(hazard, placement, scene, images)
    assert set(edit.frames) == set(images)
    means = {}
    for key, (image, _) in edit.frames.items():
        camera = at_pose(scene.camera(key[0]), pose_at(scene.history, key[1]))
        (spot,), _ = project(camera, [(12.0, 1.5, 0.5)])
        u, v = spot.round().astype(int)
        means[key] = image[v - 8 : v + 8, u - 4 : u + 4].mean()
    assert means["left", -0.02] < 0.7 * means[FRONT], "each camera's own road is its grey card"
    assert edit.report["inpainter"]["light"]["light"] == "sun"


def test_optics_find_blur_and_noise():
    rng = np.random.default_rng(5)
    bars = np.kron(rng.integers(0, 2, (18, 32)), np.ones((30, 30)))[..., None] * 180 + 30
    blurs, noises = [], []
    for sigma in (0.6, 1.0, 1.5):
        soft = cv2.GaussianBlur(bars.repeat(3, 2).astype(np.float32), (0, 0), sigma)
        noisy = soft + rng.normal(0, 1.5 * sigma, soft.shape[:2])[..., None]
        optics = measure(np.clip(noisy + 0.5, 0, 255).astype(np.uint8))
        blurs.append(optics.blur)
        noises.append(optics.noise)
    assert blurs == pytest.approx([0.6, 1.0, 1.5], abs=0.2)
    assert noises[0] < noises[1] < noises[2]
