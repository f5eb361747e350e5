"""ROS 2 bags in MCAP: images, their camera_info, odometry or GPS fixes, and the transforms that hold still."""

import contextlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.geometry.camera import mounted
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Opener, Picture, Place, Stream, identifier, speeds_of
from cfgen.scenes.readers.bags import COMPRESSED, FIX, IMAGES, INFO, ODOMETRY, Bag, Message
from cfgen.scenes.readers.fixes import poses_of_fixes, turned_to_earth
from cfgen.scenes.readers.listing import is_visible, unlisted, walk
from cfgen.scenes.readers.rigid import camera_matrix, from_quaternion, from_rotation, lowered

Array = NDArray[np.float64]
#: columns: axes of an optical frame (right, down, forward) in a frame of the body (forward, left, up)
_BODY_FROM_OPTICAL = from_rotation([[0, 0, 1], [-1, 0, 0], [0, -1, 0]], np.zeros(3))
_Model = Literal["pinhole", "opencv", "fisheye"]
_MODELS: dict[str, _Model] = {
    "plumb_bob": "opencv",
    "rational_polynomial": "opencv",
    "equidistant": "fisheye",
}
#: cv2 conversions to RGB of the encodings of sensor_msgs/Image that have one byte a channel
_TO_RGB = {
    "rgb8": None,
    "bgr8": cv2.COLOR_BGR2RGB,
    "rgba8": cv2.COLOR_RGBA2RGB,
    "bgra8": cv2.COLOR_BGRA2RGB,
    "mono8": cv2.COLOR_GRAY2RGB,
    "bayer_rggb8": cv2.COLOR_BayerRGGB2RGB,
    "bayer_bggr8": cv2.COLOR_BayerBGGR2RGB,
    "bayer_gbrg8": cv2.COLOR_BayerGBRG2RGB,
    "bayer_grbg8": cv2.COLOR_BayerGRBG2RGB,
    "yuv422": cv2.COLOR_YUV2RGB_UYVY,
    "uyvy": cv2.COLOR_YUV2RGB_UYVY,
    "yuv422_yuy2": cv2.COLOR_YUV2RGB_YUY2,
    "yuyv": cv2.COLOR_YUV2RGB_YUY2,
}
#: bytes of a pixel where they are not four
_WIDE = {"mono8": 1, "rgb8": 3, "bgr8": 3}
_WIDE |= {
    name: 1 if name.startswith("bayer") else 2
    for name in _TO_RGB
    if name.startswith(("bayer", "yuv", "uyvy"))
}
#: a log whose clock starts before this is a simulator's: no time of day
_ERA_S = 1e9


