"""What making cases needs, loaded once in each process: inpainter, guide, taxonomy, masks, scenes."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cfgen.benchmark.drive_heights import DriveHeights
from cfgen.benchmark.drive_light import DriveLight
from cfgen.benchmark.gates import GateInput, load_gates, own_gates, read_only, run_gates
from cfgen.benchmark.masks import MaskPipeline
from cfgen.benchmark.plan import DAMAGED, Survey, response_of
from cfgen.benchmark.scene_choice import AT_ONCE
from cfgen.core.engines.pool import has_model_workers
from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.files import read_json, write_bytes
from cfgen.core.hashing import canonical_json, derive_seed, hash_bytes
from cfgen.hazards.placement import FreePlacements
from cfgen.hazards.taxonomy import Taxonomy, merge_taxonomy
from cfgen.inpaint.edit import Edit, EditFailure, EditJob, Images, can_draw, first_frame, make_edits
from cfgen.inpaint.protocol import Inpainter
from cfgen.inpaint.registry import RemoteInpainter, answer_request, create_guide, create_inpainter
from cfgen.perception.camera import why_unsure
from cfgen.perception.light import SceneLight, estimate_scene_light
from cfgen.perception.road_check import NO_ROAD, why_no_road, why_not_a_road_picture
from cfgen.perception.scene_camera import as_seen
from cfgen.records import Benchmark, Fault, GateResult, Hazard, Placement, Scene, Size
from cfgen.scenes.folder import SCENE_FILE, SceneFolder, load_scene, scene_hash
from cfgen.storage.store import Store

T = TypeVar("T")

#: Scenes whose cameras are remembered.
SCENES_KEPT = 64
#: Maps of free placements that are remembered: they hold their scenes' frames.
MAPS_KEPT = 4
#: Looks from which benchmarks begin, a number that counts of variants divide.
_LOOKS = 2520


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker process needs to know; small and picklable."""

    store: Path
    #: where :func:`save_folder_index` wrote each scene's folder; None: the scenes that the benchmark holds
    scenes: Path | None = None
    attempts: int = 4
    #: the inpainter's options that a benchmark does not store (``Requirements.terms``), as canonical JSON
    terms: str = "{}"
    #: the perceiver's options, such as where its file lies here, as canonical JSON
    perception: str = "{}"
    #: ids of the hazards that are planned
    hazards: tuple[str, ...] = ()
    #: the first thing that breaks is raised
    strict: bool = False


