"""ROS 2 bags in MCAP: images, their camera_info, odometry or GPS fixes, and the transforms that hold still."""

import contextlib
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any, Literal, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.core.files import check_no_pipe, reading
from cfgen.geometry.camera import mounted
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Opener, Picture, Stream, identifier, speeds_of
from cfgen.scenes.readers.motion import FittedMotion, PositionTrack, motion_along, turned_to_earth
from cfgen.scenes.readers.sources import is_visible, unlisted, walk
from cfgen.scenes.readers.traffic import (
    axes,
    calibrated,
    camera_matrix,
    from_quaternion,
    from_rotation,
    lowered,
)

COMPRESSED = "sensor_msgs/msg/CompressedImage"
IMAGES = (COMPRESSED, "sensor_msgs/msg/Image")
INFO = "sensor_msgs/msg/CameraInfo"
ODOMETRY = "nav_msgs/msg/Odometry"
FIX = "sensor_msgs/msg/NavSatFix"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
_AGAIN = "copy it again, or mend it with 'mcap recover'"
_TOLD = 20


class Message(NamedTuple):
    #: ns; the sensor's own time where it gives one
    stamp: int
    content: Any


class _Entry(NamedTuple):
    """Where a message is."""

    stamp: int
    file: int
    log_time: int


class Bag:
    """Files that were recorded one after the other.

    Args:
        by_log: take the times at which messages were recorded instead of those in their headers.
    """

    def __init__(self, files: list[Path], by_log: bool = False) -> None:
        try:
            from mcap.reader import SeekingReader
            from mcap_ros2.decoder import DecoderFactory
        except ImportError as error:
            raise MissingExtraError("reader 'mcap'", "mcap", error) from error
        self._files, self._by_log = files, by_log
        self._decoders = {path: DecoderFactory() for path in files}  # each file numbers its types anew
        self._readers: dict[Path, tuple[IO[bytes], Any]] = {}
        self._opened: Callable[[IO[bytes]], Any] = partial(SeekingReader, validate_crcs=True)
        self._types: dict[str, str] = {}
        self._index: dict[str, list[_Entry]] = {}
        for path in files:
            with reading(path, "an MCAP file with its index", _AGAIN):
                check_no_pipe(path)
                summary = self._reader(path).get_summary()
                if summary is None:
                    raise ValueError("one without, as of a recorder that was killed")
                counts = summary.statistics.channel_message_counts if summary.statistics else None
                for channel in summary.channels.values():
                    if counts is not None and not counts.get(channel.id):
                        continue  # somebody was ready to speak, and did not
                    schema = summary.schemas.get(channel.schema_id)
                    self._types[channel.topic] = schema.name if schema else channel.message_encoding

    def close(self) -> None:
        """Let the files go; they are opened again for the next message."""
        while self._readers:
            self._readers.popitem()[1][0].close()

    @property
    def name(self) -> str:
        return str(self._files[0])

    def topics(self, *types: str) -> list[str]:
        """Topics of some types, sorted."""
        return sorted(topic for topic, kind in self._types.items() if kind in types)

    def lacks(self, what: str, advice: str) -> InputError:
        """Says ``what`` was expected, and the topics that are there."""
        names = [f"{topic} ({kind.rpartition('/')[2]})" for topic, kind in sorted(self._types.items())]
        suffix = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        listing = ", ".join(names[:_TOLD]) + suffix or "none"
        return InputError(f"{self._files[0]}: expected {what}, found the topics {listing}; {advice}")

    def one_of(self, requested: str, option: str, kind: str) -> str:
        """The topic of a type that was asked for, or the only one; "" where there is none.

        Raises:
            InputError: there are several, or not the one asked for.
        """
        topics = self.topics(kind)
        if (requested and requested not in topics) or (len(topics) > 1 and not requested):
            short = kind.rpartition("/")[2]
            raise self.lacks(
                f"{short} on '{requested}'" if requested else f"one topic of {short}",
                f"choose by --options {option}=",
            )
        return requested or "".join(topics)

    def reading(self, topic: str, expected: str) -> AbstractContextManager[None]:
        """Trouble in what a topic says is told in one line."""
        return reading(self._files[0], f"{expected} on topic '{topic}'", "record or copy the bag again")

    def stamps(self, topic: str) -> list[int]:
        """Times of a topic's messages, ns, in order."""
        return [entry.stamp for entry in self._entries(topic)]

    def message(self, topic: str, index: int) -> Any:
        """The ``index``-th message of a topic."""
        entry = self._entries(topic)[index]
        path = self._files[entry.file]
        with reading(path, f"a message on topic '{topic}'", _AGAIN):
            messages = self._reader(path).iter_messages(
                [topic], starting_at=entry.log_time, ending_at=entry.log_time
            )
            for schema, channel, message in messages:
                if self._stamp(message) == entry.stamp:
                    return self._decoded(path, channel.message_encoding, schema, message.data)
            raise ValueError("none where its index says")

    def messages(self, topic: str) -> list[Message]:
        """All messages of a topic in order, one for each time."""
        by_stamp: dict[int, Any] = {}
        for message, content in self._contents(topic):
            by_stamp.setdefault(self._stamp(message), content)
        if not by_stamp:
            raise self.lacks(f"messages on '{topic}', which has none", "record it too")
        return [Message(stamp, by_stamp[stamp]) for stamp in sorted(by_stamp)]

    def still(self) -> list[Any]:
        """Transforms between frames that do not move against each other (geometry_msgs/TransformStamped)."""
        topics = [topic for topic in self.topics(TRANSFORMS) if topic.endswith("static")]
        return [
            each for topic in topics for _, content in self._contents(topic) for each in content.transforms
        ]

    def _contents(self, topic: str) -> Iterator[tuple[Any, Any]]:
        for path, (schema, channel, message) in self._raw(topic):
            with reading(path, f"messages on topic '{topic}'", _AGAIN):
                content = self._decoded(path, channel.message_encoding, schema, message.data)
            yield message, content

    def _reader(self, path: Path) -> Any:
        if path not in self._readers:
            file = path.open("rb")
            self._readers[path] = file, self._opened(file)
        return self._readers[path][1]

    def _decoded(self, path: Path, encoding: str, schema: Any, data: bytes) -> Any:
        decode = self._decoders[path].decoder_for(encoding, schema)
        if decode is None:
            raise ValueError(f"messages in {encoding} instead of ROS 2's CDR with a ros2msg schema")
        return decode(data)

    def _entries(self, topic: str) -> list[_Entry]:
        if topic not in self._index:
            by_stamp: dict[int, _Entry] = {}
            for path, (_, _, message) in self._raw(topic):
                with reading(path, f"messages on topic '{topic}'", _AGAIN):
                    stamp = self._stamp(message)
                    by_stamp.setdefault(stamp, _Entry(stamp, self._files.index(path), message.log_time))
            if not by_stamp:
                raise self.lacks(f"messages on '{topic}', which has none", "record it too")
            self._index[topic] = [by_stamp[stamp] for stamp in sorted(by_stamp)]
        return self._index[topic]

    def _raw(self, topic: str) -> Iterator[tuple[Path, Any]]:
        for path in self._files:
            with reading(path, "an MCAP file", _AGAIN):
                for entry in self._reader(path).iter_messages([topic], log_time_order=False):
                    yield path, entry

    def _stamp(self, message: Any) -> int:
        """ns; header.stamp is the first field of each message that is asked for it, after 4 bytes of CDR's own."""
        if self._by_log:
            return int(message.log_time)
        order = "<" if message.data[1] & 1 else ">"
        second, nanosecond = struct.unpack_from(f"{order}iI", message.data, 4)
        return int(second * 1_000_000_000 + nanosecond) or int(message.log_time)


