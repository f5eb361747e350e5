"""A box lorry."""

import bpy
import numpy as np

from . import materials as mats
from .shape import Shape, add_cylinder, box, quad
from .vehicles import COLOURS


def lorry(colour="white", night=False, length=7.5):
    """A box lorry: cab in front of a tall body."""
    name = f"lorry-{colour}-{night:d}"
    if name in bpy.data.meshes:
        return bpy.data.meshes[name]
    shape, h = Shape(), length / 2
    paint, side = (
        mats.plain(f"cab-{colour}", COLOURS[colour], 0.35, coat=1.0),
        mats.plain("box-body", (0.58, 0.57, 0.54), 0.5, vary=0.1),
    )
    dark, steel = (
        mats.plain("grille", (0.012,) * 3, 0.35),
        mats.plain("galvanised", (0.32, 0.33, 0.34), 0.5, metal=0.6),
    )
    shape.add(box((-h, -1.22, 0.95), (h - 1.95, 1.22, 3.45)), side)
    for y in (-1.235, 1.225):
        shape.add(box((-h, y, 0.95), (h - 1.95, y + 0.012, 1.03)), steel)
    shape.add(box((h - 1.85, -1.1, 0.55), (h, 1.1, 1.55)), paint)
    cab = np.array([(h - 1.85, 1.08, 1.5), (h - 0.1, 1.08, 1.5), (h - 0.5, 1.0, 2.55), (h - 1.85, 1.0, 2.6)])
    cab = np.concatenate([cab, cab * [1, -1, 1]])
    shape.add((cab, np.array([(3, 2, 6, 7), (0, 3, 7, 4), (1, 0, 3, 2), (4, 5, 6, 7)])), paint)
    shape.add(quad(*(cab[[1, 2, 6, 5]] + [0.01, 0, 0])), mats.glass())
    for s in (-1, 1):
        shape.add(
            quad(
                (h - 1.4, s * 1.095, 1.6),
                (h - 0.35, s * 1.095, 1.6),
                (h - 0.62, s * 1.03, 2.4),
                (h - 1.4, s * 1.03, 2.4),
            ),
            mats.glass(),
        )
    tail = mats.plain(
        f"tail-{2.2 if night else 0.05}", (0.55, 0.012, 0.008), 0.15, coat=1.0, emit=2.2 if night else 0.05
    )
    shape.add(box((-h + 0.02, -1.15, 0.55), (h - 1.9, 1.15, 0.95)), dark)
    shape.add(box((-h - 0.03, -1.2, 0.45), (-h + 0.1, 1.2, 0.58)), steel)
    shape.add(
        quad(
            (-h - 0.012, 0.01, 1.0),
            (-h - 0.012, -0.01, 1.0),
            (-h - 0.012, -0.01, 3.4),
            (-h - 0.012, 0.01, 3.4),
        ),
        dark,
    )
    for s in (-1, 1):
        y0, y1 = sorted((s * 0.85, s * 1.15))
        shape.add(box((-h - 0.02, y0, 0.66), (-h + 0.05, y1, 0.82)), tail)
        shape.add(
            box((h - 0.05, y0, 0.75), (h + 0.02, y1, 0.95)),
            mats.plain("lens-lit", (1, 0.93, 0.8), 0.1, emit=14.0)
            if night
            else mats.plain("lens", (0.5, 0.52, 0.54), 0.08),
        )
        for x in (h - 0.95, -h + 1.5, -h + 2.4):
            add_cylinder(
                shape,
                mats.plain("tyre", (0.016,) * 3, 0.9),
                0.48,
                *sorted((s * 0.8, s * 1.13)),
                "y",
                28,
                (x, 0, 0.48),
            )
            add_cylinder(
                shape,
                mats.plain("rim", (0.33, 0.33, 0.34), 0.3, metal=0.7),
                0.26,
                *sorted((s * 1.1, s * 1.135)),
                "y",
                20,
                (x, 0, 0.48),
            )
    return shape.mesh(name)
