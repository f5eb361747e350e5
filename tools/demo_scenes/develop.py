"""From linear light to a camera's JPEG: haze, lens, exposure, tone, noise."""

import cv2
import numpy as np


def haze(rgb, depth, length, tint=(1.0, 1.0, 1.0)):
    """Air light by distance; its colour is the sky just above the horizon."""
    sky = depth > 5000
    band = rgb[: rgb.shape[0] // 2][sky[: rgb.shape[0] // 2]]
    air = np.median(band, 0) if len(band) > 500 else np.array([0.5, 0.56, 0.62]) * rgb.mean()
    air = 0.75 * air * np.array(tint) + 0.25 * air.mean()
    keep = np.exp(-np.minimum(depth, 4000.0) / length)[..., None]
    return np.where(sky[..., None], rgb, rgb * keep + air * (1 - keep))


def exposure(rgb, key):
    """Gain that brings the lower two thirds to the key, sparing the brightest parts."""
    lum = rgb[rgb.shape[0] // 3 :] @ np.array([0.2126, 0.7152, 0.0722])
    middle = np.exp(np.mean(np.log(lum + 1e-3)))
    return float(key / middle)


def _curve(x):
    """Filmic shoulder and toe, fitted rational."""
    x = x * 0.72
    return np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)


def develop(rgb, gain, rng, blur=0.6, vignette=0.22, noise=0.9, warm=0.0, saturation=1.05):
    """Linear RGB (h, w, 3) to uint8 BGR."""
    x = np.clip(rgb * gain, 0, 60).astype(np.float32)
    glow = cv2.GaussianBlur(np.clip(x - 1.5, 0, 12), (0, 0), 9) * 0.05
    x = x + glow + 0.012 * cv2.GaussianBlur(np.minimum(x, 4), (0, 0), 60)
    h, w = x.shape[:2]
    yy, xx = np.mgrid[:h, :w].astype(np.float32)
    r2 = ((xx - w / 2) ** 2 + (yy - h / 2) ** 2) / (w / 2) ** 2
    x *= (1 - vignette * r2 / 1.3)[..., None]
    x *= np.array([1 + warm, 1.0, 1 - warm], np.float32)
    grey = x @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    x = np.maximum(grey[..., None] + (x - grey[..., None]) * saturation, 0)
    for c, k in ((0, 1.0006), (2, 0.9994)):
        turn = np.float32([[k, 0, w / 2 * (1 - k)], [0, k, h / 2 * (1 - k)]])
        x[..., c] = cv2.warpAffine(
            x[..., c], turn, (w, h), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
    x = np.maximum(cv2.GaussianBlur(x, (0, 0), blur), 0)
    y = _curve(x)
    y = np.where(y < 0.0031308, y * 12.92, 1.055 * np.maximum(y, 1e-6) ** (1 / 2.4) - 0.055)
    grain = cv2.GaussianBlur(rng.standard_normal((h, w, 3)).astype(np.float32), (0, 0), 0.55) * 1.5
    grain = 0.65 * grain.mean(-1, keepdims=True) * 1.7 + 0.35 * grain
    level = noise * (0.8 + 1.4 * np.sqrt(np.clip(1 - y, 0, 1)))
    y = y * 255 + grain * level
    return np.clip(np.round(y), 0, 255).astype(np.uint8)[..., ::-1]


def save(path, image, quality):
    """Write a JPEG; returns its size in bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), image, [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1])
    return path.stat().st_size
