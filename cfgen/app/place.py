"""Where a person puts a hazard: what the page draws of a scene, and what follows from a pose in metres."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.app.pictures import scene_url
from cfgen.benchmark.context import BuildContext
from cfgen.benchmark.drive_heights import DriveHeights
from cfgen.benchmark.plan import response_of
from cfgen.core.errors import InputError
from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import ground_points, project
from cfgen.geometry.path import EgoPath
from cfgen.hazards.placement import FreePlacements
from cfgen.hazards.settings import PLACEMENT, POSES
from cfgen.hazards.taxonomy import Taxonomy
from cfgen.hazards.zones import Pose, required_decel
from cfgen.inpaint.edit import can_draw
from cfgen.perception.road_by_colour import FAR_M
from cfgen.perception.scene_camera import as_seen
from cfgen.records import Hazard, Placement, Scene, Size, Zone, wrap_angle
from cfgen.scenes.folder import SceneFolder, load_scene
from cfgen.storage.store import Store


@dataclass(frozen=True)
class Capabilities:
    """What an inpainter can draw.

    Attributes:
        drawable: ids of the hazards it can draw.
        sizes: of those asked about so far, the sizes there are of it; none: any will do.
        generative: it repaints pixels and may start from another inpainter's insert.
    """

    taxonomy: Taxonomy
    drawable: frozenset[str]
    sizes: dict[str, tuple[Size, ...]]
    generative: bool

    @classmethod
    def of(cls, context: BuildContext, hazard_id: str | None = None) -> "Capabilities":
        """With the sizes of one hazard, which may take a while to find; of all for None."""
        drawable = [h for h in context.taxonomy.hazards if can_draw(h, context.inpainter, context.guide)]
        queried = [h for h in drawable if hazard_id in (None, h.id)]
        sizes = {h.id: tuple(context.sizes(h)) for h in queried}
        ids = frozenset(h.id for h in drawable)
        return cls(context.taxonomy, ids, sizes, not context.inpainter.needs.every_frame)

    def knows(self, hazard_id: str) -> bool:
        """Whether there is nothing to ask about this hazard."""
        return hazard_id not in self.drawable or hazard_id in self.sizes

    def hazard(self, hazard_id: str, size: int | None = None) -> Hazard:
        """The hazard, in the ``size``-th of its sizes, counted round.

        Raises:
            InputError: no such hazard, or one that this inpainter cannot draw.
        """
        hazard = self.taxonomy.get(hazard_id)
        if hazard_id not in self.drawable:
            raise InputError(
                f"hazard '{hazard.name}': this inpainter cannot draw it; choose another of either"
            )
        if hazard_id not in self.sizes:
            raise InputError(f"hazard '{hazard.name}': its sizes are not known yet; choose it again")
        sizes = self.sizes[hazard_id]
        if size is None or not sizes:
            return hazard
        return hazard.model_copy(update={"size": sizes[size % len(sizes)]})


#: Off a good distance, what is tried where the sliders are too coarse for it, m.
_NEAR_M = (0.0, 0.1, -0.1, 0.3, -0.3, 0.6)


@dataclass(frozen=True)
class Stage:
    """One scene, ready to place things in."""

    folder: SceneFolder
    scene: Scene
    image: np.ndarray
    path: EgoPath
    free: FreePlacements


@lru_cache(maxsize=6)
def stage(root: Path, scene_id: str) -> Stage:
    store = Store(root)
    if scene_id not in store.benchmark.scenes:
        raise InputError(f"scene '{scene_id}': is not one of this benchmark; choose one from the list")
    folder = load_scene(store.scene_dir(scene_id))
    scene = folder.scene
    image = folder.image()
    past = {(f.camera, f.t): folder.image(f) for f in scene.frames if f.camera == scene.front.name}
    images, views = {**past, (scene.front.name, 0.0): image}, store.views()
    scene = as_seen(views.scene(DriveHeights({}, views).corrected(scene), images))
    free = FreePlacements(scene, images, views.scene(scene, images))
    return Stage(folder, scene, image, free.path, free)


def scenes(store: Store) -> list[str]:
    """Scenes whose frames this benchmark holds."""
    return sorted(p.parent.name for p in store.root.glob("scenes/*/scene.json"))


def hazards(capabilities: Capabilities) -> dict[str, Any]:
    """What the inpainter can draw, by cluster and name, and whether it can start from another's insert."""
    drawable = [h for h in capabilities.taxonomy.hazards if h.id in capabilities.drawable]
    listed = [
        {
            "id": h.id,
            "name": h.name,
            "cluster": h.cluster,
            "sizes": len(capabilities.sizes.get(h.id, ())) or 1,
        }
        for h in sorted(drawable, key=lambda h: (h.cluster, h.name))
    ]
    return {"hazards": listed, "generative": capabilities.generative}


