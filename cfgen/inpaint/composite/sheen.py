"""The sky's sheen on a road seen at a slant, and how what stands on it takes that away: its dull, dark mirror image.

Asphalt scatters light forwards, so that at the slant of a car's camera a good part of what an overcast road shows is
the sky low above it. Before a thing that part is missing, most at its foot: it is what sets things on the ground where
no sun casts shadows. A wet road mirrors more, farther down and in colour.
"""

import cv2
import numpy as np

from cfgen.perception.colour import luminance

#: Share of the sky's light on a road that is sheen, of dry and of wet asphalt under cloud seen at 2 to 6 degrees.
_SHARE, _WET_SHARE = 0.42, 0.75
#: How far down the mirror image goes before it is lost, on a dry and on a wet road, and how far it is blurred, as
#: shares of a thing's height.
_REACH, _WET_REACH, _BLUR = 0.22, 0.8, 0.035
#: Rows over which an edit fades out at the edge of where it may change.
_RIM = 4
#: Columns, as a share of the width, over which what stands deepest is the foot.
_FEET = 0.15


def sheen_rows(height: float, wet: float = 0.0) -> float:
    """Rows below the foot of a thing of ``height`` pixels that its mirror image reaches."""
    return min(2.5 * _reach(wet), 1.0) * float(height)


def _reach(wet: float) -> float:
    return _REACH + wet * (_WET_REACH - _REACH)


def sheen(rgba: np.ndarray, sky: float, free: np.ndarray, wet: float = 0.0) -> np.ndarray:
    """(H, W, 1) float32, light that the road shows with a thing ÷ without it, for want of sheen; (H, W, 3) if wet.

    Args:
        rgba: (H, W, 4) premultiplied linear light of the thing, 1 a white card under the open sky.
        sky: the sky's share of the light on the road; the sun's makes no sheen towards most cameras.
        free: (H, W) bool, where pixels may change: the image has faded out at that edge, and is fainter near it.
        wet: in [0, 1], how surely the road is a mirror.
    """
    gloss = np.ones((*rgba.shape[:2], 3 if wet > 0 else 1), np.float32)
    cover = rgba[..., 3]
    x, _, w, h = cv2.boundingRect((cover > 0.5).astype(np.uint8))
    if w < 3 or h < 3 or sky <= 0:
        return gloss
    rows, end = np.arange(len(cover), dtype=np.float32), min(x + w, cover.shape[1])
    solid = cover[:, x:end] > 0.5
    lowest = np.where(solid.any(0), len(cover) - 1 - np.argmax(solid[::-1], 0), 0).astype(np.float32)
    feet = cv2.dilate(lowest[None], np.ones((1, max(round(_FEET * w), 1) | 1), np.uint8))
    feet = cv2.GaussianBlur(feet, (0, 0), max(0.04 * w, 0.5))[0]
    below = rows[:, None] - feet[None]
    thing = rgba[:, x:end, :3]
    grey = luminance(thing)[..., None]
    coverage = np.clip(
        cover[:, x:end, None] - (grey + np.float32(wet) * (thing - grey) if wet > 0 else grey), 0, 1
    )
    columns = np.broadcast_to(np.arange(end - x, dtype=np.float32), below.shape)
    image = cv2.remap(coverage, np.ascontiguousarray(columns), feet[None] - below, cv2.INTER_LINEAR)
    fades = np.exp(-np.maximum(below, 0) / np.float32(_reach(wet) * h)) * np.clip(below + 1, 0, 1)
    room = len(free) - 1 - np.argmax(free[::-1, x:end], 0) - _RIM - _BLUR * h - feet
    room = np.where(free[:, x:end].any(0), np.maximum(room, 0), 0)
    ends = 0.5 + 0.5 * np.cos(np.pi * np.clip(below / np.maximum(room, 1), 0, 1))
    fades *= ends * np.minimum(2 * room / np.float32(_REACH * h), 1)
    share = np.float32((_SHARE + wet * (_WET_SHARE - _SHARE)) * sky)
    gloss[:, x:end] -= share * (fades[..., None] * image.reshape(*fades.shape, -1))
    return cv2.GaussianBlur(gloss, (0, 0), max(_BLUR * h, 0.5)).reshape(gloss.shape)
