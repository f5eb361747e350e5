"""The planner's side of cfgen: what it is asked, what it may answer, and the loop that carries both. One file.

Python 3.9 and NumPy are all it needs, nothing of cfgen: ``cfgen score --python`` sends it to any environment, and
``cfgen planner init`` puts a copy into the new package, which is tested with it (:func:`check`). Messages are JSON
with raw frames behind, over two pipes; nothing is ever unpickled.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

#: of the messages; both sides name theirs before anything is asked
VERSION = 1
MAGIC = b"cfgen<1>"
#: what a Python that is not ours says instead of a first message, in one line
COMPLAINT = b"complaint: "
#: bytes of a message, frames included
MOST = 2**33


@dataclass(frozen=True)
class Requirements:
    """What a planner declares; it decides what is loaded and how it is checked.

    Attributes:
        cameras: names of the cameras it wants.
        frame_times: seconds relative to t0 at which it wants images of each camera; 0.0 is "now".
        max_pixels: images larger than this are shrunk, keeping their aspect; None keeps them.
        input_pixels: area to which it shrinks images itself, if it does; hazards too small there are reported.
        batch_size: observations per ``plan`` call.
        deterministic: same observation and seed, same answer.
        accepts_trace: it plans for ``observation.trace`` when that is given (interventions).
        truth: scripted responders only: they are told what was added where (known-answer probes).
    """

    cameras: tuple[str, ...] = ("front",)
    frame_times: tuple[float, ...] = (0.0,)
    max_pixels: int | None = None
    input_pixels: int | None = None
    batch_size: int = 1
    deterministic: bool = True
    accepts_trace: bool = False
    truth: bool = False


@dataclass(frozen=True)
class TimedImage:
    """One image: ``pixels`` (H, W, 3) uint8 RGB, read-only; ``t`` its own time in s relative to t0."""

    t: float
    pixels: np.ndarray


@dataclass(frozen=True)
class Motion:
    """Ego motion: ``t`` (T,) s relative to t0, ``poses`` (T, 3) x, y, theta in the ego frame at t0, ``v`` (T,) m/s."""

    t: tuple[float, ...]
    poses: tuple[tuple[float, float, float], ...]
    v: tuple[float, ...]


@dataclass(frozen=True)
class Trace:
    """Reasoning to plan for; empty fields are the planner's to fill."""

    scene: str = ""
    justification: str = ""
    longitudinal: str = ""
    lateral: str = ""


@dataclass(frozen=True)
class Observation:
    """One question to a planner. Nothing in it tells which arm it comes from.

    Attributes:
        token: opaque; different for every question.
        seed: for the planner's own randomness: whole and not negative, another one for every question (case, arm,
            repeat), and the same one whenever that question is asked again.
        images: camera name -> images in time order, at the needed times that the scene has.
        cameras: camera name -> calibration at the size of its images; fields as in ``scene.json``.
        history: ego motion up to t = 0 in the ego frame at t0 (m, rad, m/s).
        instruction: navigation instruction, or "".
        trace: reasoning to plan for instead of its own. Given only to planners that accept one.
    """

    token: str
    seed: int
    images: Mapping[str, tuple[TimedImage, ...]]
    cameras: Mapping[str, Any]
    history: Any
    instruction: str = ""
    trace: Any = None

    @property
    def yaw_rate(self) -> float:
        """Ego yaw rate over the last 0.5 s of history, rad/s; 0 when the history is shorter than a step."""
        t, poses = self.history.t, self.history.poses
        first = next(i for i, time in enumerate(t) if time >= -0.5 - 1e-6)
        return float((poses[-1][2] - poses[first][2]) / (t[-1] - t[first])) if t[-1] > t[first] else 0.0

    @property
    def speed(self) -> float:
        """Ego speed at t0, m/s."""
        return float(self.history.v[-1])


@dataclass(frozen=True)
class Response:
    """An answer in parts, for planners that do not write the papers' text format.

    Attributes:
        text: reasoning in the papers' format or free text; parsed by cfgen.
        waypoints: (T, 2) or (T, 3) x, y[, theta] in the ego frame at t0, m and rad; None takes them from ``text``.
        t: (T,) s after t0 of the waypoints; None means 0.25, 0.5, ...
        report: anything the planner reports of itself (calls, cost, ...): JSON values.
    """

    text: str = ""
    waypoints: np.ndarray | None = None
    t: np.ndarray | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


# --- for the tests of a planner's package ---------------------------------------------------------------


