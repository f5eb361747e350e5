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

    def __init__(self, road, s0, t0, knots, direction=1, shift=()):
        self.road, self.direction, self.t0 = road, direction, t0
        self.v = smooth_speed(knots)
        travel = np.concatenate([[0], np.cumsum((self.v[1:] + self.v[:-1]) / 2 * 0.01)])
        self.s = s0 + direction * (travel - np.interp(0.0, FINE, travel))
        self.shift = np.asarray(shift, float) if len(shift) else np.zeros((1, 2))

    def pose(self, t):
        """(x, y, z, heading, v) at time t; the heading is the path's tangent."""
        near = np.array([t - 0.02, t, t + 0.02])
        s = np.interp(near, FINE, self.s)
        if self.direction * (s[2] - s[0]) < 1e-3:
            s = s + np.array([-0.02, 0, 0.02]) * self.direction
        offset = self.t0 + np.interp(s, self.shift[:, 0], self.shift[:, 1])
        p = self.road.at(s, offset)
        d = p[2] - p[0]
        return (*p[1], np.arctan2(d[1], d[0]), float(np.interp(t, FINE, self.v)))


def rows(ride, times):
    """[x, y, theta, v] rows in the ego frame at t = 0, which is the world frame here."""
    out = []
    for t in times:
        x, y, _, theta, v = ride.pose(float(t))
        out.append([round(float(a), 4) + 0.0 for a in (x, y, np.arctan2(np.sin(theta), np.cos(theta)), v)])
    return out
