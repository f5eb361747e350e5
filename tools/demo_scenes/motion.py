"""Motion along a road: speeds by knots, positions by exact integration, waypoints in the ego frame."""

import numpy as np

FINE = np.arange(-2.0, 6.0 + 1e-9, 0.01)
HISTORY_T = np.arange(-8, 1) * 0.25
FUTURE_T = np.arange(1, 25) * 0.25


def smooth_speed(knots):
    """Speed at FINE from (t, v) knots; cubic Hermite with finite-difference slopes, never below zero."""
    t, v = np.asarray(knots, float).T
    if len(t) == 1:
        return np.full(len(FINE), v[0])
    slope = np.gradient(v, t)
    i = np.clip(np.searchsorted(t, FINE, side="right") - 1, 0, len(t) - 2)
    width = t[i + 1] - t[i]
    u = np.clip((FINE - t[i]) / width, 0, 1)
    out = (1 + 2 * u) * (1 - u) ** 2 * v[i] + u * (1 - u) ** 2 * width * slope[i]
    out += u**2 * (3 - 2 * u) * v[i + 1] + u**2 * (u - 1) * width * slope[i + 1]
    return np.maximum(out, 0)


class Ride:
    """A vehicle on a road: s(t) from its speed; direction -1 drives towards falling s."""

    def __init__(self, road, s0, t0, knots, direction=1):
        self.road, self.direction, self.t0 = road, direction, t0
        self.v = smooth_speed(knots)
        self.s = self._along(s0)

    def _along(self, s0):
        """s at FINE. An inner lane is shorter than the centre line, so ds/dt = v / (1 - curvature * t0)."""
        now = len(FINE) // 4
        s = np.empty(len(FINE))
        s[now] = s0
        for step, stop in ((1, len(FINE)), (-1, -1)):
            for i in range(now + step, stop, step):
                v = (self.v[i] + self.v[i - step]) / 2
                s[i] = s[i - step] + step * self.direction * v * 0.01 / (
                    1 - self.road.curvature(s[i - step]) * self.t0
                )
        return s

    def pose(self, t):
        """(x, y, z, heading, v) at time t; at a fixed offset the path's tangent is the road's heading."""
        s = float(np.interp(t, FINE, self.s))
        heading = float(self.road.heading(s)) + (0.0 if self.direction > 0 else np.pi)
        return (*self.road.at(s, self.t0), heading, float(np.interp(t, FINE, self.v)))


def rows(ride, times):
    """[x, y, theta, v] rows in the ego frame at t = 0, which is the world frame here."""
    out = []
    for t in times:
        x, y, _, theta, v = ride.pose(float(t))
        out.append([round(float(a), 4) + 0.0 for a in (x, y, np.arctan2(np.sin(theta), np.cos(theta)), v)])
    return out
