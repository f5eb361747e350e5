"""Where there is room beside the car's way: ground that perception saw as road, with nothing on it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cfgen.geometry.path import EgoPath
from cfgen.judge.offline.motion import road_shares
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: m beside the recorded way up to which a car is as good as on it, and beyond which it is in another lane.
OWN_M, OTHER_M = 0.7, 2.2
#: m ahead: nearer the car's own ground is out of the frame, farther a car is a few pixels.
_NEAREST_M, _FARTHEST_M = 6.0, 45.0
#: Share of the ground under the car that is seen as road, at every place that is looked at.
_ROAD = 0.75
#: Places that have to be seen.
_LEAST = 3
#: m: half of a lane's width.
_HALF_M = 1.75


@dataclass(frozen=True)
class Room:
    """``lane``: the recorded way. ``view``: what the unchanged frame shows at t0, None where nobody kept it.

    ``kerb``: 1 where that is on the left, else -1.
    """

    lane: EgoPath
    camera: Camera
    view: SceneView | None
    kerb: int = -1

    def allows(self, waypoints: np.ndarray) -> bool:
        """Whether a plan (N, >= 2) stays on the recorded way, or goes where the frame shows free road and a lane.

        What lies farther than can be told is taken to go on as the road does there. Where nothing was seen there is
        no room.
        """
        xy = np.asarray(waypoints, float)[:, :2]
        key = xy.tobytes()
        if key not in self._asked:
            self._asked[key] = self._allows(xy)
        return self._asked[key]

    def _allows(self, xy: np.ndarray) -> bool:
        s, aside = self.lane.locate(xy)
        out = np.abs(aside) > OWN_M
        if not out.any():
            return True
        reach = float(aside[np.abs(aside).argmax()])
        if self.view is None or (abs(reach) > OTHER_M and not self._lane_at(reach)):
            return False
        s, aside = np.clip(s[out], _NEAREST_M, _FARTHEST_M), aside[out]
        ahead = np.linspace(min(s[0], _FARTHEST_M - 10), _FARTHEST_M, 6)
        s, aside = np.append(s, ahead), np.append(aside, np.full(len(ahead), reach))
        shares = road_shares(np.column_stack(self.lane.at(s, aside)), self.view, self.camera)
        seen = shares[np.isfinite(shares)]
        return bool(len(seen) >= _LEAST and (seen >= _ROAD).all())

    def _lane_at(self, reach: float) -> bool:
        """Whether a lane lies ``reach`` m to the left: road for all its width, and towards the kerb a line before it.

        Without a line, road towards the kerb may be a row for parked cars, or a verge that looks as flat.
        """
        side = 1 if reach > 0 else -1
        if self._lanes.line(side) is not None:
            return self._lanes.open_beyond(side, _HALF_M)
        if side == self.kerb:
            return False
        edge = self._lanes.edge(side)
        return edge is None or abs(edge) > abs(reach) + _HALF_M - 0.25

    @cached_property
    def _asked(self) -> dict[bytes, bool]:
        """What was answered: the same plan comes up again and again."""
        return {}

    @cached_property
    def _lanes(self) -> LanesSeen:
        assert self.view is not None
        return LanesSeen.of(self.view, self.camera, self.lane)
