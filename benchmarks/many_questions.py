"""How long a run is planned, and what it takes in memory, for benchmarks of 300, 3,000 and 30,000 cases.

    python benchmarks/many_questions.py BENCH

copies one case of BENCH so many times into a temporary folder, and plans its questions, four arms each, as ``cfgen
score`` does before it asks the first: every case read once, every answer that might be there looked for.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from cfgen.core.hashing import hash_json
from cfgen.options import ScoreOptions
from cfgen.rollouts.inputs import arm_inputs
from cfgen.rollouts.runner import _wanted
from cfgen.storage.store import Store

CASES = (300, 3_000, 30_000)
ARMS = ("hazard", "rerun", "null")


def fill(bench: Path, root: Path, count: int) -> None:
    """A benchmark of ``count`` cases that are alike, without pixels."""
    (root / "benchmark.json").write_bytes((bench / "benchmark.json").read_bytes())
    content = json.loads(next(bench.glob("cases/*/*/case.json")).read_bytes())
    del content["sha256"]
    content["arms"] = ["hazard", "null"]
    for number in range(count):
        content["case_id"] = f"{number:012x}"[::-1]
        folder = root / "cases" / content["case_id"][:2] / content["case_id"]
        folder.mkdir(parents=True)
        (folder / "case.json").write_text(json.dumps({**content, "sha256": hash_json(content)}))


def plan(root: Path) -> None:
    """One line: questions, seconds, and the most memory that the process has had, MB."""
    store, begun, busy = Store(root), time.perf_counter(), time.process_time()
    questions = arm_inputs(store, ARMS, 1)
    options = ScoreOptions(root, "cruise")
    todo = questions.only(partial(_wanted, store, "cruise", options, time.time())).shuffled(7)
    took, worked = time.perf_counter() - begun, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = f"{took:6.1f} s, {worked:5.1f} s of processor time"
    print(f"{len(todo):>8} of {len(questions)} questions: {times}, {peak:5.0f} MB at most", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--plan"]:
        plan(Path(sys.argv[2]))
        return
    for count in CASES:
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(sys.argv[1]), Path(folder), count)
            subprocess.run([sys.executable, __file__, "--plan", folder], check=True)


if __name__ == "__main__":
    main()
