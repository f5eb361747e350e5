"""Seconds for a build whose frames a network sees, against the same build with the colour test, paired.

Usage: python benchmarks/perception.py SCENES [N] [PAIRS] [NAME] [KEY=VALUE ...]: the perceiver ("road-net" unless told)
and its options, such as twinlitenet path=twinlitenet.onnx. The builds of a pair run one after the other, in turns
first; processor time counts the workers'.

python benchmarks/perception.py --on DEVICE SCENES [NAME] [KEY=VALUE ...]: milliseconds a frame of torch on that device
("cpu", "cuda"), eight together, against cv2.dnn one by one. One thread each: OMP_NUM_THREADS=1.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2

_TOGETHER, _TURNS = 8, 7


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


def a_frame(
    scenes: str, device: str, name: str = "road-net", **options: str
) -> dict[str, tuple[float, float]]:
    """Median ms by the clock, and of processor time, that a frame takes by cv2.dnn and on a device of torch's."""
    from cfgen.geometry.path import EgoPath
    from cfgen.perception.protocol import CameraFrame
    from cfgen.perception.registry import create_perceiver
    from cfgen.scenes.folder import find_scenes, load_scene

    cv2.setNumThreads(1)
    frames = []
    for path in find_scenes(Path(scenes))[:_TOGETHER]:
        folder = load_scene(path)
        frames.append(CameraFrame(folder.image(), folder.scene.front, EgoPath.from_scene(folder.scene)))
    ways = {
        "cv2.dnn": create_perceiver(name, options),
        device: create_perceiver(name, {**options, "device": device}),
    }
    clock, busy = ({way: [] for way in ways} for _ in range(2))
    for turn in range(_TURNS + 1):
        for way in list(ways)[:: 1 if turn % 2 else -1]:
            start, spent = time.perf_counter(), time.process_time()
            ways[way].perceive(frames)
            clock[way].append((time.perf_counter() - start) * 1e3 / len(frames))
            busy[way].append((time.process_time() - spent) * 1e3 / len(frames))
    return {
        way: (statistics.median(clock[way][1:]), statistics.median(busy[way][1:])) for way in ways
    }  # warm


def main() -> None:
    if sys.argv[1:2] == ["--on"]:
        device, scenes, *name = sys.argv[2:]
        settings = dict(word.split("=", 1) for word in name[1:])
        for way, (clock, busy) in a_frame(scenes, device, *name[:1], **settings).items():
            print(f"{way}: {clock:.1f} ms a frame by the clock, {busy:.1f} ms of processor time")
        return
    given = sys.argv[1:4]
    scenes, n, pairs = [*given, "24", "3"][:3] if len(given) == 1 else [*given, "3"][:3]
    name, *settings = sys.argv[4:] or ["road-net"]
    options = [word for setting in settings for word in ("--perception-options", setting)]
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
