"""Path-traced road frames with exact masks: `python -m tools.road_net.render OUT [--first 0] [--places 100]`.

Needs bpy 4.5 (Python 3.11). Every place is one .npz: rgb (n, 180, 320, 3) uint8, road (n, 180, 320) uint8, 1 where a
vehicle may drive. The seed of a place is its number; a place whose file exists is left alone.
"""

import argparse
import math
import shutil
import tempfile
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

from tools.demo_scenes import develop as film
from tools.demo_scenes import make, sky
from tools.demo_scenes import materials as mats
from tools.demo_scenes.camera import Camera, Studio, quiet
from tools.demo_scenes.kinds_of_place import PLACES
from tools.demo_scenes.specs import AHEAD, CURVES, scene
from tools.demo_scenes.surface import Sheet

SIZE = (320, 180)
SHOTS = 24
ROAD = ("road", "road-far", "junction")  # objects that may be driven on; not what lies beyond a median
LIGHTS = ("day", "clear", "morning", "low_sun", "overcast", "wet", "fog", "dusk", "night")
COUNT = {"rural": 45, "lane": 60, "forest": 170, "highway": 35, "freeway": 30}


def spec_of(rng, seed):
    """A place as tools/demo_scenes draws it, with wider variety in surface, width and traffic."""
    place = str(rng.choice(list(PLACES), p=[0.12, 0.08, 0.17, 0.17, 0.17, 0.11, 0.07, 0.07, 0.04]))
    light = str(rng.choice(LIGHTS, p=[0.17, 0.12, 0.1, 0.1, 0.17, 0.1, 0.06, 0.08, 0.1]))
    town = place in ("residential", "urban", "street", "arterial")
    more = {"busy": int(rng.integers(0, 5)), "lead": int(rng.choice([0, 9, 14, 22, 40]))}
    if town and rng.random() < 0.55:
        more |= {"junction": float(rng.uniform(18, 80)), "zebra": bool(rng.random() < 0.6)}
    elif town and rng.random() < 0.4:
        more["crossings"] = (float(rng.uniform(14, 60)),)
    if place in COUNT:
        more["count"] = COUNT[place]
        more["soil"] = str(rng.choice(["golden", "green", "mixed"])) if place != "forest" else "forest"
    if place in ("highway", "freeway"):
        more["median"] = str(rng.choice(["jersey", "rail"]))
    more["season"] = str(rng.choice(["summer", "autumn"]))
    curve = str(rng.choice(list(CURVES)))
    named = {"night": "dusk"}.get(light, light)
    spec = scene(place, named, seed, curve, **more)
    snow = rng.random() < 0.13
    spec |= {
        "tone": float(np.exp(rng.uniform(math.log(0.035), math.log(0.32)))),
        "worn": float(rng.choice([rng.uniform(0.05, 0.6), 1.0], p=[0.75, 0.25])),
        "age": float(rng.uniform(0, 1.6)),
        "wet": float(rng.uniform(0.2, 0.7)) if light == "wet" or rng.random() < 0.08 else 0.0,
        "snow": float(rng.uniform(0.2, 1.0)) if snow else 0.0,
        "night": light == "night",
        "cobbles": bool(town and rng.random() < 0.12),
    }
    if rng.random() < 0.25:
        spec["lines"] = ()
    elif rng.random() < 0.5:  # the other side of the ocean paints its middle line white
        spec["lines"] = tuple((t, k.replace("yy", "w").replace("y", "w")) for t, k in PLACES[place]["lines"])
    if rng.random() < 0.5:
        spec["walk_z"] = float(rng.uniform(0.05, 0.2))
    return spec


def winter(snow, rng):
    """White land, a road swept as far as `snow` leaves it."""
    for material in bpy.data.materials:
        if not material.use_nodes or "Principled BSDF" not in material.node_tree.nodes:
            continue
        if material.name.startswith(("soil", "walk", "kerb", "turf", "grass")):
            tree = material.node_tree
            base = tree.nodes["Principled BSDF"].inputs["Base Color"]
            where = mats.node(tree, "ShaderNodeTexCoord").outputs["Object"]
            cover = mats.ramp(
                tree, mats.noise(tree, where, rng.uniform(0.3, 2), 4), 0.55 - 0.5 * snow, 0.7 - 0.3 * snow
            )
            old = base.links[0].from_socket if base.links else tuple(base.default_value)[:3]
            tree.links.new(mats.mix(tree, cover, old, (0.75, 0.78, 0.83)), base)


