"""Planners that try to send something away; they say in their answer what came of it. 192.0.2.1 is nobody's."""

import json
import os
import socket
import subprocess
import sys

from cfgen.planners.baselines import constant_turn, write_text
from cfgen.planners.protocol import Requirements

#: started by a planner, it knows nothing of cfgen
PROGRAM = """
import os, socket
try:
    socket.create_connection(("127.0.0.1", int(os.environ["NOSY_PORT"])), timeout=2)
    print("went out", end="")
except OSError as error:
    print(type(error).__name__, end="")
"""


def tries() -> dict[str, str]:
    """What came of each way out, in words."""
    found = {}
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ways = {
        "connect": lambda: socket.create_connection(("192.0.2.1", 80), timeout=0.2),
        "datagram": lambda: datagram.sendto(b"x", ("192.0.2.1", 9)),
        "lookup": lambda: socket.getaddrinfo("example.invalid", 80),
        "loopback": lambda: socket.create_connection(("127.0.0.1", int(os.environ["NOSY_PORT"])), timeout=2),
    }
    for name, way in ways.items():
        try:
            way()
            found[name] = "went out"
        except OSError as error:
            found[name] = f"{type(error).__name__}: {error}"
    found["program"] = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True).stdout
    found["hub"] = os.environ.get("HF_HUB_OFFLINE", "")
    return found


def work(_: object):
    """What a worker process is given."""
    return tries()


class Nosy:
    needs = Requirements(cameras=())

    def plan(self, observations):
        said = json.dumps(tries()).replace('"', "'")
        return [write_text(said, "", "", "", constant_turn(5, 0)) for _ in observations]


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("ask") == "needs":
            answer = {"needs": {"cameras": []}}
        else:
            answer = {
                "id": asked["id"],
                "text": json.dumps(tries()),
                "waypoints": constant_turn(5, 0).tolist(),
            }
        print(json.dumps(answer), flush=True)
