"""Adapters against stand-ins that have the public packages' call signatures and shapes."""

import dataclasses
import sys
import types
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.planners.alpamayo import Alpamayo, history_arrays
from cfgen.planners.answer import to_plan
from cfgen.planners.navsim import SLOTS, Navsim, driving_command
from cfgen.planners.protocol import Observation, Requirements, TimedImage
from cfgen.records import Camera, Motion

EYE = ((0, -1, 0, 0), (0, 0, -1, 1.5), (1, 0, 0, -1.2), (0, 0, 0, 1))
T = tuple(np.round(np.arange(-20, 1) * 0.1, 3))
HISTORY = Motion(t=T, poses=tuple((8.0 * t, 0.0, 0.0) for t in T), v=(8.0,) * len(T))


def question(names, times, instruction="") -> Observation:
    camera = Camera(width=6, height=4, fx=5, fy=5, cx=3, cy=2, T_cam_ego=EYE)
    images = {
        name: tuple(TimedImage(t, np.full((4, 6, 3), 10 * i + j, np.uint8)) for j, t in enumerate(times))
        for i, name in enumerate(names)
    }
    return Observation("a", 5, images, dict.fromkeys(names, camera), HISTORY, instruction)


def test_history_is_16_poses_at_10_hz_that_end_at_the_origin():
    xyz, rot = history_arrays(HISTORY)
    assert (xyz.shape, rot.shape) == ((1, 1, 16, 3), (1, 1, 16, 3, 3))
    assert xyz.dtype == rot.dtype == np.float32
    np.testing.assert_allclose(xyz[0, 0, :, 0], 8.0 * 0.1 * np.arange(-15, 1), atol=1e-5)
    np.testing.assert_allclose(rot[0, 0, -1], np.eye(3), atol=1e-6)


@pytest.mark.parametrize("acceleration", [2.0, -3.0, -6.0])
def test_the_speed_at_t0_is_that_of_the_drive_whatever_its_acceleration(acceleration: float):
    """Poses 0.25 s apart, 14 m/s at t0; a straight line between them gives 13.78, 14.32 and 14.65 m/s."""
    v = np.array([14.0 + acceleration * t for t in T])
    poses = tuple((14.0 * t + acceleration * t * t / 2, 0.0, 0.0) for t in T)
    xyz, _ = history_arrays(Motion(t=T, poses=poses, v=tuple(map(float, v))))
    x = xyz[0, 0, :, 0].astype(float)
    # by the last three points, exactly for constant acceleration
    assert (3 * x[-1] - 4 * x[-2] + x[-3]) / 0.2 == pytest.approx(14.0, abs=0.2)


class FakeTensor(np.ndarray):
    """As much of a tensor as the adapter touches."""

    def permute(self, *axes):
        return self.transpose(*axes)

    def float(self):
        return self.astype(np.float32)

    def cpu(self):
        return self

    def numpy(self):
        return np.asarray(self)


class FakeModel:
    seen: ClassVar[dict[str, Any]] = {}
    tokenizer = "tokenizer"

    @classmethod
    def from_pretrained(cls, weights, dtype, **more):
        cls.seen = {"weights": weights, "dtype": dtype, **more}
        return cls()

    def to(self, device):
        self.seen["device"] = device
        return self

    def sample_trajectories_from_data_with_vlm_rollout(
        self, data, top_p, temperature, num_traj_samples, max_generation_length, return_extra
    ):
        self.seen.update(data=data, top_p=top_p, samples=num_traj_samples)
        points = np.zeros((1, 1, num_traj_samples, 64, 3)).view(FakeTensor)
        points[..., 0] = 0.7 * np.arange(1, 65)
        rotations = np.broadcast_to(np.eye(3), (1, 1, num_traj_samples, 64, 3, 3)).copy().view(FakeTensor)
        return points, rotations, {"cot": np.array([[["Yield to the cyclist ahead."]]], dtype=object)}


class FakeTorch(types.ModuleType):
    bfloat16 = "bf16"

    @staticmethod
    def from_numpy(array):
        return array.view(FakeTensor)

    @staticmethod
    def tensor(values):
        return np.array(values).view(FakeTensor)

    @staticmethod
    def manual_seed(seed):
        FakeModel.seen["seed"] = seed

    @staticmethod
    def autocast(device, dtype):
        return _Block()

    @staticmethod
    def no_grad():
        return _Block()


