"""Seconds for a whole ``cfgen build`` against a plain script in the same run.

The plain script does one ``cv2.seamlessClone`` of a patch and two PNG writes a scene: no metric placement, light,
history frames, gates, records or resume. Then a table: pairs tried, scenes used, cases with a control object.
Usage: python benchmarks/build.py SCENES [N]
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

#: runs a command and prints the peak memory, KiB, of the largest of its processes
_WATCHED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
PLAIN = """
import sys
from pathlib import Path
import cv2
import numpy as np

scenes, out, n = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
patch = np.random.default_rng(0).integers(0, 256, (90, 60, 3), np.uint8)
mask = np.full(patch.shape, 255, np.uint8)
for number, frame in enumerate(sorted(scenes.rglob("frame.jpg"))[:n]):
    image = cv2.imread(str(frame))
    height, width = image.shape[:2]
    edited = cv2.seamlessClone(patch, image, mask, (width // 2, int(height * 0.6)), cv2.NORMAL_CLONE)
    cv2.imwrite(str(out / f"{number}_original.png"), image)
    cv2.imwrite(str(out / f"{number}_augmented.png"), edited)
"""


@dataclass(frozen=True)
class Built:
    """``seconds`` by the clock, ``cpu_s`` of all its processes, ``peak_mb`` of the largest, ``files``: their bytes."""

    seconds: float
    cpu_s: float
    peak_mb: float
    cases: int
    files: list[int]


@dataclass(frozen=True)
class Planned:
    """What a build came to: pairs that were tried, scenes that have a case, cases with a control object, and those in
    which the hazard came into view or motion within the last second."""

    tried: int
    scenes: int
    controlled: int
    late: int

    @classmethod
    def of(cls, bench: Path) -> "Planned":
        cases = [json.loads(path.read_text()) for path in (bench / "cases").rglob("case.json")]
        refused = len(list((bench / "rejected").rglob("rejection.json")))
        in_view = [case["placement"]["in_view_s"] for case in cases]
        return cls(
            len(cases) + refused,
            len({case["scene_id"] for case in cases}),
            sum("nuisance" in case["arms"] for case in cases),
            sum(seconds is not None and seconds <= 1.0 for seconds in in_view),
        )


def run(command: list[str], folder: Path, n: int = 0) -> Built:
    """``command``, that fills ``folder`` with ``n`` cases, or as many as have a record."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    watched = [sys.executable, "-c", _WATCHED, *command]
    peak = subprocess.run(watched, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cases = n or len(list(folder.rglob("case.json")))
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return Built(took, cpu, int(peak) / 1024, cases, files)


def measure(scenes: str, n: int) -> tuple[Built, Built, Planned]:
    """Ours and the plain script's, and what ours came to."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        (out / "plain").mkdir()
        plain = run([sys.executable, "-c", PLAIN, scenes, str(out / "plain"), str(n)], out / "plain", n)
        build = [
            sys.executable,
            "-m",
            "cfgen",
            "build",
            "--n",
            str(n),
            "--scenes",
            scenes,
            "--seed",
            "7",
            "--quiet",
        ]
        ours = run([*build, "--out", str(out / "bench")], out / "bench" / "cases")
        return ours, plain, Planned.of(out / "bench")


def main() -> None:
    ours, plain, planned = measure(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 66)
    for name, built in (("cfgen build", ours), ("plain seamlessClone + 2 PNG", plain)):
        print(
            f"{name}: {built.seconds:.1f} s ({built.cpu_s:.1f} s of processor time) for {built.cases} cases, "
            f"{len(built.files)} files, {sum(built.files) / built.cases / 1e6:.2f} MB a case, at most "
            f"{built.peak_mb:.0f} MB of memory"
        )
    print(f"ratio cfgen / plain: {ours.seconds / plain.seconds:.1f}")
    rows = {
        "processor time, s": f"{ours.cpu_s:.0f}",
        "by the clock, s": f"{ours.seconds:.0f}",
        "pairs tried": planned.tried,
        "scenes used": planned.scenes,
        "with a control object": planned.controlled,
        "in view or in motion for 1 s at most": planned.late,
    }
    for name, value in rows.items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
