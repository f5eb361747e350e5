"""cfgen's own format: checked and copied, images byte by byte."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from cfgen.records import Scene
from cfgen.scenes.drive import Recording
from cfgen.scenes.folder import Image, SceneFolder, find_scenes, load_scene


class FolderReader:
    """Scene folders at or below the source. Takes no options; every scene is taken whole, however close in time."""

    def __init__(self, source: Path) -> None:
        self._folders = find_scenes(source)

    def recordings(self) -> Iterable[Callable[[], Recording]]:
        return [lambda path=path: _Ready(load_scene(path)) for path in self._folders]  # type: ignore[misc]


class _Ready:
    """A scene that is one already."""

    def __init__(self, folder: SceneFolder) -> None:
        self._folder = folder
        self.scene_id = folder.scene.scene_id

    def moments(self, every_s: float) -> list["_Ready"]:
        return [self]

    def cut(self, frame_times: Sequence[float]) -> tuple[Scene, dict[str, Image | Path]]:
        for frame in self._folder.scene.frames:
            self._folder.image(frame)
        scene = self._folder.scene
        return scene, {frame.image: self._folder.root / frame.image for frame in scene.frames}
