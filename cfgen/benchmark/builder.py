"""Work that asks for edits step by step, many pieces side by side, so that an inpainter sees them as whole batches."""

import contextlib
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from cfgen.benchmark.context import BuildContext, WorkerSettings, build_context
from cfgen.benchmark.frames import AUGMENTED, LAYER, MASK, ORIGINAL, frame_path, patched
from cfgen.benchmark.plan import DAMAGED, Slot, response_of
from cfgen.benchmark.settings import ARM, GATE
from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.files import stored_png
from cfgen.core.hashing import derive_seed, hash_json
from cfgen.geometry.camera import angles, centre
from cfgen.geometry.clearing import clearing_plan
from cfgen.hazards.placement import Control, FreePlacements, Wanted
from cfgen.hazards.zones import ANYWHERE
from cfgen.inpaint.edit import Edit, EditFailure, EditJob, first_frame
from cfgen.perception.jpeg_grid import JpegGrid
from cfgen.records import (
    Attempt,
    Camera,
    Case,
    DistancePolicy,
    Fault,
    GateResult,
    Hazard,
    Patch,
    Placement,
    Planned,
    Point3,
    Provenance,
    Rejection,
    Scene,
)
from cfgen.scenes.anonymize import TOLD as ANONYMIZED
from cfgen.scenes.folder import SceneFolder, copy_scene
from cfgen.storage.store import Store
from cfgen.version import __version__

Edits = list[Edit | EditFailure]
#: Asks for edits, is sent them in their order, asks again, and ends.
Work = Generator[list[EditJob], Edits, Any]


def merge_work(works: Sequence[Work]) -> Work:
    """Several pieces of work as one: each of its steps asks for all that they ask for next."""
    requests = {index: jobs for index, work in enumerate(works) if (jobs := _next(work, None)) is not None}
    while requests:
        edits = iter((yield [job for jobs in requests.values() for job in jobs]))
        answers = {index: [next(edits) for _ in jobs] for index, jobs in requests.items()}
        following = {index: _next(works[index], answer) for index, answer in answers.items()}
        requests = {index: jobs for index, jobs in following.items() if jobs is not None}


def contain_faults(
    work: Work, broke: Callable[[Fault], object], where: str, inputs: Mapping[str, Any], strict: bool = False
) -> Work:
    """``work``, ended by what breaks in it: ``broke`` is told, and what runs beside it goes on."""
    answer: Edits | None = None
    while True:
        jobs = contained(partial(_next, work, answer), where, inputs, strict)
        if isinstance(jobs, Fault):
            broke(jobs)
        if jobs is None or isinstance(jobs, Fault):
            return
        answer = yield jobs


def run_in_batches(
    works: Sequence[Work], make: Callable[[Sequence[EditJob]], Edits]
) -> Iterator[tuple[int, str]]:
    """Run all of them in step; yields the index of each as it ends, with why it was put off, or "".

    A piece of work is put off as soon as one of its edits is: it gets none of that step's answers.
    """
    requests: dict[int, list[EditJob]] = {}
    for index, work in enumerate(works):
        if (jobs := _next(work, None)) is None:
            yield index, ""
        else:
            requests[index] = jobs
    while requests:
        edits = iter(make([job for jobs in requests.values() for job in jobs]))
        answers = {index: [next(edits) for _ in jobs] for index, jobs in requests.items()}
        requests = {}
        for index, answer in answers.items():
            late = next((a.reason for a in answer if isinstance(a, EditFailure) and a.put_off), "")
            if late:
                works[index].close()
                yield index, late
            elif (jobs := _next(works[index], answer)) is None:
                yield index, ""
            else:
                requests[index] = jobs


def _next(work: Work, answer: Edits | None) -> list[EditJob] | None:
    """What it asks for next; None when it has ended."""
    try:
        return next(work) if answer is None else work.send(answer)
    except StopIteration:
        return None


# --- controls ----------------------------------------------------------------------------------
# The other arms of a case: the null edit, the hazard where no response is due, and the same hazard nearer and farther.
#
# They are made after the case itself is accepted, side by side (:mod:`cfgen.benchmark.builder`). An arm that cannot
# be made is left out of the case and its reason kept, never replaced by something else. What breaks on the way is
# kept as its fault and ends no other arm.


