"""Packs rendered layers into scenarios/assets: one JSON and one stored zip of WebP pictures a variant."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image
from render import Layers

RADIANCE_MAX = 1.5
EMISSION_MAX = 48.0
GLOSSY = 0.3  # a view with less of this keeps no gloss


class Pack:
    """Collects the pictures and the description of one variant, then writes both at once."""

    def __init__(self, meta: dict[str, Any]) -> None:
        self.meta = {
            "schema": "cfgen-sprite-1",
            **meta,
            "radiance_max": RADIANCE_MAX,
            "emission_max": EMISSION_MAX,
        }
        self.meta.setdefault("views", [])
        self._entries: dict[str, bytes] = {}

    def take_over(self, archive: Path) -> None:
        """Keep the pictures of an archive of this very model."""
        with zipfile.ZipFile(archive) as old:
            self._entries = {name: old.read(name) for name in old.namelist()}

    def has_view(self, azimuth: int, elevation: float) -> bool:
        return f"sky_{_key(azimuth, elevation)}.webp" in self._entries

    def add_view(self, azimuth: int, elevation: float, layers: Layers) -> None:
        """One camera direction: sky picture, half-size albedo and shape, emission where there is some."""
        key = _key(azimuth, elevation)
        depth_m = self.meta["depth_m"]
        colour, shine = self._sky_and_emission(key, layers)
        albedo = _half(np.sqrt(layers.albedo), layers.alpha)
        self._entries[f"albedo_{key}.webp"] = _webp(_bytes(albedo), 62)
        flat = np.dstack([layers.normal[..., :2], layers.depth / depth_m, 2 * layers.gloss - 1])
        flat = _half(flat, layers.alpha * (np.abs(layers.normal).sum(-1) > 0.1))
        kept = 4 if float((layers.gloss > GLOSSY).mean()) > 0.001 else 3
        planes = np.concatenate([flat[..., i] for i in range(kept)], 0)
        self._entries[f"shape_{key}.webp"] = _webp(_bytes(0.5 + planes * (127 / 255)), 62)
        view = {
            "azimuth_deg": azimuth,
            "elevation_deg": elevation,
            "size": [colour.shape[1], colour.shape[0]],
        }
        self.meta["views"].append({**view, "foot": list(layers.foot), "emits": shine})

    def _sky_and_emission(self, key: str, layers: Layers) -> tuple[np.ndarray, bool]:
        colour = np.sqrt(_straight(layers.radiance, layers.alpha) / RADIANCE_MAX)
        picture = np.dstack([_bytes(colour), _bytes(layers.alpha)])
        self._entries[f"sky_{key}.webp"] = _webp(picture, 72)
        shine = float(layers.emission.max()) > 0.02
        if shine:
            self._entries[f"emit_{key}.webp"] = _webp(_bytes(np.sqrt(layers.emission / EMISSION_MAX)), 80)
        return colour, shine

    def add_decal(self, layers: Layers) -> None:
        """The thing from above, for what lies in the ground."""
        self._sky_and_emission("decal", layers)
        self.meta["decal"] = {"foot": list(layers.foot), "m_per_px": 1 / layers.ppm}

    def add_contact(self, ratio: np.ndarray, low: np.ndarray, high: np.ndarray, metres_per_px: float) -> None:
        """Overcast light left on the ground, from above; faded to 1 at the border so that no edge shows."""
        rows, cols = ratio.shape
        rim = np.minimum.outer(_ramp(rows), _ramp(cols))
        ratio = 1 + (np.minimum(cv2.GaussianBlur(ratio.astype(np.float32), (0, 0), 0.8), 1) - 1) * rim
        self._entries["contact.webp"] = _webp(_bytes(ratio), 90)
        self.meta["contact"] = {"high": high.tolist(), "m_per_px": metres_per_px}

    def add_voxels(self, points: np.ndarray, pitch: float) -> None:
        """The surface as filled cells of a grid, for the shadows the sun makes."""
        origin = points.min(0)
        cells = np.floor((points - origin) / pitch).astype(int)
        grid = np.zeros(cells.max(0) + 1, bool)
        grid[tuple(cells.T)] = True
        self._entries["voxels.bin"] = zlib.compress(np.packbits(grid).tobytes(), 9)
        self.meta["voxels"] = {"origin": origin.tolist(), "shape": list(grid.shape), "pitch": pitch}

    def write(self, folder: Path) -> int:
        """Writes <variant>.zip, then <variant>.json; returns the bytes written."""
        folder.mkdir(parents=True, exist_ok=True)
        self.meta["views"].sort(key=lambda view: (view["elevation_deg"], view["azimuth_deg"]))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for name, data in sorted(self._entries.items()):
                archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)
        text = json.dumps(_rounded(self.meta), indent=1, sort_keys=True) + "\n"
        (folder / f"{self.meta['variant']}.zip").write_bytes(packed.getvalue())
        (folder / f"{self.meta['variant']}.json").write_text(text)
        return len(packed.getvalue()) + len(text)


def _key(azimuth: int, elevation: float) -> str:
    return f"{round(elevation * 10):03d}_{azimuth:03d}"


def _ramp(n: int, rim: int = 8) -> np.ndarray:
    at = np.arange(n)
    return np.clip(np.minimum(at, n - 1 - at) / rim, 0, 1).astype(np.float32)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def _straight(premultiplied: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Unmultiplied colour, grown outwards past the silhouette so that no halo can form."""
    return _grow(np.clip(premultiplied, 0, RADIANCE_MAX).astype(np.float32), alpha)


def _grow(weighted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """weighted / weight where weight is, and the nearest blurred neighbours elsewhere."""
    weight = weight.astype(np.float32)
    made = weighted / np.maximum(weight[..., None], 1e-4)
    solid = np.clip(weight * 4, 0, 1)[..., None]
    fill = np.zeros_like(made)
    for sigma in (48, 16, 6, 2):
        spread = cv2.GaussianBlur(weight, (0, 0), sigma)[..., None]
        near = cv2.GaussianBlur(weighted, (0, 0), sigma).reshape(made.shape) / np.maximum(spread, 1e-6)
        trust = np.clip(spread * 20, 0, 1)
        fill = fill * (1 - trust) + near * trust
    return np.minimum(made, made.max(initial=0)) * solid + fill * (1 - solid)


def _half(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted means over 2x2 pixels, grown into what the weight leaves empty."""
    shape = (weight.shape[0] // 2, 2, weight.shape[1] // 2, 2)
    total = weight.reshape(shape).mean((1, 3))
    summed = (values * weight[..., None]).reshape(*shape, -1).mean((1, 3))
    return _grow(summed.astype(np.float32), total)


def _bytes(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values * 255), 0, 255).astype(np.uint8)


def _webp(picture: np.ndarray, quality: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "WEBP", quality=quality, alpha_quality=100, method=6, exact=True)
    return out.getvalue()
