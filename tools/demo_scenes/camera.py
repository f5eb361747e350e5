"""The camera and the render itself: linear light and depth per frame, as float arrays."""

import contextlib
import math
import os

import bpy
import cv2
import numpy as np
from mathutils import Matrix


class Camera:
    """A pinhole `height` m up, `ahead` m before the rear axle; pitch > 0 looks down, yaw > 0 left."""

    def __init__(self, width, height_px, hfov_deg, height, pitch_deg, yaw_deg=0.0, ahead=1.6):
        self.size = (width, height_px)
        self.focal = round(width / 2 / math.tan(math.radians(hfov_deg) / 2), 2)
        self.height, self.pitch, self.yaw, self.ahead = height, pitch_deg, yaw_deg, ahead
        p, y = math.radians(pitch_deg), math.radians(yaw_deg)
        forward = np.array([math.cos(p) * math.cos(y), math.cos(p) * math.sin(y), -math.sin(p)])
        right = np.array([math.sin(y), -math.cos(y), 0.0])
        rot = np.stack([right, np.cross(forward, right), forward])
        self.T = np.eye(4)
        self.T[:3, :3], self.T[:3, 3] = rot, -rot @ np.array([ahead, 0.0, height])

    def project(self, points):
        """Pixels (n, 2) of ego points (n, 3) in metres; NaN behind the camera."""
        q = np.asarray(points, float) @ self.T[:3, :3].T + self.T[:3, 3]
        z = np.where(q[:, 2] > 0.2, q[:, 2], np.nan)
        w, h = self.size
        return np.stack([self.focal * q[:, 0] / z + w / 2, self.focal * q[:, 1] / z + h / 2], 1)

    def record(self):
        """The scene.json fields."""
        w, h = self.size
        return {
            "intrinsics": {
                "fx": self.focal,
                "fy": self.focal,
                "cx": w / 2,
                "cy": h / 2,
                "distortion": [0.0] * 5,
            },
            "extrinsics": {
                "camera_height_m": self.height,
                "pitch_deg": self.pitch,
                "yaw_deg": self.yaw,
                "roll_deg": 0.0,
                "T_cam_ego": [[round(float(v), 6) for v in row] for row in self.T],
            },
        }


@contextlib.contextmanager
def quiet():
    """Drop what Blender prints on standard output while it renders."""
    kept, sink = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(sink)


def world_from_ego(pose):
    """4x4 from (x, y, z, heading, v)."""
    x, y, z, h, _ = pose
    c, s = math.cos(h), math.sin(h)
    return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


class Studio:
    """Cycles set up once; `shoot` renders one frame."""

    def __init__(self, camera, scratch, threads=2):
        self.camera, self.scratch = camera, scratch
        scene = self.scene = bpy.context.scene
        scene.render.engine = "CYCLES"
        cycles = scene.cycles
        cycles.device, cycles.use_adaptive_sampling, cycles.adaptive_threshold = "CPU", True, 0.05
        cycles.use_denoising, cycles.denoiser, cycles.denoising_prefilter = True, "OPENIMAGEDENOISE", "FAST"
        cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 4, 2, 2
        cycles.transmission_bounces, cycles.transparent_max_bounces = 2, 4
        cycles.caustics_reflective = cycles.caustics_refractive = False
        cycles.sample_clamp_indirect, cycles.blur_glossy = 3.0, 0.8
        cycles.filter_width = 1.4
        render = scene.render
        render.threads_mode, render.threads, render.use_persistent_data = "FIXED", threads, True
        render.resolution_percentage = 100
        scene.view_settings.view_transform = "Raw"
        lens = bpy.data.cameras.new("camera")
        lens.sensor_fit, lens.sensor_width = "HORIZONTAL", 36.0
        lens.lens, lens.clip_start, lens.clip_end = camera.focal * 36.0 / camera.size[0], 0.1, 6000.0
        self.obj = bpy.data.objects.new("camera", lens)
        scene.collection.objects.link(self.obj)
        scene.camera = self.obj
        bpy.context.view_layer.use_pass_z = True
        scene.use_nodes = True
        tree = scene.node_tree
        tree.nodes.clear()
        layers, out = tree.nodes.new("CompositorNodeRLayers"), tree.nodes.new("CompositorNodeOutputFile")
        out.base_path = str(scratch)
        out.format.file_format, out.format.color_depth, out.format.color_mode = "OPEN_EXR", "32", "RGB"
        out.file_slots.clear()
        for socket in ("Image", "Depth"):
            out.file_slots.new(socket.lower())
            tree.links.new(layers.outputs[socket], out.inputs[-1])

    def shoot(self, pose, samples, seed=1, small=None):
        """Render from the ego pose: linear RGB (h, w, 3) and depth (h, w) in metres; `small` = pixels to render at."""
        self.scene.cycles.denoising_quality = "FAST" if small else "HIGH"
        render = self.scene.render
        render.resolution_x, render.resolution_y = small or self.camera.size
        world = world_from_ego(pose) @ np.linalg.inv(self.camera.T) @ np.diag([1, -1, -1, 1])
        self.obj.matrix_world = Matrix(world.tolist())
        self.scene.cycles.samples, self.scene.cycles.seed, self.scene.frame_current = samples, seed, 1
        with quiet():
            bpy.ops.render.render()
        image, depth = (self._read(f"{n}0001.exr") for n in ("image", "depth"))
        if small:
            image = cv2.resize(image, self.camera.size, interpolation=cv2.INTER_CUBIC).clip(0)
            depth = cv2.resize(depth, self.camera.size, interpolation=cv2.INTER_NEAREST)
        return image, depth[..., 0]

    def _read(self, name):
        img = bpy.data.images.load(str(self.scratch / name))
        img.colorspace_settings.name = "Non-Color"
        w, h = img.size
        flat = np.empty(w * h * img.channels, np.float32)
        img.pixels.foreach_get(flat)
        n = img.channels
        bpy.data.images.remove(img)
        return flat.reshape(h, w, n)[::-1, :, :3].copy()
