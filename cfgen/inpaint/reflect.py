"""What still water on the road mirrors: the scene beyond it, upside down."""

import cv2
import numpy as np

from cfgen.geometry.camera import centre as eye_of
from cfgen.geometry.camera import project, rotation, unproject
from cfgen.inpaint.colour import to_linear
from cfgen.inpaint.protocol import Setting
from cfgen.records import Camera

#: Reflectance of water seen from straight above.
_STRAIGHT = 0.02
#: Ripples blur what is mirrored along the line of sight, more the nearer it is: pixels of the frame's height.
_RIPPLE = 0.004
_FAR = 1e4


def reflection(camera: Camera, setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Linear RGB (H, W, 3) that water at each pixel of ``camera``'s image mirrors, and its reflectance (H, W).

    The mirrored ray is looked up in the setting's frame as if what it meets were far away. Reflectance is
    Schlick's (Computer Graphics Forum 1994, Eq. 24): r + (1 - r) (1 - cos)^5.
    """
    grid = np.stack(np.meshgrid(np.arange(camera.width), np.arange(camera.height)), -1).reshape(-1, 2)
    rays, _ = unproject(camera, grid)
    steep = np.clip(-(rays @ rotation(camera)[:, 2]), 0, 1)
    world = np.nan_to_num(rays @ rotation(camera)) * (1, 1, -1)
    px, seen = project(setting.camera, eye_of(setting.camera) + _FAR * world)
    shape = camera.height, camera.width
    at = np.where(seen[:, None], px, -1).astype(np.float32).reshape(*shape, 2)
    frame = cv2.GaussianBlur(setting.image, (0, 0), 0.6, sigmaY=max(_RIPPLE * setting.image.shape[0], 0.6))
    x, y = cv2.split(at)
    mirrored = to_linear(cv2.remap(frame, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
    share = _STRAIGHT + (1 - _STRAIGHT) * (1 - steep) ** 5
    return mirrored, share.astype(np.float32).reshape(shape)
