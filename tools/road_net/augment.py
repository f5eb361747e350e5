"""What a frame goes through before the network sees it: lens, weather, dirt, hoods, things in the way."""

import cv2
import numpy as np
from numpy.random import Generator

from .network import HEIGHT, WIDTH

Frame = tuple[np.ndarray, np.ndarray, np.ndarray]  # rgb (h, w, 3), road (h, w), lane (h, w), all uint8


def lens(rng: Generator, rgb: np.ndarray, road: np.ndarray, lane: np.ndarray) -> Frame:
    """Zoom, aspect, horizon, roll, mirror and sometimes a barrel; what was not seen is as the edge, or black."""
    h, w = road.shape
    zoom = float(np.exp(rng.uniform(np.log(0.4), 0))) if rng.random() < 0.45 else rng.uniform(0.85, 1.2)
    sx, sy = zoom * w / WIDTH, zoom * h / HEIGHT * float(np.exp(rng.normal(0, 0.13)))
    roll = np.deg2rad(rng.normal(0, 2.5))
    x0 = w / 2 + rng.uniform(-0.5, 0.5) * max(w - sx * WIDTH, 0.06 * w)
    low, high = sy * HEIGHT / 2, h - sy * HEIGHT / 2
    y0 = rng.uniform(min(low, high), max(low, high)) if rng.random() < 0.8 else rng.uniform(0.42, 0.58) * h
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    x, y = x - WIDTH / 2 + 0.5, y - HEIGHT / 2 + 0.5
    if rng.random() < 0.2:
        bend = 1 + rng.uniform(-0.12, 0.35) * ((x / WIDTH) ** 2 + (y / WIDTH) ** 2)
        x, y = x * bend, y * bend
    if rng.random() < 0.5:
        x = -x
    c, s = np.cos(roll), np.sin(roll)
    mx = ((x * c - y * s) * sx + x0).astype(np.float32)
    my = ((x * s + y * c) * sy + y0).astype(np.float32)
    if sx > 1.3:
        rgb = cv2.blur(rgb, (2, 2))
    edge = cv2.BORDER_REPLICATE if rng.random() < 0.7 else cv2.BORDER_CONSTANT
    return tuple(cv2.remap(p, mx, my, cv2.INTER_LINEAR, borderMode=edge) for p in (rgb, road, lane))


def covered(frame: Frame, where: np.ndarray, rgb: np.ndarray) -> Frame:
    """The frame with `rgb` over it by `where` (h, w) in [0, 1]; no road and no line where it lies."""
    a = where[..., None]
    out = (frame[0] * (1 - a) + np.clip(rgb, 0, 255) * a).astype(np.uint8)
    gone = where < 0.5
    return out, frame[1] * gone, frame[2] * gone


def hood(rng: Generator, frame: Frame) -> Frame:
    """A bonnet or dashboard along the lower edge, flat, shaded or mirroring the sky."""
    rgb = frame[0]
    tall, bow = rng.uniform(0.03, 0.34) * HEIGHT, rng.uniform(-0.05, 0.16) * HEIGHT
    x = np.linspace(-1, 1, WIDTH, dtype=np.float32) + rng.normal(0, 0.25)
    top = HEIGHT - tall + bow * np.abs(x) ** rng.choice([1.5, 2, 4]) + rng.normal(0, 3) * x
    where = (np.arange(HEIGHT)[:, None] > top[None]).astype(np.float32)
    shade = np.linspace(rng.uniform(0.5, 1.5), rng.uniform(0.5, 1.5), HEIGHT)[:, None, None]
    paint = (
        rng.uniform(0, 60 if rng.random() < 0.5 else 255)
        * np.ones(3)
        * (1 if rng.random() < 0.6 else rng.uniform(0.4, 1.2, 3))
    )
    skin = np.clip(paint * shade * np.ones((HEIGHT, WIDTH, 1)), 0, 255)
    if rng.random() < 0.5:
        share = rng.uniform(0.15, 0.8)
        skin = skin * (1 - share) + cv2.blur(rgb[::-1], (15, 5)) * share
    return covered(frame, cv2.blur(where, (3, 3)), skin + rng.normal(0, 3, skin.shape))


