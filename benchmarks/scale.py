"""Seconds and memory of planning, first case, resume, verify and report, against the number of cases.

The cases are tiny: pictures of 32x18 pixels, and records that are copies of one real case. Everything else is real:
scenes are looked at, the plan is made, records are written, tallied, verified and reported as always. One pair in 20 is
refused, so that there are further rounds. Each phase runs in a process of its own.

Usage: python benchmarks/scale.py FOLDER N [N ...]     (the table is printed and kept as FOLDER/scale.json)
Killed, the same command goes on. SCALE_WITHOUT=answers,report leaves phases out. SCALE_LAID=100000: from so many on
cases are laid down without the pool, the claims and the looks at scenes of a build; the rest of it stays as it is.
"""

import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

PHASES = ("scenes", "build", "resume", "again", "list", "relist", "verify", "answers", "report")
_SIZE = (18, 32)
_PLANNER, _JUDGE = "cruise", "offline"
#: one pair in so many is refused
_REFUSED = 20
#: so many cases that are laid down share their pictures' files
_LINKED = 10_000


def template(root: Path) -> Path:
    """A benchmark of one real case with its answers and their verdict, which all others are copies of."""
    import cfgen

    if not (root / "benchmark.json").is_file():
        cfgen.build(root, n=1, seed=1, perception="colour", jobs=1, quiet=True)
        cfgen.score(root, planner=_PLANNER, judge=_JUDGE, quiet=True)
    return root


def make_scenes(folder: Path, n: int) -> dict[str, float]:
    """Each with a history and a future, and one frame."""
    from cfgen.core.files import png_bytes

    height, width = _SIZE
    frame = png_bytes(np.random.default_rng(0).integers(0, 256, (*_SIZE, 3), np.uint8))
    for i in range(n):
        scene = folder / f"drive{i // 1000:03d}" / f"s{i:06d}"
        scene.mkdir(parents=True)
        path = [[2.5 * k, 0.0, 0.0, 10.0] for k in range(-8, 25)]
        content = {
            "scene_id": f"s{i:06d}",
            "image": "frame.png",
            "width": width,
            "height": height,
            "intrinsics": {"fx": 30.0, "fy": 30.0, "cx": width / 2, "cy": height / 2},
            "extrinsics": {"camera_height_m": 1.5},
            "drive": f"drive{i // 1000:03d}",
            "dt": 0.25,
            "history": path[:9],
            "future": path[9:],
        }
        (scene / "frame.png").write_bytes(frame)
        (scene / "scene.json").write_text(json.dumps(content))
    return {}


