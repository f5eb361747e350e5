"""What frames show, looked at once a frame: kept in memory, and in files by the frame's hash.

A view that is kept is never computed again, so that another processor, a GPU or another build of OpenCV cannot move a
placement of a benchmark that is begun.
"""

import contextlib
import os
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.core.files import write_bytes
from cfgen.core.hashing import hash_image, hash_json
from cfgen.core.paths import cache_dir
from cfgen.geometry.frames import camera_at
from cfgen.geometry.path import EgoPath
from cfgen.perception.annotated import AnnotatedRoad, traffic_at
from cfgen.perception.protocol import CameraFrame, Perceiver
from cfgen.perception.road_by_colour import FAR_M, ColourGround
from cfgen.perception.view import SURE, SceneView, hood_row, sure_share
from cfgen.records import Scene

#: Views kept in memory: a case asks about each of its frames several times.
LIMIT = 64

#: A case asks about its scene as it is told, and with its camera as it is seen.
_SCENES = 4

Images = Mapping[tuple[str, float], np.ndarray]


def views_folder() -> Path | None:
    """Where views of no benchmark are kept, in the user's cache folder; None where nothing can be written."""
    folder = cache_dir() / "views"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder if os.access(folder, os.W_OK) else None


class Views:
    """What one perceiver sees.

    Args:
        name, identity, uses_camera, weaker: the perceiver's; they decide which files count.
        make: the perceiver itself, asked for when a frame was not seen yet.
        folder: where views are kept; None keeps them in memory only.
        backed_by_colours: the perceiver's; colours decide the scenes of which it is unsure.
    """

    def __init__(
        self,
        name: str,
        identity: Mapping[str, Any],
        uses_camera: bool,
        weaker: bool,
        make: Callable[[], Perceiver],
        folder: Path | None = None,
        backed_by_colours: bool = False,
    ) -> None:
        self.by = {"name": name, **identity}
        self._uses_camera, self.weaker = uses_camera, weaker
        self._make, self.folder = make, folder
        self.colours = Views.of(ColourGround(), folder) if backed_by_colours else None
        self._perceiver: Perceiver | None = None
        self._kept: OrderedDict[str, SceneView] = OrderedDict()
        self._hashes: OrderedDict[int, tuple[np.ndarray, str]] = OrderedDict()
        self._scenes: deque[SceneViews] = deque(maxlen=_SCENES)

    @classmethod
    def of(cls, perceiver: Perceiver, folder: Path | None = None) -> "Views":
        return cls(
            perceiver.name,
            perceiver.identity,
            perceiver.uses_camera,
            perceiver.weaker,
            lambda: perceiver,
            folder,
            getattr(perceiver, "backed_by_colours", False),
        )

    def see(self, frames: Sequence[CameraFrame]) -> list[SceneView]:
        """What each shows: as kept, else looked at now, all at once."""
        keys = [self._key(frame) for frame in frames]
        views = {key: view for key in keys if (view := self._known(key))}
        missing = {key: frame for key, frame in zip(keys, frames, strict=True) if key not in views}
        if missing:
            new = self.perceiver.perceive(list(missing.values()))
            for key, view in zip(missing, new, strict=True):
                if self.folder is not None:
                    write_bytes(self._file(key), view.png())
                views[key] = self._keep(key, view)
        return [views[key] for key in keys]

    def provenance(self, frame: CameraFrame) -> dict[str, Any]:
        """Who decided what a frame shows, and its view's file and hash, for the provenance."""
        [view] = self.see([frame])
        file = {} if self.folder is None else {"file": self._place(self._key(frame))}
        return {**self.by, **file, "view": view.hash}

    def scene(self, scene: Scene, images: Images) -> "SceneViews":
        """What these very frames show; of the last scenes that were asked about, what is worked out already."""
        scene_views = next(
            (
                candidate
                for candidate in self._scenes
                if candidate.scene is scene and candidate.images is images
            ),
            None,
        )
        if scene_views is None:
            self._scenes.append(scene_views := SceneViews(self, scene, images))
        return scene_views

    @property
    def perceiver(self) -> Perceiver:
        if self._perceiver is None:
            self._perceiver = self._make()
        return self._perceiver

    def _known(self, key: str) -> SceneView | None:
        if key in self._kept:
            return self._kept[key]
        if self.folder is not None and self._file(key).is_file():
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # damaged: looked at again
                return self._keep(key, SceneView.from_png(self._file(key).read_bytes()))
        return None

    def _keep(self, key: str, view: SceneView) -> SceneView:
        self._kept[key] = view
        while len(self._kept) > LIMIT:
            self._kept.popitem(last=False)
        return view

    def _file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / self._place(key)

    def _place(self, key: str) -> str:
        return f"{key[:2]}/{key}.png"

    def _key(self, frame: CameraFrame) -> str:
        parts: list[Any] = [self._hash(frame.image), self.by]
        if self._uses_camera:
            parts += [frame.camera.model_dump(mode="json"), hash_image(np.round(frame.path.xy, 6))]
        return hash_json(parts).removeprefix("sha256:")[:32]

    def _hash(self, image: np.ndarray) -> str:
        entry = self._hashes.get(id(image))
        if entry is None or entry[0] is not image:
            entry = self._hashes[id(image)] = image, hash_image(image)
            while len(self._hashes) > LIMIT:
                self._hashes.popitem(last=False)
        return entry[1]


