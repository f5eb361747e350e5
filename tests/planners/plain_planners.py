"""Planners that know nothing of cfgen, not even its types; each does one thing that a runtime has to stand."""

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POINTS = [[k * 2.0, 0.0] for k in range(1, 25)]


class Plain:
    needs = {"cameras": [], "frame_times": []}  # noqa: RUF012

    def plan(self, observations):
        return [{"text": json.dumps(self.say(o)), "waypoints": POINTS} for o in observations]

    def say(self, observation):
        return {}


class Tells(Plain):
    """Where it runs."""

    needs = {"cameras": ["front"], "frame_times": [0.0]}  # noqa: RUF012

    def say(self, observation):
        (image,) = observation.images["front"]
        client = sys.modules["cfgen.planners.client"]
        return {
            "sent": client.__spec__.origin,
            "pydantic": "pydantic" in sys.modules,
            "sum": int(image.pixels.sum()),
            "shape": image.pixels.shape,
            "locked": not image.pixels.flags.writeable,
            "width": observation.cameras["front"].width,
            "speed": observation.speed,
        }


class Evil:
    def __reduce__(self):
        return os.system, ("touch reduced",)


class Pickles(Plain):
    def plan(self, observations):
        return [{"waypoints": POINTS, "report": {"x": Evil()}} for _ in observations]


class Remembers(Plain):
    """Counts the questions since it was made anew, or told to forget."""

    asked = 0

    def say(self, observation):
        self.asked += 1
        return self.asked


class Forgets(Remembers):
    def reset(self):
        self.asked = 0


class Eats(Plain):
    def say(self, observation):
        eaten = bytearray(600_000_000)
        eaten[::4096] = b"x" * len(eaten[::4096])
        time.sleep(30)


class Breeds(Plain):
    """Starts a process that leaves it."""

    def __init__(self, seconds):
        self.seconds = seconds

    def say(self, observation):
        subprocess.Popen(["setsid", "sleep", str(self.seconds)], start_new_session=True)
        time.sleep(0.2)


class Writes(Plain):
    def say(self, observation):
        with tempfile.NamedTemporaryFile() as kept:
            own = Path(kept.name).parent
        (own / "mine").write_text("fine")
        return {"own": str(own), "cwd": (Path.cwd() / "written").write_text("x")}


class Reads(Plain):
    def __init__(self, path):
        self.path = path

    def say(self, observation):
        return {"text": Path(self.path).read_text()}


def _is_shared(descriptor):
    try:
        return "memfd:frames" in os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
    except OSError:
        return False


class Shrinks(Plain):
    """Makes the memory that it shares with cfgen smaller, or forbids cfgen to write to it."""

    needs = {"cameras": ["front"], "frame_times": [0.0]}  # noqa: RUF012

    def say(self, observation):
        words = {}
        memory = next(fd for fd in map(int, os.listdir("/proc/self/fd")) if _is_shared(fd))  # noqa: PTH208
        for what, act in (
            ("shrunk", lambda: os.ftruncate(memory, 0)),
            ("sealed", lambda: fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)),
        ):
            try:
                act()
                words[what] = "done"
            except OSError as error:
                words[what] = error.strerror
        return words


class Ends(Plain):
    def __init__(self, signal_name):
        self.signal_name = signal_name

    def say(self, observation):
        os.kill(os.getpid(), getattr(signal, f"SIG{self.signal_name}"))
        time.sleep(5)


class Calls(Plain):
    def __init__(self, port):
        self.port = port

    def say(self, observation):
        socket.create_connection(("127.0.0.1", self.port), timeout=2).close()


def channel():
    """The end of cfgen's channel that can be written to."""
    for path in Path("/proc/self/fd").iterdir():
        if int(path.name) > 2 and path.exists():
            end = fcntl.fcntl(int(path.name), fcntl.F_GETFL) & os.O_ACCMODE
            if end == os.O_WRONLY and "pipe" in str(path.readlink()):
                return int(path.name)
    raise RuntimeError("no channel")


class Chatters(Plain):
    def say(self, observation):
        os.write(channel(), b"Loading model ...\n")


class Closes(Plain):
    def say(self, observation):
        os.close(channel())
        time.sleep(3)


class RunsAhead(Plain):
    def say(self, observation):
        told = json.dumps({"content": {"number": 999, "answers": []}, "arrays": []}).encode()
        os.write(channel(), b"cfgen<1>" + struct.pack("<I", len(told)) + told)


class Reaches(Plain):
    """What of the machine it can set or open."""

    def __init__(self, places):
        self.places = places

    def say(self, observation):
        found = {}
        for place in self.places:
            try:
                os.close(os.open(place, os.O_WRONLY))
                found[place] = "open"
            except OSError as error:
                found[place] = error.strerror
        os.close(os.openpty()[0])
        return {
            "found": found,
            "devices": [p.name for p in Path("/dev").iterdir()],
            "space": str(Path("/proc/self/ns/uts").readlink()),
        }


class FillsShm(Plain):
    """Files in memory that nobody has mapped."""

    def __init__(self, files):
        self.files = files

    def say(self, observation):
        for number in range(self.files):
            Path(f"/dev/shm/{number}").write_bytes(bytes(60_000_000))
            time.sleep(0.3)
        return {}
