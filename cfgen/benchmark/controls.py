"""The other arms of a case: the null edit, a harmless object, and the same hazard nearer and farther.

They are made after the case itself is accepted, side by side (:mod:`cfgen.benchmark.lockstep`). An arm that cannot
be made is left out of the case and its reason kept, never replaced by something else. What breaks on the way is
kept as its fault and ends no other arm.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from cfgen.benchmark.lockstep import Edits, Work, contain_faults
from cfgen.core.hashing import derive_seed
from cfgen.inpaint.job import Edit, EditFailure, EditJob, Images
from cfgen.records import DistancePolicy, Fault, GateResult, Hazard, Placement, Scene

#: a harmless object may stand so much farther and nearer than a hazard: factors on the band of deceleration. A place
#: as near as a hazard's is preferred; a narrow lens shows what is beside the road only far ahead
NUISANCE_BAND = (0.02, 2.0)
#: a hazard at another distance may be this share off it
DISTANCE_SLACK = 0.05


class Maker(Protocol):
    """Places and judges an arm as it does the case itself. ``strict``: what breaks is raised."""

    @property
    def strict(self) -> bool: ...

    def place(
        self,
        scene: Scene,
        images: Images,
        hazard: Hazard,
        rng: np.random.Generator,
        band: tuple[float, float],
    ) -> list[Placement] | str: ...

    def gates(self, job: EditJob, edit: Edit) -> tuple[GateResult, ...]: ...


@dataclass
class Arms:
    """What came of the wanted arms: edits by arm, the reason for each that is missing, and what broke first in one."""

    edits: dict[str, Edit] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    nuisance: Hazard | None = None
    nuisance_placement: Placement | None = None
    distance_placements: dict[str, Placement] = field(default_factory=dict)

    def broke(self, arm: str, fault: Fault) -> None:
        """The arm is missing for this, unless another try makes it."""
        self.faults.setdefault(arm, fault.within(f"control arm {arm}", arm=arm))
        self.missing[arm] = f"broke: {fault}"


def null_arm(arms: Arms, job: EditJob) -> Work:
    """The case's own job with the null edit for its hazard: the same mask through the same steps, nothing added."""
    [result] = yield [job]
    _keep(arms, "null", result)


def nuisance_arm(
    arms: Arms, job: EditJob, nuisances: list[Hazard], band: tuple[float, float], maker: Maker
) -> Work:
    """A harmless object, drawn by the case's seed, that passes the same gates."""
    rng = np.random.default_rng(derive_seed(job.seed, "nuisance"))
    reasons = []
    band = (band[0] * NUISANCE_BAND[0], band[1] * NUISANCE_BAND[1])
    for index in rng.permutation(len(nuisances)):
        nuisance = nuisances[index]
        inputs = {"scene_id": job.scene.scene_id, "hazard_id": nuisance.id, "seed": job.seed}
        attempt = _nuisance(arms, job, nuisance, rng, band, maker)
        yield from contain_faults(attempt, partial(arms.broke, "nuisance"), nuisance.id, inputs, maker.strict)
        if "nuisance" in arms.edits:
            arms.missing.pop("nuisance", None)
            return
        reasons.append(f"{nuisance.id}: {arms.missing['nuisance']}")
    arms.missing["nuisance"] = "; ".join(reasons) or "no harmless object can be drawn"


def _nuisance(
    arms: Arms,
    job: EditJob,
    nuisance: Hazard,
    rng: np.random.Generator,
    band: tuple[float, float],
    maker: Maker,
) -> Work:
    placed = _best(maker.place(job.scene, job.images, nuisance, rng, band))
    if isinstance(placed, str):
        arms.missing["nuisance"] = placed
        return
    edit = yield from _gated(job, nuisance, placed, maker)
    _keep(arms, "nuisance", edit)
    if isinstance(edit, Edit):
        arms.nuisance, arms.nuisance_placement = nuisance, placed


def distance_arm(arms: Arms, job: EditJob, factor: float, maker: Maker) -> Work:
    """The case's hazard at ``factor`` times its distance. Factor 1 is the hazard arm itself."""
    arm = distance_name(factor)
    distance_m = job.placement.distance_m * factor
    policy = DistancePolicy(
        decel=(0.05, 100.0), min_m=distance_m * (1 - DISTANCE_SLACK), max_m=distance_m * (1 + DISTANCE_SLACK)
    )
    hazard = job.hazard.model_copy(update={"distance": policy, "size": job.placement.size})
    rng = np.random.default_rng(derive_seed(job.seed, arm))
    placed = _best(maker.place(job.scene, job.images, hazard, rng, (0.05, 100.0)))
    if isinstance(placed, str):
        arms.missing[arm] = placed
        return
    edit = yield from _gated(job, job.hazard, placed, maker)
    _keep(arms, arm, edit)
    if isinstance(edit, Edit):
        arms.distance_placements[arm] = placed


def distance_name(factor: float) -> str:
    """The arm with the hazard at ``factor`` times its distance."""
    return f"hazard_d{factor:.2f}"


def _best(placements: list[Placement] | str) -> Placement | str:
    return placements if isinstance(placements, str) else placements[0]


def _gated(
    job: EditJob, hazard: Hazard, placement: Placement, maker: Maker
) -> Generator[list[EditJob], Edits, Edit | EditFailure]:
    own = EditJob(job.scene, job.images, hazard, placement, job.seed, lattices=job.lattices)
    [edit] = yield [own]
    if isinstance(edit, EditFailure):
        return edit
    failed = "; ".join(f"{g.gate}: {g.reason}" for g in maker.gates(own, edit) if not g.passed)
    return EditFailure(failed) if failed else edit


def _keep(arms: Arms, arm: str, result: Edit | EditFailure) -> None:
    if isinstance(result, EditFailure) and result.fault:
        arms.broke(arm, result.fault)
    elif isinstance(result, EditFailure):
        arms.missing[arm] = result.reason
    else:
        arms.edits[arm] = result
