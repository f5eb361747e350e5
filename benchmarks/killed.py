"""Workers killed at random while an engine builds and scores: is anything lost, or done twice?

    python benchmarks/killed.py --engine ray --kills 20

Half of them while it builds, half while it scores; Ray gets two nodes on this machine. The benchmark is held against
one that was made serially, file by file; a planner notes each time that it is asked.
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
from contextlib import ExitStack
from pathlib import Path

import psutil

from cfgen.storage.store import Store

PLANNER = """
import os, time, uuid
import numpy as np
from cfgen.planners.protocol import Response
T = np.arange(1, 25) * 0.25

class Noting:
    def plan(self, observations):
        time.sleep(0.5)
        with open(os.environ["NOTES"] + f"/{uuid.uuid4().hex}", "w") as file:
            file.write(f"{len(observations)}\\n")
        return [Response("I keep my lane.", np.stack([5 * T, 0 * T, 0 * T], axis=1)) for _ in observations]
"""
ANSWERS = 6


def workers(command: psutil.Process, engine: str) -> list[psutil.Process]:
    """That do pieces of work now, for the command."""
    if engine == "ray":
        return [
            p for p in psutil.Process().children(recursive=True) if "ray::Worker" in " ".join(p.cmdline())
        ]
    return command.children()


def run(
    arguments: list[str],
    engine: str,
    kills: int,
    pause: float,
    chance: random.Random,
    folder: Path,
    sign: str,
) -> tuple[int, str]:
    """How many were killed, from the first file like ``sign`` on, and what the command said where it failed."""
    path = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
    environment = {**os.environ, "PYTHONPATH": path, "NOTES": str(folder / "notes")}
    process = subprocess.Popen(
        [sys.executable, "-m", "cfgen", *arguments, "--quiet", "--engine", engine],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder,
    )  # fmt: skip
    command, killed = psutil.Process(process.pid), 0
    while process.poll() is None and next(folder.glob(sign), None) is None:
        time.sleep(0.2)
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


def two_nodes(stack: ExitStack, folder: Path) -> None:
    """A cluster that commands find by RAY_ADDRESS."""
    from ray.cluster_utils import Cluster

    os.environ.update(RAY_USAGE_STATS_ENABLED="0", PYTHONPATH=f"{folder}:{os.environ.get('PYTHONPATH', '')}")
    os.environ["NOTES"] = str(folder / "notes")
    node = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    stack.callback(cluster.shutdown)
    cluster.add_node(**node)
    os.environ["RAY_ADDRESS"] = cluster.address


def build(given: argparse.Namespace, chance: random.Random, folder: Path) -> None:
    serial, out = folder / "serial", folder / given.engine
    scenes = ["--scenes", str(given.scenes.absolute())] if given.scenes else []
    own = ["--hazards", "cone_line,work_barrier", "--perception", "colour", *scenes]
    command = ["build", "--n", str(given.n), *own, "--out"]
    run([*command, str(serial)], "serial", 0, 1.0, chance, folder, "*")
    sign, kills = f"{given.engine}/cases/*/*/case.json", given.kills // 2
    command += [str(out), "--jobs", "2"]
    count, said = run(command, given.engine, kills, given.pause, chance, folder, sign)
    expected, found = files(serial), files(out)
    unlike = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
    lost = [r.case_id for r in Store(out).rejections() if r.fault]
    print(
        f"build: {count} workers killed, {len(found)} files of {len(expected)}, {len(unlike)} unlike those of a "
        f"serial build {unlike[:3]}, {len(lost)} pairs lost to faults {said}",
        flush=True,
    )


def score(given: argparse.Namespace, chance: random.Random, folder: Path) -> None:
    """Of the serial benchmark; each time that the planner answered, it wrote a line."""
    serial, notes = folder / "serial", folder / "notes"
    notes.mkdir()
    command = [
        "score",
        str(serial),
        "--planner",
        "noting:Noting",
        "--repeats",
        str(ANSWERS),
        "--judge",
        "none",
    ]
    command += ["--workers", "2", "--writable", str(notes)]
    count, said = run(
        command, given.engine, given.kills - given.kills // 2, given.pause, chance, folder, "notes/*"
    )
    found = Store(serial).rollouts("noting.Noting")
    told = sum(int(word) for path in notes.iterdir() for word in path.read_text().split())
    keys = {(r.case_id, r.arm, r.repeat) for r in found}
    print(
        f"score: {count} workers killed, {len(keys)} answers of {given.n * 2 * ANSWERS}, "
        f"{dict(Counter((r.status, r.reason) for r in found))}, {told} times answered {said}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="processes")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--n", type=int, default=24)
    parser.add_argument("--pause", type=float, default=4.0, help="s between two kills, about")
    parser.add_argument("--scenes", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance, folder = random.Random(given.seed), Path(tempfile.mkdtemp(prefix="killed-"))
    (folder / "noting.py").write_text(PLANNER)
    with ExitStack() as stack:
        if given.engine == "ray":
            two_nodes(stack, folder)
        build(given, chance, folder)
        score(given, chance, folder)


if __name__ == "__main__":
    main()
