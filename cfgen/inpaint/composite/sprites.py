"""Sprites: path-traced views of the models in scenarios/assets, lit again for any sky and sun."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cfgen.core.errors import InputError
from cfgen.core.paths import scenarios_dir
from cfgen.inpaint.composite.light import Surroundings
from cfgen.inpaint.composite.relight import (
    Floats,
    HullShadow,
    Layers,
    detail_of,
    gathered,
    glazed,
    haired,
    lamps_of,
    relit,
    unmirrored,
)

# A sprite stores what an overcast sky does to the object, plus albedo, normals, depth and a voxel hull. From these a
# view is relit: L = sky * L_sky + sun * albedo * (max(n.l, 0) * V + bounce) + emission, V from a shadow map of the
# hull. Radiances are in units where a white card flat on the ground under the open sky has `sky`, and one facing the
# sun has `sun` more: asphalt of albedo 0.10 shows 0.10 * (sky + sun * sin(sun elevation)).
#
# Model frame: x front, y left, z up, metres, origin on the ground under the object. Azimuth (radians) is where the
# camera stands around the model: 0 sees its front, pi/2 its left side.

_SCHEMA = "cfgen-sprite-1"
_WHITE = (1.0, 1.0, 1.0)
_MIN_SUN = math.sin(math.radians(7.0))  # lower suns cast shadows as if they stood this high


@dataclass(frozen=True)
class SpriteView:
    """One lit view. rgba: HxWx4 float32, premultiplied linear RGB, read-only; foot: (u, v) of the model's origin,
    pixels from the top-left corner; ppm: pixels per metre in the upright plane through the origin; points: model-frame
    positions of what is seen, (H/2)x(W/2)x3 float32, meaningless where alpha is 0."""

    rgba: Floats
    foot: tuple[float, float]
    ppm: float
    azimuth: float
    elevation: float
    points: Floats


@dataclass(frozen=True)
class GroundMap:
    """A picture lying on the ground. values: HxW or HxWxC float32; to_model: 3x3, pixel (column, row, 1) of a
    pixel's centre to model ground (x, y, 1) in metres."""

    values: Floats
    to_model: NDArray[np.float64]


