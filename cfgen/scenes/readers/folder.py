"""cfgen's own format: checked and copied, images byte by byte."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from cfgen.records import Scene
from cfgen.scenes.drive import Opener
from cfgen.scenes.folder import SCENE_FILE, Image, SceneFolder, find_scenes, load_scene
from cfgen.scenes.readers.sources import openers_below


class FolderReader:
    """Scene folders at or below the source. Takes no options; every scene is taken whole, however close in time."""

    def __init__(self, source: Path) -> None:
        self._openers = openers_below(source, lambda _, names: SCENE_FILE in names, _Ready)
        if not self._openers or not source.is_dir():
            find_scenes(source)  # says what is missing

    def recordings(self) -> Iterable[Opener]:
        return self._openers


class _Ready:
    """A scene that is one already."""

    def __init__(self, path: Path) -> None:
        self._folder: SceneFolder = load_scene(path)
        self.scene_id = self._folder.scene.scene_id

    def moments(self, every_s: float) -> list["_Ready"]:
        return [self]

    def cut(self, frame_times: Sequence[float]) -> tuple[Scene, dict[str, Image | Path]]:
        scene = self._folder.scene
        return scene, {frame.image: self._folder.root / frame.image for frame in scene.frames}