class Mcap:
    """ROS 2 bags: an .mcap file, a rosbag2 folder (metadata.yaml and its .mcap files: one drive), or a folder above.

    Topics are found by their types; where several would do, the message lists them. The camera's place on the car comes
    from /tf_static, or from camera_height_m, pitch_deg and yaw_deg; poses and speed from Odometry, else from NavSatFix
    alone (1 Hz or more, smoothed; the heading is the direction of travel). Times are the sensors' own (header.stamp).

    Options: images (topics, front camera first), odometry, fixes (topics), camera_height_m, pitch_deg, yaw_deg,
    base_height_m (0: of the odometry's frame above the road), clock (header, or log where stamps are not on one
    clock), license.
    """

    def __init__(
        self,
        source: Path,
        images: str = "",
        odometry: str = "",
        fixes: str = "",
        camera_height_m: float | None = None,
        pitch_deg: float | None = None,
        yaw_deg: float | None = None,
        base_height_m: float = 0.0,
        clock: Literal["header", "log"] = "header",
        license: str = "the recorder's own",  # noqa: A002 - the name of the option
    ) -> None:
        troubles: list[OSError] = []
        found = [[source]] if source.is_file() else _bags(source, troubles)
        self._bags = [
            Opener(str(files[0] if len(files) == 1 else files[0].parent), partial(self._drive, files))
            for files in found
        ] + unlisted(troubles)
        if not self._bags:
            old = next(source.rglob("*.db3"), None)
            raise InputError(
                f"{source}: expected .mcap files, found none"
                + (f" but {old.name}; convert it with 'ros2 bag convert'" if old else "; check the path")
            )
        self._images = [topic.strip() for topic in images.split(",") if topic.strip()]
        self._odometry, self._fixes, self._clock, self._license = odometry, fixes, clock, license
        self._base = float(base_height_m)
        self._mounting = _stated(camera_height_m, pitch_deg, yaw_deg)

    def recordings(self) -> Iterable[Opener]:
        return self._bags

    def _drive(self, files: list[Path]) -> Drive:
        with contextlib.closing(Bag(files, by_log=self._clock == "log")) as bag:
            return self._recorded(files, bag)

    def _recorded(self, files: list[Path], bag: Bag) -> Drive:
        topics = self._image_topics(bag)
        start = min(bag.stamps(topic)[0] for topic in topics)
        t, poses, v, base, place = self._motion(bag, start)
        streams = tuple(self._stream(bag, topic, base, start, i) for i, topic in enumerate(topics))
        name = files[0].stem if len(files) == 1 else files[0].parent.name
        epoch = start / 1e9
        return Drive(
            name=name,
            source=f"MCAP {name}",
            license=self._license,
            streams=streams,
            t=t,
            poses=poses @ lowered(self._base),
            v=v,
            epoch=epoch if epoch > _ERA_S else None,
            place=place,
            extra={"topics": topics},
        )

    def _image_topics(self, bag: Bag) -> list[str]:
        """The topics asked for, else the one there is, or the one called front."""
        there = bag.topics(*IMAGES)
        for topic in self._images:
            if topic not in there:
                raise bag.lacks(f"images on '{topic}'", "give --options images= one of them")
        if self._images:
            return self._images
        pictures = [topic for topic in there if "depth" not in topic.lower()]
        cameras: dict[str, str] = {}
        for topic in sorted(pictures, key=lambda topic: topic in bag.topics(COMPRESSED)):
            cameras[topic.removesuffix("/compressed")] = topic  # compressed ones last: they count
        front = [topic for key, topic in cameras.items() if "front" in key.lower()]
        for some in (list(cameras.values()), front):
            if len(some) == 1:
                return some
        what = "one camera, or one called front" if cameras else "images (CompressedImage or Image)"
        raise bag.lacks(
            what, "name the front camera's with --options images=" if cameras else "record them too"
        )

    def _motion(self, bag: Bag, start: int) -> tuple[Array, Array, Array, str, Place | None]:
        """Times, poses of the base frame, its speeds, its name ("" where the bag has none), and the place."""
        odometry = bag.one_of(self._odometry, "odometry", ODOMETRY)
        fixes = bag.one_of(self._fixes, "fixes", FIX)
        if not odometry and not fixes:
            raise bag.lacks("Odometry or NavSatFix", "record where the car is too, or use the reader 'video'")
        known = _known(bag.messages(fixes), start) if fixes else None
        if not odometry:
            assert known is not None
            with bag.reading(fixes, "fixes of a drive"):
                return *poses_of_fixes(*known), "", Place(float(known[1][0, 0]), float(known[1][0, 1]))
        rows = bag.messages(odometry)
        with bag.reading(odometry, "poses"):
            t, poses = (np.array([row.stamp for row in rows]) - start) / 1e9, _poses(rows)
            v = np.array([float(row.content.twist.twist.linear.x) for row in rows])
            v = v if np.abs(v).max() > 1e-6 else speeds_of(t, poses)  # many leave the twist empty
            place = turned_to_earth(t, poses[:, :2, 3], *known) if known else None
        return t, poses, v, str(rows[0].content.child_frame_id), place

    def _stream(self, bag: Bag, topic: str, base: str, start: int, index: int) -> Stream:
        info = self._info(bag, topic)
        frame = str(info.header.frame_id)
        if index == 0 and self._mounting is not None:
            mounting = self._mounting
        else:
            mounting = np.array(self._mounted(bag, base, frame, topic))
        with bag.reading(topic, "a calibration (camera_info)"):
            camera = _camera(info, topic, index, mounting)
        times = (np.array(bag.stamps(topic)) - start) / 1e9
        return Stream(camera, times, partial(_picture, bag, topic))

    def _info(self, bag: Bag, topic: str) -> Any:
        """The camera's calibration: camera_info beside the images, else of the same frame."""
        there = bag.topics(INFO)
        for depth in (1, 2):  # /cam/image_raw, /cam/image_raw/compressed
            if (beside := f"{topic.rsplit('/', depth)[0]}/camera_info") in there:
                return bag.message(beside, 0)
        frame = str(bag.message(topic, 0).header.frame_id)
        same = [info for info in (bag.message(each, 0) for each in there) if info.header.frame_id == frame]
        if not same:
            raise bag.lacks(
                f"the CameraInfo of '{topic}' (beside it, or of frame '{frame}')", "record it too"
            )
        return same[0]

    def _mounted(
        self, bag: Bag, base: str, frame: str, topic: str
    ) -> tuple[tuple[float, float, float, float], ...]:
        """T_cam_ego by the transforms that hold still."""
        advice = "give --options camera_height_m= (and pitch_deg=, yaw_deg=)"
        if not base:
            raise bag.lacks(f"odometry whose frame the camera of '{topic}' is fixed to", advice)
        with bag.reading("/tf_static", "transforms"):
            pose = _between(bag.still(), base, frame)
        if pose is None:
            raise bag.lacks(
                f"a transform from '{base}' to the camera's frame '{frame}' in /tf_static", advice
            )
        if pose[2, 2] > 0.7:  # z up: a frame of the body, in spite of REP 103
            pose = pose @ _BODY_FROM_OPTICAL
        return camera_matrix(np.linalg.inv(pose) @ lowered(self._base))