def things(rng: Generator, frame: Frame, sprites: list[np.ndarray]) -> Frame:
    """One to four sprites (RGBA) stood on the road, smaller towards the horizon."""
    for _ in range(rng.integers(1, 5)):
        picture = sprites[rng.integers(len(sprites))]
        foot = rng.uniform(0.5, 1.15)
        tall = int(np.clip(HEIGHT * (foot - 0.42) * rng.uniform(0.25, 1.3), 5, 110))
        wide = max(3, int(tall * picture.shape[1] / picture.shape[0]))
        if wide > 200:
            continue
        small = cv2.resize(picture, (wide, tall), interpolation=cv2.INTER_AREA)[:, :: rng.choice([-1, 1])]
        x, y = int(rng.uniform(-0.1, 1) * WIDTH), int(foot * HEIGHT) - tall
        a, b, c, d = max(x, 0), min(x + wide, WIDTH), max(y, 0), min(y + tall, HEIGHT)
        if b <= a or d <= c:
            continue
        cut = small[c - y : d - y, a - x : b - x].astype(np.float32)
        where = np.zeros((HEIGHT, WIDTH), np.float32)
        layer = np.zeros((HEIGHT, WIDTH, 3), np.float32)
        where[c:d, a:b], layer[c:d, a:b] = cut[..., 3] / 255, cut[..., :3] * rng.uniform(0.4, 1.2)
        frame = covered(frame, where, np.minimum(layer, 255))
    return frame


