"""``cfgen bench verify``: re-derives every hash of a benchmark and names what changed, is missing or is extra."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from cfgen.benchmark.drive_heights import FOLDER as HEIGHTS
from cfgen.benchmark.frames import frame_file
from cfgen.benchmark.plan import FILE as SHARD
from cfgen.benchmark.plan import is_done, slots_of
from cfgen.core.errors import CfgenError
from cfgen.core.files import read_image, read_record
from cfgen.core.hashing import derive_case_id, hash_bytes, hash_image, hash_json
from cfgen.perception.registry import about
from cfgen.perception.road_by_colour import ColourGround
from cfgen.perception.view import SceneView
from cfgen.planners.outputs import EXPORTS, exported_tokens
from cfgen.records import (
    BenchmarkRecord,
    BuildReport,
    Calibration,
    CampaignLog,
    Case,
    EdgeProbe,
    EdgeRatingFile,
    Intervention,
    JudgeRun,
    KnownPool,
    Planned,
    PlannerRun,
    ProbeRun,
    RatingFile,
    Rejection,
    ReviewFile,
    Rollout,
    Shard,
    Stored,
    TraceVerdict,
    Verdict,
)
from cfgen.scenes.folder import SCENE_FILE, load_scene, scene_hash
from cfgen.storage.plan_file import PLAN_FILE
from cfgen.storage.store import MARKER, VIEWS, Store

R = TypeVar("R", bound=Stored)


#: what people write, by folder
_PEOPLE: dict[str, type[Stored]] = {
    "interventions": Intervention,
    "ratings": RatingFile,
    "edge_ratings": EdgeRatingFile,
    "reviews": ReviewFile,
    "campaigns": CampaignLog,
}
#: folders whose content can be made again at any time
UNCHECKED = (".work", "report", "cache")


class Verification:
    """Walks one directory. ``faults`` are lines that name a path and what is wrong with it."""

    def __init__(self, root: Path) -> None:
        self.store = Store(root)
        self.root = self.store.root
        self.faults: list[str] = []
        #: what is missing of a build that was cut short, or ""; no fault
        self.unfinished = ""
        self.files_checked = 0
        self._known: set[str] = set()
        self._scene_hashes: dict[str, str] = {}
        #: view -> the hash that a case was placed by
        self._seen: dict[Path, str] = {}

    def run(self) -> list[str]:
        """All faults, in the order of the walk; empty when the directory is whole."""
        benchmark = self._record(self.root / MARKER, BenchmarkRecord)
        if benchmark is None or (planned := self._plan()) is None:
            return self.faults
        report = None
        if (self.root / "build.json").is_file():
            report = self._record(self.root / "build.json", BuildReport)
        self._scenes(benchmark)
        arms = self._cases(benchmark, planned)
        if len(arms) < benchmark.n and (report is None or report.wanted < benchmark.n or report.stopped):
            self.unfinished = f"{len(arms)} of {benchmark.n} cases; the build did not end: run it again"
        self._views(benchmark)
        self._rejections()
        planners = self._planners(arms)
        self._verdicts(planners)
        self._people()
        self._exports()
        self._extras()
        return self.faults

    def __repr__(self) -> str:
        shown = "; ".join(self.faults[:3]) + ("; ..." if len(self.faults) > 3 else "")
        found = f"{len(self.faults)} faults in {self.files_checked} files: {shown}"
        fine = f"{self.files_checked} files, all as cfgen wrote them"
        unfinished = f"; {self.unfinished}" if self.unfinished else ""
        return f"Verification('{self.root}'): {found if self.faults else fine}{unfinished}"

    # --- the rooms of the directory ---------------------------------------------------------------------

    def _scenes(self, benchmark: BenchmarkRecord) -> None:
        for folder in sorted((self.root / "scenes").glob("*")):
            expected = benchmark.scenes.get(folder.name)
            if expected is None:
                self._fault(folder, "is not a scene of this benchmark")
                continue
            try:
                scene = load_scene(folder)
                self._know(folder / name for name in (SCENE_FILE, *(f.image for f in scene.scene.frames)))
                found = self._scene_hashes[folder.name] = scene_hash(scene)
                if expected and found != expected:
                    self._fault(folder, "differs from the scene the benchmark was built from")
            except CfgenError as error:
                self._fault(folder, str(error))

    def _plan(self) -> tuple[Planned, ...] | None:
        """Its lines are held against their hashes as they are read."""
        if (self.root / PLAN_FILE).is_file():
            self._know([self.root / PLAN_FILE])
        try:
            return self.store.planned
        except CfgenError as error:
            self.faults.append(str(error))
            return None

    def _cases(self, benchmark: BenchmarkRecord, plan: Sequence[Planned]) -> dict[str, tuple[str, ...]]:
        """Case -> its arms."""
        arms: dict[str, tuple[str, ...]] = {}
        shard = self.root / SHARD
        part = shard.is_file() and self._record(shard, Shard)
        for planned in plan:
            path = self.store.case_dir(planned.case_id) / "case.json"
            expected = derive_case_id(benchmark.seed, planned.scene_id, planned.hazard_id, planned.variant)
            if planned.case_id != expected:
                self._fault(
                    self.root / PLAN_FILE,
                    f"case_id {planned.case_id} is not derived from its scene and hazard",
                )
            if path.is_file() and (case := self._record(path, Case)) is not None:
                arms[case.case_id] = case.arms
                self._case(path.parent, case, benchmark)
        accepted = {*self.store.case_ids()}
        for slot in () if part else slots_of(plan):
            if not is_done(self.store, slot, accepted):
                missing = next(p for p in slot if not self.store.has_rejection(p.case_id))
                path = self.store.case_dir(missing.case_id) / "case.json"
                self._fault(path, "is planned but missing; run the build again")
        return arms

    def _case(self, folder: Path, case: Case, benchmark: BenchmarkRecord) -> None:
        for name, expected in case.files.items():
            path = folder / name
            self._known.add(str(path))
            if not path.is_file():
                self._fault(path, "is missing")
            elif hash_bytes(path.read_bytes()) != expected:
                self._fault(path, "was changed")
            self.files_checked += 1
        self._patches(folder, case)
        if hash_json(case.hazard) != case.provenance.hazard_hash:
            self._fault(folder / "case.json", "hazard does not match provenance.hazard_hash")
        scene = benchmark.scenes.get(case.scene_id) or self._scene_hashes.get(case.scene_id)
        if scene != case.provenance.scene_hash:
            self._fault(folder / "case.json", "scene does not match provenance.scene_hash")
        seen = case.provenance.report.get("perception", {})
        if file := seen.get("file"):
            view = self.root / VIEWS / file
            self._seen[view] = seen.get("view", "")
            if not view.is_file():
                self._fault(view, "is missing: it decided where hazards may stand; restore it from a copy")
        if not (self.store.scene_dir(case.scene_id) / "scene.json").is_file():
            self._fault(self.store.scene_dir(case.scene_id), "is missing")

    def _patches(self, folder: Path, case: Case) -> None:
        """Whether each frame that is stored as a difference is the one that was made, pixel by pixel."""
        sources: dict[Path, np.ndarray] = {}
        for name, patch in case.patches.items():
            frame = frame_file(self.store, case, name, folder)
            assert frame.source is not None
            try:
                if frame.source not in sources:
                    sources[frame.source] = read_image(frame.source)
                if hash_image(frame.over(sources[frame.source])) == patch.whole:
                    continue
                self._fault(
                    frame.path,
                    f"does not give the frame {name} that was made: it or {frame.source} was changed, or pictures are "
                    "decoded otherwise here",
                )
            except CfgenError as error:
                if frame.path.is_file():  # else told already
                    self._fault(frame.path, f"cannot be read as a frame ({error})")

    def _views(self, benchmark: BenchmarkRecord) -> None:
        """What frames show: readable, and seen by this benchmark's perceiver; and how high their cameras stand."""
        self._know((self.root / VIEWS / HEIGHTS).glob("*.json"))
        by = [{"name": benchmark.perception, **benchmark.perception_identity}]
        if about(benchmark.perception, "backed_by_colours"):
            by.append({"name": ColourGround.name, **ColourGround.identity})
        for path in sorted((self.root / VIEWS).glob("*/*.png")):
            self._known.add(str(path))
            self.files_checked += 1
            try:
                found = SceneView.from_png(path.read_bytes())
            except (OSError, ValueError, KeyError, TypeError) as error:
                self._fault(path, f"is no view of a frame ({error}); delete it: it is made again when needed")
                continue
            if dict(found.by) not in by:
                self._fault(path, f"was seen by {dict(found.by)}, expected {by[0]}; delete it")
            elif found.hash != self._seen.get(path, found.hash):
                self._fault(path, "does not show what its cases were placed by; build them again")

    def _rejections(self) -> None:
        for folder in sorted((self.root / "rejected").glob("*")):
            self._know(folder.rglob("*"))
            self._record(folder / "rejection.json", Rejection)
            if (folder / "case.json").is_file():
                self._record(folder / "case.json", Case)

    def _planners(self, arms: Mapping[str, Sequence[str]]) -> list[PlannerRun]:
        runs = []
        for folder in sorted((self.root / "runs").glob("*")):
            run = self._record(folder / "planner.json", PlannerRun)
            if run is None:
                continue
            runs.append(run)
            for path in sorted(folder.glob("*/*.json")):
                rollout = self._record(path, Rollout)
                if rollout is None:
                    continue
                place = self.store.rollout_path(rollout.planner, rollout.arm, rollout.case_id, rollout.repeat)
                if place != path:
                    self._fault(path, f"holds the rollout that belongs at {place.relative_to(self.root)}")
                if rollout.planner_hash != run.planner_hash:
                    self._fault(path, "was made by another version of the planner")
            self._expect_rollouts(run, arms)
        return runs

    def _expect_rollouts(self, run: PlannerRun, arms: Mapping[str, Sequence[str]]) -> None:
        for case_id in sorted(arms):
            for arm in run.arms:
                if arm not in ("original", "rerun", *arms[case_id]):
                    continue
                for repeat in range(run.repeats):
                    path = self.store.rollout_path(run.planner, arm, case_id, repeat)
                    if not path.is_file():
                        self._fault(path, f"is missing; run: {_again(self.root, run)}")

    def _verdicts(self, planners: list[PlannerRun]) -> None:
        names = {run.planner for run in planners}
        for folder in sorted((self.root / "verdicts").glob("*")):
            self._record(folder / "judge.json", JudgeRun)
            for name, kind in (("probe.json", ProbeRun), ("calibration.json", Calibration)):
                if (folder / name).is_file():
                    self._record(folder / name, kind)
            for path in sorted(folder.glob("*/*/*.json")):
                verdict = self._record(path, Verdict)
                if verdict is None:
                    continue
                place = self.store.verdict_path(
                    verdict.judge, verdict.planner, verdict.arm, verdict.case_id, verdict.repeat
                )
                if place != path:
                    self._fault(path, f"holds the verdict that belongs at {place.relative_to(self.root)}")
                if verdict.planner not in names:
                    self._fault(path, f"judges planner '{verdict.planner}', which has no run here")

    def _people(self) -> None:
        for path in sorted((self.root / "traces").rglob("*.json")):
            depth = len(path.relative_to(self.root).parts)
            if depth == 3:  # pools, and probes from before their verdicts were kept
                self._record(path, KnownPool if path.parent.name == "known" else EdgeProbe)
            elif depth == 4 and path.parent.name == "probes":
                self._probe(path)
            else:
                self._record(path, TraceVerdict)
        for folder, kind in _PEOPLE.items():
            for path in sorted((self.root / folder).rglob("*.json")):
                self._record(path, kind)

    def _probe(self, path: Path) -> None:
        if probe := self._record(path, EdgeProbe):
            pool = f"{probe.pool.removeprefix('sha256:')[:12]}.json"
            if not (self.root / "traces" / "known" / pool).is_file():
                self._fault(path, f"is of known answers that are missing (traces/known/{pool}); probe again")

    def _exports(self) -> None:
        folder = self.root / EXPORTS
        self._know(folder.glob("*.json"))
        try:
            exported_tokens(folder)
        except CfgenError as error:
            self.faults.append(str(error))

    def _extras(self) -> None:
        for folder, below, files in os.walk(self.root):
            # what can be made again is passed, and what a killed writer left: it holds nothing that counts
            below[:] = sorted(n for n in below if Path(folder) != self.root or n not in UNCHECKED)
            for name in sorted(files):
                path = Path(folder, name)
                if str(path) not in self._known and path.suffix != ".tmp" and path.is_file():
                    self._fault(path, "is extra: cfgen did not write it")

    # --- helpers ------------------------------------------------------------------------------------------

    def _record(self, path: Path, kind: type[R]) -> R | None:
        self._known.add(str(path))
        self.files_checked += 1
        try:
            return read_record(path, kind, check=True)
        except CfgenError as error:
            self.faults.append(str(error))
            return None

    def _know(self, paths: Iterable[Path]) -> None:
        for path in paths:
            self._known.add(str(path))
            self.files_checked += path.is_file()

    def _fault(self, path: Path, what: str) -> None:
        self.faults.append(f"{path}: {what}")


def _again(root: Path, run: PlannerRun) -> str:
    if run.spec.endswith("()"):  # an object, which no command line can make
        return f'cfgen.score("{root}", planner={run.spec.partition(":")[2]}, name="{run.planner}")'
    return f"cfgen score {root} --planner {run.spec}"