class TinyCases:
    """In the place of :func:`cfgen.benchmark.builder.make_cases`."""

    def __init__(self, root: Path) -> None:
        from cfgen.core.files import png_bytes
        from cfgen.core.hashing import hash_bytes
        from cfgen.storage.store import Store

        [case] = Store(root).cases()
        told = {**case.provenance.report, "perception": {"name": "colour"}}
        frame = np.random.default_rng(0).integers(0, 256, (*_SIZE, 3), np.uint8)
        mask = np.zeros(_SIZE, np.uint8)
        mask[5:8, 5:8] = 255
        pixels = {"original": frame, "augmented": frame ^ mask[..., None], "mask": mask}
        self.files = {f"{name}.png": png_bytes(image) for name, image in pixels.items()}
        hashes = {name: hash_bytes(data) for name, data in self.files.items()}
        self.case = {**case.model_dump(mode="json"), "files": hashes}
        self.case["provenance"]["report"] = told
        self.hazards: dict[str, tuple[dict[str, Any], str]] = {}
        self.first = self.to_first = 0.0
        self.scene: dict[str, Any] | None = None
        self.written, self.linked = 0, Path()

    def __call__(self, settings: Any, batch: Sequence[Any]) -> list[Any]:
        from cfgen.benchmark.builder import Outcome
        from cfgen.benchmark.context import build_context
        from cfgen.core.hashing import derive_seed
        from cfgen.records import Rejection

        context, outcomes = build_context(settings), []
        for planned in batch:
            told = {"case_id": planned.case_id, "scene_id": planned.scene_id}
            if derive_seed("refused", planned.case_id) % _REFUSED == 0:
                refusal = Rejection(**told, hazard_id=planned.hazard_id, reason="no placement: too narrow")
                context.store.write_rejection(refusal)
                outcomes.append(Outcome(planned, "refused", refusal.reason))
                continue
            self._write(context, planned, told)
            outcomes.append(Outcome(planned, "accepted"))
            if not self.first:
                self.first, self.to_first = time.time(), time.process_time()
        return outcomes

    def laid(self, settings: Any, plan: Any, todo: Sequence[Any], *_: Any) -> str:
        """In the place of :func:`cfgen.build._work_off`."""
        self.look = self._hash_alike
        self(settings, todo)
        return ""

    def look(self, context: Any, scene_id: str) -> tuple[Path, str]:
        """Folder and hash of a scene, as a worker finds them."""
        source = context.scene(scene_id)
        return source.root, context.scene_hash(source)

    def _hash_alike(self, context: Any, scene_id: str) -> tuple[Path, str]:
        """The same of a scene that differs from the others in its names alone."""
        from cfgen.core.hashing import hash_bytes, hash_json

        if self.scene is None:
            folder = context.scene(scene_id)
            images = {f.image: hash_bytes((folder.root / f.image).read_bytes()) for f in folder.scene.frames}
            self.scene = {"scene": folder.scene.model_dump(mode="json"), "images": images}
        folder = Path(context._folders[scene_id])
        self.scene["scene"] |= {"scene_id": scene_id}
        self.scene["scene"]["extra"] |= {"drive": folder.parent.name}
        return folder, hash_json(self.scene)

    def _write(self, context: Any, planned: Any, told: dict[str, str]) -> None:
        """Scene, pictures and record as a build writes them, but with the least work."""
        from cfgen.core.files import write_bytes
        from cfgen.core.hashing import hash_json

        store, scene = context.store, context.store.scene_dir(planned.scene_id)
        source, scene_hash = self.look(context, planned.scene_id)
        if not scene.is_dir():
            scene.mkdir(parents=True)
            for name in ("frame.png", "scene.json"):
                os.link(source / name, scene / name)
        if planned.hazard_id not in self.hazards:
            hazard = context.taxonomy.get(planned.hazard_id)
            self.hazards[planned.hazard_id] = hazard.model_dump(mode="json"), hash_json(hazard)
        hazard, hazard_hash = self.hazards[planned.hazard_id]
        of = {"scene_hash": scene_hash, "hazard_hash": hazard_hash}
        content = {**self.case, **told, "hazard": hazard}
        content["provenance"] = {**content["provenance"], **of}
        content["sha256"] = hash_json(content)
        folder = store.case_dir(planned.case_id)
        folder.mkdir(parents=True, exist_ok=True)
        if self.scene and self.written % _LINKED:
            for name in self.files:
                os.link(self.linked / name, folder / name)
        else:
            for name, data in self.files.items():
                (folder / name).write_bytes(data)
            self.linked = folder
        self.written += 1
        indent = None if self.scene else 1  # laid down: many times faster
        write_bytes(folder / "case.json", json.dumps(content, indent=indent).encode(), store.work)


def make_cases(root: Path, n: int, tiny: TinyCases | None = None) -> dict[str, float]:
    """``cfgen build``; with nothing left to make where all is there."""
    building = importlib.import_module("cfgen.build")
    if tiny is not None:
        building.make_cases = tiny
        if n >= int(os.environ.get("SCALE_LAID", n + 1)):
            building._work_off = tiny.laid
    options = building.BuildOptions(
        out=root / "bench", n=n, seed=7, scenes=root / "scenes", perception="colour", jobs=1, quiet=True
    )
    made = building.build(options)
    if made.accepted != n:
        raise SystemExit(f"expected {n} cases, found {made.accepted}: {made}")
    began = float(os.environ["SCALE_BEGAN"])
    if tiny is None or not tiny.first:
        return {}
    return {
        "first_case_s": tiny.first - began,
        "first_case_processor_s": tiny.to_first,
        "laid": float(tiny.scene is not None),
    }


