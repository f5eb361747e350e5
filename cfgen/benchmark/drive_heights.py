"""How high a drive's camera stands, by the scenes of a build that are of that drive; worked out once, and kept."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from cfgen.core.errors import CfgenError
from cfgen.core.files import write_bytes
from cfgen.core.hashing import canonical_json, hash_json
from cfgen.perception.camera import TOLD
from cfgen.perception.scene_camera import (
    DriveHeight,
    HeightClue,
    drive_height,
    height_clue,
    lane_readings,
    raised,
)
from cfgen.perception.settings import CAMERA
from cfgen.perception.views import Views
from cfgen.records import Scene, recording_of
from cfgen.scenes.folder import SceneFolder, load_scene

#: Most scenes of a drive whose front frame is looked at, evenly over it; and folders that are read to find them.
LOOKED_AT, READ = 24, 400
#: of what was worked out, beside the views
FOLDER = "heights"


class DriveHeights:
    """Scenes of a drive stand next to each other by their names.

    Args:
        folders: scene_id -> its folder. views: what is measured is kept beside them.
    """

    def __init__(self, folders: Mapping[str, str], views: Views) -> None:
        self._folders, self._views = folders, views
        self._names = sorted(folders)
        self._by_drive: dict[str, DriveHeight | None] = {}

    def corrected(self, scene: Scene) -> Scene:
        """The scene with its camera as high as its drive's frames show, where that is sure; else itself."""
        height = self.of(scene)
        return raised(scene, height.height_m) if height is not None and height.sure else scene

    def of(self, scene: Scene) -> DriveHeight | None:
        """What the drive's frames say; None where too few do, only colours look, or the height was never stated."""
        if self._views.weaker or TOLD in scene.extra:
            return None
        calibration = [recording_of(scene), scene.front.model_dump(mode="json"), self._views.by]
        key = hash_json(calibration).removeprefix("sha256:")[:32]
        if key not in self._by_drive:
            self._by_drive[key] = self._measured(scene, key)
        return self._by_drive[key]

    def _measured(self, scene: Scene, key: str) -> DriveHeight | None:
        file = None if self._views.folder is None else self._views.folder / FOLDER / f"{key}.json"
        if file is not None:
            with contextlib.suppress(OSError, ValueError, TypeError):  # not there, or damaged: measured again
                return DriveHeight(**json.loads(file.read_bytes()))
        if scene.scene_id not in self._folders:
            return None
        at = self._names.index(scene.scene_id)
        before = self._along(scene, self._names[max(at - READ, 0) : at][::-1])
        drive = [*reversed([*before]), *self._along(scene, self._names[at : at + READ])]
        if len(drive) < CAMERA.fewest:  # however much each of them tells
            return None
        step = max(len(drive) / LOOKED_AT, 1.0)
        chosen = [drive[int(i * step)] for i in range(min(len(drive), LOOKED_AT))]
        height = drive_height(scene.front, [clue for folder in chosen if (clue := self._clue(folder))])
        if height is not None and file is not None:
            write_bytes(file, canonical_json(asdict(height)))
        return height

    def _along(self, scene: Scene, names: list[str]) -> Iterator[SceneFolder]:
        """Those of its drive, under the same calibration, up to the first of another drive."""
        for name in names:
            with contextlib.suppress(CfgenError):  # whose own case it is says so
                folder = load_scene(Path(self._folders[name]))
                if recording_of(folder.scene) != recording_of(scene):
                    return
                if folder.scene.front == scene.front:
                    yield folder

    def _clue(self, folder: SceneFolder) -> HeightClue | None:
        scene = folder.scene
        try:
            views = self._views.scene(scene, {(scene.front.name, 0.0): folder.image()})
        except CfgenError:
            return None
        return height_clue(scene.front, lane_readings(views)[0.0], views.now.things)
