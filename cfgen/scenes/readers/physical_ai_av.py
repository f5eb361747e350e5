"""PhysicalAI-Autonomous-Vehicles (NVIDIA), through its own package and from a local copy."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.core.files import reading
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Opener, Stream, speeds_of
from cfgen.scenes.folder import Image
from cfgen.scenes.readers.sources import camera_names, is_visible
from cfgen.scenes.readers.traffic import camera_matrix

_FRONT = "camera_front_wide_120fov"
_AGAIN = "download it again with the physical_ai_av package"
_DEFAULT = (_FRONT, "camera_cross_left_120fov", "camera_cross_right_120fov", "camera_front_tele_30fov")


class PhysicalAIAV:
    """A local copy: the folder with features.csv and clip_index.parquet, or a Hugging Face cache above it.

    Nothing is downloaded and nothing is asked. Clips whose egomotion, calibration or front camera is not there are left
    out. The licence forbids passing on images made from it: share a benchmark as a recipe.

    Scenes keep 10 frames a second of the last 2 s, which is what planners trained on these drives see (Alpamayo).

    Options: cameras (front wide, cross left and right, front tele, those that are there), clips (ids; else all local).
    """

    #: s relative to t0, unless others are asked for
    frame_times = tuple(-step / 10 for step in range(21))

    def __init__(self, source: Path, cameras: str = "", clips: str = "") -> None:
        self._root = _root(source)
        with reading(self._root, "features.csv, clip_index.parquet and metadata that can be read", _AGAIN):
            self._data = _local_interface(self._root)
            clip_ids = set(self._data.clip_index.index)
        self._cameras = camera_names(cameras, _DEFAULT, _FRONT)
        requested = [clip.strip() for clip in clips.split(",") if clip.strip()]
        if set(requested) - clip_ids:
            raise InputError(
                f"{source}: clip '{sorted(set(requested) - clip_ids)[0]}' is not in clip_index.parquet"
            )
        needed = (_FRONT, "egomotion", "camera_intrinsics", "sensor_extrinsics")
        self._clips = [
            clip
            for clip in requested or sorted(clip_ids)
            if all(self._is_local(clip, feature) for feature in needed)
        ]
        if not self._clips:
            raise InputError(
                f"{source}: expected clips with {', '.join(needed)}, found none complete; "
                "download their chunks with the physical_ai_av package first"
            )

    def recordings(self) -> Iterable[Opener]:
        return [Opener(f"clip {clip}", partial(self._drive, clip)) for clip in self._clips]

    def _drive(self, clip: str) -> Drive:
        with self._reading(clip, "egomotion"):
            motion = self._data.get_clip_feature(clip, "egomotion")
            t = np.asarray(motion.timestamps, float) / 1e6
            poses = np.asarray(motion.values.pose.as_matrix())
            velocity = np.linalg.norm(np.asarray(motion.values.velocity), axis=1)
        with self._reading(clip, "camera_intrinsics"):
            intrinsics = self._data.get_clip_feature(clip, "camera_intrinsics").camera_models
        with self._reading(clip, "sensor_extrinsics"):
            extrinsics = self._data.get_clip_feature(clip, "sensor_extrinsics").sensor_poses
            names = [name for name in self._cameras if name in intrinsics and self._is_local(clip, name)]
            mounted = {name: np.linalg.inv(np.asarray(extrinsics[name].as_matrix())) for name in names}
        streams = [self._stream(clip, name, intrinsics[name], mounted[name]) for name in names]
        return Drive(
            name=clip,
            source=f"PhysicalAI-Autonomous-Vehicles {clip}",
            license="NVIDIA Autonomous Vehicle Dataset License",
            streams=tuple(streams),
            t=t,
            poses=poses,
            v=np.where(speeds_of(t, poses) < -0.1, -velocity, velocity),
        )

    def _stream(self, clip: str, name: str, lens: Any, camera_from_ego: NDArray[np.float64]) -> Stream:
        with self._reading(clip, "camera_intrinsics"):
            camera = Camera(
                name=name,
                model="ftheta",
                width=lens.width,
                height=lens.height,
                cx=float(lens.principal_point[0]),
                cy=float(lens.principal_point[1]),
                fw_poly=tuple(float(c) for c in lens.th2r.coef),
                bw_poly=tuple(float(c) for c in lens.r2th.coef),
                T_cam_ego=camera_matrix(camera_from_ego),
            )
        with self._reading(clip, name):
            times = np.asarray(self._data.get_clip_feature(clip, name).timestamps, float) / 1e6
        reader = cache(
            lambda: self._data.get_clip_feature(clip, name)
        )  # a whole video in memory: not before its turn

        def read(index: int) -> Image:
            with self._reading(clip, name):
                pixels: NDArray[np.uint8] = reader().decode_images_from_frame_indices(
                    np.array([index], np.int64)
                )[0]
                return pixels

        return Stream(camera, times, read)

    def _reading(self, clip: str, feature: str) -> AbstractContextManager[None]:
        name = self._data.features.get_chunk_feature_filename(self._data.get_clip_chunk(clip), feature)
        return reading(self._root / name, f"{feature} of clip {clip}", _AGAIN)

    def _is_local(self, clip: str, feature: str) -> bool:
        if feature not in self._data.features.ALL:
            return False
        name = self._data.features.get_chunk_feature_filename(self._data.get_clip_chunk(clip), feature)
        return bool(self._data.is_file_cached(name))


def _root(source: Path) -> Path:
    folders = sorted(
        path.parent
        for path in source.rglob("features.csv")
        if all(map(is_visible, path.relative_to(source).parts))
    )
    if not folders:
        raise InputError(
            f"{source}: expected a copy of PhysicalAI-Autonomous-Vehicles (features.csv), found none; "
            "download its metadata and some chunks with the physical_ai_av package first"
        )
    return folders[-1]


def _local_interface(root: Path) -> Any:
    """The package's interface with every file looked up in ``root``: it neither connects nor prompts."""
    try:
        from physical_ai_av import PhysicalAIAVDatasetInterface
    except ImportError as error:
        raise MissingExtraError("reader 'physical-ai-av'", "physical-ai-av", error) from error

    class LocalDataset(PhysicalAIAVDatasetInterface):
        @property
        def is_offline_mode(self) -> bool:
            return True

        @is_offline_mode.setter
        def is_offline_mode(self, value: bool) -> None:
            """Offline whatever the environment says."""

        def is_file_cached(self, filename: str) -> bool:
            return (root / filename).is_file()

        def _get_cached_path(self, filename: str) -> str | None:
            return str(root / filename) if self.is_file_cached(filename) else None

        def download_file(self, filename: str, **_: Any) -> str:
            if not self.is_file_cached(filename):
                raise InputError(
                    f"{root / filename}: expected the file, found none; download it with the physical_ai_av package"
                )
            return str(root / filename)

    return LocalDataset(revision="local", token=False)