@dataclass
class Arms:
    """What came of the wanted arms: edits by arm, the reason for each that is missing, and what broke first in one."""

    edits: dict[str, Edit] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    nuisance: Hazard | None = None
    nuisance_placement: Placement | None = None
    #: its changed area and summed difference over the hazard's
    nuisance_ratios: tuple[float, float] | None = None
    distance_placements: dict[str, Placement] = field(default_factory=dict)

    def broke(self, arm: str, fault: Fault) -> None:
        """The arm is missing for this, unless another try makes it."""
        self.faults.setdefault(arm, fault.within(f"control arm {arm}", arm=arm))
        self.missing[arm] = f"broke: {fault}"


def null_arm(arms: Arms, job: EditJob) -> Work:
    """The case's own job with the null edit for its hazard: the same pixels through the same steps, nothing added."""
    [result] = yield [job]
    _keep(arms, "null", result)


def nuisance_arm(
    arms: Arms, job: EditJob, hazard_edit: Edit, control: Control, context: BuildContext
) -> Work:
    """The hazard itself where no response is due: the place of which the edit is most like the hazard's."""
    if control.missing:
        arms.missing["nuisance"] = control.missing
    best, wanted = math.inf, _visibility(job, hazard_edit)
    for number, placement in enumerate(control.placements, 1):
        trial = Arms()
        own = EditJob(job.scene, job.images, control.hazard, placement, job.seed, jpeg_grids=job.jpeg_grids)
        yield from _gated(trial, "nuisance", own, context)
        arms.faults.update(trial.faults)
        if "nuisance" not in trial.edits:
            if math.isinf(best):
                arms.missing.update(trial.missing)
            continue
        ratios = tuple(
            a / max(b, 1e-6) for a, b in zip(_visibility(own, trial.edits["nuisance"]), wanted, strict=True)
        )
        apart = max(abs(math.log(max(ratio, 1e-6))) for ratio in ratios)
        if apart < best:
            best, arms.nuisance, arms.nuisance_placement = apart, control.hazard, placement
            arms.edits.update(trial.edits)
            arms.nuisance_ratios = round(ratios[0], 3), round(ratios[1], 3)
            arms.missing.pop("nuisance", None)
        if best <= math.log(1 + ARM.alike) or number >= ARM.nuisance_tries:
            return


def _visibility(job: EditJob, edit: Edit) -> tuple[float, float]:
    """Pixels that an edit changes in the front frame at t0, and the sum of their differences, 8 bit."""
    key = first_frame(job)
    difference = np.abs(edit.frames[key][0].astype(np.int16) - job.images[key]).max(-1)
    changed = difference > GATE.changed
    return float(changed.sum()), float(difference[changed].sum())


def distance_arm(arms: Arms, job: EditJob, factor: float, context: BuildContext) -> Work:
    """The case's hazard at ``factor`` times its distance. Factor 1 is the hazard arm itself."""
    arm = distance_name(factor)
    distance_m = job.placement.distance_m * factor
    policy = DistancePolicy(
        decel=ANYWHERE.decel,
        min_m=distance_m * (1 - ARM.distance_slack),
        max_m=distance_m * (1 + ARM.distance_slack),
    )
    there = job.hazard.model_copy(update={"distance": policy, "size": job.placement.size})
    rng = np.random.default_rng(derive_seed(job.seed, arm))
    fault = context.fault(job.scene, job.images, there)
    placements = context.free_placements(job.scene, job.images).find(there, rng, ANYWHERE, fault=fault)
    if isinstance(placements, str):
        arms.missing[arm] = placements
        return
    own = EditJob(job.scene, job.images, job.hazard, placements[0], job.seed, jpeg_grids=job.jpeg_grids)
    yield from _gated(arms, arm, own, context)
    if arm in arms.edits:
        arms.distance_placements[arm] = placements[0]


def distance_name(factor: float) -> str:
    """The arm with the hazard at ``factor`` times its distance."""
    return f"hazard_d{factor:.2f}"