def show(store: Store, scene_id: str) -> dict[str, Any]:
    """Frame, path and speed of a scene, for the page to draw."""
    placing = stage(store.root, scene_id)
    scene = placing.scene
    near = placing.path.s <= 70
    motion = [(t, 3.6 * v) for m in (scene.history, scene.future) if m for t, v in zip(m.t, m.v, strict=True)]
    return {
        "scene": scene_id,
        "frame": scene_url(placing.folder.root, placing.folder.front_frame().image),
        "size": [scene.front.width, scene.front.height],
        "path": np.round(placing.path.xy[near][::2], 2).tolist(),
        "known_m": placing.path.known_m,
        "speed": [[round(t, 2), round(v, 1)] for t, v in motion],
        "speed_kmh": 3.6 * scene.speed,
        "source": scene.source,
        "lane_m": float(scene.extra.get("lane_width_m", POSES.lane_width_m)),
    }


def locate(store: Store, query: Mapping[str, Any]) -> dict[str, float]:
    """Distance along the path and offset to its left of a click: ``px`` in the frame, or ``xy`` in the BEV, m.

    Raises:
        InputError: the click does not meet the ground.
    """
    placing = stage(store.root, str(query.get("scene")))
    if "px" in query:
        points, valid = ground_points(placing.scene.front, np.array([_pair(query, "px")]))
        if not valid[0] or not np.hypot(*points[0]) < FAR_M:
            raise InputError("that is above the road; click on the ground, where the hazard is to stand")
        xy = points[0]
    else:
        xy = np.array(_pair(query, "xy"))
    s, lateral = placing.path.locate(xy)
    return {"s": round(float(s), 2), "lateral": round(float(lateral), 2)}


def suggest(store: Store, capabilities: Capabilities, query: Mapping[str, Any]) -> dict[str, float]:
    """Where the build would put the hazard under this ``seed``.

    Raises:
        InputError: nowhere in this scene; says why.
    """
    placing = stage(store.root, str(query.get("scene")))
    seed = int(number_of(query, "seed", 0, 2**31))
    hazard_id = str(query.get("hazard"))
    hazard = capabilities.hazard(hazard_id, seed)
    size = seed % (len(capabilities.sizes[hazard_id]) or 1)
    response = response_of(store.benchmark)
    placements = placing.free.find(hazard, np.random.default_rng(seed), response)
    if isinstance(placements, str):
        raise InputError(f"no place in this scene for '{hazard.name}': {placements}")
    # what the sliders can say may be just off what works
    poses = [{**_on_sliders(placing, best, off), "size": size} for best in placements for off in _NEAR_M]
    works = (p for p in poses if not placed(store, capabilities, {**query, **p})[1])
    return next(works, poses[0])


