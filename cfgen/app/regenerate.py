"""Making cases for the queue: again with another seed or hazard, or up to n; all through the build's gates."""

import contextlib
from pathlib import Path

from cfgen.app.authoring import Tool, build_context, finish, further
from cfgen.app.case_index import CaseIndex
from cfgen.app.curate import replaced
from cfgen.app.worker import Say
from cfgen.benchmark.builder import attempt_cases
from cfgen.benchmark.plan import accepted_of_plan
from cfgen.benchmark.same import scenes_match
from cfgen.build import BuildOptions, build
from cfgen.core.errors import CfgenError, StoreError
from cfgen.core.paths import scenarios_dir
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from cfgen.storage.store import Store

_BUILD_STEP = 4


def regenerate(tool: Tool, name: str, case_id: str, hazard_id: str, say: Say) -> str:
    """The case's scene again, with another seed or hazard; the old case is put away once the new one passed.

    Returns:
        The new case's id.

    Raises:
        StoreError: the gates refused the new one; the old one stays.
    """
    context = build_context(tool)
    store = context.store
    old = store.case(case_id)
    context.taxonomy.get(hazard_id)
    with further(store, old.scene_id, hazard_id) as planned:
        say(f"placing and drawing {hazard_id.replace('_', ' ')}", None)
        builder, put_off = next(attempt_cases(context, [planned]))
        if put_off:
            raise StoreError(f"not made now: {put_off}")
        outcome = finish(builder)
    if outcome.status != "accepted":
        raise StoreError(f"the new one was {outcome.status}, the old one stays: {outcome.reason}")
    replaced(CaseIndex(store), name, case_id, planned.case_id)
    return planned.case_id


def top_up(root: Path, n: int, scenes: Path | None, say: Say) -> int:
    """Continue the build until the benchmark holds n accepted cases, a few at a time so that progress shows.

    Returns:
        How many it holds now.

    Raises:
        StoreError: the scenes it was built from are not here, or are used up.
    """
    store = Store(root)
    source = _source(store, scenes)
    accepted = _accepted(store)
    while accepted < n:
        say(f"{accepted} of {n} cases", accepted / n)
        benchmark = store.benchmark
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
                masks=benchmark.masks,
                masks_options=dict(benchmark.masks_options),
                detector=benchmark.detector,
                detector_options=dict(benchmark.detector_options),
                decel_band=benchmark.decel_band,
                controls=benchmark.controls,
                distances=benchmark.distances,
                jobs=1,
                quiet=True,
            )
        )
        accepted = _accepted(store)
        if accepted < min(n, report.wanted):
            why = report.stopped or "scenes and hazards are used up; build with more scenes"
            if report.faults:
                why = (
                    f"{why}; {report.lost} were lost to faults, the most frequent: {report.faults[0].example}"
                )
            raise StoreError(f"{accepted} of {n} cases: {why}")
    return accepted


def _accepted(store: Store) -> int:
    return accepted_of_plan(store)


def _source(store: Store, scenes: Path | None) -> Path | None:
    """The folder with exactly this benchmark's scenes; None is that of the demo scenes.

    Raises:
        StoreError: none of the places where they may be holds them.
    """
    wanted = store.benchmark.scenes
    demo = scenarios_dir() / "scenes"
    for folder in (scenes, store.scenes_source, store.root / "scenes", demo):
        if folder is not None and folder.is_dir() and scenes_match(_hashes(folder), wanted):
            store.remember_scenes(folder)
            return None if folder == demo else folder
    named = f"'{scenes}' does not hold" if scenes is not None else "nobody has said where to find"
    raise StoreError(
        f"top up: {named} the {len(wanted)} scenes that this benchmark was built from; name their folder beside 'build'"
    )


def _hashes(folder: Path) -> dict[str, str]:
    """By scene id; what is no scene is left out."""
    found = {}
    for path in find_scenes(folder):
        with contextlib.suppress(CfgenError):
            found[load_scene(path).scene.scene_id] = scene_hash(path)
    return found