def make_answers(root: Path, source: Path) -> dict[str, float]:
    """One planner's answers to both arms of every case, and a judge's verdict: copies of a real case's."""
    from cfgen.core.files import write_record
    from cfgen.storage.store import Store

    old, store = Store(source), Store(root / "bench")
    for run in old.planner_runs():
        write_record(store.planner_run_path(run.planner), run, store.work)
    for run in old.judge_runs():
        write_record(store.judge_run_path(run.judge), run, store.work)
    [planner], [judge] = old.planner_runs(), old.judge_runs()
    rollouts, verdicts = old.rollouts(planner.planner), old.verdicts(judge.judge, planner.planner)
    for case_id in store.case_ids():
        for rollout in rollouts:
            if rollout.arm in ("original", "hazard"):
                store.write_rollout(rollout.model_copy(update={"case_id": case_id}))
        for verdict in verdicts:
            if verdict.arm == "hazard":
                store.write_verdict(verdict.model_copy(update={"case_id": case_id}))
    return {}


def verify(root: Path) -> dict[str, float]:
    from cfgen.benchmark.verifying import Verification

    walk = Verification(root / "bench")
    if faults := walk.run():
        raise SystemExit(f"{len(faults)} faults: {faults[:3]}")
    return {"files": walk.files_checked}


def report(root: Path) -> dict[str, float]:
    from cfgen.report import report as make

    made = make(root / "bench", root / "report", panels=0, pages=5000)  # as the command does
    if made.left_out:
        raise SystemExit(f"left out: {made.left_out[:3]}")
    return {}


def list_cases(root: Path) -> dict[str, float]:
    """What the app shows first."""
    from cfgen.app.case_index import CaseIndex
    from cfgen.storage.store import Store

    return {"entries": len(CaseIndex(Store(root / "bench")).entries())}


def phase(name: str, folder: Path, n: int) -> dict[str, float]:
    root, source = folder / str(n), folder / "template"
    run: dict[str, Callable[[], dict[str, float]]] = {
        "template": lambda: template(source) and {},
        "scenes": lambda: make_scenes(root / "scenes", n),
        "build": lambda: make_cases(root, n, TinyCases(source)),
        "resume": lambda: make_cases(root, n),
        "again": lambda: make_cases(root, n),
        "verify": lambda: verify(root),
        "answers": lambda: make_answers(root, source),
        "report": lambda: report(root),
        "list": lambda: list_cases(root),
        "relist": lambda: list_cases(root),
    }
    return run[name]()


def in_a_process(name: str, folder: Path, n: int) -> dict[str, float]:
    began = time.time()
    environment = {**os.environ, "SCALE_BEGAN": str(began), "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, __file__, "--phase", name, str(folder), str(n)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} of {n} failed")
    return {"seconds": time.time() - began, **json.loads(done.stdout.splitlines()[-1])}


def main() -> None:
    if sys.argv[1] == "--phase":
        told = phase(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        used = resource.getrusage(resource.RUSAGE_SELF)
        told |= {"processor_s": used.ru_utime + used.ru_stime, "memory_mb": used.ru_maxrss / 1024}
        print(json.dumps(told))
        return
    folder, sizes = Path(sys.argv[1]), [int(n) for n in sys.argv[2:]]
    folder.mkdir(parents=True, exist_ok=True)
    in_a_process("template", folder, 1)
    kept = folder / "scale.json"
    found: dict[str, dict[str, dict[str, float]]] = json.loads(kept.read_text()) if kept.is_file() else {}
    names = [name for name in PHASES if name not in os.environ.get("SCALE_WITHOUT", "").split(",")]
    for n in sizes:
        done = found.setdefault(str(n), {})
        if not done:
            shutil.rmtree(folder / str(n), ignore_errors=True)
        for name in (name for name in names if name not in done):
            done[name] = told = {"load": os.getloadavg()[0], **in_a_process(name, folder, n)}
            print(f"{n:>7} {name:<8}", "  ".join(f"{k} {v:.1f}" for k, v in told.items()), flush=True)
            kept.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
