"""Bake a road's surface: asphalt with its history, paint with its wear. Arrays are (t rows, s columns)."""

import cv2
import numpy as np

WHITE = np.array([0.62, 0.61, 0.57])
YELLOW = np.array([0.60, 0.33, 0.03])


def field(rng, shape, cell, octaves=4, gain=0.5):
    """Smooth noise in about [-1, 1]; cell = (rows, cols) of the largest feature, pixels."""
    out, amp, total = np.zeros(shape, np.float32), 1.0, 0.0
    for k in range(octaves):
        size = [max(2, int(np.ceil(n / (c / 2**k))) + 2) for n, c in zip(shape, cell, strict=True)]
        coarse = rng.standard_normal(size).astype(np.float32)
        out += amp * cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
        total += amp
        amp *= gain
    return out / total


class Sheet:
    """One baked surface covering s in [s0, s1], t in [t0, t1]; pix = metres per pixel (along s, along t)."""

    def __init__(self, rng, s0, s1, t0, t1, pix=(0.03, 0.0125), tone=0.085):
        self.rng, self.s0, self.t0, self.pix = rng, s0, t0, pix
        self.size = (s1 - s0, t1 - t0)
        self.shape = (int((t1 - t0) / pix[1]), int((s1 - s0) / pix[0]))
        big = field(rng, self.shape, (160, 500))
        streak = field(rng, self.shape, (14, 1800), 3)
        grain = rng.standard_normal(self.shape).astype(np.float32)
        stones = rng.random(self.shape, dtype=np.float32) > 0.985
        self.value = tone * (1 + 0.09 * big + 0.07 * streak + 0.16 * grain + 0.45 * stones)
        self.tint = 1 + 0.02 * field(rng, self.shape, (300, 900), 2)
        self.rough = np.full(self.shape, 0.86, np.float32)
        self.paint = np.zeros(self.shape, np.float32)
        self.yellow = np.zeros(self.shape, np.float32)
        self.wear = field(rng, self.shape, (60, 90), 5, 0.7)

    def xy(self, s, t):
        """Pixel (column, row) of road coordinates in metres."""
        return (np.asarray(s) - self.s0) / self.pix[0], (np.asarray(t) - self.t0) / self.pix[1]

    def _stroke(self, target, s, t, width, value=1.0):
        x, y = self.xy(s, t)
        pts = np.round(np.stack([x, y], 1) * 16).astype(np.int32)
        cv2.polylines(target, [pts], False, value, max(1, round(width / self.pix[1])), cv2.LINE_AA, 4)

    def area(self, s0, s1, t0, t1):
        """Slices of a rectangle."""
        (x0, x1), (y0, y1) = self.xy(np.array([s0, s1]), np.array([t0, t1]))
        h, w = self.shape
        rows = slice(int(np.clip(y0, 0, h)), int(np.clip(y1, 0, h)))
        return rows, slice(int(np.clip(x0, 0, w)), int(np.clip(x1, 0, w)))

    def tracks(self, centres, depth=0.10, oil=0.13):
        """Polished wheel tracks and an oil stripe in each lane."""
        t = self.t0 + np.arange(self.shape[0])[:, None] * self.pix[1]
        wobble = 0.06 * field(self.rng, (1, self.shape[1]), (1, 900), 2)
        change = np.zeros(self.shape, np.float32)
        for c in centres:
            for side in (-0.82, 0.82):
                change += depth * np.exp(-(((t - c - side - wobble) / 0.27) ** 2))
            change -= oil * np.exp(-(((t - c - wobble) / 0.3) ** 2))
        self.value *= 1 + change * (1 + 0.5 * field(self.rng, self.shape, (200, 700), 2))

    def cracks(self, across, along, sealed=0.3, seam=()):
        """Transverse and longitudinal cracks, some sealed with bitumen; `seam` = offsets of paving joints."""
        s_lo, s_hi = self.s0, self.s0 + self.size[0]
        t_lo, t_hi = self.t0, self.t0 + self.size[1]
        dark, seal = np.zeros(self.shape, np.float32), np.zeros(self.shape, np.float32)
        walks = []
        for _ in range(across):
            a, b = sorted(self.rng.uniform(t_lo - 2, t_hi + 2, 2))
            n = max(4, int((b - a) / 0.15))
            s = self.rng.uniform(s_lo, s_hi) + np.cumsum(self.rng.normal(0, 0.055, n))
            walks.append((s, np.linspace(a, b, n)))
        for _ in range(along):
            a = self.rng.uniform(s_lo, s_hi)
            n = int(self.rng.uniform(2, 14) / 0.25)
            walks.append(
                (
                    a + np.arange(n) * 0.25,
                    self.rng.uniform(t_lo, t_hi) + np.cumsum(self.rng.normal(0, 0.02, n)),
                )
            )
        for t in seam:
            n = int((s_hi - s_lo) / 0.4)
            walks.append((np.linspace(s_lo, s_hi, n), t + np.cumsum(self.rng.normal(0, 0.004, n)) * 0.3))
        for s, t in walks:
            if self.rng.random() < sealed:
                self._stroke(seal, s, t, self.rng.uniform(0.04, 0.075))
            else:
                self._stroke(dark, s, t, self.rng.uniform(0.012, 0.025))
        dark *= 0.25 + 0.75 * (field(self.rng, self.shape, (40, 60), 3) > -0.15)
        self.value *= 1 - 0.62 * dark
        self.value = self.value * (1 - seal) + seal * 0.022
        self.rough = np.where(seal > 0.5, 0.45, self.rough).astype(np.float32)

    def patch(self, s, t, length, width, tone):
        """A repaired rectangle with a tarred edge."""
        cut = self.area(s, s + length, t, t + width)
        view = self.value[cut]
        if view.size:
            view *= tone
            cv2.rectangle(view, (0, 0), (view.shape[1] - 1, view.shape[0] - 1), 0.025, 3)

    def manhole(self, s, t, radius=0.32):
        """An iron cover with a worn rim."""
        x, y = self.xy(s, t)
        rx, ry = radius / self.pix[0], radius / self.pix[1]
        gy, gx = np.mgrid[: self.shape[0], int(x - rx * 1.6) : int(x + rx * 1.6)]
        r = np.hypot((gx - x) / rx, (gy - y) / ry)
        view = self.value[:, int(x - rx * 1.6) : int(x + rx * 1.6)]
        if view.shape == r.shape:
            view[r < 1.35] *= 0.75
            check = ((gx // 3 + gy // 6) % 2) * 0.03
            view[r < 1] = (0.055 + check)[r < 1]
            view[(r > 0.9) & (r < 1)] = 0.03

    def line(self, t, width=0.11, dash=None, yellow=False, lo=None, hi=None):
        """A lane line at offset t; dash = (painted, gap) in metres."""
        lo, hi = self.s0 if lo is None else lo, self.s0 + self.size[0] if hi is None else hi
        target = self.yellow if yellow else self.paint
        starts = np.arange(np.ceil(lo / sum(dash)) * sum(dash), hi, sum(dash)) if dash else [lo]
        for a in starts:
            b = min(hi, a + dash[0]) if dash else hi
            target[self.area(a, b, t - width / 2, t + width / 2)] = 1

    def bar(self, s0, s1, t0, t1):
        """A painted rectangle: stop line or crossing bar."""
        self.paint[self.area(s0, s1, t0, t1)] = 1

    def polygon(self, st):
        """A painted polygon of (s, t) corners."""
        x, y = self.xy(*np.asarray(st, float).T)
        cv2.fillPoly(self.paint, [np.round(np.stack([x, y], 1)).astype(np.int32)], 1.0)

    def clear(self, s0, s1):
        """Remove lane lines inside a junction."""
        for target in (self.paint, self.yellow):
            target[self.area(s0, s1, self.t0, self.t0 + self.size[1])] = 0

    def dusty_edges(self, t_left, t_right, reach=0.7, dirt=(0.20, 0.16, 0.11)):
        """Sand and litter drifting in over the pavement's edges."""
        t = self.t0 + np.arange(self.shape[0])[:, None] * self.pix[1]
        gap = np.minimum(t - t_right, t_left - t)
        amount = np.clip(1 - gap / reach + 0.55 * field(self.rng, self.shape, (50, 120), 4), 0, 1) ** 2
        self.dirt = (0.75 * amount).astype(np.float32), np.array(dirt)

    def image(self, worn=0.35, wet=0.0):
        """The finished (t, s, 4) uint8 BGR + roughness image, sRGB coded."""
        ragged = np.clip((self.wear + 1.15 - worn * 1.6) * 3.0, 0, 1)
        soil = 0.86 + 0.14 * field(self.rng, self.shape, (30, 200), 3)
        rgb = self.value[..., None] * np.stack([self.tint, np.ones_like(self.tint), 2 - self.tint], -1)
        if hasattr(self, "dirt"):
            rgb = rgb * (1 - self.dirt[0][..., None]) + self.dirt[1] * self.dirt[0][..., None]
        rough = self.rough
        if wet:
            pool = np.clip(0.5 + 0.9 * field(self.rng, self.shape, (70, 420), 4) + wet - 0.5, 0, 1)
            rgb = rgb * (1 - 0.5 * np.clip(0.4 + pool, 0, 1)[..., None])
            rough = 0.42 - 0.36 * pool + 0.22 * (self.paint + self.yellow)
        for mask, colour in ((self.paint, WHITE), (self.yellow, YELLOW)):
            a = (cv2.GaussianBlur(mask, (3, 3), 0.6) * (0.12 + 0.83 * ragged))[..., None]
            rgb = rgb * (1 - a) + colour * soil[..., None] * a * (0.8 if wet else 1.0)
            rough = rough - (0.0 if wet else 0.25) * a[..., 0]
        rgb = np.clip(rgb, 0, 1)
        srgb = np.where(rgb < 0.0031308, rgb * 12.92, 1.055 * rgb ** (1 / 2.4) - 0.055)
        out = np.concatenate([srgb[..., ::-1], np.clip(rough, 0.04, 1)[..., None]], -1)
        return np.round(out * 255).astype(np.uint8)