# --- the reader ---

Array = NDArray[np.float64]
#: axes of a frame of the body (forward, left, up) of an optical one's (right, down, forward)
_BODY_FROM_OPTICAL = axes("z -x -y")
_Model = Literal["pinhole", "opencv", "fisheye"]
_MODELS: dict[str, _Model] = {
    "plumb_bob": "opencv",
    "rational_polynomial": "opencv",
    "equidistant": "fisheye",
}
#: bytes a pixel and cv2 conversions to RGB of the encodings of sensor_msgs/Image that have one byte a channel
_TO_RGB = {
    "rgb8": (3, None),
    "bgr8": (3, cv2.COLOR_BGR2RGB),
    "rgba8": (4, cv2.COLOR_RGBA2RGB),
    "bgra8": (4, cv2.COLOR_BGRA2RGB),
    "mono8": (1, cv2.COLOR_GRAY2RGB),
    "bayer_rggb8": (1, cv2.COLOR_BayerRGGB2RGB),
    "bayer_bggr8": (1, cv2.COLOR_BayerBGGR2RGB),
    "bayer_gbrg8": (1, cv2.COLOR_BayerGBRG2RGB),
    "bayer_grbg8": (1, cv2.COLOR_BayerGRBG2RGB),
    "yuv422": (2, cv2.COLOR_YUV2RGB_UYVY),
    "uyvy": (2, cv2.COLOR_YUV2RGB_UYVY),
    "yuv422_yuy2": (2, cv2.COLOR_YUV2RGB_YUY2),
    "yuyv": (2, cv2.COLOR_YUV2RGB_YUY2),
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
        camera_height_m: Annotated[float | None, Field(gt=0, lt=10)] = None,
        pitch_deg: Annotated[float | None, Field(ge=-45, le=45)] = None,
        yaw_deg: Annotated[float | None, Field(ge=-180, le=180)] = None,
        base_height_m: float = 0.0,
        clock: Literal["header", "log"] = "header",
        license: str = "the recorder's own",  # noqa: A002 - the name of the option
    ) -> None:
        troubles: list[OSError] = []
        bags = [[source]] if source.is_file() else _bags(source, troubles)
        self._bags = [
            Opener(str(files[0] if len(files) == 1 else files[0].parent), partial(self._drive, files))
            for files in bags
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
        if camera_height_m is None and (pitch_deg, yaw_deg) != (None, None):
            raise InputError(
                "options pitch_deg, yaw_deg: expected camera_height_m beside them, found none: without it, "
                "/tf_static says where the camera looks; give all three, or none"
            )
        self._mounting = None
        if camera_height_m is not None:
            turned = np.radians([pitch_deg or 0.0, yaw_deg or 0.0])
            self._mounting = np.array(mounted(camera_height_m, *turned))

    def recordings(self) -> Iterable[Opener]:
        return self._bags

    def _drive(self, files: list[Path]) -> Drive:
        with contextlib.closing(Bag(files, by_log=self._clock == "log")) as bag:
            return self._recorded(files, bag)

    def _recorded(self, files: list[Path], bag: Bag) -> Drive:
        topics = self._image_topics(bag)
        start = min(bag.stamps(topic)[0] for topic in topics)
        motion, base = self._motion(bag, start)
        streams = tuple(self._stream(bag, topic, base, start, i) for i, topic in enumerate(topics))
        name = files[0].stem if len(files) == 1 else files[0].parent.name
        epoch = start / 1e9
        return Drive(
            name=name,
            source=f"MCAP {name}",
            license=self._license,
            streams=streams,
            t=motion.t,
            poses=motion.poses @ lowered(self._base),
            v=motion.v,
            epoch=epoch if epoch > _ERA_S else None,
            place=motion.place,
            fixes=motion.fixes,
            note=motion.lacks,
            extra={"topics": topics},
        )

    def _image_topics(self, bag: Bag) -> list[str]:
        """The topics asked for, else the one there is, or the one called front."""
        topics = bag.topics(*IMAGES)
        for topic in self._images:
            if topic not in topics:
                raise bag.lacks(f"images on '{topic}'", "give --options images= one of them")
        if self._images:
            return self._images
        pictures = [topic for topic in topics if "depth" not in topic.lower()]
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

    def _motion(self, bag: Bag, start: int) -> tuple[FittedMotion, str]:
        """The motion of the base frame, and its name ("" where the bag has none)."""
        odometry = bag.one_of(self._odometry, "odometry", ODOMETRY)
        fixes = bag.one_of(self._fixes, "fixes", FIX)
        if not odometry and not fixes:
            raise bag.lacks("Odometry or NavSatFix", "record where the car is too, or use the reader 'video'")
        fix_table = _fix_rows(bag.messages(fixes), start) if fixes else np.zeros((0, 3))
        if not odometry:
            rows = ((t, latitude, longitude, None) for t, latitude, longitude in fix_table.tolist())
            return motion_along(PositionTrack.of(f"{bag.name}: topic '{fixes}'", rows)), ""
        messages = bag.messages(odometry)
        with bag.reading(odometry, "poses"):
            t, poses = (np.array([row.stamp for row in messages]) - start) / 1e9, _poses(messages)
            v = np.array([float(row.content.twist.twist.linear.x) for row in messages])
            v = v if np.abs(v).max() > 1e-6 else speeds_of(t, poses)  # many leave the twist empty
            place = turned_to_earth(t, poses[:, :2, 3], fix_table[:, 0], fix_table[:, 1:])
        return FittedMotion(t, poses, v, motion_known=True, place=place), str(
            messages[0].content.child_frame_id
        )

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
        topics = bag.topics(INFO)
        for depth in (1, 2):  # /cam/image_raw, /cam/image_raw/compressed
            if (sibling := f"{topic.rsplit('/', depth)[0]}/camera_info") in topics:
                return bag.message(sibling, 0)
        frame = str(bag.message(topic, 0).header.frame_id)
        same = [info for info in (bag.message(each, 0) for each in topics) if info.header.frame_id == frame]
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


def _bags(source: Path, troubles: list[OSError]) -> list[list[Path]]:
    """The files of each drive: those of a rosbag2 folder belong together."""
    bags: list[list[Path]] = []
    for folder, names in walk(source, troubles):
        files = sorted(
            (folder / n for n in names if n.endswith(".mcap") and is_visible(n)),
            key=lambda path: (len(path.stem), path.stem),  # _2 comes before _10
        )
        bags += [files] if files and "metadata.yaml" in names else [[file] for file in files]
    return sorted(bags)


def _fix_rows(messages: list[Message], start: int) -> Array:
    """(N, 3) times, latitudes and longitudes of the fixes that found something."""
    rows = [
        ((row.stamp - start) / 1e9, row.content.latitude, row.content.longitude)
        for row in messages
        if row.content.status.status >= 0
    ]
    table = np.array(rows, float).reshape(-1, 3)
    return table[np.isfinite(table).all(axis=1)]


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
        current = border.pop()
        for name, pose in edges.get(current, []):
            if name not in reached:
                reached[name] = reached[current] @ pose
                border.append(name)
    return reached.get(frame)


def _lens(info: Any, rectified: bool) -> tuple[Any, tuple[float, ...]]:
    """Its model and distortion."""
    bends = () if rectified else tuple(float(each) for each in info.d)
    model: Any = _MODELS.get(str(info.distortion_model)) if bends else "pinhole"
    if model is None:
        raise ValueError(f"distortion model '{info.distortion_model}'; known are {', '.join(_MODELS)}")
    if model != "opencv":
        return model, bends
    bends = (*bends, 0.0) if len(bends) == 4 else bends
    return (model, bends) if any(bends) else ("pinhole", ())


def _camera(info: Any, topic: str, index: int, mounting: Array) -> Camera:
    """A rectified topic's by P, another's by K and D (sensor_msgs/CameraInfo)."""
    parts = topic.strip("/").split("/")
    rectified = any(part.startswith(("image_rect", "rect")) for part in parts)
    k = np.array(info.p, float).reshape(3, 4) if rectified else np.array(info.k, float).reshape(3, 3)
    if not k[0, 0]:
        raise ValueError("a camera_info of zeros; the camera was not calibrated")
    turned = from_rotation(info.r, np.zeros(3)) if rectified else np.eye(4)
    lens, bends = _lens(info, rectified)
    own = [part for part in parts if part != "compressed" and not part.startswith("image")]
    return calibrated(
        "front" if index == 0 else identifier("-".join(own or parts)),
        (int(info.width), int(info.height)),
        k,
        turned @ mounting,
        lens,
        bends,
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
        channels, code = _TO_RGB[message.encoding]
        pixels = np.ascontiguousarray(rows[:, : message.width * channels])
        pixels = pixels.reshape(message.height, message.width, -1)
        return np.asarray(pixels if code is None else cv2.cvtColor(pixels, code), np.uint8)