class _Block:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class FakeProcessor:
    def apply_chat_template(self, messages, **options):
        assert options["continue_final_message"]
        return {"input_ids": messages}


@pytest.fixture
def alpamayo_package(monkeypatch):
    def install(package: str, module: str, name: str) -> None:
        helper = types.ModuleType(f"{package}.helper")
        helper.__dict__["get_processor"] = lambda tokenizer: FakeProcessor()
        helper.__dict__["to_device"] = lambda data, device: data
        helper.__dict__["create_message"] = lambda frames, **extras: (frames, extras)
        model = types.ModuleType(f"{package}.{module}")
        setattr(model, name, FakeModel)
        for key, value in {
            package: types.ModuleType(package),
            f"{package}.models": types.ModuleType(f"{package}.models"),
            f"{package}.helper": helper,
            f"{package}.{module}": model,
            "torch": FakeTorch("torch"),
        }.items():
            monkeypatch.setitem(sys.modules, key, value)

    return install


@pytest.mark.parametrize(
    ("variant", "package", "module", "name"),
    [
        ("r1", "alpamayo_r1", "models.alpamayo_r1", "AlpamayoR1"),
        ("1.5", "alpamayo1_5", "models.alpamayo1_5", "Alpamayo1_5"),
    ],
)
def test_alpamayo_gets_its_four_cameras_and_answers_on_our_grid(
    alpamayo_package, variant, package, module, name
):
    alpamayo_package(package, module, name)
    planner = Alpamayo(variant)
    assert planner.needs.frame_times == (-0.3, -0.2, -0.1, 0.0)
    views = ("cross_left_120fov", "front_wide_120fov", "cross_right_120fov", "front_tele_30fov")
    assert planner.needs.cameras == tuple(f"camera_{view}" for view in views)
    asked = question(planner.needs.cameras, planner.needs.frame_times, "Turn left in 30m")
    text, plan = to_plan(planner.plan([asked])[0])
    assert text == plan.trace.justification == "Yield to the cyclist ahead."
    np.testing.assert_allclose(np.array(plan.waypoints)[:, 0], 7.0 * 0.25 * np.arange(1, 25), atol=1e-4)
    frames, extras = FakeModel.seen["data"]["tokenized_data"]["input_ids"]
    assert frames.shape == (16, 3, 4, 6)
    assert [int(f[0, 0, 0]) for f in frames[::4]] == [0, 10, 20, 30]
    assert ("nav_text" in extras) == (variant == "1.5")
    assert FakeModel.seen["seed"] == 5


def test_alpamayo_1_5_runs_on_one_camera_and_r1_does_not(alpamayo_package):
    alpamayo_package("alpamayo1_5", "models.alpamayo1_5", "Alpamayo1_5")
    planner = Alpamayo("1.5", cameras={"camera_front_wide_120fov": "front"})
    planner.plan([question(("front",), planner.needs.frame_times)])
    _, extras = FakeModel.seen["data"]["tokenized_data"]["input_ids"]
    assert extras["camera_indices"].tolist() == [1]
    rear = Alpamayo(
        "1.5",
        cameras={"camera_rear_tele_30fov": "b", "camera_front_wide_120fov": "f"},
        attn_implementation="sdpa",
    )
    assert rear.needs.cameras == ("f", "b")
    assert FakeModel.seen["attn_implementation"] == "sdpa"
    with pytest.raises(InputError, match=r"expected any of camera_cross_left_120fov, .*found roof"):
        Alpamayo("1.5", cameras={"roof": "front"})
    with pytest.raises(InputError, match="expected all of camera_cross_left_120fov"):
        Alpamayo("r1", cameras={"camera_front_wide_120fov": "front"})
    with pytest.raises(InputError, match=r"variant: expected one of r1, 1\.5"):
        Alpamayo("2")


@dataclass
class FakeSampling:
    interval_length: float = 0.5


@dataclass
class FakeTrajectory:
    poses: np.ndarray
    trajectory_sampling: FakeSampling = field(default_factory=FakeSampling)


