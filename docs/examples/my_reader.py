"""A reader for a folder of numbered pictures, ten a second, with the speed of each in speed.txt (m/s)."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from cfgen.core.files import read_image
from cfgen.geometry.camera import mounted
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Stream, raised


class Numbered:
    """Straight drives; options: height (camera above the road, m), focal (px)."""

    def __init__(self, source: Path, height: float = 1.4, focal: float = 900.0) -> None:
        self.source, self.height, self.focal = source, height, focal

    def recordings(self) -> Iterable[Callable[[], Drive]]:
        return [self.drive]  # one drive in this folder; opening it is cheap

    def drive(self) -> Drive:
        files = sorted(self.source.glob("*.png"))
        speed = np.loadtxt(self.source / "speed.txt")  # (T,) m/s
        t = np.linspace(0, (len(files) - 1) / 10, len(files))
        way = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * 0.1)])  # m
        h, w = read_image(files[0]).shape[:2]
        lens = {"fx": self.focal, "fy": self.focal, "cx": (w - 1) / 2, "cy": (h - 1) / 2}
        camera = Camera(width=w, height=h, T_cam_ego=mounted(self.height), **lens)
        return Drive(
            name=self.source.name,
            source="numbered pictures",
            license="mine",
            streams=(Stream(camera, t, lambda i: files[i]),),
            t=t,
            poses=raised(np.column_stack([way, 0 * way, 0 * way])),  # world from ego
            v=speed,
        )
