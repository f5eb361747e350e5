"""A third party's inpainter, installed for a test: slow, and another picture each time."""

from pathlib import Path

import pytest

_CODE = """
import os, subprocess, time
import numpy as np
from cfgen.core.errors import InpaintRefusedError
from cfgen.geometry.camera import project
from cfgen.inpaint.protocol import InpaintResult, InpainterRequirements
from cfgen.inpaint.region import box_of

HERE = os.path.dirname(__file__)

class Slow:
    name, version = "slow", "1"
    needs = InpainterRequirements()

    def __init__(self, seconds=0.4, fault=""):
        self.options = {"seconds": seconds, "fault": fault}

    def can_draw(self, hazard):
        return True

    def sizes(self, hazard):
        return []

    def inpaint(self, requests):
        return [self._draw(r) for r in requests]

    def _draw(self, request):
        with open(os.path.join(HERE, "drawn.log"), "a") as log:
            log.write(request.hazard.id + chr(10))
        if self.options["fault"] == "child":
            child = subprocess.Popen(["sleep", "600"])
            with open(os.path.join(HERE, "child.pid"), "w") as file:
                file.write(str(child.pid))
        if self.options["fault"] == "refuses":
            raise InpaintRefusedError("slow: the model declined the picture")
        if self.options["fault"] == "breaks":
            raise ValueError("a tensor of the wrong <b>shape</b>")
        if self.options["fault"] == "dies":
            os._exit(9)
        time.sleep(self.options["seconds"])
        image, alpha = request.image.copy(), np.zeros(request.mask.shape, np.float32)
        if request.hazard.kind != "null":
            corners, _ = project(request.camera, box_of(request.placement))
            (x0, y0), (x1, y1) = corners.min(0).round().astype(int), corners.max(0).round().astype(int)
            alpha[max(0, y0) : y1, max(0, x0) : x1] = 1
            alpha[request.mask == 0] = 0
            image[alpha > 0] = np.frombuffer(os.urandom(3), np.uint8)
        return InpaintResult(image, alpha)
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make ``slow`` known to this process and to those it starts; returns where it keeps its log."""
    (folder / "slow_inpainter.py").write_text(_CODE)
    info = folder / "slow_inpainter-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-inpainter\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[cfgen.inpainters]\nslow = slow_inpainter:Slow\n")
    monkeypatch.syspath_prepend(str(folder))
    return folder