def _stated(height_m: float | None, pitch_deg: float | None, yaw_deg: float | None) -> Array | None:
    """T_cam_ego by the options; None where they leave it to /tf_static."""
    angles = {"pitch_deg": (pitch_deg, 45.0), "yaw_deg": (yaw_deg, 180.0)}
    for name, (value, most) in angles.items():
        if value is None:
            continue
        if not abs(value) <= most:
            raise InputError(
                f"option {name}: expected {-most:g} to {most:g} degrees, found {value:g}; correct it"
            )
        if height_m is None:
            raise InputError(
                f"option {name}: expected camera_height_m beside it, found none: without, /tf_static says where the "
                "camera looks; give all three of camera_height_m, pitch_deg and yaw_deg, or none"
            )
    if height_m is None:
        return None
    if not 0 < height_m < 10:
        raise InputError(f"option camera_height_m: expected 0 to 10 m, found {height_m:g}; correct it")
    return np.array(mounted(float(height_m), np.radians(pitch_deg or 0.0), np.radians(yaw_deg or 0.0)))


def _bags(source: Path, troubles: list[OSError]) -> list[list[Path]]:
    """The files of each drive: those of a rosbag2 folder belong together."""
    found: list[list[Path]] = []
    for folder, names in walk(source, troubles):
        files = sorted(
            (folder / n for n in names if n.endswith(".mcap") and is_visible(n)),
            key=lambda path: (len(path.stem), path.stem),  # _2 comes before _10
        )
        files = [file for file in files if not _twin(file, source)]
        found += [files] if files and "metadata.yaml" in names else [[file] for file in files]
    return sorted(found)


def _twin(file: Path, source: Path) -> bool:
    """Whether it is a link to another bag below ``source``, which is found by itself."""
    return (
        file.is_symlink()
        and file.suffix == file.resolve().suffix
        and file.resolve().is_relative_to(source.resolve())
    )


def _known(messages: list[Message], start: int) -> tuple[Array, Array]:
    """Times (N,) and latitude, longitude (N, 2) of the fixes that found something."""
    rows = [(row.stamp, row.content) for row in messages if row.content.status.status >= 0]
    t = np.array([(stamp - start) / 1e9 for stamp, _ in rows])
    fixes = np.array([(fix.latitude, fix.longitude) for _, fix in rows]).reshape(-1, 2)
    whole = np.isfinite(fixes).all(axis=1)
    return t[whole], fixes[whole]