def _on_sliders(placing: Stage, placement: Placement, off: float) -> dict[str, float]:
    """The placement as the page's sliders can say it, ``off`` metres farther."""
    _, _, heading = placing.path.at(np.array([placement.distance_m]), np.array([placement.lateral_m]))
    turn = math.degrees(wrap_angle(placement.yaw - float(heading[0])))
    return {
        "s": round(placement.distance_m + off, 1),
        "lateral": round(placement.lateral_m, 1),
        "heading": round(turn),
    }


def live(store: Store, capabilities: Capabilities, query: Mapping[str, Any]) -> dict[str, Any]:
    """What follows from a pose: footprint in frame and BEV, required deceleration, pixels, and what speaks against."""
    placing = stage(store.root, str(query.get("scene")))
    placement, faults, hazard = placed(store, capabilities, query)
    low, high = hazard.distance.decel or store.benchmark.decel_band
    answer: dict[str, Any] = {
        "faults": faults,
        "why": hazard.why,
        "band": [low, high],
    }
    pose = _pose(placing, hazard, query)
    x, y, heading = placing.path.at(np.array([pose.s]), np.array([pose.lateral]))
    corners = box_corners(x, y, heading + pose.yaw, hazard.size)[0]
    answer |= {
        "foot_m": np.round(corners[:4, :2], 2).tolist(),
        "front_m": np.round(corners[[0, 1], :2].mean(0), 2).tolist(),
        "decel": round(pose.required_decel, 2),
        "size": [hazard.size.length, hazard.size.width, hazard.size.height],
    }
    camera = placing.scene.front
    if placement is not None:
        px, _ = project(camera, corners)
        shrink = min(1.0, (PLACEMENT.planner_pixels / (camera.width * camera.height)) ** 0.5)
        x0, y0, x1, y1 = placement.box_px
        answer |= {
            "corners": np.round(px, 1).tolist(),
            "box": placement.box_px,
            "planner_px": [round((x1 - x0) * shrink), round((y1 - y0) * shrink)],
            "frame_px": [round(x1 - x0), round(y1 - y0)],
        }
    return answer


def placed(
    store: Store, capabilities: Capabilities, query: Mapping[str, Any]
) -> tuple[Placement | None, list[str], Hazard]:
    """The pose that the page asks for, what speaks against it, and the hazard in the chosen size."""
    placing = stage(store.root, str(query.get("scene")))
    hazard = capabilities.hazard(str(query.get("hazard")), int(number_of(query, "size", 0, 1000)))
    pose = _pose(placing, hazard, query)
    placement, faults = placing.free.examine(hazard, pose, response_of(store.benchmark))
    return placement, faults, hazard


def _pose(placing: Stage, hazard: Hazard, query: Mapping[str, Any]) -> Pose:
    s, lateral = number_of(query, "s", 1.0, 110.0), number_of(query, "lateral", -20.0, 20.0)
    yaw = math.radians(number_of(query, "heading", -180.0, 180.0))
    speed = sum(hazard.motion.speed) / 2
    scene = placing.scene
    half = float(scene.extra.get("lane_width_m", POSES.lane_width_m)) / 2
    off_lane: Zone = "adjacent" if abs(lateral) < 3 * half else "shoulder"
    zone: Zone = "ego_lane" if abs(lateral) < half else off_lane
    if zone not in hazard.zones:
        zone = hazard.zones[0]
    return Pose(zone, s, lateral, yaw, speed, required_decel(hazard, scene.speed, speed, yaw, s))


def number_of(query: Mapping[str, Any], field: str, low: float, high: float) -> float:
    """
    Raises:
        InputError: it is no number, or none of that range.
    """
    value = query.get(field)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise InputError(f"{field}: expected a number from {low:g} to {high:g}, found {str(value)[:40]!r}")
    return float(value)


def _pair(query: Mapping[str, Any], field: str) -> tuple[float, float]:
    value = query.get(field)
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"{field}: expected two numbers, found {str(value)[:40]!r}")
    return number_of({field: value[0]}, field, -1e5, 1e5), number_of({field: value[1]}, field, -1e5, 1e5)
