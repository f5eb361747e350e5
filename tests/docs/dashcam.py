"""A dashcam mp4 out of the demo scenes, for the page of the first run: what a stranger brings."""

from pathlib import Path

import cv2

from cfgen.core.paths import scenarios_dir
from cfgen.scenes.folder import load_scene

#: Drives in town, filmed much alike: their 2 s before t0, one after the other, two frames a second.
SCENES = ("residential_overcast_06", "residential_day_05", "residential_overcast_06", "residential_day_05")


def dashcam(file: Path) -> Path:
    """Every 2.5 s of it a scene has its own past."""
    folders = [load_scene(scenarios_dir() / "scenes" / name) for name in SCENES]
    front = folders[0].scene.front
    film = cv2.VideoWriter(str(file), cv2.VideoWriter_fourcc(*"mp4v"), 2, (front.width, front.height))
    for folder in folders:
        for frame in sorted((f for f in folder.scene.frames if f.camera == front.name), key=lambda f: f.t):
            film.write(folder.image(frame)[..., ::-1])
    # what comes after the last scene, which the reader wants to know the way of
    for _ in range(14):
        film.write(folder.image()[..., ::-1])
    film.release()
    return file
