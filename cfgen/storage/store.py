"""The benchmark directory: where everything is, and how it is written so that any number of workers can share it.

A record's existence means that the work is done. Temporary files and locks live in ``.work``, which holds
nothing of value.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cfgen.core.disk_backed import mtime_key
from cfgen.core.errors import StoreError
from cfgen.core.files import move, read_record, remove, write_bytes, write_record
from cfgen.core.hashing import hash_bytes
from cfgen.core.locks import claim, hold
from cfgen.core.object_store import bucket_of
from cfgen.perception.protocol import Perceiver
from cfgen.perception.registry import PERCEIVERS, about, create_perceiver
from cfgen.perception.view import SceneView
from cfgen.perception.views import Views
from cfgen.records import (
    BenchmarkRecord,
    BuildReport,
    Case,
    Intervention,
    JudgeRun,
    Planned,
    PlannerRun,
    Rejection,
    Rollout,
    TraceVerdict,
    Verdict,
    judged_as,
)
from cfgen.storage.listing import case_files
from cfgen.storage.plan_file import PlanFile
from cfgen.storage.ratings import PeoplesRecords

MARKER = "benchmark.json"
#: folder of what frames show
VIEWS = "perception"


class Store(PeoplesRecords):
    """One benchmark directory.

    Raises:
        StoreError: ``root`` is not a benchmark directory (no ``benchmark.json``).
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root)
        if not (self.root / MARKER).is_file():
            problem = (
                "another folder" if self.root.is_dir() else "a file" if self.root.exists() else "nothing"
            )
            raise StoreError(
                f"{self.root}: expected a benchmark directory (with {MARKER}), found {problem}; make one with: "
                f"cfgen build --n 66 --out {'bench' if self.root.is_file() else self.root}"
            )
        self.work = self.root / ".work"
        self._plan = PlanFile(self.root)
        self._benchmark: tuple[str, BenchmarkRecord] | None = None

    @classmethod
    def create(cls, root: Path, benchmark: BenchmarkRecord) -> "Store":
        """Start a benchmark in a new or empty folder.

        Raises:
            StoreError: the folder holds other files.
        """
        root = Path(root)
        cls.check_new(root)
        with hold(root, "benchmark"):
            if bucket := bucket_of(root):
                bucket.fetch(root / MARKER)
            if not (root / MARKER).is_file():  # else another build was faster
                write_record(root / MARKER, benchmark, root / ".work")
        return cls(root)

    def views(self, options: Mapping[str, Any] | None = None) -> Views:
        """What its frames show; its perceiver, with these ``options``, is made for what was not seen yet."""
        name, identity = self.benchmark.perception, self.benchmark.perception_identity

        def make() -> Perceiver:
            perceiver = create_perceiver(name, options)
            if dict(perceiver.identity) != identity:
                raise StoreError(
                    f"{self.root}: its frames were seen by perception '{name}' with {identity}, found one with "
                    f"{dict(perceiver.identity)}; give the file that it was built with"
                )
            return perceiver

        kind = PERCEIVERS.get(name)
        uses_camera, weaker = (bool(getattr(kind, flag, True)) for flag in ("uses_camera", "weaker"))
        backed = about(name, "backed_by_colours")
        return Views(name, identity, uses_camera, weaker, make, self.root / VIEWS, backed)

    def view(self, file: str) -> SceneView | None:
        """A stored view by its place under ``perception/``; None where it is not there or damaged."""
        path = self.root / VIEWS / file
        if not path.resolve().is_relative_to((self.root / VIEWS).resolve()):
            return None
        try:
            return SceneView.from_png(path.read_bytes())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @staticmethod
    def check_new(root: Path) -> None:
        """
        Raises:
            StoreError: a benchmark cannot begin there.
        """
        if root.is_dir() and any(p.name != ".work" for p in root.iterdir()):
            raise StoreError(
                f"{root}: expected a new or empty folder, found other files; choose another folder"
            )
        if file := next((p for p in (root, *root.parents) if p.exists() and not p.is_dir()), None):
            raise StoreError(f"{root}: expected a folder, found a file at {file}; choose another folder")

    # --- benchmark and scenes -----------------------------------------------------------------------

    @property
    def benchmark(self) -> BenchmarkRecord:
        """Read again only where it changed."""
        path, cached = self.root / MARKER, self._benchmark
        stamp = mtime_key(path.stat()) if path.is_file() else ""
        if cached is None or cached[0] != stamp:
            self._benchmark = cached = stamp, read_record(path, BenchmarkRecord)
        return cached[1]

    @property
    def planned(self) -> tuple[Planned, ...]:
        """Every pair that builds and people decided to try, in that order."""
        return self._plan.pairs()

    def add_planned(self, pairs: Sequence[Planned]) -> None:
        """Only while :meth:`planning`, if they follow from what was read."""
        self._plan.add(pairs)

    def write_benchmark(self, benchmark: BenchmarkRecord) -> None:
        """Only while :meth:`planning`, if it follows from what was read."""
        write_record(self.root / MARKER, benchmark, self.work)

    @contextlib.contextmanager
    def planning(self) -> Iterator[None]:
        """Nobody else changes the benchmark's record within the block: builds and the app extend one plan."""
        with self.held("benchmark"):
            if bucket := bucket_of(self.root):
                bucket.pull(everything=False)
            yield

    def change_benchmark(self, change: Callable[[BenchmarkRecord], BenchmarkRecord]) -> None:
        """Read, change and write the record, with nobody in between."""
        with self.planning():
            benchmark = self.benchmark
            changed = change(benchmark)
            if changed != benchmark:
                self.write_benchmark(changed)

    def write_build_report(self, report: BuildReport) -> None:
        write_record(self.root / "build.json", report, self.work)

    def build_report(self) -> BuildReport | None:
        """What came of the last build; None where none has ended yet."""
        path = self.root / "build.json"
        return read_record(path, BuildReport) if path.is_file() else None

    @property
    def inpaint_cache(self) -> Path:
        """What inpainters that cost money keep: answers, batch jobs under way, and what was spent."""
        return self.root / "cache" / "inpaint"

    @property
    def reply_cache(self) -> Path:
        """What judges and planners made of models keep: replies, batch jobs, and what was spent."""
        return self.root / "cache" / "replies"

    def remember_scenes(self, folder: Path | None) -> None:
        """Where the scenes were, for topping up; this machine's business, so beside what is of no value."""
        if folder is not None:
            write_bytes(self.work / "scenes-from", str(Path(folder).resolve()).encode(), self.work)

    @property
    def scenes_source(self) -> Path | None:
        """See :meth:`remember_scenes`."""
        path = self.work / "scenes-from"
        return Path(path.read_text()) if path.is_file() else None

    def scene_dir(self, scene_id: str) -> Path:
        return self.root / "scenes" / scene_id

    # --- cases --------------------------------------------------------------------------------------

    def case_dir(self, case_id: str) -> Path:
        return self.root / "cases" / case_id[:2] / case_id

    def rejected_dir(self, case_id: str) -> Path:
        return self.root / "rejected" / case_id

    def has_case(self, case_id: str) -> bool:
        return (self.case_dir(case_id) / "case.json").is_file()

    def has_rejection(self, case_id: str) -> bool:
        return (self.rejected_dir(case_id) / "rejection.json").is_file()

    def is_finished(self, case_id: str) -> bool:
        return self.has_case(case_id) or self.has_rejection(case_id)

    def case(self, case_id: str) -> Case:
        return read_record(self.case_dir(case_id) / "case.json", Case)

    def case_ids(self) -> list[str]:
        """Of every accepted case, in order."""
        return [case_id for case_id, _ in case_files(self.root)]

    def cases(self) -> list[Case]:
        """Every accepted case, in the order of their ids."""
        return [self.case(case_id) for case_id in self.case_ids()]

    def rejections(self) -> list[Rejection]:
        return list(self.each_rejection())

    def each_rejection(self) -> Iterator[Rejection]:
        """As :meth:`rejections`, one at a time."""
        return (read_record(p, Rejection) for p in sorted(self.root.glob("rejected/*/rejection.json")))

    def write_case(self, case: Case, files: Mapping[str, bytes]) -> None:
        """Pixels first, ``case.json`` last. ``files`` maps paths relative to the case folder to their bytes."""
        folder = self.case_dir(case.case_id)
        for name, data in files.items():
            write_bytes(folder / name, data, self.work)
        hashes = {name: hash_bytes(data) for name, data in sorted(files.items())}
        write_record(folder / "case.json", case.model_copy(update={"files": hashes}), self.work)

    def discard_case(self, case_id: str) -> None:
        """Take away what was written of a case that is not whole."""
        remove(self.case_dir(case_id))

    def discard_rejection(self, case_id: str) -> None:
        """Let a refused case be tried again: the record first, so that killed within, it is tried all the same."""
        folder = self.rejected_dir(case_id)
        remove(folder / "rejection.json")
        remove(folder)

    def write_rejection(self, rejection: Rejection, files: Mapping[str, bytes] | None = None) -> None:
        folder = self.rejected_dir(rejection.case_id)
        for name, data in (files or {}).items():
            write_bytes(folder / name, data, self.work)
        write_record(folder / "rejection.json", rejection, self.work)

    def move_to_rejected(self, case_id: str, rejection: Rejection) -> None:
        """A person refuses an accepted case: its files move to ``rejected/`` whole, the reason beside them."""
        # the reason first: killed between the two, the case is still where it was
        write_record(self.case_dir(case_id) / "rejection.json", rejection, self.work)
        move(self.case_dir(case_id), self.rejected_dir(case_id))

    def restore_rejected(self, case_id: str) -> None:
        """Bring a case back that :meth:`move_to_rejected` put away.

        Raises:
            StoreError: it was refused before it was whole, so there is nothing to bring back.
        """
        source = self.rejected_dir(case_id)
        if not (source / "case.json").is_file():
            raise StoreError(f"{source}: holds no whole case to bring back; build another in its place")
        move(source, self.case_dir(case_id))
        remove(self.case_dir(case_id) / "rejection.json")

    @contextlib.contextmanager
    def claim(self, case_id: str) -> Iterator[bool]:
        """Whether this process may work on a case now; the claim ends with the block or the process."""
        with claim(self.root, case_id) as mine:
            if mine:
                self.look_again(self.case_dir(case_id), self.rejected_dir(case_id))
            yield mine

    def look_again(self, *places: Path) -> None:
        """Other machines may have finished it: in an object store, what lies there now is fetched."""
        if bucket := bucket_of(self.root):
            bucket.fetch(*places)

    def held(self, name: str) -> contextlib.AbstractContextManager[None]:
        """The lock ``name`` of this benchmark, waited for.

        Raises:
            StoreError: somebody else holds it for too long.
        """
        return hold(self.root, name)

    # --- runs and verdicts ----------------------------------------------------------------------------

    def planner_run_path(self, planner: str) -> Path:
        return self.root / "runs" / planner / "planner.json"

    def rollout_path(self, planner: str, arm: str, case_id: str, repeat: int = 0) -> Path:
        return self.root / "runs" / planner / arm / f"{case_id}.{repeat}.json"

    def intervention_path(self, planner: str, swap: str, arm: str, case_id: str) -> Path:
        return self.root / "interventions" / planner / swap / arm / f"{case_id}.json"

    def write_intervention(self, record: Intervention) -> None:
        path = self.intervention_path(record.planner, record.swap, record.arm, record.case_id)
        write_record(path, record, self.work)

    def interventions(self, planner: str) -> list[Intervention]:
        paths = sorted(self.root.glob(f"interventions/{planner}/*/*/*.json"))
        return [read_record(p, Intervention) for p in paths]

    def judge_run_path(self, judge: str) -> Path:
        return self.root / "verdicts" / judge / "judge.json"

    def trace_path(self, checker: str, planner: str, arm: str, case_id: str, repeat: int = 0) -> Path:
        return self.root / "traces" / checker / planner / arm / f"{case_id}.{repeat}.json"

    def write_trace_verdict(self, verdict: TraceVerdict) -> None:
        path = self.trace_path(verdict.checker, verdict.planner, verdict.arm, verdict.case_id, verdict.repeat)
        write_record(path, verdict, self.work)

    def trace_verdicts(self, planner: str) -> list[TraceVerdict]:
        """Of every checker."""
        return [read_record(p, TraceVerdict) for p in sorted(self.root.glob(f"traces/*/{planner}/*/*.json"))]

    def probe_path(self, judge: str) -> Path:
        return self.root / "verdicts" / judge / "probe.json"

    def calibration_path(self, judge: str) -> Path:
        return self.root / "verdicts" / judge / "calibration.json"

    def verdict_path(self, judge: str, planner: str, arm: str, case_id: str, repeat: int = 0) -> Path:
        return self.root / "verdicts" / judge / planner / arm / f"{case_id}.{repeat}.json"

    def write_rollout(self, rollout: Rollout) -> None:
        path = self.rollout_path(rollout.planner, rollout.arm, rollout.case_id, rollout.repeat)
        write_record(path, rollout, self.work)

    def forget_judged(self, planner: str, arm: str, case_id: str, repeat: int) -> None:
        """What was made of an answer that is about to be replaced goes: its verdicts, traces and interventions.

        Every other arm is judged against the original.
        """
        for folder in ("*",) if arm == "original" else {arm, judged_as(arm)}:
            for kind in ("verdicts", "traces"):
                for path in self.root.glob(f"{kind}/*/{planner}/{folder}/{case_id}.{repeat}.json"):
                    remove(path)
        if repeat == 0:
            for path in self.root.glob(f"interventions/{planner}/*/*/{case_id}.json"):
                remove(path)

    def write_verdict(self, verdict: Verdict) -> None:
        path = self.verdict_path(verdict.judge, verdict.planner, verdict.arm, verdict.case_id, verdict.repeat)
        write_record(path, verdict, self.work)

    def planner_runs(self) -> list[PlannerRun]:
        return [read_record(p, PlannerRun) for p in sorted(self.root.glob("runs/*/planner.json"))]

    def judge_runs(self) -> list[JudgeRun]:
        return [read_record(p, JudgeRun) for p in sorted(self.root.glob("verdicts/*/judge.json"))]

    def check_judge(self, run: JudgeRun) -> None:
        """
        Raises:
            StoreError: the name has verdicts of another wording, model or options; they must not be mixed.
        """
        path = self.judge_run_path(run.judge)
        if path.is_file():
            stored = read_record(path, JudgeRun)
            previous, current = (
                {**r.options, "rubric": f"{r.rubric} {r.rubric_hash}"} for r in (stored, run)
            )
            if previous != current:
                difference = next(k for k in {**previous, **current} if previous.get(k) != current.get(k))
                raise StoreError(
                    f"{path}: '{run.judge}' judged with another {difference} "
                    f"({str(previous.get(difference))[:80]}, now {str(current.get(difference))[:80]}); judge under "
                    f"another name with --judge-options name=..., or delete {path.parent}"
                )

    def register_judge(self, run: JudgeRun) -> None:
        """Say who judges under this name; ways to the network add up. Raises as :meth:`check_judge`."""
        self.check_judge(run)
        path = self.judge_run_path(run.judge)
        before = read_record(path, JudgeRun).network if path.is_file() else ()
        network = tuple(dict.fromkeys((*before, *run.network)))
        write_record(path, run.model_copy(update={"network": network}), self.work)

    def rollout_paths(self, planner: str, arm: str = "*") -> list[Path]:
        return sorted(self.root.glob(f"runs/{planner}/{arm}/*.json"))

    def rollouts(self, planner: str, arm: str = "*") -> list[Rollout]:
        return [read_record(p, Rollout) for p in self.rollout_paths(planner, arm)]

    def verdict_paths(self, judge: str, planner: str, arm: str = "*") -> list[Path]:
        return sorted(self.root.glob(f"verdicts/{judge}/{planner}/{arm}/*.json"))

    def verdicts(self, judge: str, planner: str, arm: str = "*") -> list[Verdict]:
        return [read_record(p, Verdict) for p in self.verdict_paths(judge, planner, arm)]