def _tone(rng: Generator, rgb: np.ndarray) -> np.ndarray:
    """Gamma, gain, contrast and tint by one table a channel; sometimes towards grey."""
    ramp = np.linspace(0, 1, 256)
    gamma, gain = np.exp(rng.normal(0, 0.4)), np.exp(rng.normal(0, 0.28))
    if rng.random() < 0.1:  # night, or far too little exposure
        gain, gamma = gain * rng.uniform(0.12, 0.5), gamma * rng.uniform(1, 1.6)
    contrast, middle = rng.uniform(0.65, 1.3), rng.uniform(0.3, 0.6)
    tables = []
    for tint in np.exp(rng.normal(0, 0.1, 3)):
        tables.append(np.clip(((ramp**gamma * gain * tint) - middle) * contrast + middle, 0, 1) * 255)
    out = cv2.LUT(rgb, np.stack(tables, -1).astype(np.uint8)[None])
    if rng.random() < 0.4:
        grey = cv2.cvtColor(cv2.cvtColor(out, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
        share = float(rng.uniform(0, 1))
        out = cv2.addWeighted(out, 1 - share, grey, share, 0)
    return out


def _light(rng: Generator, rgb: np.ndarray) -> np.ndarray:
    """Shadows, glare, fog."""
    out = rgb.astype(np.float32)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    kind = rng.random()
    if kind < 0.22:
        shade = np.zeros((HEIGHT, WIDTH), np.uint8)
        for _ in range(rng.integers(1, 6)):
            corners = np.column_stack([rng.uniform(-40, WIDTH + 40, 4), rng.uniform(0.35, 1.1, 4) * HEIGHT])
            cv2.fillPoly(shade, [cv2.convexHull(corners.astype(np.int32))], 255)
        deep = cv2.GaussianBlur(shade, (0, 0), rng.uniform(0.5, 4)).astype(np.float32) / 255
        out *= 1 - rng.uniform(0.2, 0.7) * deep[..., None]
    elif kind < 0.32:
        far = np.hypot(x - rng.uniform(0, WIDTH), y - rng.uniform(-0.2, 0.9) * HEIGHT)
        out += rng.uniform(60, 255) * np.exp(-far / rng.uniform(15, 90))[..., None]
    elif kind < 0.48:
        line = rng.uniform(0.35, 0.6) * HEIGHT
        near = np.clip((y - line) / HEIGHT, 0.0, None)
        keep = np.exp(-rng.uniform(0.05, 0.9) / (near * rng.uniform(3, 14) + 0.25))[..., None]
        out = out * keep + rng.uniform(90, 235) * (1 - keep)
    return np.clip(out, 0, 255).astype(np.uint8)


def _night(rng: Generator, rgb: np.ndarray) -> np.ndarray:
    """Dark but for the own beams and lamps far off."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    line = rng.uniform(0.4, 0.6) * HEIGHT
    down = np.clip((y - line) / HEIGHT, 0, 1)
    across = (x - rng.uniform(0.4, 0.6) * WIDTH) / (
        WIDTH * (rng.uniform(0.05, 0.25) + rng.uniform(0.4, 1.5) * down)
    )
    beam = np.exp(-(across**2)) * down * np.exp(-down * rng.uniform(1, 8)) * rng.uniform(1, 8)
    rest = np.where(y > line, rng.uniform(0.03, 0.3), rng.uniform(0.0, 0.2))
    out = rgb * np.minimum(rest + beam, 1.2)[..., None]
    for _ in range(rng.integers(0, 14)):
        far = np.hypot(x - rng.uniform(0, WIDTH), y - line - rng.normal(-8, 10))
        glow = np.exp(-far / rng.uniform(0.6, 3)) + 0.15 * np.exp(-far / rng.uniform(3, 14))
        out += glow[..., None] * rng.uniform([160, 110, 40], 255)
    return np.clip(out, 0, 255).astype(np.uint8)


def _dirt(rng: Generator, rgb: np.ndarray) -> np.ndarray:
    """Drops on the glass, flakes, blur, noise, coarse JPEG."""
    if rng.random() < 0.12:
        soft = cv2.GaussianBlur(rgb, (0, 0), rng.uniform(2, 5))
        soft = np.roll(soft, rng.integers(-12, 13), 0)
        drops = np.zeros((HEIGHT, WIDTH), np.uint8)
        for _ in range(rng.integers(5, 60)):
            at = (int(rng.uniform(0, WIDTH)), int(rng.uniform(0, HEIGHT)))
            cv2.ellipse(drops, at, (int(rng.uniform(1, 8)), int(rng.uniform(1, 8))), 0, 0, 360, 255, -1)
        a = cv2.blur(drops, (3, 3))[..., None].astype(np.float32) / 255
        rgb = (rgb * (1 - a) + soft * a).astype(np.uint8)
    if rng.random() < 0.05:
        flakes = cv2.GaussianBlur((rng.random((HEIGHT, WIDTH)) < 0.012).astype(np.float32), (0, 0), 0.8)
        rgb = np.clip(rgb + 500 * flakes[..., None], 0, 255).astype(np.uint8)
    if rng.random() < 0.25:
        rgb = cv2.GaussianBlur(rgb, (0, 0), rng.uniform(0.4, 1.6))
    if rng.random() < 0.5:
        grain = rng.normal(0, rng.uniform(1, 14), (HEIGHT, WIDTH, 1 if rng.random() < 0.5 else 3))
        rgb = np.clip(rgb + grain, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        _, code = cv2.imencode(".jpg", rgb, [cv2.IMWRITE_JPEG_QUALITY, int(rng.uniform(15, 70))])
        rgb = cv2.imdecode(code, cv2.IMREAD_COLOR)
    return rgb


def resurfaced(rng: Generator, frame: Frame) -> Frame:
    """The frame with the road in another tone than before, apart from all else."""
    rgb, road, lane = frame
    where = cv2.blur(np.maximum(road, lane), (3, 3))[..., None].astype(np.float32) / 255
    out = rgb * (1 - where) + _tone(rng, rgb) * where
    return out.astype(np.uint8), road, lane


def nothing(rng: Generator, frame: Frame) -> Frame:
    """The frame as one without a road: upside down, or a flat wall, or noise."""
    empty = np.zeros((HEIGHT, WIDTH), np.uint8)
    if rng.random() < 0.6:
        return np.ascontiguousarray(frame[0][::-1]), empty, empty
    cells = rng.integers(1, 24, 2)
    coarse = rng.uniform(0, 255) + rng.normal(0, rng.uniform(2, 60), (*cells, 3 if rng.random() < 0.6 else 1))
    wall = cv2.resize(np.clip(coarse * np.ones(3), 0, 255), (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    return np.clip(wall, 0, 255).astype(np.uint8), empty, empty


def augment(rng: Generator, frame: Frame, other: Frame, sprites: list[np.ndarray]) -> Frame:
    """One training frame (112, 192): rgb, road, lane as uint8. `other` lends a rectangle now and then."""
    out = lens(rng, *frame)
    if rng.random() < 0.3:
        return out
    if rng.random() < 0.3:
        out = resurfaced(rng, out)
    if rng.random() < 0.06:
        out = nothing(rng, out)
    if rng.random() < 0.08:
        lent, (h, w) = lens(rng, *other), rng.integers(20, 90, 2)
        y, x = rng.integers(0, HEIGHT - h), rng.integers(0, WIDTH - w)
        out = tuple(a.copy() for a in out)
        for mine, theirs in zip(out, lent, strict=True):
            mine[y : y + h, x : x + w] = theirs[y : y + h, x : x + w]
    if rng.random() < 0.3:
        out = things(rng, out, sprites)
    if rng.random() < 0.6:
        out = _light(rng, out[0]), *out[1:]
    if rng.random() < 0.14:
        out = _night(rng, out[0]), *out[1:]
    if rng.random() < 0.5:
        out = hood(rng, out)
    rgb = _tone(rng, out[0]) if rng.random() < 0.8 else out[0]
    return np.ascontiguousarray(_dirt(rng, rgb)), out[1], out[2]
