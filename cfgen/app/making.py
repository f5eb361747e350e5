"""Making cases from the app: again with another seed or hazard, by hand, or up to n; all through the build's gates."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.app.curate import decide
from cfgen.app.jobs import Job
from cfgen.app.ledger import person
from cfgen.app.shelf import Shelf
from cfgen.build import BuildOptions, build
from cfgen.casework import Recipe, Workshop, make_cases, start_draft
from cfgen.errors import InputError, StoreError
from cfgen.hashing import derive_case_id
from cfgen.inpaint.edit import EditJob
from cfgen.inpaint.registry import create_inpainter
from cfgen.inpaint.steps import in_step
from cfgen.records import Placement, Planned
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from cfgen.store import Store

_BUILD_STEP = 4


def _further(store: Store, scene_id: str, hazard_id: str) -> Planned:
    """A further case of a pair, not yet in the benchmark's plan.

    Raises:
        InputError: the scene is not one of this benchmark.
    """
    benchmark = store.benchmark
    if scene_id not in benchmark.scenes:
        raise InputError(f"scene '{scene_id}': is not one of this benchmark; choose one from the list")
    variant = sum((p.scene_id, p.hazard_id) == (scene_id, hazard_id) for p in benchmark.planned)
    return Planned(
        case_id=derive_case_id(benchmark.seed, scene_id, hazard_id, variant),
        scene_id=scene_id,
        hazard_id=hazard_id,
        round=max((p.round for p in benchmark.planned), default=0),
        variant=variant,
    )


def _add_to_plan(store: Store, planned: Planned) -> None:
    benchmark = store.benchmark
    store.write_benchmark(benchmark.model_copy(update={"planned": (*benchmark.planned, planned)}))


def regenerate(shelf: Shelf, name: str, case_id: str, hazard_id: str, job: Job) -> str:
    """The case's scene again, with another seed or hazard; the old case is put away once the new one passed.

    Returns:
        The new case's id.

    Raises:
        StoreError: the gates refused the new one; the old one stays.
    """
    store = shelf.store
    old = store.case(case_id)
    planned = _further(store, old.scene_id, hazard_id)
    _add_to_plan(store, planned)
    job.say(f"placing {hazard_id.replace('_', ' ')} again")
    recipe = Recipe(store.root, None, ((old.scene_id, str(store.scene_dir(old.scene_id))),))
    outcome = make_cases(recipe, [planned])[0]
    if outcome.status != "accepted":
        raise StoreError(f"the new one was refused, the old one stays: {outcome.reason}")
    decide(shelf, person(name), case_id, "reject", f"made again as {planned.case_id}")
    job.words = "made again; the old one is among the rejected"
    return planned.case_id


def top_up(store: Store, n: int, scenes: Path | None, job: Job) -> None:
    """Continue the build until the benchmark holds n accepted cases, a few at a time so that it can be stopped.

    Raises:
        StoreError: the scenes it was built from are not here.
    """
    benchmark = store.benchmark
    source = _source(store, scenes)
    accepted = _accepted(store)
    while accepted < n:
        job.say(f"{accepted} of {n} cases")
        report = build(
            BuildOptions(
                out=store.root,
                n=max(benchmark.n, min(n, accepted + _BUILD_STEP)),
                seed=benchmark.seed,
                scenes=source,
                hazards=benchmark.hazards,
                inpainter=benchmark.inpainter,
                inpainter_options=dict(benchmark.inpainter_options),
                guide=benchmark.guide,
                decel_band=benchmark.decel_band,
                controls=benchmark.controls,
                distances=benchmark.distances,
                jobs=1,
                quiet=True,
            )
        )
        if _accepted(store) < min(n, report.wanted):
            raise StoreError(
                f"{report.accepted} of {n} cases: scenes and hazards are used up; build with more scenes"
            )
        accepted, benchmark = _accepted(store), store.benchmark
    job.words = f"{accepted} cases, as wanted"


def _accepted(store: Store) -> int:
    return sum(store.has_case(p.case_id) for p in store.benchmark.planned)


def _source(store: Store, scenes: Path | None) -> Path | None:
    """The folder with exactly this benchmark's scenes; None is that of the demo scenes."""
    wanted = store.benchmark.scenes
    for folder in (scenes, store.root / "scenes"):
        if folder is not None and folder.is_dir():
            found = {load_scene(p).scene.scene_id: scene_hash(p) for p in find_scenes(folder)}
            if found == wanted:
                return folder
    if scenes is not None:
        raise StoreError(
            f"--scenes {scenes}: does not hold the {len(wanted)} scenes this benchmark was built from"
        )
    return None


# --- by hand ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def workshop(root: Path, inpainter: str) -> Workshop:
    """What placing by hand needs, loaded once; ``inpainter`` may be another than the benchmark's own."""
    store = Store(root)
    folders = tuple((scene_id, str(store.scene_dir(scene_id))) for scene_id in sorted(store.benchmark.scenes))
    shop = Workshop(Recipe(root, None, folders))
    if inpainter != shop.benchmark.inpainter:
        shop.inpainter, shop.guide = create_inpainter(inpainter), None
    return shop


def make_by_hand(
    store: Store,
    shop: Workshop,
    placement: Placement,
    hazard_id: str,
    scene_id: str,
    by: Mapping[str, Any],
    job: Job,
    mask: np.ndarray | None = None,
) -> str:
    """Edit, gates, controls, files of one hazard placed by a person.

    Args:
        by: who placed it and how, for the provenance.
        mask: (H, W) uint8, nonzero where the front frame at t0 may change; None projects the box.

    Returns:
        The new case's id.

    Raises:
        StoreError: the gates refused it; nothing is written.
    """
    planned = _further(store, scene_id, hazard_id)
    draft = start_draft(shop, planned)
    draft.hazard = draft.hazard.model_copy(update={"size": placement.size})
    edit_job = EditJob(draft.folder.scene, draft.images, draft.hazard, placement, draft.seed, mask)
    job.say(f"{shop.inpainter.name} is drawing {len(draft.images)} frames; then gates and controls")
    for _, put_off in in_step([draft.attempt(0, edit_job)], shop.edits):
        if put_off:
            raise StoreError(f"not made now: {put_off}")
    if not draft.accepted or draft.edit is None:
        raise StoreError(f"not saved, the gates refused it: {draft.refusal}")
    draft.edit.report.update(by)
    job.say("saving")
    _add_to_plan(store, planned)
    draft.finish()
    job.words = "saved as a new case"
    return planned.case_id