class FakeAgent:
    initialized = False

    def __init__(
        self, speed: float = 1.0, sensors: dict[str, Any] | None = None, whole: bool = False
    ) -> None:
        self.speed, self.requires_scene = speed, whole
        none = dict.fromkeys((*SLOTS, "lidar_pc"), False)
        self.sensors = types.SimpleNamespace(**(none | ({"cam_f0": True} if sensors is None else sensors)))

    def get_sensor_config(self):
        return self.sensors

    def initialize(self) -> None:
        self.initialized = True

    def compute_trajectory(self, agent_input) -> FakeTrajectory:
        assert self.initialized
        FakeAgent.seen = agent_input
        t = 0.5 * np.arange(1, 9)
        return FakeTrajectory(np.column_stack([self.speed * t, 0 * t, 0 * t]))


def _record(name: str, *fields: str):
    def make(self, *values, **named):
        self.__dict__.update(dict(zip(fields, values, strict=False)), **named)

    return type(name, (), {"__init__": make})


def test_a_repository_that_is_not_in_the_cache_is_named(alpamayo_package, monkeypatch):
    alpamayo_package("alpamayo_r1", "models.alpamayo_r1", "AlpamayoR1")

    def missing(tokenizer):
        raise OSError("could not find the files\nin the cache")

    sys.modules["alpamayo_r1.helper"].__dict__["get_processor"] = missing
    with pytest.raises(
        InputError, match=r"the processor, from Qwen/Qwen3-VL-2B-Instruct: could not find the files in"
    ):
        Alpamayo("r1")
    monkeypatch.setattr(FakeModel, "from_pretrained", classmethod(lambda cls, *a, **k: missing("")))
    with pytest.raises(
        InputError, match=r"cannot load weights nvidia/Alpamayo-R1-10B .*bring it into the cache"
    ):
        Alpamayo("r1")


@pytest.fixture
def navsim_package(monkeypatch):
    module = types.ModuleType("navsim.common.dataclasses")
    for name in ("Camera", "Cameras", "Lidar", "EgoStatus"):
        setattr(module, name, _record(name))
    setattr(module, "AgentInput", _record("AgentInput", "ego_statuses", "cameras", "lidars"))  # noqa: B010
    agents = types.ModuleType("my_agents")
    agents.__dict__["build"] = FakeAgent
    agents.__dict__["broken"] = object
    for key, value in {
        "navsim": types.ModuleType("navsim"),
        "navsim.common": types.ModuleType("navsim.common"),
        "navsim.common.dataclasses": module,
        "my_agents": agents,
    }.items():
        monkeypatch.setitem(sys.modules, key, value)


@pytest.mark.usefixtures("navsim_package")
def test_a_navsim_agent_gets_an_agent_input_and_keeps_its_horizon_of_4_s():
    planner = Navsim("my_agents:build", {"speed": 6.0}, size=None)
    asked = question(("front",), planner.needs.frame_times, "turn right")
    _, plan = to_plan(planner.plan([asked])[0])
    np.testing.assert_allclose(np.array(plan.waypoints)[:, 0], 6.0 * 0.25 * np.arange(1, 17), atol=1e-4)
    seen = FakeAgent.seen
    assert [len(x) for x in (seen.ego_statuses, seen.cameras, seen.lidars)] == [4, 4, 4]
    assert seen.ego_statuses[0].ego_pose == pytest.approx([-12.0, 0.0, 0.0], abs=1e-4)
    assert seen.ego_statuses[-1].driving_command.tolist() == [0, 0, 1, 0]
    assert seen.cameras[-1].cam_f0.image.shape == (4, 6, 3)
    # the camera is 1.2 m ahead of and 1.5 m above the rear axle, nuPlan's lidar 1.5185 m and 1.6309 m
    told = seen.cameras[0].cam_f0.sensor2lidar_translation
    np.testing.assert_allclose(told, [1.2 - 1.5185, 0.0, 1.5 - 1.6309], atol=1e-9)
    assert not hasattr(seen.cameras[0].cam_l0, "image")


