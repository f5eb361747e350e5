"""How high a drive's camera stands, by the scenes of a build that are of that drive; worked out once, and kept."""

import contextlib
import json
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from cfgen.core.errors import CfgenError
from cfgen.core.files import write_bytes
from cfgen.core.hashing import canonical_json, hash_json
from cfgen.metrics.paired import recording_of
from cfgen.perception.camera_doubt import TOLD
from cfgen.perception.frame_camera import scene_cameras
from cfgen.perception.stands import FEWEST, HeightClue, HeightSeen, height_clue, height_seen, raised
from cfgen.perception.views import Views
from cfgen.records import Scene
from cfgen.scenes.folder import SceneFolder, load_scene

#: Most scenes of a drive whose front frame is looked at, evenly over it; and folders that are read to find them.
LOOKED_AT, READ = 24, 400


class DriveHeights:
    """Scenes of a drive stand next to each other by their names.

    Args:
        folders: scene_id -> its folder. views: what is measured is kept beside them.
    """

    def __init__(self, folders: Mapping[str, str], views: Views) -> None:
        self._folders, self._views = folders, views
        self._place = None if views.folder is None else views.folder / "heights"
        self._known: dict[str, HeightSeen | None] = {}

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._folders)

    def corrected(self, scene: Scene) -> Scene:
        """The scene with its camera as high as its drive's frames show, where that is sure; else itself."""
        seen = self.of(scene)
        return raised(scene, seen.height_m) if seen is not None and seen.sure else scene

    def of(self, scene: Scene) -> HeightSeen | None:
        """What the drive's frames say; None where too few do, only colours look, or the height was never stated."""
        if self._views.weaker or TOLD in scene.extra:
            return None
        key = self._key(scene)
        if key not in self._known:
            self._known[key] = self._kept(key) or self._measured(scene, key)
        return self._known[key]

    def _key(self, scene: Scene) -> str:
        told = [recording_of(scene), scene.front.model_dump(mode="json"), self._views.by]
        return hash_json(told).removeprefix("sha256:")[:32]

    def _kept(self, key: str) -> HeightSeen | None:
        if self._place is not None:
            with contextlib.suppress(OSError, ValueError, TypeError):  # not there, or damaged: measured again
                return HeightSeen(**json.loads((self._place / f"{key}.json").read_bytes()))
        return None

    def _measured(self, scene: Scene, key: str) -> HeightSeen | None:
        drive = self._drive(scene)
        if len(drive) < FEWEST:  # however much each of them tells
            return None
        step = max(len(drive) / LOOKED_AT, 1.0)
        chosen = [drive[int(i * step)] for i in range(min(len(drive), LOOKED_AT))]
        seen = height_seen(scene.front, [clue for folder in chosen if (clue := self._clue(folder))])
        if seen is not None and self._place is not None:
            write_bytes(self._place / f"{key}.json", canonical_json(asdict(seen)))
        return seen

    def _drive(self, scene: Scene) -> list[SceneFolder]:
        """The scenes around it that are of its drive, under the same calibration."""
        names, found = self._names, list[SceneFolder]()
        at = bisect_left(names, scene.scene_id)
        if names[at : at + 1] != [scene.scene_id]:
            return []
        for order in (reversed(names[max(at - READ, 0) : at]), names[at : at + READ]):
            for name in order:
                with contextlib.suppress(CfgenError):  # whose own case it is says so
                    folder = load_scene(Path(self._folders[name]))
                    if recording_of(folder.scene) != recording_of(scene):
                        break
                    if folder.scene.front == scene.front:
                        found.append(folder)
        return sorted(found, key=lambda folder: folder.scene.scene_id)

    def _clue(self, folder: SceneFolder) -> HeightClue | None:
        scene = folder.scene
        try:
            views = self._views.scene(scene, {(scene.front.name, 0.0): folder.image()})
        except CfgenError:
            return None
        return height_clue(scene.front, scene_cameras(views)[0.0], views.now.things)
