"""What an MCAP bag of ROS 2 holds, by topic and type; messages are decoded when asked for."""

import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.core.files import check_no_pipe, reading

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
        more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
        found = ", ".join(names[:_TOLD]) + more or "none"
        return InputError(f"{self._files[0]}: expected {what}, found the topics {found}; {advice}")

    def one_of(self, asked: str, option: str, kind: str) -> str:
        """The topic of a type that was asked for, or the only one; "" where there is none.

        Raises:
            InputError: there are several, or not the one asked for.
        """
        there = self.topics(kind)
        if (asked and asked not in there) or (len(there) > 1 and not asked):
            short = kind.rpartition("/")[2]
            raise self.lacks(
                f"{short} on '{asked}'" if asked else f"one topic of {short}",
                f"choose by --options {option}=",
            )
        return asked or "".join(there)

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
            found = self._reader(path).iter_messages(
                [topic], starting_at=entry.log_time, ending_at=entry.log_time
            )
            for schema, channel, message in found:
                if self._stamp(message) == entry.stamp:
                    return self._decoded(path, channel.message_encoding, schema, message.data)
            raise ValueError("none where its index says")

    def messages(self, topic: str) -> list[Message]:
        """All messages of a topic in order, one for each time."""
        found: dict[int, Any] = {}
        for path, (schema, channel, message) in self._raw(topic):
            with reading(path, f"messages on topic '{topic}'", _AGAIN):
                content = self._decoded(path, channel.message_encoding, schema, message.data)
                found.setdefault(self._stamp(message), content)
        if not found:
            raise self.lacks(f"messages on '{topic}', which has none", "record it too")
        return [Message(stamp, found[stamp]) for stamp in sorted(found)]

    def still(self) -> list[Any]:
        """Transforms between frames that do not move against each other (geometry_msgs/TransformStamped)."""
        topics = [topic for topic in self.topics(TRANSFORMS) if topic.endswith("static")]
        found = []
        for topic in topics:
            for path, (schema, channel, message) in self._raw(topic):
                with reading(path, f"transforms on topic '{topic}'", _AGAIN):
                    found += self._decoded(path, channel.message_encoding, schema, message.data).transforms
        return found

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
            found: dict[int, _Entry] = {}
            for path, (_, _, message) in self._raw(topic):
                with reading(path, f"messages on topic '{topic}'", _AGAIN):
                    stamp = self._stamp(message)
                    found.setdefault(stamp, _Entry(stamp, self._files.index(path), message.log_time))
            if not found:
                raise self.lacks(f"messages on '{topic}', which has none", "record it too")
            self._index[topic] = [found[stamp] for stamp in sorted(found)]
        return self._index[topic]

    def _raw(self, topic: str) -> Iterator[tuple[Path, Any]]:
        for path in self._files:
            with reading(path, "an MCAP file", _AGAIN):
                for found in self._reader(path).iter_messages([topic], log_time_order=False):
                    yield path, found

    def _stamp(self, message: Any) -> int:
        """ns; header.stamp is the first field of each message that is asked for it, after 4 bytes of CDR's own."""
        if self._by_log:
            return int(message.log_time)
        order = "<" if message.data[1] & 1 else ">"
        second, nanosecond = struct.unpack_from(f"{order}iI", message.data, 4)
        return int(second * 1_000_000_000 + nanosecond) or int(message.log_time)
