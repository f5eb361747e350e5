"""Roads as curves: arc length s along the centre line, offset t to its left, z from a profile."""

import numpy as np

STEP = 0.5


class Road:
    """A centre line by curvature. At s = 0 it passes through `start` with heading `heading`."""

    def __init__(self, curvature, start=(0.0, 0.0), heading=0.0, span=(-110.0, 420.0), climb=((0, 0.0),)):
        self.s = np.arange(span[0], span[1] + STEP, STEP)
        knots = np.asarray(curvature, float)
        kappa = self._kappa = np.interp(self.s, knots[:, 0], knots[:, 1])
        turn = np.concatenate([[0], np.cumsum((kappa[1:] + kappa[:-1]) / 2 * STEP)])
        turn = turn - np.interp(0.0, self.s, turn) + heading
        mid = (turn[1:] + turn[:-1]) / 2
        x = np.concatenate([[0], np.cumsum(np.cos(mid) * STEP)])
        y = np.concatenate([[0], np.cumsum(np.sin(mid) * STEP)])
        self.x = x - np.interp(0.0, self.s, x) + start[0]
        self.y = y - np.interp(0.0, self.s, y) + start[1]
        self.turn = turn
        rise = np.asarray(climb, float)
        raw = np.interp(self.s, rise[:, 0], rise[:, 1])
        kernel = np.hanning(121) / np.hanning(121).sum()
        self.z = np.convolve(np.pad(raw, 60, mode="edge"), kernel, "valid")
        self.span = span

    def heading(self, s):
        """Heading in radians at s."""
        return np.interp(s, self.s, self.turn)

    def curvature(self, s):
        """Curvature in 1/m at s; positive bends left."""
        return np.interp(s, self.s, self._kappa)

    def at(self, s, t=0.0, up=0.0):
        """World points (n, 3) at arc length s, t metres left, up metres above the surface."""
        s, t, up = np.broadcast_arrays(np.asarray(s, float), t, up)
        h = self.heading(s)
        x = np.interp(s, self.s, self.x) - np.sin(h) * t
        y = np.interp(s, self.s, self.y) + np.cos(h) * t
        return np.stack([x, y, np.interp(s, self.s, self.z) + up], -1)

    def nearest(self, points):
        """(s, t) of the nearest centre-line sample for points (n, 2)."""
        line = np.stack([self.x, self.y], 1)[::4]
        s_line, best_s, best_t = self.s[::4], [], []
        for chunk in np.array_split(np.asarray(points, float), max(1, len(points) // 20000)):
            d2 = ((chunk[:, None] - line[None]) ** 2).sum(-1)
            i = d2.argmin(1)
            h = self.turn[::4][i]
            d = chunk - line[i]
            ahead = d[:, 0] * np.cos(h) + d[:, 1] * np.sin(h)
            side = -d[:, 0] * np.sin(h) + d[:, 1] * np.cos(h)
            beyond = (np.abs(ahead) > 3) & ((i == 0) | (i == len(line) - 1))
            side = np.where(beyond, np.sign(side + 1e-9) * np.sqrt(d2[np.arange(len(i)), i]), side)
            best_s.append(s_line[i] + ahead)
            best_t.append(side)
        return np.concatenate(best_s), np.concatenate(best_t)


def stretches(lo, hi, gaps):
    """The parts of [lo, hi] outside gaps [(a, b), ...]."""
    out, at = [], lo
    for a, b in sorted(gaps):
        if a > at:
            out.append((at, min(a, hi)))
        at = max(at, b)
    if at < hi:
        out.append((at, hi))
    return [(a, b) for a, b in out if b - a > 0.3]


def ribbon(road, lo, hi, ts, ups, step=2.0):
    """A strip along the road: part (vertices, faces) and uv (s, running width) in metres."""
    n = max(2, int(np.ceil((hi - lo) / step)) + 1)
    s = np.linspace(lo, hi, n)
    ts, ups = np.asarray(ts, float), np.asarray(ups, float)
    verts = road.at(np.repeat(s, len(ts)), np.tile(ts, n), np.tile(ups, n))
    width = np.concatenate([[0], np.cumsum(np.hypot(np.diff(ts), np.diff(ups)))])
    uv = np.stack([np.repeat(s, len(ts)), np.tile(width, n)], 1)
    from .shape import grid_faces

    faces = grid_faces(n, len(ts))
    if ts[-1] > ts[0]:
        faces = faces[:, ::-1]
    return (verts, faces), uv