@dataclass(eq=False)
class Sprite:
    """One variant of one model; pictures are read when first asked for and kept."""

    meta: dict[str, Any]
    archive: Path
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> tuple[float, float, float]:
        """Length (x), width (y), height (z) in metres."""
        length, width, height = self.meta["size_m"]
        return length, width, height

    @property
    def is_decal(self) -> bool:
        """True for things that lie in the ground: use `decal`, not `view`."""
        return "decal" in self.meta

    @property
    def is_water(self) -> bool:
        """True for a decal that mirrors what stands beyond it, where it is opaque."""
        return bool(self.meta.get("water"))

    def view(
        self,
        azimuth: float,
        elevation: float = 0.05,
        sun_dir: Sequence[float] | None = None,
        sky: ArrayLike = _WHITE,
        sun: ArrayLike = _WHITE,
        emission: ArrayLike = 1.0,
        around: Surroundings | None = None,
    ) -> SpriteView:
        """The stored view nearest to (azimuth, elevation) radians, lit by the sky and, when given, by a sun.

        sun_dir: unit vector to the sun in the model frame; sky, sun: RGB levels (module docstring); emission:
        gain of lamps and flames; around: what shiny parts mirror, its turn that of the model frame. Raises
        InputError for a decal.
        """
        if self.is_decal:
            raise InputError(f"{self._name}: it lies in the ground and has no views; use decal()")
        turn = azimuth if self.meta["symmetry"] == "round" else 0.0
        flip = self.meta["symmetry"] == "mirror" and math.sin(azimuth) < 0
        light = None if sun_dir is None else np.asarray(sun_dir, float)
        if light is not None:
            light = _turned(light * [1, -1 if flip else 1, 1], -turn)
        chosen = self._nearest(-azimuth if flip else azimuth - turn, elevation)
        layers = self._layers(chosen)
        if around is not None:
            around = replace(around, turn=around.turn + (-turn if flip else turn), flip=flip)
        rgba = relit(layers, light, sky, sun, emission, self._hull_shadow(light), around, flip)
        foot_u, foot_v = chosen["foot"]
        at, points = math.radians(chosen["azimuth_deg"]) + turn, layers.position
        if turn:
            c, s = math.cos(turn), math.sin(turn)
            points = points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]], np.float32)
        if flip:
            foot_u, at = rgba.shape[1] - foot_u, -at
            points = points[:, ::-1] * np.array([1, -1, 1], np.float32)
        rise = math.radians(chosen["elevation_deg"])
        return SpriteView(rgba, (foot_u, foot_v), self.meta["ppm"], at, rise, points)

    def seen_from(self, azimuth: float, elevation: float) -> float:
        """Azimuth, radians, of the stored view that `view` takes for this one."""
        if self.is_decal or self.meta["symmetry"] == "round":
            return azimuth
        flip = self.meta["symmetry"] == "mirror" and math.sin(azimuth) < 0
        at = math.radians(self._nearest(-azimuth if flip else azimuth, elevation)["azimuth_deg"])
        return -at if flip else at

    def shadow_map(
        self, sun_dir: Sequence[float] | None = None, sky: ArrayLike = _WHITE, sun: ArrayLike = _WHITE
    ) -> GroundMap:
        """Ground light with the object ÷ without it, HxWx3: overcast contact, and the sun's shadow when given."""
        contact = self.contact()
        if sun_dir is None:
            return GroundMap(np.repeat(contact.values[..., None], 3, 2), contact.to_model)
        cast = self.cast(sun_dir)
        above = np.asarray(sky, np.float32)
        direct = np.asarray(sun, np.float32) * max(float(sun_dir[2]), 0.0)
        to_contact = np.linalg.inv(contact.to_model) @ cast.to_model
        size = cast.values.shape[::-1]
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        soft = cv2.warpAffine(contact.values, to_contact[:2], size, flags=flags, borderValue=1.0)
        lit = soft[..., None] * above + cast.values[..., None] * direct
        return GroundMap((lit / np.maximum(above + direct, 1e-6)).astype(np.float32), cast.to_model)

    def contact(self) -> GroundMap:
        """Light left under an overcast sky, HxW in 0-1: the contact shadow."""
        if "contact" not in self.meta:
            return GroundMap(np.ones((2, 2), np.float32), np.eye(3))
        spec = self.meta["contact"]
        values = self._cached(
            "contact",
            lambda: gathered(self._picture("contact.webp", cv2.IMREAD_GRAYSCALE).astype(np.float32) / 255),
        )
        return GroundMap(values, _ground_matrix(spec["high"], spec["m_per_px"]))

    def cast(self, sun_dir: Sequence[float]) -> GroundMap:
        """Sunlight left on the ground, HxW in 0-1, for any sun: the hull's cells slid down the sun's rays."""
        light = np.asarray(sun_dir, float)
        if "voxels" not in self.meta or light[2] <= 0:
            return GroundMap(np.ones((2, 2), np.float32), np.eye(3))
        points = self._hull()
        slope = light[:2] / max(light[2], _MIN_SUN * math.hypot(*light))
        spots = points[:, :2] - points[:, 2:] * slope.astype(np.float32)
        low, high = spots.min(0), spots.max(0)
        grid = max(self.meta["voxels"]["pitch"], float((high - low).max()) / 400)
        margin = 4 * grid
        rows, cols = (np.ceil((high - low + 2 * margin) / grid)).astype(int)
        dark = np.zeros((rows, cols), np.float32)
        index = ((high + margin - spots) / grid).astype(int)
        dark[index[:, 0], index[:, 1]] = 1
        dark = cv2.morphologyEx(dark, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        dark = cv2.GaussianBlur(dark, (0, 0), 0.9)
        return GroundMap(1 - dark, _ground_matrix((high + margin).tolist(), grid))

    def glow(self) -> tuple[Floats, float]:
        """What shines by itself, at emission 1: radiant intensity (3,) sideways, radiance times square metres, and
        its mean height in metres. Zeros when nothing does."""
        return self._cached("glow", self._read_glow)

    def _read_glow(self) -> tuple[Floats, float]:
        shining = next((view for view in self.meta.get("views", ()) if view["emits"]), None)
        if shining is None:
            return np.zeros(3, np.float32), 0.0
        emission = self._emission(shining)
        weight = emission.sum((1, 2))
        above = (shining["foot"][1] - 0.5 - np.arange(len(weight))) / self.meta["ppm"]
        height = float((weight * above).sum() / max(float(weight.sum()), 1e-6))
        return emission.sum((0, 1)) / np.float32(self.meta["ppm"] ** 2), height

    def decal(
        self,
        sun_dir: Sequence[float] | None = None,
        sky: ArrayLike = _WHITE,
        sun: ArrayLike = _WHITE,
        emission: float = 1.0,
    ) -> GroundMap:
        """The picture in the ground, HxWx4 premultiplied linear, lit flat. Raises InputError when there is none."""
        if not self.is_decal:
            raise InputError(f"{self._name}: it stands up and has no decal; use view()")
        spec = self.meta["decal"]
        rgba = self._cached("decal", lambda: self._radiance("decal")).copy()
        light = np.asarray(sky, np.float32)
        if sun_dir is not None:
            light = light + np.asarray(sun, np.float32) * max(float(sun_dir[2]), 0.0)
        rgba[..., :3] *= light
        step, (u, v) = spec["m_per_px"], spec["foot"]
        return GroundMap(rgba, _ground_matrix((v * step, u * step), step))

    @property
    def _name(self) -> str:
        return f"{self.meta['model']}/{self.meta['variant']}"

    def _cached(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _nearest(self, azimuth: float, elevation: float) -> dict[str, Any]:
        def apart(view: dict[str, Any]) -> tuple[float, float]:
            turn = math.remainder(azimuth - math.radians(view["azimuth_deg"]), math.tau)
            return round(abs(elevation - math.radians(view["elevation_deg"])), 6), abs(turn)

        return min(self.meta["views"], key=apart)

    def _read(self, entry: str) -> bytes:
        with zipfile.ZipFile(self.archive) as archive:
            return archive.read(entry)

    def _picture(self, entry: str, flags: int = cv2.IMREAD_UNCHANGED) -> NDArray[Any]:
        try:
            data = self._read(entry)
        except (OSError, KeyError, zipfile.BadZipFile) as cause:
            raise InputError(
                f"{self.archive}: expected a sprite archive with {entry}, found {cause}; restore it from the "
                f"repository or run tools/assets/make_sprites.py {self._name}"
            ) from cause
        picture = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
        if picture is None:
            raise InputError(f"{self.archive}: {entry} is not a picture; restore it from the repository")
        return picture

    def _radiance(self, key: str) -> Floats:
        raw = self._picture(f"sky_{key}.webp").astype(np.float32) / 255
        linear = np.empty_like(raw)
        linear[..., 3] = raw[..., 3]
        linear[..., :3] = raw[..., 2::-1] ** 2 * (self.meta["radiance_max"] * raw[..., 3:])
        return linear

    def _emission(self, view: dict[str, Any]) -> Floats:
        lamps = self._picture(f"emit_{_entry_of(view)}.webp")[..., ::-1].astype(np.float32) / 255
        return lamps**2 * np.float32(self.meta["emission_max"])

    def _layers(self, view: dict[str, Any]) -> Layers:
        key = _entry_of(view)
        return self._cached(key, lambda: self._read_layers(view, key))

    def _read_layers(self, view: dict[str, Any], key: str) -> Layers:
        albedo = (self._picture(f"albedo_{key}.webp")[..., ::-1].astype(np.float32) / 255) ** 2
        planes = self._picture(f"shape_{key}.webp", cv2.IMREAD_GRAYSCALE)
        rows = albedo.shape[0]
        side, up, depth, *shine = np.split((planes.astype(np.float32) - 127.5) / 127, len(planes) // rows)
        toward = np.sqrt(np.clip(1 - side**2 - up**2, 0, 1))
        axes = _camera_axes(math.radians(view["azimuth_deg"]))
        normal = np.stack([side, up, toward], -1) @ axes
        gloss = np.clip((shine[0] + 1) / 2, 0, 1) if shine else None
        emission = self._emission(view) if view["emits"] else None
        # rims are mixed with what is behind
        metres: Floats = cv2.medianBlur(np.ascontiguousarray(depth, np.float32), 5) * self.meta["depth_m"]
        position = self._positions(view, metres) @ axes
        sky = self._radiance(key)
        if gloss is not None:
            albedo = unmirrored(albedo, gloss, toward)
            high = position[..., 2] / np.float32(self.size[2])
            gloss, albedo = glazed(self.meta["model"], gloss, albedo, high)
        if fur := self.meta.get("fur_m"):
            normal = _smoothed(normal, sky[..., 3], fur * self.meta["ppm"] / 2)
            sky, albedo = haired(sky, albedo)
        rise = math.radians(view["elevation_deg"])
        eye = math.cos(rise) * axes[2] + np.array([0, 0, math.sin(rise)], np.float32)
        layers = Layers(sky, albedo, normal, position, gloss, eye, emission, detail_of(sky))
        if gloss is None:
            return layers
        alpha = cv2.resize(sky[..., 3], gloss.shape[::-1], interpolation=cv2.INTER_AREA)
        return replace(layers, lamps=lamps_of(layers.albedo, gloss, alpha, self.meta["ppm"] / 2))

    def _positions(self, view: dict[str, Any], depth: Floats) -> Floats:
        """Half-size pixels as points in camera axes about the model's origin (right, up, towards the camera)."""
        rows, cols = depth.shape
        ppm, distance = self.meta["ppm"], self.meta["distance_m"]
        height = distance * math.tan(math.radians(view["elevation_deg"]))
        u, v = np.meshgrid(2 * np.arange(cols) + 1.0, 2 * np.arange(rows) + 1.0)
        nearer = (distance - depth) / distance / ppm
        right = (u - view["foot"][0]) * nearer
        above = height - (v - (view["foot"][1] - ppm * height)) * nearer
        return np.stack([right, above, depth], -1).astype(np.float32)

    def _hull(self) -> Floats:
        """Surface cells of the model, Nx3 float32, metres."""
        return self._cached("hull", self._read_hull)

    def _read_hull(self) -> Floats:
        spec = self.meta["voxels"]
        bits = np.frombuffer(zlib.decompress(self._read("voxels.bin")), np.uint8)
        filled = np.unpackbits(bits, count=math.prod(spec["shape"])).reshape(spec["shape"])
        cells = np.argwhere(filled).astype(np.float32) + np.float32(0.5)
        return cells * np.float32(spec["pitch"]) + np.asarray(spec["origin"], np.float32)

    def _hull_shadow(self, light: NDArray[np.float64] | None) -> HullShadow | None:
        if light is None or "voxels" not in self.meta:
            return None
        return _hull_shadow(self, tuple(light.tolist()))


@lru_cache(maxsize=16)
def _hull_shadow(sprite: Sprite, light: tuple[float, ...]) -> HullShadow:
    """By the exact light: a key that rounds it would shade a case by the one drawn before it."""
    pitch, fur = sprite.meta["voxels"]["pitch"], sprite.meta.get("fur_m", 0.0)
    return HullShadow(sprite._hull(), pitch, np.array(light), fur)


def _entry_of(view: dict[str, Any]) -> str:
    """What the names of a view's pictures end with."""
    return f"{round(view['elevation_deg'] * 10):03d}_{round(view['azimuth_deg']):03d}"


def _smoothed(normal: Floats, alpha: Floats, reach: float) -> Floats:
    """Normals hxwx3 as hair lying over them shows light: each hair's own are lost in their neighbours'."""
    weight = cv2.resize(alpha, normal.shape[1::-1], interpolation=cv2.INTER_AREA)[..., None]
    mixed = cv2.GaussianBlur(normal * weight, (0, 0), reach)
    return mixed / np.maximum(np.linalg.norm(mixed, axis=-1, keepdims=True), np.float32(1e-4))


def _camera_axes(azimuth: float) -> Floats:
    """Rows: the camera's right, up and backward axes in the model frame."""
    c, s = math.cos(azimuth), math.sin(azimuth)
    return np.array([[-s, c, 0], [0, 0, 1], [c, s, 0]], np.float32)


def _turned(vector: NDArray[np.float64], angle: float) -> NDArray[np.float64]:
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = vector
    return np.array([c * x - s * y, s * x + c * y, z])


def _ground_matrix(high: Sequence[float], step: float) -> NDArray[np.float64]:
    """Pixel centres of a picture from above (up is +x, left is +y, corner at `high`) to metres."""
    x, y = high
    return np.array([[0, -step, x - step / 2], [-step, 0, y - step / 2], [0, 0, 1]])


def assets_dir() -> Path:
    """Folder with one folder a model."""
    return scenarios_dir() / "assets"


def list_variants(model: str) -> list[str]:
    """Names of a model's variants, sorted; empty when there is no such model."""
    return sorted(path.stem for path in (assets_dir() / model).glob("*.json"))


def load(model: str, variant: str) -> Sprite:
    """The sprite of a variant. Raises InputError naming what there is when it does not exist or is damaged."""
    return load_from(assets_dir(), model, variant)


@lru_cache(maxsize=64)
def load_from(folder: Path, model: str, variant: str) -> Sprite:
    """Like `load`, from another assets folder."""
    path = folder / model / f"{variant}.json"
    if not path.is_file():
        available = sorted(p.stem for p in path.parent.glob("*.json")) or sorted(
            p.name for p in folder.glob("*")
        )
        raise InputError(
            f"no sprite '{model}/{variant}' in {folder}; there are: {', '.join(available) or 'none'}"
        )
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as cause:
        raise InputError(f"{path}: expected JSON, found {cause}; restore it from the repository") from cause
    if meta.get("schema") != _SCHEMA:
        raise InputError(f"{path}: expected schema {_SCHEMA}, found {meta.get('schema')!r}; render it again")
    return Sprite(meta, path.with_suffix(".zip"))
