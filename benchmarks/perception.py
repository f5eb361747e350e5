"""Seconds for a build whose frames a network sees, against the same build with the colour test, paired.

Usage: python benchmarks/perception.py SCENES [N] [PAIRS] [NAME] [KEY=VALUE ...]: the perceiver ("road-net" unless told)
and its options, such as twinlitenet path=twinlitenet.onnx. The builds of a pair run one after the other, in turns
first; processor time counts the workers'.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def build(out: Path, scenes: str, n: str, perception: list[str]) -> tuple[float, float, int]:
    """Seconds by the clock, processor seconds, and pairs of scene and hazard that were tried."""
    command = [sys.executable, "-m", "cfgen", "build", "--n", n, "--scenes", scenes, "--seed", "7"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, "--quiet", "--out", str(out), *perception], stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 1)
    tried = len(list(out.glob("cases/*/*/case.json"))) + len(list(out.glob("rejected/*/rejection.json")))
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, tried


def main() -> None:
    given = sys.argv[1:4]
    scenes, n, pairs = [*given, "24", "3"][:3] if len(given) == 1 else [*given, "3"][:3]
    name, *settings = sys.argv[4:] or ["road-net"]
    options = [word for setting in settings for word in ("--perception-option", setting)]
    kinds = {"colour": ["--perception", "colour"], "network": ["--perception", name, *options]}
    clock, processor = [], []
    for number in range(int(pairs)):
        took = {}
        for kind in list(kinds)[:: 1 if number % 2 else -1]:
            with tempfile.TemporaryDirectory() as folder:
                took[kind] = build(Path(folder) / "b", scenes, n, kinds[kind])
        for kind, (seconds, cpu, tried) in took.items():
            print(f"pair {number}: {kind}: {seconds:.1f} s, {cpu:.1f} s of processor, {tried} pairs tried")
        clock.append(took["network"][0] / took["colour"][0])
        processor.append(took["network"][1] / took["colour"][1])
    by_clock, of_processor = statistics.median(clock), statistics.median(processor)
    print(f"{name} / colour: {by_clock:.2f} by the clock, {of_processor:.2f} of processor time")


if __name__ == "__main__":
    main()