class SceneViews:
    """What the frames of one scene show; each is looked at when it is first asked for.

    An annotated road is the road, and annotated vehicles are the vehicles. Else one perceiver decides for all frames;
    where it is unsure of the road before the car, colours decide, of what it takes for likely road.

    Args:
        annotated: whether the scene's annotations count.
    """

    def __init__(self, views: Views, scene: Scene, images: Images, annotated: bool = True) -> None:
        self._views, self.scene, self.images = views, scene, images
        self._traffic_known = annotated and scene.traffic is not None
        self._road = AnnotatedRoad(scene.drivable) if annotated and scene.drivable is not None else None
        self._kept: dict[float, SceneView | None] = {}
        self._frames: dict[tuple[str, float], CameraFrame] = {}

    @cached_property
    def perceived(self) -> "SceneViews":
        """The same by the frames alone: for who measures a camera, or holds an annotated road against them."""
        return SceneViews(self._views, self.scene, self.images, annotated=False)

    @cached_property
    def _hood_row(self) -> float:
        return hood_row(self.scene.front, self.images)

    @property
    def now(self) -> SceneView:
        """The front frame at t0."""
        view = self.at(0.0)
        assert view is not None
        return view

    @property
    def lanes_known(self) -> bool:
        """Whether who looks sees lane lines; else nothing follows from there being none."""
        return not self._by.weaker

    @cached_property
    def likely(self) -> SceneView | None:
        """What the front frame at t0 shows of likely road, by who tells road from verge; None where nobody does."""
        if self._road is not None:
            return self.now
        if self._views.weaker:
            return None
        [view] = self._views.see([self._frame(self.scene.front.name, 0.0)])
        return view if view.likely is None else replace(view, road=view.likely)

    def with_flat_ground(self) -> SceneView:
        """:attr:`now`, its road widened by verge and pavement that look as flat: for what is harmless."""
        view = self.now
        [flat] = ColourGround().perceive([self._frame(self.scene.front.name, 0.0)])
        flat_road = cv2.resize(
            flat.road.astype(np.uint8), view.road.shape[::-1], interpolation=cv2.INTER_NEAREST
        )
        return replace(view, road=view.road | (flat_road > 0))

    @property
    def times(self) -> list[float]:
        """Times of the front camera's frames, s relative to t0, ascending."""
        return sorted(t for name, t in self.images if name == self.scene.front.name)

    def at(self, t: float) -> SceneView | None:
        """What the front camera shows at ``t``, s relative to t0; None without a frame."""
        if t not in self._kept:
            available = (self.scene.front.name, t) in self.images
            self._kept[t] = self._see([self._frame(self.scene.front.name, t)])[0] if available else None
        return self._kept[t]

    def all(self) -> dict[float, SceneView]:
        """Every frame of the front camera by its time."""
        times = self.times
        frames = [self._frame(self.scene.front.name, t) for t in times]
        return dict(zip(times, self._see(frames), strict=True))

    def again(self, image: np.ndarray) -> SceneView:
        """What the front camera at t0 would show with ``image``, (H, W, 3) uint8 RGB, before it, by that alone: of an
        annotated road, what is likely road."""
        if self._road is None:
            return self._see([replace(self._frame(self.scene.front.name, 0.0), image=image)])[0]
        [view] = self._views.see([replace(self._frame(self.scene.front.name, 0.0), image=image)])
        return replace(view, road=view.road if view.likely is None else view.likely)

    @property
    def provenance(self) -> dict[str, Any]:
        """As :meth:`Views.provenance` of the front frame at t0, with whence its ``road`` is known, and who was unsure
        where colours decide."""
        frame = self._frame(self.scene.front.name, 0.0)
        road = "color heuristic" if self._by.weaker else "network"
        if self._road is not None:
            road = str(self.scene.extra.get("road_from", "annotated"))
        record = {**self._by.provenance(frame), "road": road}
        if self._by is self._views:
            return record
        return {**record, "within": self._views.provenance(frame), "sure_share": round(self._sure_share, 3)}

    def _see(self, frames: Sequence[CameraFrame]) -> list[SceneView]:
        views = self._views.see(frames)
        if self._traffic_known:
            views = [view.without_vehicles() for view in views]
        if self._road is not None:
            return [self._annotated(frame, view) for frame, view in zip(frames, views, strict=True)]
        if self._by is self._views:
            return views
        return [view.within(unsure) for view, unsure in zip(self._by.see(frames), views, strict=True)]

    def _annotated(self, frame: CameraFrame, view: SceneView) -> SceneView:
        """``view`` with the scene's own road, as far as nothing that stands on it hides it; that is sure."""
        assert self._road is not None
        road = self._road.visible(frame.camera, traffic_at(self.scene, frame.t), self._hood_row)
        return view.with_road(road)

    @cached_property
    def _by(self) -> Views:
        colours = self._views.colours
        # a camera as its frames show it was seen by those who are sure
        if colours is None or self._road is not None or self.scene.seen_cameras or self._sure_share >= SURE:
            return self._views
        return colours

    @cached_property
    def _sure_share(self) -> float:
        frame = self._frame(self.scene.front.name, 0.0)
        return sure_share(self._views.see([frame])[0], frame.camera, frame.path)

    def _frame(self, name: str, t: float) -> CameraFrame:
        if (name, t) not in self._frames:
            camera, path = camera_at(self.scene, name, t), EgoPath.since(self.scene, t, FAR_M)
            self._frames[name, t] = CameraFrame(self.images[name, t], camera, path, t)
        return self._frames[name, t]