def _gated(arms: Arms, arm: str, job: EditJob, context: BuildContext) -> Work:
    """The arm's edit once it has passed the gates; else why not."""
    [edit] = yield [job]
    if isinstance(edit, Edit):
        failed = "; ".join(f"{g.gate}: {g.reason}" for g in context.gates(job, edit) if not g.passed)
        edit = EditFailure(failed) if failed else edit
    _keep(arms, arm, edit)


def _keep(arms: Arms, arm: str, result: Edit | EditFailure) -> None:
    if isinstance(result, Edit):
        arms.edits[arm] = result
    elif result.fault:
        arms.broke(arm, result.fault)
    else:
        arms.missing[arm] = result.reason


# --- builder -----------------------------------------------------------------------------------
# One case from plan to record: placement, edit, gates, bounded retries, and the files it leaves.


@dataclass(frozen=True)
class Outcome:
    """What became of one planned pair.

    ``broken``: refused for a fault. ``elsewhere``: another process has it in hand. ``open``: put off, with why.
    """

    planned: Planned
    status: Literal["accepted", "refused", "broken", "elsewhere", "open"]
    reason: str = ""


@dataclass
class CaseBuilder:
    """A case in the making: at first only planned, then with its scene :meth:`read`."""

    context: BuildContext
    planned: Planned
    #: whether nothing is planned in its place: then its control object may be missing
    last: bool = True
    hazard: Hazard = field(init=False)
    folder: SceneFolder = field(init=False)
    #: with its front camera as its frames show it
    scene: Scene = field(init=False)
    images: dict[tuple[str, float], np.ndarray] = field(default_factory=dict)
    jpeg_grids: Mapping[tuple[str, float], JpegGrid | None] = field(default_factory=dict)
    placements: Sequence[Placement] = ()
    #: of each placement, where a nuisance arm is wanted
    controls: Sequence[Control] = ()
    attempts: list[Attempt] = field(default_factory=list)
    edit: Edit | None = None
    placement: Placement | None = None
    gates: tuple[GateResult, ...] = ()
    accepted: bool = False
    refusal: str = ""
    fault: Fault | None = None
    arms: Arms = field(default_factory=Arms)

    def __post_init__(self) -> None:
        hazard = self.context.taxonomy.get(self.planned.hazard_id)
        self.hazard = hazard.model_copy(update={"look": self.context.look(hazard, self.planned.look)})

    @property
    def seed(self) -> int:
        planned = self.planned
        variant = [planned.variant] if planned.variant else []
        return derive_seed(self.context.benchmark.seed, planned.scene_id, planned.hazard_id, *variant)

    @property
    def front(self) -> tuple[str, float]:
        """Key of the front frame at t0."""
        frame = self.folder.front_frame()
        return frame.camera, frame.t

    @property
    def broken(self) -> Fault | None:
        """What broke it, or an attempt of it: another attempt might have passed."""
        return self.fault or next((a.fault for a in self.attempts if a.fault), None)

    @property
    def inputs(self) -> dict[str, Any]:
        """What makes this case again."""
        planned = self.planned
        return {
            "case_id": planned.case_id,
            "scene_id": planned.scene_id,
            "hazard_id": planned.hazard_id,
            "seed": self.seed,
        }

    def read(self) -> None:
        """Its scene and pictures; ``refusal`` says when they are damaged or show no road."""
        try:
            self.folder = self.context.scene(self.planned.scene_id)
            frames = {(f.camera, f.t): f for f in self.folder.scene.frames}
            self.images = {key: self.folder.image(f) for key, f in frames.items()}
            self.jpeg_grids = {key: self.folder.jpeg_grid(f) for key, f in frames.items()}
            self.refusal = self.context.no_road(self.folder.scene, self.images)
            if not self.refusal:  # its camera takes a look at every frame
                self.scene = self.context.with_fitted_camera(self.folder.scene, self.images)
        except InputError as error:
            self.refusal = f"{DAMAGED}: {error}"

    def place(self) -> None:
        """``refusal`` says when there is nowhere to place it."""
        hazard, planned = self.context.sized(self.hazard, self.seed), self.planned
        nuisance = self._nuisance
        placements = self._free.find(
            hazard,
            np.random.default_rng(self.seed),
            response_of(self.context.benchmark),
            None if planned.decel is None else Wanted(planned.decel, planned.side),
            self.context.fault(self.scene, self.images, hazard),
            nuisance,
        )
        if isinstance(placements, str):
            self.refusal = f"no placement: {placements}"
        elif nuisance:
            pairs = [(placement, self._free.control(self.hazard, placement)) for placement in placements]
            pairs = [pair for pair in pairs if pair[1].alike]
            if not pairs and not planned.alike:
                closest = self._free.control(self.hazard, placements[0], closest=True)
                pairs = [(placements[0], closest)] if closest.placements or self.last else []
            if pairs:
                self.placements, self.controls = zip(*pairs, strict=True)
            else:
                self.refusal = "no place for its control object: none looks as large beside the road"
        else:
            self.placements = placements

    @property
    def _free(self) -> FreePlacements:
        return self.context.free_placements(self.scene, self.images)

    @property
    def _nuisance(self) -> bool:
        return "nuisance" in self.context.benchmark.controls

    def job(self, number: int) -> EditJob:
        return EditJob(
            scene=self.scene,
            images=self.images,
            hazard=self.hazard,
            placement=self.placements[number % len(self.placements)],
            seed=derive_seed(self.seed, number),
            jpeg_grids=self.jpeg_grids,
        )

    def take(self, number: int, job: EditJob, result: Edit | EditFailure) -> None:
        """Keep the attempt, and the case if every gate passes."""
        if isinstance(result, EditFailure):
            self._refuse(number, job, result.reason, report=dict(result.report), fault=result.fault)
            return
        gates = self.context.gates(job, result)
        failed = [g for g in gates if not g.passed]
        self.edit, self.placement, self.gates = result, job.placement, gates
        if failed:
            reason = "; ".join(f"{g.gate}: {g.reason}" for g in failed)
            self._refuse(number, job, reason, gates=gates, report=result.report)
        else:
            self.attempts.append(Attempt(number=number, seed=job.seed, placement=job.placement, gates=gates))
            self.accepted, self.refusal = True, ""

    def tries(self) -> Work:
        """From the scene to an accepted case or none; what breaks on the way is kept as ``fault``."""
        return contain_faults(
            self._tries(), self._broke, "scene and placement", self.inputs, self.context.strict
        )

    def _tries(self) -> Work:
        """Attempts, one after another, until one is accepted."""
        self.read()
        if not self.refusal:
            self.place()
        for number in range(self.context.settings.attempts if self.placements else 0):
            yield from self.attempt(number, self.job(number))
            if self.accepted:
                return

    def attempt(self, number: int, job: EditJob) -> Work:
        """One edit through the gates, and then the control arms."""
        inputs = {**self.inputs, "seed": job.seed, "placement": job.placement.model_dump(mode="json")}

        def broke(fault: Fault) -> None:
            self._refuse(number, job, str(fault), fault=fault)

        yield from contain_faults(self._tried(number, job), broke, "gates", inputs, self.context.strict)
        if self.accepted:
            yield from merge_work(self._controls(number, job))

    def _tried(self, number: int, job: EditJob) -> Work:
        [result] = yield [job]
        self.take(number, job, result)

    def _controls(self, number: int, job: EditJob) -> list[Work]:
        benchmark, works = self.context.benchmark, {}
        if "null" in benchmark.controls:
            works["null"] = null_arm(self.arms, self._null_job(job))
        if self._nuisance and self.edit is not None:
            chosen = self.controls and self.controls[number % len(self.controls)]
            control = chosen or self._free.control(self.hazard, job.placement, closest=True)
            works["nuisance"] = nuisance_arm(self.arms, job, self.edit, control, self.context)
        for factor in benchmark.distances:
            works[distance_name(factor)] = distance_arm(self.arms, job, factor, self.context)
        return [
            contain_faults(
                work, partial(self.arms.broke, arm), "placement and gates", self.inputs, self.context.strict
            )
            for arm, work in works.items()
        ]

    def _null_job(self, job: EditJob) -> EditJob:
        """The edit that adds nothing, where the hazard's changed a frame; guided, as strongly as it was repainted."""
        null, masks = self.context.taxonomy.null, {}
        if self.edit is not None:
            masks = {key: mask for key, (_, mask) in self.edit.frames.items()}
        if self.context.guide is not None:
            null = null.model_copy(update={"repaint": self.hazard.repaint})
        return replace(job, hazard=null, masks=masks)

    def finish(self) -> Outcome:
        store = self.context.store
        if not self.accepted:
            files = self._wholes() if self.edit is not None else {}
            rejection = _rejection(self.planned, self.broken, self.refusal, self.attempts)
            store.write_rejection(rejection, files)
            return Outcome(self.planned, "broken" if rejection.fault else "refused", rejection.reason)
        copy_scene(self.folder, store.scene_dir(self.planned.scene_id))
        files, patches = self._stored()
        store.write_case(self._case(patches), files)
        return Outcome(self.planned, "accepted")

    def _refuse(
        self, number: int, job: EditJob, reason: str, *, fault: Fault | None = None, **fields: Any
    ) -> None:
        fault = fault and fault.within(f"attempt {number}", **self.inputs, attempt=number)
        record = {"number": number, "seed": job.seed, "placement": job.placement, "fault": fault, **fields}
        self.attempts.append(Attempt(reason=reason, **record))
        self.refusal = reason

    def _broke(self, fault: Fault) -> None:
        self.fault, self.accepted = fault, False

    def _front_files(self) -> dict[str, bytes]:
        assert self.edit is not None
        image, mask = self.edit.frames[self.front]
        return {
            ORIGINAL: stored_png(self.images[self.front]),
            AUGMENTED: stored_png(image),
            MASK: stored_png(mask, sparse=True),
            LAYER: stored_png(self.edit.layer, sparse=True),
        }

    def _frames(self) -> Iterator[tuple[str, tuple[str, float], np.ndarray]]:
        """Name, key and pixels of every other frame that an arm changes."""
        assert self.edit is not None
        for arm, edit in {"hazard": self.edit, **self.arms.edits}.items():
            for key, (pixels, _) in edit.frames.items():
                if (arm, key) != ("hazard", self.front):
                    yield frame_path(arm, *key), key, pixels

    def _stored(self) -> tuple[dict[str, bytes], dict[str, Patch]]:
        """Files of an accepted case, and how its frames follow from them."""
        files, patches = self._front_files(), {}
        sources = {(f.camera, f.t): f.image for f in self.folder.scene.frames} | {self.front: ORIGINAL}
        for name, key, pixels in self._frames():
            patch, data = patched(name, pixels, sources[key], self.images[key])
            files[patch.file], patches[name] = data, patch
        return files, patches

    def _wholes(self) -> dict[str, bytes]:
        """Files of a refused case, whose scene may not be kept: every frame whole."""
        return self._front_files() | {name: stored_png(pixels) for name, _, pixels in self._frames()}

    def _case(self, patches: dict[str, Patch]) -> Case:
        assert self.edit is not None
        assert self.placement is not None
        return Case(
            case_id=self.planned.case_id,
            scene_id=self.planned.scene_id,
            seed=self.seed,
            hazard=self.hazard,
            placement=self.placement,
            clearing_plan=self._clearing_plan(self.placement),
            nuisance=self.arms.nuisance,
            nuisance_ratios=self.arms.nuisance_ratios,
            nuisance_placement=self.arms.nuisance_placement,
            arms=("hazard", *self.arms.edits),
            arms_missing=self.arms.missing,
            arm_faults=self.arms.faults,
            distance_placements=self.arms.distance_placements,
            nearer_arms=self._nearer_arms(),
            attempts=tuple(self.attempts),
            gates=self.gates,
            provenance=self._provenance(self.edit.report),
            files={},
            patches=patches,
        )

    def _nearer_arms(self) -> tuple[str, ...]:
        _, hardest = self.hazard.distance.decel or self.context.benchmark.decel_band
        placements = self.arms.distance_placements
        return tuple(arm for arm, placement in placements.items() if placement.required_decel > hardest)

    def _clearing_plan(self, placement: Placement) -> tuple[Point3, ...] | None:
        path, free = self._free.path, self._free.free
        return clearing_plan(path, self.scene.speed, placement, self.hazard.standing, free)

    def _provenance(self, report: Mapping[str, Any]) -> Provenance:
        inpainter = self.context.inpainter
        arms = {arm: edit.report["inpainter"] for arm, edit in self.arms.edits.items()}
        return Provenance(
            inpainter=inpainter.name,
            inpainter_version=inpainter.version,
            options=dict(inpainter.options),
            report={
                **report,
                **({"arms": arms} if arms else {}),
                **self.context.mask_pipeline.identity,
                "perception": self._seen(),
                **{key: value for key, value in self.folder.scene.extra.items() if key == ANONYMIZED},
            },
            cfgen_version=__version__,
            scene_hash=self.context.scene_hash(self.folder),
            hazard_hash=hash_json(self.hazard),
        )

    def _seen(self) -> dict[str, Any]:
        perception = self.context.views.scene(self.folder.scene, self.images).provenance
        if not self.scene.seen_cameras and self.scene.cameras == self.folder.scene.cameras:
            return perception
        stated, estimated = self.folder.scene.front, self.scene.front
        return perception | {
            "pitch_deg": _pitch_deg(estimated),
            "pitch_stated_deg": _pitch_deg(stated),
            "height_m": round(float(centre(estimated)[2]), 3),
            "height_stated_m": round(float(centre(stated)[2]), 3),
        }