class WinterSheet(Sheet):
    """A road with snow drifting in from its edges and trodden snow between the wheel tracks."""

    snow = 0.0
    cobbles = False

    def dusty_edges(self, t_left, t_right, reach=0.7, dirt=(0.20, 0.16, 0.11)):
        if not self.snow:
            return super().dusty_edges(t_left, t_right, reach, dirt)
        return super().dusty_edges(t_left, t_right, 0.6 + 1.2 * self.snow, (0.7, 0.73, 0.78))

    def tracks(self, centres, depth=0.10, oil=0.13):
        if self.cobbles:
            rows, columns = (max(2, round(m / p)) for m, p in zip((0.18, 0.13), self.pix[::-1], strict=True))
            y, x = np.indices(self.shape, sparse=True)
            joint = (y % rows < 1) | ((x + (y // rows % 2) * columns // 2) % columns < 1)
            self.value *= np.where(joint, 0.55, 1 + 0.25 * np.sin((y // rows) * 7.3 + (x // columns) * 3.1))
        super().tracks(centres, depth, oil)
        if self.snow > 0.5:
            t = self.t0 + np.arange(self.shape[0])[:, None] * self.pix[1]
            gap = np.min([np.abs(t - c - s) for c in centres for s in (-0.8, 0.8)], axis=0)
            cover = np.clip((gap - 0.35 + 0.25 * self.wear) * 3, 0, 1) * (self.snow - 0.3)
            self.value = self.value * (1 - cover) + 0.62 * cover


def view(rng, site, spec):
    """One camera and the ego pose it is carried at."""
    hfov = float(np.exp(rng.uniform(math.log(22), math.log(118))))
    pitch = float(rng.normal(3, 4)) if hfov > 40 else float(rng.normal(1, 1.5))
    cam = Camera(*SIZE, hfov, rng.uniform(1.05, 2.3), pitch, rng.normal(0, 4), 0.0)
    s = rng.uniform(-45, 70)
    lanes = (*site.spec["lanes"], *AHEAD[spec["place"]][0])
    t, turn = rng.choice(lanes) + rng.normal(0, 0.5), rng.normal(0, 0.05)
    oncoming = [x for x in lanes if x > 0.5 and not site.spec.get("beyond")]
    if oncoming and rng.random() < 0.2:
        t, turn = rng.choice(oncoming), turn + math.pi
    stray = rng.random()
    if stray < 0.06:  # a drive or lawn: off the road, any direction
        t = (site.left + rng.uniform(2, 9)) if rng.random() < 0.5 else site.right - rng.uniform(2, 9)
        turn = rng.uniform(-math.pi, math.pi)
    elif stray < 0.14:  # turning
        turn += rng.uniform(-1.2, 1.2)
    x, y, z = site.road.at(s, t)
    return cam, (x, y, z, float(site.road.heading(s)) + turn, 0.0)


class MaskStudio(Studio):
    """The studio of the demo scenes, with the index of the object under each pixel."""

    def __init__(self, camera, scratch, threads):
        super().__init__(camera, scratch, threads)
        bpy.context.view_layer.use_pass_object_index = True
        tree = self.scene.node_tree
        layers = next(n for n in tree.nodes if n.bl_idname == "CompositorNodeRLayers")
        out = next(n for n in tree.nodes if n.bl_idname == "CompositorNodeOutputFile")
        out.file_slots.new("index")
        tree.links.new(layers.outputs["IndexOB"], out.inputs[-1])

    def frame(self, cam, pose, samples, seed, roll):
        """Linear RGB, depth (m) and object index, each (180, 320, ...)."""
        self.camera, self.obj.data.lens = cam, cam.focal * 36.0 / cam.size[0]
        x, y, z, h, _ = pose
        c, s = math.cos(h), math.sin(h)
        world = np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]]) @ np.linalg.inv(cam.T)
        a, b = math.cos(roll), math.sin(roll)
        world = (
            world
            @ np.array([[a, -b, 0, 0], [b, a, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
            @ np.diag([1, -1, -1, 1])
        )
        self.obj.matrix_world = Matrix(world.tolist())
        scene = self.scene
        scene.render.resolution_x, scene.render.resolution_y = SIZE
        scene.cycles.denoising_quality = "FAST"
        scene.cycles.samples, scene.cycles.seed, scene.frame_current = samples, seed, 1
        with quiet():
            bpy.ops.render.render()
        image, depth, index = (self._read(f"{n}0001.exr") for n in ("image", "depth", "index"))
        return image, depth[..., 0], np.round(index[..., 0]).astype(int)


def render(seed, threads):
    """All shots of one place: rgb, road."""
    rng = np.random.default_rng([seed, 555])
    spec = spec_of(rng, seed)
    scratch = Path(tempfile.mkdtemp(prefix="road-"))
    WinterSheet.snow, WinterSheet.cobbles = spec["snow"], spec["cobbles"]
    make.places.Sheet = WinterSheet
    site, ego, movers, light = make.build(spec, scratch)
    if spec["snow"]:
        winter(spec["snow"], rng)
    if spec["night"]:
        bpy.context.scene.world.node_tree.nodes["Background"].inputs[1].default_value = 10 ** rng.uniform(
            -2.5, -0.8
        )
    for obj in bpy.data.objects:
        obj.pass_index = int(obj.name.split(".")[0] in ROAD)
    dark = spec["light"] == "dusk"
    beams = [
        (sky.spot((0, 0, 0), (1, 0, 0), rng.uniform(250, 900), 62, (1, 0.93, 0.8), 0.08), s)
        for s in (-0.6, 0.6)
    ]
    cam, _ = view(rng, site, spec)
    studio = MaskStudio(cam, scratch, threads)
    frames, roads = [], []
    for shot in range(SHOTS):
        cam, pose = view(rng, site, spec)
        if shot % 6 == 0:  # Cycles builds its tree anew when something moves
            make.place_movers(movers, [], ego, float(rng.uniform(-2, 5)))
        aim_beams(beams if dark else [], pose)
        for lamp, _side in beams:
            lamp.hide_render = not dark
        roll = math.radians(rng.normal(0, 1.5))
        rgb, depth, index = studio.frame(cam, pose, int(rng.choice([3, 4, 6])), seed * 100 + shot, roll)
        road = (index == 1) & (depth < 160)
        haze = light["haze"] * float(np.exp(rng.normal(0, 0.5)))
        rgb = film.haze(np.nan_to_num(rgb), depth, max(haze, 45.0))
        key = light["key"] * float(np.exp(rng.normal(0, 0.35))) * (0.6 if spec["night"] else 1)
        gain = film.exposure(rgb, key)
        look = {
            "warm": rng.normal(0, 0.06),
            "saturation": rng.uniform(0.6, 1.25),
            "blur": rng.uniform(0.3, 0.8),
        }
        frames.append(film.develop(rgb, gain, rng, noise=rng.uniform(0.2, 3.0), **look)[..., ::-1])
        roads.append(road)
    shutil.rmtree(scratch)
    return np.stack(frames), np.stack(roads).astype(np.uint8)


def aim_beams(beams, pose):
    """Carry the ego's headlights."""
    x, y, z, h, _ = pose
    turn = np.array([[math.cos(h), -math.sin(h), 0], [math.sin(h), math.cos(h), 0], [0, 0, 1]])
    for lamp, side in beams:
        lamp.location = turn @ [1.8, side, 0.65] + [x, y, z]
        lamp.rotation_euler = sky._aim(tuple(-(turn @ [1.0, 0.02 * side - 0.02, -0.028])))


def main():
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("out", type=Path)
    ap.add_argument("--first", type=int, default=0)
    ap.add_argument("--places", type=int, default=100)
    ap.add_argument("--threads", type=int, default=1)
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for seed in range(args.first, args.first + args.places):
        path = args.out / f"{seed:05d}.npz"
        if not path.exists():
            rgb, road = render(seed, args.threads)
            part = path.with_suffix(".part.npz")
            np.savez_compressed(part, rgb=rgb, road=road)
            part.rename(path)


if __name__ == "__main__":
    main()