@pytest.mark.usefixtures("navsim_package")
def test_a_navsim_agent_gets_the_sensors_that_it_names():
    assert Navsim("my_agents:build", {"sensors": {}}).needs == Requirements(cameras=(), frame_times=())
    now = {slot: [3] for slot in ("cam_l0", "cam_f0", "cam_r0")}
    planner = Navsim(
        "my_agents:build", {"sensors": now}, cameras={"cam_l0": "left", "cam_r0": ""}, size=(12, 4)
    )
    assert planner.needs.cameras == ("front", "left")
    assert planner.needs.frame_times == (0.0,)
    planner.plan([question(("front", "left"), (0.0,))])
    before, at_t0 = FakeAgent.seen.cameras[0], FakeAgent.seen.cameras[3]
    assert not hasattr(before.cam_f0, "image")
    assert (at_t0.cam_l0.image[1:3, 2:10] == 10).all()
    assert (at_t0.cam_r0.image == 0).all()
    assert at_t0.cam_r0.image.shape == at_t0.cam_f0.image.shape == (4, 12, 3)
    # 12 px wide, NAVSIM's focal length is 1545 / 160 px, and its centre (960, 560) / 160
    np.testing.assert_allclose(at_t0.cam_f0.intrinsics, [[9.65625, 0, 6], [0, 9.65625, 3.5], [0, 0, 1]])
    for refused, why in (
        ({"sensors": {"lidar_pc": [3]}}, "needs lidar points"),
        ({"whole": True}, "the whole scene"),
    ):
        with pytest.raises(
            InputError, match=f"agent 'my_agents:build' {why}|agent 'my_agents:build' needs {why}"
        ):
            Navsim("my_agents:build", refused)


@pytest.mark.usefixtures("navsim_package")
def test_a_point_of_the_world_lies_where_the_agents_own_camera_has_it_or_the_camera_is_refused():
    planner = Navsim("my_agents:build", {"sensors": {"cam_f0": [3]}})
    camera = Camera(width=960, height=540, fx=654.64, fy=654.64, cx=480, cy=270, T_cam_ego=EYE)
    pixels = np.zeros((540, 960, 3), np.uint8)
    pixels[300:305, 600:605] = 255  # around (602, 302)
    asked = question(("front",), (0.0,))
    asked = dataclasses.replace(
        asked, images={"front": (TimedImage(0.0, pixels),)}, cameras={"front": camera}
    )
    planner.plan([asked])
    image = FakeAgent.seen.cameras[3].cam_f0.image
    assert image.shape == (1080, 1920, 3)
    rows, columns = np.nonzero(image[..., 0] > 127)
    x, y = (602 - 480) / 654.64 * 1545 + 960, (302 - 270) / 654.64 * 1545 + 560
    assert (columns.mean(), rows.mean()) == (pytest.approx(x, abs=0.6), pytest.approx(y, abs=0.6))
    tele = dataclasses.replace(
        asked, cameras={"front": camera.model_copy(update={"fx": 3210.0, "fy": 3210.0})}
    )
    with pytest.raises(
        InputError, match=r"camera 'front': covers 6% of an agent's picture.*name another camera"
    ):
        planner.plan([tele])


@pytest.mark.usefixtures("navsim_package")
def test_lateral_acceleration_is_speed_times_yaw_rate():
    planner = Navsim("my_agents:build", size=None)
    poses = tuple((8.0 * t, 0.0, 0.1 * t) for t in T)
    turning = dataclasses.replace(
        question(("front",), planner.needs.frame_times), history=Motion(t=T, poses=poses, v=(8.0,) * len(T))
    )
    planner.plan([turning])
    for status in FakeAgent.seen.ego_statuses:
        np.testing.assert_allclose(status.ego_acceleration, [0.0, 0.8], atol=1e-5)


@pytest.mark.usefixtures("navsim_package")
@pytest.mark.parametrize("agent", ["my_agents:nobody", "no_agents:build", "my_agents", "my_agents:broken"])
def test_what_is_no_navsim_agent_is_named(agent: str):
    with pytest.raises(InputError, match="navsim: agent"):
        Navsim(agent)


def test_commands_follow_the_instruction():
    assert [int(driving_command(w).argmax()) for w in ("Turn left", "", "keep right")] == [0, 1, 2]


@pytest.mark.parametrize("make", [lambda: Alpamayo("r1"), lambda: Navsim("x:y")])
def test_a_missing_package_says_how_to_get_it(make):
    with pytest.raises(InputError, match=r"is not installed; install .* from its public repository"):
        make()
