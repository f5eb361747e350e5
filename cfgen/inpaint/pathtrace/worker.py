"""The process that holds bpy for :mod:`cfgen.inpaint.pathtrace.inpainter`: pickled questions in, pickled answers out.

It runs under an interpreter that may lack cfgen: it imports bpy, numpy and the model files only.
Usage: python worker.py MODELS_DIR THREADS
"""

import importlib
import os
import pickle
import sys
from typing import Any

# Blender prints to stdout; the answers need it
_ANSWERS = os.fdopen(os.dup(1), "wb")
#: Shadows end this far from the model, m; nearer the horizon the denoiser mixes in the dark beyond the ground.
_SHADOW_REACH = 60.0
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

# as an entry point of its own, bpy missing is an answer, not a crash
try:
    import bpy
    import numpy as np
    from mathutils import Matrix, Vector
except ImportError:
    bpy = None


class Studio:
    """One Blender scene: asphalt, sky and sun, and each model built once."""

    def __init__(self, threads: int) -> None:
        self.render = importlib.import_module("render")
        self.models = importlib.import_module("make_sprites").find_models()
        self.built: dict[tuple[str, str], Any] = {}
        importlib.import_module("common").reset_scene()
        self.render.setup(16, threads or os.cpu_count() or 1, False)
        self.ramp = _sky_ramp()
        self.sky = [tuple(stop.color)[:3] for stop in self.ramp]
        lamp = bpy.data.lights.new("sun", "SUN")
        lamp.angle = 0.0093
        self.sun = bpy.data.objects.new("sun", lamp)
        bpy.context.scene.collection.objects.link(self.sun)

    def answer(self, ask: dict[str, Any]) -> Any:
        return self.variants() if ask["do"] == "list" else getattr(self, ask["do"])(ask)

    def variants(self) -> dict[str, list[str]]:
        """Models that stand on the ground, and their variants."""
        by_model: dict[str, list[str]] = {}
        for (name, variant), (model, *_) in sorted(self.models.items()):
            if not model.decal:
                by_model.setdefault(name, []).append(variant)
        return by_model

    def params(self, ask: dict[str, Any]) -> dict[str, Any]:
        """What a variant's builder is given."""
        return dict(self.models[ask["model"], ask["variant"]][1])

    def draw(self, ask: dict[str, Any]) -> dict[str, Any]:
        """rgba (h, w, 4) float32 premultiplied as ``lens`` sees it, shade (H, W, 3) as ``ground`` does: light on the
        ground with the object ÷ without it."""
        model = self.models[ask["model"], ask["variant"]][0]
        root = self._placed(ask)
        self._lit(ask)
        cycles, film = bpy.context.scene.cycles, bpy.context.scene.render
        cycles.samples, cycles.use_denoising = ask["samples"], not model.volume
        cycles.volume_bounces, film.film_transparent = 2 * model.volume, model.volume
        rgba = self._object(ask["lens"]) / np.array([*[ask["day"]] * 3, 1.0])
        cycles.samples, cycles.use_denoising, film.film_transparent = max(ask["samples"] // 2, 8), True, False
        shade = self._ground(ask["ground"], root) / ask["day"]
        shade[_beyond(ask["ground"], ask["pose"][:2])] = 1.0
        return {
            "rgba": rgba.astype(np.float32),
            "shade": np.ascontiguousarray(shade, np.float32),
            "version": bpy.app.version_string,
        }

    def _object(self, lens: dict[str, Any]) -> Any:
        _aim(lens)
        passes = self.render._render()
        flat = np.zeros(passes["Normal", "XYZ"].shape[:2])
        layers = self.render._layers(passes, passes["Normal", "XYZ"], flat, (0.0, 0.0), 1.0)
        return np.dstack([layers.radiance + layers.emission, layers.alpha])

    def _ground(self, lens: dict[str, Any], root: Any) -> Any:
        """Radiance of the ground over its albedo, the object unseen but in the light's way."""
        _aim(lens)
        ground = bpy.context.scene.objects["ground"]
        visibility = {node: node.visible_camera for node in root.children_recursive}
        for node in visibility:
            node.visible_camera = False
        ground.visible_camera = True
        lit = self.render._render()["Combined", "RGBA"][..., :3] / self.render.ASPHALT
        ground.visible_camera = False
        for node, was in visibility.items():
            node.visible_camera = was
        return lit

    def size(self, ask: dict[str, Any]) -> tuple[float, float, float]:
        """Length, width, height of a variant, m."""
        root = self._placed({**ask, "pose": (0.0, 0.0, 0.0)})
        bpy.context.view_layer.update()
        corners = [
            node.matrix_world @ Vector(corner)
            for node in root.children_recursive
            if node.type in {"MESH", "CURVE", "FONT"}
            for corner in node.evaluated_get(bpy.context.evaluated_depsgraph_get()).bound_box
        ]
        low, high = np.min(corners, 0), np.max(corners, 0)
        return float(high[0] - low[0]), float(high[1] - low[1]), float(high[2])

    def _placed(self, ask: dict[str, Any]) -> Any:
        """The model at its pose, all others hidden."""
        key = ask["model"], ask["variant"]
        if key not in self.built:
            model, parameters, _ = self.models[key]
            root = bpy.data.objects.new("root", None)
            bpy.context.scene.collection.objects.link(root)
            for node in model.build(**{"seed": 0, **parameters}):
                node.parent = root
            self.built[key] = root
        for built_model, root in self.built.items():
            for node in root.children_recursive:
                node.hide_render = built_model != key
        root = self.built[key]
        x, y, yaw = ask["pose"]
        root.location, root.rotation_euler = (x, y, 0), (0, 0, yaw)
        bpy.context.scene.objects["ground"].location = (x, y, 0)
        return root

    def _lit(self, ask: dict[str, Any]) -> None:
        for stop, colour in zip(self.ramp, self.sky, strict=True):
            stop.color = (*(c * level * ask["day"] for c, level in zip(colour, ask["sky"], strict=True)), 1)
        lamp = self.sun.data
        lamp.energy = 0.0
        if ask["sun_dir"] is not None:
            strength = max(ask["sun"])
            lamp.energy = float(np.pi * strength * ask["day"])
            lamp.color = [c / strength for c in ask["sun"]]
            self.sun.rotation_euler = Vector(ask["sun_dir"]).to_track_quat("Z", "Y").to_euler()


def _sky_ramp() -> list[Any]:
    nodes = bpy.context.scene.world.node_tree.nodes
    ramp = next(node for node in nodes if node.type == "VALTORGB")
    return list(ramp.color_ramp.elements)


def _aim(lens: dict[str, Any]) -> None:
    fx, fy, cx, cy, width, height = lens["lens"]
    camera = bpy.context.scene.camera
    view = camera.data
    view.type, view.sensor_fit, view.sensor_width = "PERSP", "HORIZONTAL", 36.0
    view.lens = fx * 36.0 / width
    view.shift_x, view.shift_y = (width / 2 - cx) / width, (cy - height / 2) * (fx / fy) / width
    render = bpy.context.scene.render
    render.resolution_x, render.resolution_y = width, height
    render.pixel_aspect_x, render.pixel_aspect_y = 1.0, fx / fy
    turn = np.array(lens["turn"]).T @ np.diag([1.0, -1.0, -1.0])
    camera.matrix_world = Matrix(np.vstack([np.column_stack([turn, lens["eye"]]), [0, 0, 0, 1]]).tolist())


def _beyond(lens: dict[str, Any], foot: Any) -> Any:
    """(H, W) bool: where the camera sees the backdrop, or ground too far from ``foot`` for its shadow."""
    fx, fy, cx, cy, width, height = lens["lens"]
    u, v = np.meshgrid((np.arange(width) + 0.5 - cx) / fx, (np.arange(height) + 0.5 - cy) / fy)
    rays = np.stack([u, v, np.ones_like(u)], -1) @ np.array(lens["turn"])
    eye = np.array(lens["eye"])
    reach = eye[2] / np.maximum(-rays[..., 2], 1e-6)
    ground = eye[:2] + rays[..., :2] * reach[..., None]
    return np.hypot(*np.moveaxis(ground - np.asarray(foot), -1, 0)) > _SHADOW_REACH


def main() -> None:
    models, threads = sys.argv[1], int(sys.argv[2])
    sys.path.insert(0, models)
    studio = None
    while True:
        try:
            question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if bpy is None:
            answer: tuple[str, Any] = "missing", None
        else:
            try:
                studio = studio or Studio(threads)
                answer = "done", studio.answer(question)
            except Exception as error:
                answer = "failed", f"{question.get('model', question['do'])}: {error!r}"
        pickle.dump(answer, _ANSWERS)
        _ANSWERS.flush()


if __name__ == "__main__":
    main()