def _pitch_deg(camera: Camera) -> float:
    return round(math.degrees(angles(camera)[0]), 3)


def record_failure(store: Store, planned: Planned, fault: Fault) -> Outcome:
    """Record that a case broke where nothing else can be kept of it."""
    store.discard_case(planned.case_id)
    rejection = _rejection(planned, fault)
    store.write_rejection(rejection)
    return Outcome(planned, "broken", rejection.reason)


def _rejection(
    planned: Planned, fault: Fault | None, reason: str = "", attempts: Sequence[Attempt] = ()
) -> Rejection:
    return Rejection(
        case_id=planned.case_id,
        scene_id=planned.scene_id,
        hazard_id=planned.hazard_id,
        reason=f"broke: {fault}" if fault else reason,
        attempts=tuple(attempts),
        fault=fault,
    )


def make_cases(settings: WorkerSettings, batch: Sequence[Slot]) -> list[Outcome]:
    """Work off slots, in step, so that an inpainter sees whole batches: each pair until one is accepted."""
    context = build_context(settings)
    with contextlib.ExitStack() as claims:
        mine = [slot for slot in batch if claims.enter_context(context.store.claim(slot[0].case_id))]
        outcomes = [Outcome(slot[0], "elsewhere") for slot in batch if slot not in mine]
        works = [_slot_work(context, slot, outcomes) for slot in mine]
        for index, put_off in run_in_batches(works, context.edits):
            if put_off:
                outcomes.append(Outcome(mine[index][0], "open", put_off))
        return outcomes


def _slot_work(context: BuildContext, slot: Slot, outcomes: list[Outcome]) -> Work:
    """Tries the pairs of a slot that have no outcome yet, up to the first case."""
    for planned in slot:
        # somebody may have finished it between the plan and the claim
        outcome = outcome_on_disk(context.store, planned)
        if outcome is None:
            builder = CaseBuilder(context, planned, planned == slot[-1])
            yield from builder.tries()
            outcome = _finished(builder)
            outcomes.append(outcome)
        if outcome.status == "accepted":
            return


def outcome_on_disk(store: Store, planned: Planned) -> Outcome | None:
    """What is recorded of a planned pair already."""
    if store.has_case(planned.case_id):
        return Outcome(planned, "accepted")
    if store.has_rejection(planned.case_id):
        return Outcome(planned, "refused", "already refused")
    return None


def _finished(builder: CaseBuilder) -> Outcome:
    context = builder.context
    outcome = contained(builder.finish, "writing the case", builder.inputs, context.strict)
    return record_failure(context.store, builder.planned, outcome) if isinstance(outcome, Fault) else outcome