def _poses(messages: list[Message]) -> Array:
    """(T, 4, 4) world from base."""
    poses = [message.content.pose.pose for message in messages]
    return from_quaternion(
        [(p.orientation.w, p.orientation.x, p.orientation.y, p.orientation.z) for p in poses],
        [(p.position.x, p.position.y, p.position.z) for p in poses],
    )


def _between(transforms: list[Any], base: str, frame: str) -> Array | None:
    """(4, 4) base from frame along the transforms, in either direction; None where none lead there."""
    edges: dict[str, list[tuple[str, Array]]] = {}
    for each in transforms:
        turn, shift = each.transform.rotation, each.transform.translation
        pose = from_quaternion((turn.w, turn.x, turn.y, turn.z), (shift.x, shift.y, shift.z))
        parent, child = (str(name).lstrip("/") for name in (each.header.frame_id, each.child_frame_id))
        edges.setdefault(parent, []).append((child, pose))
        edges.setdefault(child, []).append((parent, np.asarray(np.linalg.inv(pose), float)))
    base, frame = base.lstrip("/"), frame.lstrip("/")
    reached, border = {base: np.eye(4)}, [base]
    while border:
        here = border.pop()
        for name, pose in edges.get(here, []):
            if name not in reached:
                reached[name] = reached[here] @ pose
                border.append(name)
    return reached.get(frame)


def _camera(info: Any, topic: str, index: int, mounting: Array) -> Camera:
    """A rectified topic's by P, another's by K and D (sensor_msgs/CameraInfo)."""
    parts = topic.strip("/").split("/")
    rectified = any(part.startswith(("image_rect", "rect")) for part in parts)
    k = np.array(info.p, float).reshape(3, 4) if rectified else np.array(info.k, float).reshape(3, 3)
    if not k[0, 0]:
        raise ValueError("a camera_info of zeros; the camera was not calibrated")
    turned = from_rotation(info.r, np.zeros(3)) if rectified else np.eye(4)
    bends = () if rectified else tuple(float(each) for each in info.d)
    model = _MODELS.get(str(info.distortion_model)) if bends else "pinhole"
    if model is None:
        raise ValueError(f"distortion model '{info.distortion_model}'; known are {', '.join(_MODELS)}")
    if model == "opencv":
        bends = (*bends, 0.0) if len(bends) == 4 else bends
        model, bends = (model, bends) if any(bends) else ("pinhole", ())
    own = [part for part in parts if part != "compressed" and not part.startswith("image")]
    return Camera(
        name="front" if index == 0 else identifier("-".join(own or parts)),
        model=model,
        width=int(info.width),
        height=int(info.height),
        fx=k[0, 0],
        fy=k[1, 1],
        cx=k[0, 2],
        cy=k[1, 2],
        distortion=bends,
        T_cam_ego=camera_matrix(turned @ mounting),
    )


def _picture(bag: Bag, topic: str, index: int) -> Picture:
    message = bag.message(topic, index)
    with bag.reading(topic, "an image"):
        if not hasattr(message, "encoding"):
            data = bytes(message.data)
            if not data.startswith((b"\xff\xd8", b"\x89PNG")):
                raise ValueError(f"format '{message.format}' instead of JPEG or PNG")
            return data
        if message.encoding not in _TO_RGB:
            raise InputError(
                f"{bag.name}: expected an image on topic '{topic}' in one of {', '.join(_TO_RGB)}, found encoding "
                f"'{message.encoding}'; play the bag through image_proc and record its image_color"
            )
        rows = np.frombuffer(bytes(message.data), np.uint8).reshape(message.height, message.step)
        channels = _WIDE.get(message.encoding, 4)
        pixels = np.ascontiguousarray(rows[:, : message.width * channels]).reshape(
            message.height, message.width, -1
        )
        code = _TO_RGB[message.encoding]
        return np.asarray(pixels if code is None else cv2.cvtColor(pixels, code), np.uint8)
