"""Is it possible to see that? Every planner's words held against cameras, placement and recorded motion."""

from pathlib import Path

from cfgen.core.errors import InputError
from cfgen.core.files import read_each
from cfgen.judge.seen.answers import SeenClaims, answers_of
from cfgen.judge.stored import scored_as, unscored
from cfgen.library.arguments import Names, Place, checked, names
from cfgen.records import Rollout
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store


@checked
def check_claims(bench: Place, planner: str, *, arms: Names = ("original", "hazard")) -> SeenClaims:
    """Read what a planner claims about the world and hold it against the geometry that is known; no model is asked.

    Raises:
        InputError: the planner has no answer in these arms.
    """
    store = Store(Path(bench))
    planner = scored_as(store, planner)
    found = [r for arm in names(arms) for _, r in read_each(store.rollout_paths(planner, arm), Rollout)]
    rollouts = [r for r in found if isinstance(r, Rollout) and r.text]
    if not rollouts:
        raise InputError(
            f"planner '{planner}' has no words in {store.root} for the arms {', '.join(names(arms))}; "
            f"{unscored(store, planner)}"
        )
    run = next((r for r in store.planner_runs() if r.planner == planner), None)
    cases = {c.case_id: c for c in store.cases()}
    scenes = {c.scene_id: load_scene(store.scene_dir(c.scene_id)).scene for c in cases.values()}
    return SeenClaims(tuple(answers_of(rollouts, cases, scenes, run)))