def example(needs: Any, speed: float = 10.0, size: tuple[int, int] = (640, 360)) -> Observation:
    """A made-up question with all that ``needs`` asks for: grey pictures, a straight history at ``speed`` m/s."""
    fields = fields_of(needs)
    width, height = size
    pixels = np.full((height, width, 3), 128, np.uint8)
    frames = tuple(TimedImage(float(t), pixels) for t in sorted(fields["frame_times"]))
    camera = {
        "model": "pinhole",
        "width": width,
        "height": height,
        "fx": 600.0,
        "fy": 600.0,
        "distortion": (),
    }
    middle = {"cx": (width - 1) / 2, "cy": (height - 1) / 2}
    # 1.5 m above the ground, looking along x
    mounted = {"T_cam_ego": ((0, -1, 0, 0), (0, 0, -1, 1.5), (1, 0, 0, 0), (0, 0, 0, 1))}
    cameras = {n: SimpleNamespace(name=n, **camera, **middle, **mounted) for n in fields["cameras"]}
    t = tuple(round(0.1 * k - 2.0, 1) for k in range(21))
    history = Motion(t, tuple((speed * at, 0.0, 0.0) for at in t), (speed,) * len(t))
    return Observation("example", 1, dict.fromkeys(fields["cameras"], frames), cameras, history)


def check(planner: Any) -> list[Any]:
    """Ask ``planner`` two made-up questions, at 10 m/s and standing; its two answers.

    Raises:
        AssertionError: an answer that cfgen could not score; says why.
    """
    needs = getattr(planner, "needs", Requirements())
    questions = [example(needs), example(needs, speed=0.0)]
    answers = [answer for question in questions for answer in planner.plan([question])]
    assert len(answers) == len(questions), f"expected one answer to each question, found {len(answers)} to 2"
    for answer in answers:
        if isinstance(answer, str):
            assert "<wp>" in answer, "a text needs 24 <wp>[x, y, theta]</wp>; or answer with a Response"
        elif _part(answer, "waypoints") is not None:
            _check_waypoints(np.asarray(_part(answer, "waypoints"), float), _part(answer, "t"))
    return answers


def _check_waypoints(points: np.ndarray, t: Any) -> None:
    shaped = points.ndim == 2 and points.shape[1] in (2, 3)
    assert shaped, f"waypoints: expected (T, 2) or (T, 3), found {points.shape}"
    assert np.isfinite(points[:, :2]).all(), "waypoints: expected finite x and y"
    if t is None:
        assert len(points) == 24, f"waypoints without t: expected 24, found {len(points)}"
        return
    times = np.asarray(t, float)
    assert times.shape == (len(points),), f"t: expected {(len(points),)}, found {times.shape}"
    assert (np.diff(times) > 0).all(), "t: expected times that rise"
    assert times[-1] >= 2.0, f"t: expected a plan of 2 s or more, found {times[-1]:g} s"


def _part(answer: Any, name: str) -> Any:
    return answer.get(name) if isinstance(answer, Mapping) else getattr(answer, name, None)


def fields_of(needs: Any) -> dict[str, Any]:
    """What is declared, by a mapping or an object with such attributes, over the defaults."""
    defaults = vars(Requirements())
    if isinstance(needs, Mapping):
        return {**defaults, **needs}
    return {name: getattr(needs, name, value) for name, value in defaults.items()}


# --- the channel ----------------------------------------------------------------------------------------


class ChannelError(Exception):
    """What came is no message of the other side's; ``found`` are its first bytes."""

    def __init__(self, words: str, first_bytes: bytes = b"") -> None:
        super().__init__(words)
        self.found = first_bytes