class BuildContext:
    """Everything a worker process loads once.

    Args:
        inpainter, guide: instead of the benchmark's own two.
    """

    def __init__(
        self, settings: WorkerSettings, inpainter: Inpainter | None = None, guide: Inpainter | None = None
    ) -> None:
        self.settings, self.strict = settings, settings.strict
        self.store = Store(settings.store)
        self.benchmark: Benchmark = self.store.benchmark
        self.taxonomy: Taxonomy = merge_taxonomy(self.benchmark.own_hazards, self.benchmark.own_hazards_only)
        if inpainter is None:
            inpainter = RemoteInpainter() if has_model_workers() else _inpainter(settings)
            guide = create_guide(self.benchmark.guide, inpainter)
        self.inpainter, self.guide = inpainter, guide
        self.views = self.store.views(json.loads(settings.perception))
        self.mask_pipeline = MaskPipeline.of(self.benchmark, self.views)
        self._own_gates, self._extra_gates = own_gates(), load_gates(self.benchmark.gates)
        self._folders = _folders(self.store, settings.scenes)
        self._seen: OrderedDict[str, Scene] = OrderedDict()
        self._no_road: dict[str, str] = {}
        self._lights: OrderedDict[str, SceneLight] = OrderedDict()
        self._drive_light = DriveLight(self._folders)
        self.heights = DriveHeights(self._folders, self.views)
        self._maps: OrderedDict[str, FreePlacements] = OrderedDict()

    def sized(self, hazard: Hazard, seed: int) -> Hazard:
        """The hazard in one of the sizes that the inpainter, or its guide, has of it."""
        sizes = self.sizes(hazard)
        if not sizes:
            return hazard
        number = derive_seed(seed, "size") if hazard.look is None else hazard.look
        chosen = sizes[number % len(sizes)]
        return hazard.model_copy(update={"size": chosen})

    def look(self, hazard: Hazard, planned: int | None) -> int | None:
        """Which variant a planned look means here: benchmarks of other seeds begin with another one."""
        if planned is None:
            return hazard.look
        return derive_seed(self.benchmark.seed, "look", str(hazard.model)) % _LOOKS + planned

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        return (self.guide or self.inpainter).sizes(hazard)

    def edit(self, job: EditJob) -> Edit | EditFailure:
        return self.edits([job])[0]

    def edits(self, jobs: Sequence[EditJob]) -> list[Edit | EditFailure]:
        lit_jobs = [replace(job, light=self.light_of(job.scene, job.images)) for job in jobs]
        return make_edits(lit_jobs, self.inpainter, self.guide, self.mask_pipeline.matte, self.strict)

    def free_placements(self, scene: Scene, images: Images) -> FreePlacements:
        """The scene's map, worked out once for its cases."""
        free = self._maps.get(scene.scene_id)
        if free is None or free.images is not images or free.scene is not scene:
            free = self._maps[scene.scene_id] = FreePlacements(scene, images, self.views.scene(scene, images))
            while len(self._maps) > MAPS_KEPT:
                self._maps.popitem(last=False)
        return free

    def fault(self, scene: Scene, images: Images, hazard: Hazard) -> Callable[[Placement], str] | None:
        """The segmenter's test of a placement."""
        return self.mask_pipeline.fault(scene, images[scene.front.name, 0.0], hazard)

    def survey(self, scene_id: str) -> Survey:
        """Where hazards can stand in a scene."""
        folder, reason = self.scene(scene_id), ""
        images = {(f.camera, f.t): folder.image(f) for f in folder.scene.frames}
        if reason := self.no_road(folder.scene, images):
            return Survey(scene_id, reason, {})
        free = self.free_placements(self.with_fitted_camera(folder.scene, images), images)
        hazards = [self.taxonomy.get(hazard_id) for hazard_id in self.settings.hazards]

        def rng(hazard: Hazard) -> np.random.Generator:
            """The state with which the case itself begins, so that it finds what is surveyed."""
            return np.random.default_rng(derive_seed(self.benchmark.seed, scene_id, hazard.id))

        controls = "nuisance" in self.benchmark.controls
        options, reason = free.survey(hazards, rng, response_of(self.benchmark), controls)
        return Survey(scene_id, reason, options)

    def no_road(self, scene: Scene, images: Images) -> str:
        """Why nothing can be placed in the scene, whatever the hazard, or ""; worked out once for its cases."""
        if scene.scene_id not in self._no_road:
            views, image = self.views.scene(scene, images), images[scene.front.name, 0.0]
            why = why_no_road(views.now, scene.front)
            if not why and (wrong := why_not_a_road_picture(image)):
                why = f"{NO_ROAD}: it {wrong}"
            self._no_road[scene.scene_id] = why or why_unsure(scene.extra)
        return self._no_road[scene.scene_id]

    def gates(self, job: EditJob, edit: Edit) -> tuple[GateResult, ...]:
        """Ours, the detector's, and then those of third parties that the benchmark was begun with."""
        front = first_frame(job)
        original, (augmented, mask) = job.images[front], edit.frames[front]
        scene_views = self.views.scene(job.scene, job.images)
        gate_input = GateInput(
            read_only(original),
            read_only(augmented),
            read_only(mask),
            job.scene.front,
            job.placement,
            job.hazard,
            scene_views.again if scene_views.lanes_known else None,
        )
        ours = run_gates(gate_input, self._own_gates)
        return (*ours, *self.mask_pipeline.gates(job, edit), *run_gates(gate_input, self._extra_gates))

    def with_fitted_camera(self, scene: Scene, images: Images) -> Scene:
        """The scene with its front camera as its frames show it; worked out once for the cases of a scene."""
        return _remembered(
            self._seen, scene, lambda: as_seen(self.views.scene(self.heights.corrected(scene), images))
        )

    def light_of(self, scene: Scene, images: Images) -> SceneLight:
        """By its own frame and the other scenes of its drive; worked out once for the cases of a scene."""
        image = images[scene.front.name, 0.0]
        return _remembered(
            self._lights,
            scene,
            lambda: estimate_scene_light(scene, image, self._drive_light.neighbors(scene)),
        )

    def scene(self, scene_id: str) -> SceneFolder:
        """
        Raises:
            InputError: it is damaged, or not the one that earlier cases were made in.
        """
        folder = load_scene(Path(self._folders[scene_id]))
        if len(self.benchmark.scenes) > AT_ONCE:  # else the build looked before it began
            stored, expected = self.store.scene_dir(scene_id), self.benchmark.scenes[scene_id]
            if not expected and (stored / SCENE_FILE).is_file():
                expected = scene_hash(stored)
            if expected and scene_hash(folder) != expected:
                raise InputError(f"{folder.root}: was changed since a case was made in it; restore it")
        return folder

    def scene_hash(self, folder: SceneFolder) -> str:
        """As the benchmark tells, or, of a scene that was not looked at before it began, as it is."""
        return self.benchmark.scenes[folder.scene.scene_id] or scene_hash(folder)


