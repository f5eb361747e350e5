"""The sources of scenes that can be imported, by name."""

from cfgen.core.registry import Extra, Registry

_READERS = {
    "argoverse2": "cfgen.scenes.readers.argoverse2:Argoverse2",
    "bench2drive": "cfgen.scenes.readers.bench2drive:Bench2Drive",
    "comma2k19": "cfgen.scenes.readers.comma2k19:Comma2k19",
    "folder": "cfgen.scenes.readers.folder:FolderReader",
    "hugging-face": "cfgen.scenes.readers.hugging_face:HuggingFace",
    "image": "cfgen.scenes.readers.image:ImageReader",
    "kitti-raw": "cfgen.scenes.readers.kitti_raw:KittiRaw",
    "mcap": "cfgen.scenes.readers.mcap:Mcap",
    "navsim": "cfgen.scenes.readers.navsim:NavsimLogs",
    "nuscenes": "cfgen.scenes.readers.nuscenes:NuScenes",
    "nuplan": "cfgen.scenes.readers.nuplan:NuPlan",
    "physical-ai-av": "cfgen.scenes.readers.physical_ai_av:PhysicalAIAV",
    "video": "cfgen.scenes.readers.video:VideoReader",
    "waymo-e2e": "cfgen.scenes.readers.waymo_e2e:WaymoE2E",
}

_EXTRAS = {
    "argoverse2": Extra("argoverse2", "pyarrow"),
    "hugging-face": Extra("hugging-face", "pyarrow"),
    "mcap": Extra("mcap", "mcap_ros2"),
    "physical-ai-av": Extra("physical-ai-av", "physical_ai_av"),
}

READERS = Registry("scene reader", "cfgen.scenes", _READERS, extras=_EXTRAS)