class Channel:
    """Messages over two file descriptors: a mark, the length of a JSON text, that text, and (H, W, 3) uint8 arrays.

    The arrays follow, or lie in the memory of the descriptor ``shared`` that both sides have: one on another machine or
    in a container does without.

    ``deadline``, where given, is a time of ``time.monotonic()`` after which TimeoutError is raised; the descriptors
    then have to be non-blocking.
    """

    def __init__(self, source: int, sink: int, shared: int = -1) -> None:
        self.source, self.sink, self.shared = source, sink, shared
        self._map: mmap.mmap | None = None
        self._unread = bytearray()

    def send(self, content: Any, arrays: Sequence[np.ndarray] = (), deadline: float | None = None) -> None:
        placed = bool(arrays) and self.shared >= 0
        if placed:
            self._write_shared(arrays)
        header = {"content": content, "arrays": [list(a.shape) for a in arrays], "placed": placed}
        head = json.dumps(header).encode()
        self.write(MAGIC + struct.pack("<I", len(head)) + head, deadline)
        for array in [] if placed else arrays:
            self.write(np.ascontiguousarray(array, np.uint8).data.cast("B"), deadline)

    def receive(self, deadline: float | None = None, max_bytes: int = MOST) -> tuple[Any, list[np.ndarray]]:
        """The next message.

        Raises:
            EOFError: there is no other side any more.
            ChannelError: it is none, or longer than ``max_bytes``.
        """
        mark = self._read(bytearray(len(MAGIC) + 4), deadline, MAGIC)
        (length,) = struct.unpack("<I", mark[len(MAGIC) :])
        if length > max_bytes:
            raise ChannelError(f"expected a message of at most {max_bytes} bytes, found {length}")
        try:
            head = json.loads(bytes(self._read(bytearray(length), deadline)))
            content, shapes = head["content"], [tuple(map(int, shape)) for shape in head["arrays"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ChannelError(f"expected JSON ({type(error).__name__})") from None
        if any(min(shape, default=0) < 1 for shape in shapes):
            raise ChannelError(f"expected arrays with a size, found {shapes[:3]}")
        if sum(int(np.prod(shape, dtype=float)) for shape in shapes) > max_bytes:
            raise ChannelError(f"expected arrays of at most {max_bytes} bytes, found {shapes[:3]}")
        if head.get("placed") and self.shared >= 0:
            return content, self._read_shared(shapes)
        arrays = [np.empty(shape, np.uint8) for shape in shapes]
        for array in arrays:
            self._read(array.data.cast("B"), deadline)
        return content, arrays

    def _write_shared(self, arrays: Sequence[np.ndarray]) -> None:
        memory, at = self._memory(sum(a.size for a in arrays)), 0
        for array in arrays:
            memory[at : at + array.size].reshape(array.shape)[:] = array
            at += array.size

    def _read_shared(self, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
        """Copies: a planner may keep its frames."""
        sizes = [int(np.prod(shape)) for shape in shapes]
        memory, at, copies = self._memory(sum(sizes)), 0, []
        for shape, size in zip(shapes, sizes):  # noqa: B905 - Python 3.9
            copies.append(memory[at : at + size].reshape(shape).copy())
            at += size
        return copies

    def _memory(self, size: int) -> np.ndarray:
        """``size`` bytes of the shared memory, which grows to hold them."""
        if self._map is None or len(self._map) < size:
            if os.fstat(self.shared).st_size < size:
                os.ftruncate(self.shared, size)
            self._map = mmap.mmap(self.shared, size)
        return np.frombuffer(self._map, np.uint8, size)

    def write(self, data: Any, deadline: float | None) -> None:
        remaining = memoryview(data)
        while remaining:
            try:
                remaining = remaining[os.write(self.sink, remaining) :]
            except BlockingIOError:
                _wait(self.sink, select.POLLOUT, deadline)

    def read_line(self, deadline: float, max_bytes: int) -> bytes:
        """Up to and with the next line feed; shorter only where the other side ended, or wrote too much."""
        unread = self._unread
        end = unread.find(b"\n") + 1
        while not end and len(unread) < max_bytes:
            _wait(self.source, select.POLLIN, deadline)
            part = os.read(self.source, 2**16)
            if not part:
                break
            end = len(unread) + part.find(b"\n") + 1 if b"\n" in part else 0
            unread += part
        line = bytes(unread[: end or len(unread)])
        del unread[: len(line)]
        return line

    def _read(self, buffer: Any, deadline: float | None, start: bytes = b"") -> Any:
        """Fill ``buffer``, which must begin with ``start``: rubbish is known before it has come to its end."""
        remaining = memoryview(buffer)
        while remaining:
            if deadline is not None:
                _wait(self.source, select.POLLIN, deadline)
            count = os.readv(self.source, [remaining])
            filled = len(buffer) - len(remaining) + count
            head = bytes(memoryview(buffer)[: min(filled, len(start))])
            if head != start[: len(head)]:
                raise ChannelError("expected a message", bytes(memoryview(buffer)[:filled]))
            if count == 0:
                raise EOFError
            remaining = remaining[count:]
        return buffer


def _wait(descriptor: int, event: int, deadline: float | None) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    timeout_ms = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    if not poll.poll(timeout_ms):
        raise TimeoutError


# --- the process ----------------------------------------------------------------------------------------


def connect() -> Channel:
    """Takes stdin and stdout for the channel: what is printed from now on goes to stderr, by native code as well.

    The process ends with the other side, wherever it runs and whatever it is busy with.
    """
    channel = Channel(os.dup(0), os.dup(1))
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)

    def end_with_it() -> None:
        hangup = select.poll()
        hangup.register(channel.source, 0)
        hangup.poll()
        os._exit(1)

    threading.Thread(target=end_with_it, daemon=True).start()
    return channel


def observation(message: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> Observation:
    """A question as it came over the channel."""
    history, trace = message["history"], message["trace"]
    images = {
        name: tuple(TimedImage(t, _locked(arrays[number])) for t, number in frames)
        for name, frames in message["images"].items()
    }
    motion = Motion(
        _tuples(message["history_t"]), tuple(tuple(row[:3]) for row in history), tuple(r[3] for r in history)
    )
    cameras = {name: SimpleNamespace(**_tuples(camera)) for name, camera in message["cameras"].items()}
    requested_trace = None if trace is None else Trace(**trace)
    return Observation(
        message["id"], message["seed"], images, cameras, motion, message["instruction"], requested_trace
    )


def _locked(pixels: np.ndarray) -> np.ndarray:
    pixels.setflags(write=False)
    return pixels


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tuples(item) for name, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