def _remembered(cache: OrderedDict[str, T], scene: Scene, make: Callable[[], T]) -> T:
    """What was made for the scene last, or is made now; the oldest of many scenes are forgotten."""
    if scene.scene_id not in cache:
        cache[scene.scene_id] = make()
        if len(cache) > SCENES_KEPT:
            cache.popitem(last=False)
    return cache[scene.scene_id]


def save_folder_index(store: Store, folders: Mapping[str, str]) -> Path:
    """Write down each scene's folder where every worker reads them once: no piece of work carries them all."""
    content = canonical_json(folders)
    path = store.work / f"folders-{hash_bytes(content).removeprefix('sha256:')[:16]}.json"
    if not path.is_file():
        write_bytes(path, content, store.work)
    return path


def _folders(store: Store, folders_file: Path | None) -> dict[str, str]:
    if folders_file is None:
        return {scene_id: str(store.scene_dir(scene_id)) for scene_id in sorted(store.benchmark.scenes)}
    return {scene_id: str(folder) for scene_id, folder in read_json(folders_file).items()}


def can_draw_hazard(
    hazard: Hazard, inpainter: Inpainter, guide: Inpainter | None, strict: bool
) -> bool | Fault:
    """Whether they can draw the hazard, or what broke when they were asked; its sizes are asked for as well."""

    def ask() -> bool:
        if drawable := bool(can_draw(hazard, inpainter, guide)):
            list((guide or inpainter).sizes(hazard))
        return drawable

    where = f"asking inpainter '{inpainter.name}' about '{hazard.id}'"
    return contained(ask, where, {"hazard_id": hazard.id}, strict)


def _inpainter(settings: WorkerSettings) -> Inpainter:
    store = Store(settings.store)
    benchmark = store.benchmark
    options = {**benchmark.inpainter_options, **json.loads(settings.terms)}
    return create_inpainter(benchmark.inpainter, options, store.inpaint_cache)


def paint(settings: WorkerSettings, request: tuple[str, tuple[Any, ...]]) -> Any:
    """Answers a ``RemoteInpainter``, in the process that holds the benchmark's inpainter."""
    return answer_request(_kept_inpainter(settings), request)


_kept_inpainter = lru_cache(maxsize=1)(_inpainter)


def taxonomy_identity(root: Path) -> dict[str, str]:
    """What must be the same wherever cases of a benchmark are made."""
    benchmark = Store(root).benchmark
    return {"taxonomy": merge_taxonomy(benchmark.own_hazards, benchmark.own_hazards_only).hash}


def survey_scenes(settings: WorkerSettings, scene_ids: Sequence[str]) -> list[Survey]:
    """Where hazards can stand in each scene; a scene in which that breaks has the fault for its reason."""
    context = build_context(settings)
    surveys = []
    for scene_id in scene_ids:
        try:
            inputs = {"scene_id": scene_id}
            survey = contained(partial(context.survey, scene_id), "free placements", inputs, context.strict)
        except InputError as error:
            survey = Survey(scene_id, f"{DAMAGED}: {error}", {})
        surveys.append(Survey(scene_id, str(survey), {}) if isinstance(survey, Fault) else survey)
    return surveys


@lru_cache(maxsize=1)
def build_context(settings: WorkerSettings) -> BuildContext:
    return BuildContext(settings)
