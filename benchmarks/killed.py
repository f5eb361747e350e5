"""Workers killed at random while an engine builds and scores: is anything lost, or done twice?

    python benchmarks/killed.py --engine ray --kills 20

Each benchmark is held against one that was made serially, file by file; a planner notes each time that it is asked.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from cfgen.store import Store

PLANNER = """
import os, time
import numpy as np
from cfgen.planners.protocol import Response
T = np.arange(1, 25) * 0.25

class Noting:
    def plan(self, observations):
        with open(os.environ["NOTES"], "a") as file:
            file.write(f"{len(observations)}\\n")
        time.sleep(0.2)
        return [Response("I keep my lane.", np.stack([5 * T, 0 * T, 0 * T], axis=1)) for _ in observations]
"""


def workers(command: psutil.Process, engine: str) -> list[psutil.Process]:
    """Of the command, that do pieces of work now."""
    word = "ray::Worker" if engine == "ray" else "spawn_main"
    return [p for p in command.children(recursive=engine == "ray") if word in " ".join(p.cmdline())]


def run(
    arguments: list[str], engine: str, kills: int, pause: float, chance: random.Random, folder: Path
) -> tuple[int, str]:
    """How many were killed, and what the command said where it failed."""
    path = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
    environment = {**os.environ, "PYTHONPATH": path, "NOTES": str(folder / "notes")}
    process = subprocess.Popen(
        [sys.executable, "-m", "cfgen", *arguments, "--quiet", "--engine", engine],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder,
    )  # fmt: skip
    command, killed = psutil.Process(process.pid), 0
    while process.poll() is None and killed < kills:
        time.sleep(chance.uniform(0.5, 1.5) * pause)
        try:
            victim = chance.choice(workers(command, engine))
            victim.send_signal(signal.SIGKILL)
            killed += 1
        except (IndexError, psutil.Error):
            continue
    said = process.communicate()[1]
    return killed, said[-500:] if process.returncode else ""


def files(root: Path) -> dict[str, bytes]:
    paths = (p for p in root.rglob("*") if p.is_file() and p.relative_to(root).parts[0] != ".work")
    return {str(p.relative_to(root)): p.read_bytes() for p in paths}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="processes")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--n", type=int, default=12)
    parser.add_argument("--pause", type=float, default=2.0, help="s between two kills, about")
    parser.add_argument("--scenes", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance, folder = random.Random(given.seed), Path(tempfile.mkdtemp(prefix="killed-"))
    (folder / "noting.py").write_text(PLANNER)
    more = ["--scenes", str(given.scenes.absolute())] if given.scenes else []
    build = [
        "build",
        "--n",
        str(given.n),
        "--hazards",
        "cone_line,work_barrier",
        "--perception",
        "colour",
        *more,
    ]
    run([*build, "--out", "serial"], "serial", 0, 1.0, chance, folder)
    expected, killed, builds = files(folder / "serial"), 0, 0
    while killed < given.kills:
        out, builds = folder / f"built-{builds}", builds + 1
        count, said = run(
            [*build, "--out", str(out), "--jobs", "2"],
            given.engine,
            given.kills - killed,
            given.pause,
            chance,
            folder,
        )
        killed, found = killed + count, files(out)
        unlike = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
        lost = [r.case_id for r in Store(out).rejections() if r.fault]
        print(
            f"build {builds}: {count} workers killed, {len(found)} files of {len(expected)}, {len(unlike)} unlike "
            f"those of a serial build, {len(lost)} pairs lost to faults {said}"
        )
    if given.engine == "processes":
        return  # its planners are processes of their own, which are killed and asked again as ever
    score = [
        "score",
        "serial",
        "--planner",
        "noting:Noting",
        "--repeats",
        "4",
        "--judge",
        "none",
        "--workers",
        "2",
    ]
    count, said = run(score, given.engine, given.kills, given.pause, chance, folder)
    found = Store(folder / "serial").rollouts("noting.Noting")
    asked = sum(map(int, (folder / "notes").read_text().split()))
    print(
        f"score: {count} workers killed, {len(found)} answers of {given.n * 8}, "
        f"{dict(Counter(r.status for r in found))}, {asked} times asked {said}"
    )


if __name__ == "__main__":
    main()
