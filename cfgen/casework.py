"""One case from plan to record: placement, edit, gates, bounded retries, and the files it leaves."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cfgen import __version__
from cfgen.controls import Arms, distance_arm, nuisance_arm, null_arm
from cfgen.errors import InputError
from cfgen.files import png_bytes
from cfgen.hashing import derive_seed, hash_json
from cfgen.hazards.placement import find_placements
from cfgen.hazards.taxonomy import Taxonomy, load_taxonomy
from cfgen.inpaint.edit import Edit, EditFailure, EditJob, Images, first_frame, make_edits
from cfgen.inpaint.guided import can_draw
from cfgen.inpaint.protocol import Inpainter
from cfgen.inpaint.registry import create_guide, create_inpainter
from cfgen.inpaint.steps import Work, in_step, together
from cfgen.masking import Masking
from cfgen.quality.gates import run_gates
from cfgen.records import (
    Attempt,
    Benchmark,
    Case,
    GateResult,
    Hazard,
    Placement,
    Planned,
    Provenance,
    Rejection,
    Scene,
    Size,
)
from cfgen.scenes.folder import SceneFolder, copy_scene, load_scene
from cfgen.store import Store


@dataclass(frozen=True)
class Recipe:
    """What a worker process needs to know; small and picklable."""

    store: Path
    taxonomy: Path | None
    #: scene_id -> folder
    scenes: tuple[tuple[str, str], ...]
    attempts: int = 4
    #: the inpainter's options that a benchmark does not store (``Needs.terms``), as canonical JSON
    terms: str = "{}"


@dataclass(frozen=True)
class Outcome:
    """What became of one planned pair. ``elsewhere``: another process has it in hand. ``open``: put off, with why."""

    planned: Planned
    status: Literal["accepted", "refused", "elsewhere", "open"]
    reason: str = ""


class Workshop:
    """Everything a worker process loads once.

    Args:
        inpainter, guide: instead of the benchmark's own two.
    """

    def __init__(
        self, recipe: Recipe, inpainter: Inpainter | None = None, guide: Inpainter | None = None
    ) -> None:
        self.recipe = recipe
        self.store = Store(recipe.store)
        self.benchmark: Benchmark = self.store.benchmark
        self.taxonomy: Taxonomy = load_taxonomy(recipe.taxonomy)
        if inpainter is None:
            options = {**self.benchmark.inpainter_options, **json.loads(recipe.terms)}
            inpainter = create_inpainter(self.benchmark.inpainter, options, self.store.inpaint_cache)
            guide = create_guide(self.benchmark.guide, inpainter)
        self.inpainter, self.guide = inpainter, guide
        self.masking = Masking.of(self.benchmark)
        self._folders = dict(recipe.scenes)
        self.nuisances = [h for h in self.taxonomy.nuisances if can_draw(h, self.inpainter, self.guide)]

    def sized(self, hazard: Hazard, seed: int) -> Hazard:
        """The hazard in one of the sizes that the inpainter, or its guide, has of it."""
        sizes = self.sizes(hazard)
        if not sizes:
            return hazard
        chosen = sizes[derive_seed(seed, "size") % len(sizes)]
        return hazard.model_copy(update={"size": chosen})

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        return (self.guide or self.inpainter).sizes(hazard)

    def edit(self, job: EditJob) -> Edit | EditFailure:
        return self.edits([job])[0]

    def edits(self, jobs: Sequence[EditJob]) -> list[Edit | EditFailure]:
        return make_edits(jobs, self.inpainter, self.guide, self.masking.matte)

    def place(
        self,
        scene: Scene,
        images: Images,
        hazard: Hazard,
        rng: np.random.Generator,
        band: tuple[float, float],
    ) -> list[Placement] | str:
        """Placements of the hazard, best first, or why there is none."""
        front = images[scene.front.name, 0.0]
        fault = self.masking.fault(scene, front, hazard)
        return find_placements(scene, front, hazard, rng, band, images, fault)

    def gates(self, job: EditJob, edit: Edit) -> tuple[GateResult, ...]:
        front = first_frame(job)
        gates = run_gates(job.images[front], *edit.frames[front], job.scene.front, job.placement, job.hazard)
        return (*gates, *self.masking.gates(job, edit))

    def scene(self, scene_id: str) -> SceneFolder:
        return load_scene(Path(self._folders[scene_id]))


@lru_cache(maxsize=1)
def workshop(recipe: Recipe) -> Workshop:
    return Workshop(recipe)


@dataclass
class Draft:
    """A case in the making."""

    shop: Workshop
    planned: Planned
    folder: SceneFolder
    hazard: Hazard
    images: dict[tuple[str, float], np.ndarray]
    placements: Sequence[Placement]
    attempts: list[Attempt] = field(default_factory=list)
    edit: Edit | None = None
    placement: Placement | None = None
    gates: tuple[GateResult, ...] = ()
    accepted: bool = False
    refusal: str = ""
    arms: Arms = field(default_factory=Arms)

    @property
    def seed(self) -> int:
        planned = self.planned
        more = [planned.variant] if planned.variant else []
        return derive_seed(self.shop.benchmark.seed, planned.scene_id, planned.hazard_id, *more)

    @property
    def front(self) -> tuple[str, float]:
        """Key of the front frame at t0."""
        frame = self.folder.front_frame()
        return frame.camera, frame.t

    def job(self, number: int) -> EditJob:
        return EditJob(
            scene=self.folder.scene,
            images=self.images,
            hazard=self.hazard,
            placement=self.placements[number % len(self.placements)],
            seed=derive_seed(self.seed, number),
        )

    def take(self, number: int, job: EditJob, result: Edit | EditFailure) -> None:
        """Keep the attempt, and the case if every gate passes."""
        if isinstance(result, EditFailure):
            tried = Attempt(
                number=number,
                seed=job.seed,
                placement=job.placement,
                reason=result.reason,
                report=dict(result.report),
            )
            self._refuse(tried)
            return
        gates = self.shop.gates(job, result)
        failed = [g for g in gates if not g.passed]
        reason = "; ".join(f"{g.gate}: {g.reason}" for g in failed)
        self.edit, self.placement, self.gates = result, job.placement, gates
        attempt = Attempt(
            number=number,
            seed=job.seed,
            placement=job.placement,
            gates=gates,
            reason=reason,
            report=result.report if failed else {},
        )
        if failed:
            self._refuse(attempt)
        else:
            self.attempts.append(attempt)
            self.accepted, self.refusal = True, ""

    def tries(self) -> Work:
        """Attempts, one after another, until one is accepted."""
        for number in range(self.shop.recipe.attempts if self.placements else 0):
            yield from self.attempt(number, self.job(number))
            if self.accepted:
                return

    def attempt(self, number: int, job: EditJob) -> Work:
        """One edit through the gates, and then the control arms."""
        [result] = yield [job]
        self.take(number, job, result)
        if self.accepted:
            yield from together(self._controls(job))

    def _controls(self, job: EditJob) -> list[Work]:
        wanted, works = self.shop.benchmark, []
        if "null" in wanted.controls:
            works.append(null_arm(self.arms, self._null_job(job)))
        if "nuisance" in wanted.controls:
            nuisances = [self.shop.sized(n, self.seed) for n in self.shop.nuisances]
            works.append(nuisance_arm(self.arms, job, nuisances, wanted.decel_band, self.shop))
        return works + [distance_arm(self.arms, job, factor, self.shop) for factor in wanted.distances]

    def _null_job(self, job: EditJob) -> EditJob:
        """The edit that adds nothing; guided, where and as strongly as the hazard was repainted."""
        null = self.shop.taxonomy.null
        if self.shop.guide is None or self.edit is None:
            return replace(job, hazard=null)
        null = null.model_copy(update={"repaint": self.hazard.repaint})
        return replace(job, hazard=null, mask=self.edit.frames[self.front][1])

    def finish(self) -> Outcome:
        store = self.shop.store
        if not self.accepted:
            files = self._files() if self.edit is not None else {}
            store.write_rejection(self._rejection(), files)
            return Outcome(self.planned, "refused", self.refusal)
        copy_scene(self.folder, store.scene_dir(self.planned.scene_id))
        store.write_case(self._case(), self._files())
        return Outcome(self.planned, "accepted")

    def _refuse(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)
        self.refusal = attempt.reason

    def _files(self) -> dict[str, bytes]:
        assert self.edit is not None
        front = self.front
        image, mask = self.edit.frames[front]
        files = {
            "original.png": png_bytes(self.images[front]),
            "augmented.png": png_bytes(image),
            "mask.png": png_bytes(mask),
            "layer.png": png_bytes(self.edit.layer),
        }
        for key, (pixels, _) in self.edit.frames.items():
            if key != front:
                files[frame_path("hazard", *key)] = png_bytes(pixels)
        for arm, edit in self.arms.edits.items():
            for key, (pixels, _) in edit.frames.items():
                files[frame_path(arm, *key)] = png_bytes(pixels)
        return files

    def _case(self) -> Case:
        assert self.edit is not None
        assert self.placement is not None
        return Case(
            case_id=self.planned.case_id,
            scene_id=self.planned.scene_id,
            seed=self.seed,
            hazard=self.hazard,
            placement=self.placement,
            nuisance=self.arms.nuisance,
            nuisance_placement=self.arms.nuisance_placement,
            arms=("hazard", *self.arms.edits),
            arms_missing=self.arms.missing,
            distance_placements=self.arms.distance_placements,
            attempts=tuple(self.attempts),
            gates=self.gates,
            provenance=self._provenance({**self.edit.report, **self._told_of_arms()}),
            files={},
        )

    def _told_of_arms(self) -> dict[str, Any]:
        arms = {arm: edit.report["inpainter"] for arm, edit in self.arms.edits.items()}
        return {"arms": arms} if arms else {}

    def _provenance(self, report: Mapping[str, Any]) -> Provenance:
        inpainter = self.shop.inpainter
        return Provenance(
            inpainter=inpainter.name,
            inpainter_version=inpainter.version,
            options=dict(inpainter.options),
            report={**report, **self.shop.masking.identity},
            cfgen_version=__version__,
            scene_hash=self.shop.benchmark.scenes[self.planned.scene_id],
            hazard_hash=hash_json(self.hazard),
        )

    def _rejection(self) -> Rejection:
        return Rejection(
            case_id=self.planned.case_id,
            scene_id=self.planned.scene_id,
            hazard_id=self.planned.hazard_id,
            reason=self.refusal,
            attempts=tuple(self.attempts),
        )


def start_draft(shop: Workshop, planned: Planned) -> Draft:
    """A case with its pictures read and nowhere placed yet; ``refusal`` says when its scene is damaged."""
    folder = shop.scene(planned.scene_id)
    draft = Draft(shop, planned, folder, shop.taxonomy.get(planned.hazard_id), {}, [])
    try:
        draft.images = {(frame.camera, frame.t): folder.image(frame) for frame in folder.scene.frames}
    except InputError as error:
        draft.refusal = f"damaged scene: {error}"
    return draft


def make_cases(recipe: Recipe, batch: Sequence[Planned]) -> list[Outcome]:
    """Try every planned pair of ``batch``, in step, so that an inpainter sees whole batches."""
    shop = workshop(recipe)
    with contextlib.ExitStack() as claims:
        mine = [p for p in batch if claims.enter_context(shop.store.claim(p.case_id))]
        others = [Outcome(p, "elsewhere") for p in batch if p not in mine]
        # somebody may have finished one between the plan and the claim
        done = [outcome for p in mine if (outcome := _outcome_on_disk(shop.store, p))]
        drafts = draft_cases(shop, [p for p in mine if p not in [o.planned for o in done]])
        ended = [Outcome(d.planned, "open", off) if off else d.finish() for d, off in drafts]
        return others + done + ended


def _outcome_on_disk(store: Store, planned: Planned) -> Outcome | None:
    if store.has_case(planned.case_id):
        return Outcome(planned, "accepted")
    if store.has_rejection(planned.case_id):
        return Outcome(planned, "refused", "already refused")
    return None


def draft_cases(shop: Workshop, planned: Sequence[Planned]) -> Iterator[tuple[Draft, str]]:
    """Every planned pair as its attempts end, with why it was put off, or ""; nothing is written yet."""
    drafts = [_draft(shop, p) for p in planned]
    for index, put_off in in_step([draft.tries() for draft in drafts], shop.edits):
        yield drafts[index], put_off


def frame_path(arm: str, camera: str, t: float) -> str:
    """Where a changed frame lies in its case folder."""
    return f"frames/{arm}/{camera}@{round(t * 1000)}.png"


def _draft(shop: Workshop, planned: Planned) -> Draft:
    draft = start_draft(shop, planned)
    if draft.refusal:
        return draft
    found = shop.place(
        draft.folder.scene,
        draft.images,
        shop.sized(draft.hazard, draft.seed),
        np.random.default_rng(draft.seed),
        shop.benchmark.decel_band,
    )
    if isinstance(found, str):
        draft.refusal = f"no placement: {found}"
    else:
        draft.placements = found
    return draft
