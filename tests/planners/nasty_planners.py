"""Planners whose answers hold what JSON, UTF-8 or a pipe cannot; ``Nasty`` picks one by the question's token."""

import dataclasses
import os
import time
from decimal import Decimal

import numpy as np

from cfgen.planners.protocol import Requirements, Response

POINTS = [[k * 2.0, 0.0] for k in range(1, 25)]


class Tensor:
    """Refuses NumPy as a tensor that requires grad does; only ``tolist`` works, as it does on any device."""

    def __init__(self, values):
        self.values, self.shape = values, np.shape(values)

    def tolist(self):
        return self.values

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on a tensor that requires grad")


class Unwilling:
    def __repr__(self):
        raise ValueError("no")

    def __reduce__(self):
        raise TypeError("cannot be pickled")


class Duck:
    text, waypoints, t, report = "I look like one.", POINTS, None, None


class Trap:
    waypoints = POINTS

    @property
    def text(self):
        raise KeyError("text")


@dataclasses.dataclass
class Cost:
    calls: int
    usd: Decimal


@dataclasses.dataclass(frozen=True)
class Own(Response):
    extra: object = None


def _circle():
    found = [1]
    found.append(found)
    return found


def report(**values):
    return Response("ok", POINTS, report=values)


ANSWERS = {
    "surrogate": lambda: Response("a\ud83d b", POINTS),
    "pair": lambda: Response("a\ud83d" + "\ude00 b", POINTS),
    "numpy": lambda: report(a=np.float32(1.5), b=np.arange(3), c=np.bool_(True), d=np.int64(7)),
    "tensor": lambda: report(loss=Tensor([1.0, 2.0])),
    "bytes": lambda: report(raw=b"\xff ok"),
    "dataclass": lambda: report(cost=Cost(3, Decimal("0.5"))),
    "set": lambda: report(seen={3, 1}),
    "nan": lambda: report(worst=float("nan"), best=-np.inf),
    "circle": lambda: report(all=_circle()),
    "huge": lambda: report(n=10**5000),
    "keys": lambda: report(by={1: "a", (2, 3): "b", "\ud800": "c"}),
    "object": lambda: report(it=Unwilling()),
    "no words": lambda: Response(None, POINTS),
    "byte words": lambda: Response("é".encode(), POINTS),
    "number": lambda: Response(7, POINTS),
    "points tensor": lambda: Response("", Tensor(POINTS)),
    "points of tensors": lambda: Response("", [Tensor(p) for p in POINTS]),
    "points of scalars": lambda: Response("", tuple((np.float16(x), Tensor(y)) for x, y in POINTS)),
    "times": lambda: Response("", POINTS, [Tensor(0.25 * k) for k in range(1, 25)]),
    "strings": lambda: Response("", [["a", "b"]] * 24),
    "ragged": lambda: Response("", [[1, 2], [3]]),
    "too large": lambda: Response("", [[10**400, 0]] * 24),
    "report": lambda: Response("", POINTS, report=[1]),
    "duck": Duck,
    "trap": Trap,
    "own": lambda: Own("mine", POINTS, extra=Unwilling()),
    "none": lambda: None,
    "object answer": object,
    "long": lambda: Response("x" * 50_000_000, POINTS),
}


class Nasty:
    needs = Requirements(cameras=(), frame_times=(), batch_size=len(ANSWERS))

    def plan(self, observations):
        return [ANSWERS[o.token]() for o in observations]


class Killed(Nasty):
    def plan(self, observations):
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)


class OddNeeds(Nasty):
    needs = Requirements(cameras=(), frame_times=(float("nan"),))


class AskingPlanner(Nasty):
    """Asks a model server that is away."""

    def plan(self, observations):
        raise ConnectionRefusedError("model server away")


class Halted(BaseException):
    pass


class Ending(Nasty):
    """Leaves ``plan`` in other ways than by answering."""

    needs = Requirements(cameras=(), frame_times=())

    def plan(self, observations):
        token = observations[0].token
        if token in ENDS:
            raise ENDS[token]
        if token == "fork":
            os.fork()
        return RETURNS.get(token, [Response("ok", POINTS)])


ENDS = {
    "interrupt": KeyboardInterrupt(),
    "exit": SystemExit(0),
    "halt": Halted("no more"),
    "memory": MemoryError(),
}
RETURNS = {"none": None, "text": "hello", "one": Response("ok", POINTS)}


class Slow(Nasty):
    def __init__(self):
        time.sleep(60)
