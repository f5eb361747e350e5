"""What an inpainter is asked: one hazard in one crop. Cropping and pasting back are cfgen's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cfgen.core.errors import InpaintPutOffError, InpaintRefusedError
from cfgen.perception.light import SceneLight
from cfgen.records import Camera, Hazard, Placement, Size


@dataclass(frozen=True, eq=False)
class Setting:
    """A camera's whole frame at or next to t0 and where the hazard stands in it, shared by a case's requests.

    Light, lens and exposure are found here once, so that they do not flicker from frame to frame.

    Attributes:
        image: (H, W, 3) uint8 RGB, never to be written to.
        camera: its calibration; ``T_cam_ego`` takes points of the ego frame at t0 into the camera then.
        placement: the hazard at that time.
        extra: what the scene's source knows: ``sun``, a unit vector towards the sun in the ego frame at t0, or None
            where no sun shines; ``latitude_deg``, ``longitude_deg`` and ``heading_deg``.
        timestamp: UTC of t0 as the scene tells it, or empty.
        light: of the scene, where its road and drive were looked at, too.
        front: the front camera's setting, for another camera: there is one sun for all. None: this is the front.
        bare: whether a JPEG grid was looked for and none shows, as after scaling or in video.
    """

    image: np.ndarray
    camera: Camera
    placement: Placement
    extra: Mapping[str, Any] = field(default_factory=dict)
    front: "Setting | None" = None
    timestamp: str = ""
    light: SceneLight | None = None
    bare: bool = False


@dataclass(frozen=True, eq=False)
class InpaintRequest:
    """One edit.

    Attributes:
        image: (H, W, 3) uint8 RGB crop of the frame.
        mask: (H, W) uint8, 255 where pixels may change, else 0.
        camera: calibration of this crop: its ``T_cam_ego`` takes points of the ego frame at t0 into the camera
            at this frame's time, its principal point is relative to the crop.
        hazard: what to add (prompt, size, model). For the null edit its kind is ``null``: change nothing but
            run the same steps.
        placement: where it is at this frame's time, in the ego frame at t0.
        setting: the camera's frame next to t0, one object for all requests of a case and camera.
        t: s relative to t0 of this frame.
        corner: column and row of the crop in the frame.
        seed: decides everything random, the same for all frames of a case.
        guide: (H, W, 3) uint8, the crop with another inpainter's insert, to start from; the crop itself for the
            null edit; None when not guided.
    """

    image: np.ndarray
    mask: np.ndarray
    camera: Camera
    hazard: Hazard
    placement: Placement
    setting: Setting
    seed: int
    t: float = 0.0
    corner: tuple[int, int] = (0, 0)
    guide: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class InpaintResult:
    """One answer.

    Attributes:
        image: (H, W, 3) uint8 RGB, the crop with the hazard in it; pixels outside the mask are ignored.
        alpha: (H, W) float32 in [0, 1], coverage of hazard and shadow, when the inpainter knows it: where it
            is 0 nothing is pasted.
        report: JSON values for the provenance: model, revision, sprite variant, light estimate, tokens, ...
        guessed: alpha is read off the change; a segmenter that finds the hazard knows better.
    """

    image: np.ndarray
    alpha: np.ndarray | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    guessed: bool = False


Answer = InpaintResult | InpaintRefusedError | InpaintPutOffError


@dataclass(frozen=True)
class InpainterRequirements:
    """How an inpainter wants its crops.

    Attributes:
        every_frame: it draws each history frame and camera itself, from the pose in the world; otherwise it
            gets the front frame at t0 only, and cfgen carries its layer to the others.
        context: margin around the mask, as a share of the mask's longer side.
        min_side: shortest crop side, pixels.
        square: crops are square where the frame allows it.
        batch_size: cases per batch that serve it best.
        shadow: reach of the shadow that the mask leaves room for, as a multiple of the hazard's height.
        processes: most worker processes of a machine that may run it at once; 0: one a core.
        model: it loads a model, one of which each machine or card may have; else ``processes`` holds for all machines.
        terms: names of options that change cost, speed or patience but no pixel: a build does not store them, and
            may be continued with others. Of these a build sets ``cache`` (a folder for what need not be made or
            paid for twice) and ``quiet`` where they are named and not given.
        turn: how far it may turn the hazard about its foot, radians; the mask leaves room for it.
    """

    every_frame: bool = False
    context: float = 0.5
    min_side: int = 256
    square: bool = True
    shadow: float = 0.5
    turn: float = 0.0
    batch_size: int = 1
    processes: int = 0
    model: bool = False
    terms: tuple[str, ...] = ()


class Inpainter(Protocol):
    """Batch first: results in the order of the requests.

    One with a method ``check()`` is asked by it, before a benchmark is begun, whether it could work here: it raises a
    SetupError where a key, a package or weights are missing, and a build that it refuses leaves nothing behind.

    A declined edit is an :class:`InpaintRefusedError` in its place in the list, so that the rest of the batch
    is not lost; raised, it declines the whole batch. An :class:`InpaintPutOffError` likewise: not declined, but not
    to be had now.
    """

    name: str
    version: str
    #: options after defaults, JSON values, for provenance
    options: Mapping[str, Any]
    needs: InpainterRequirements

    def can_draw(self, hazard: Hazard) -> bool: ...

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        """The metric sizes it has of this hazard, one of which a placement must have; empty when any will do."""
        ...

    def inpaint(self, requests: Sequence[InpaintRequest]) -> Sequence[Answer]: ...
