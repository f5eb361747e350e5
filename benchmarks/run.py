"""One table of figures, each beside a named alternative that was measured in the same run.

    python -m benchmarks.run [--scenes scenarios/scenes] [--cases 12] [--out docs/figures.md] [--only build,judge]

The scripts beside this one measure; this one calls them one after another and writes the table. Figures by the clock
depend on what else the machine does, which the table's head tells; processor time does so less. Each part is alone
in saying what it could not do. Needs the dev extra; about ten minutes on two cores.
"""

import argparse
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
#: of starts of a program and of texts that are parsed
_STARTS, _TEXTS = 9, 300


@dataclass(frozen=True)
class Row:
    """``ours`` beside ``theirs``; ``ratio``: how many times as good ours is."""

    what: str
    ours: str
    alternative: str
    theirs: str
    ratio: float


def compositor(scenes: str, n: int) -> Iterator[Row]:
    from benchmarks import composite

    found = composite.measure(max(n, 12))
    (ours, busy), (theirs, plain) = found["composite"], found["seamlessClone"]
    told = "{:.1f} cases/s, {:.0f} ms of processor time"
    yield Row(
        "compositor with gates, 5 frames 960x540",
        told.format(ours, busy),
        "one `cv2.seamlessClone` a frame",
        told.format(theirs, plain),
        plain / busy,
    )


def build(scenes: str, n: int) -> Iterator[Row]:
    from benchmarks import build as script

    ours, plain, _ = script.measure(scenes, n)
    alternative = "script: one `seamlessClone`, two PNG a scene"
    told = "{:.2f} s a case, {:.2f} s of processor time"
    yield Row(
        f"`cfgen build --n {n}`, history and records with it",
        told.format(ours.seconds / ours.cases, ours.cpu_s / ours.cases),
        alternative,
        told.format(plain.seconds / n, plain.cpu_s / n),
        (plain.cpu_s / n) / (ours.cpu_s / ours.cases),
    )
    mb = [sum(built.files) / built.cases / 1e6 for built in (ours, plain)]
    yield Row("bytes a case", f"{mb[0]:.2f} MB", alternative, f"{mb[1]:.2f} MB", mb[1] / mb[0])
    yield Row(
        "peak memory of a build's largest process",
        f"{ours.peak_mb:.0f} MB",
        alternative,
        f"{plain.peak_mb:.0f} MB",
        plain.peak_mb / ours.peak_mb,
    )


def perception(scenes: str, n: int) -> Iterator[Row]:
    from benchmarks import perception as script

    with tempfile.TemporaryDirectory() as folder:
        spent = {
            name: script.build(Path(folder) / name, scenes, str(n), ["--perception", name])
            for name in ("road-net", "colour")
        }
    cpu = {name: busy / max(tried, 1) for name, (_, busy, tried) in spent.items()}
    told = "{:.2f} s of processor time a tried pair"
    yield Row(
        "build with the road network",
        told.format(cpu["road-net"]),
        "the same build by the colour test",
        told.format(cpu["colour"]),
        cpu["colour"] / cpu["road-net"],
    )
    (_, plain), (_, ours) = script.a_frame(scenes, "cpu").values()
    told = "{:.1f} ms of processor time a frame"
    yield Row(
        "road network in torch on a processor, 8 frames together",
        told.format(ours),
        "`cv2.dnn`, one by one",
        told.format(plain),
        plain / ours,
    )


def plots(scenes: str, n: int) -> Iterator[Row]:
    from benchmarks import render

    ours, theirs = render.milliseconds(render.ours, 100), render.milliseconds(render.through_matplotlib, 9)
    yield Row(
        "view from above, speed plot, delta table",
        f"{ours:.2f} ms",
        "matplotlib: the two plots",
        f"{theirs:.1f} ms",
        theirs / ours,
    )


def judge(scenes: str, n: int) -> Iterator[Row]:
    from benchmarks import judge_throughput

    rows = dict(judge_throughput.measure(200))
    plain = [found for name, found in rows.items() if name.startswith("plain")]
    rate, busy = (statistics.mean(values) for values in zip(*plain, strict=True))
    told = "{:.1f} requests/s, {:.1f} ms of processor time"
    for name, what in (
        (
            "cfgen, first, in cfgen score",
            "judge, first time in `cfgen score`: JPEGs of the frames it holds with it",
        ),
        (
            "cfgen, first, answers from elsewhere",
            "judge, first time, answers from elsewhere: PNG to JPEG with it",
        ),
        ("cfgen, from stored answers", "judge, from stored answers: plots, verdicts with it"),
    ):
        yield Row(
            what,
            told.format(*rows[name]),
            "plain google-genai loop, pictures ready",
            told.format(rate, busy),
            rows[name][0] / rate,
        )


def planner(scenes: str, n: int) -> Iterator[Row]:
    from benchmarks.planner_channel import measure

    ours, theirs = measure(100, 1920, 1080)
    yield Row(
        "planner's process, frames 1920x1080",
        str(ours),
        "pickle over a pipe",
        str(theirs),
        theirs.cpu_s / ours.cpu_s,
    )


def parser(scenes: str, n: int) -> Iterator[Row]:
    from cfgen.planners.answer import to_plan
    from cfgen.planners.baselines import constant_turn, write_text

    texts = [
        write_text("A road." * 20, "It slows." * 20, "yield", "keep", constant_turn(5 + i / 50, 0.01))
        for i in range(_TEXTS)
    ]

    def bare(text: str) -> np.ndarray:
        inside = text[text.rindex("[[") :] if "[[" in text else text
        return np.array(re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", inside), float)

    ours, theirs = (_each(work, texts) for work in (to_plan, bare))
    yield Row(
        "answer to words and a checked plan",
        f"{ours:.2f} ms",
        "`re.findall` of its numbers, nothing checked",
        f"{theirs:.2f} ms",
        theirs / ours,
    )


def _each(work: Callable[[str], object], texts: list[str]) -> float:
    """ms of processor time."""
    work(texts[0])
    start = time.process_time()
    for text in texts:
        work(text)
    return 1000 * (time.process_time() - start) / len(texts)


def start(scenes: str, n: int) -> Iterator[Row]:
    ours, busy = _started(["-m", "cfgen", "--help"])
    theirs, bare = _started(["-c", "import argparse, numpy, pydantic"])
    told = "{:.2f} s, {:.2f} s of processor time"
    yield Row(
        "`cfgen --help`",
        told.format(ours, busy),
        "`python -c 'import argparse, numpy, pydantic'`",
        told.format(theirs, bare),
        bare / busy,
    )


def _started(arguments: list[str]) -> tuple[float, float]:
    """Median s by the clock, and of processor time."""
    clock, spent = [], []
    for _ in range(_STARTS):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        clock.append(time.perf_counter() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(clock), statistics.median(spent)


PARTS: dict[str, Callable[[str, int], Iterator[Row]]] = {
    "compositor": compositor,
    "build": build,
    "perception": perception,
    "plots": plots,
    "judge": judge,
    "planner": planner,
    "parser": parser,
    "start": start,
}


def table(rows: list[Row], wrong: dict[str, str], load: tuple[float, float]) -> str:
    """The page."""
    lines = [
        "# Figures",
        "",
        f"Measured by `python -m benchmarks.run` on {os.cpu_count()} cores ({platform.machine()}), Python "
        f"{platform.python_version()}, OpenCV {cv2.__version__}; load of the machine {load[0]:.1f} at the start, "
        f"{load[1]:.1f} at the end. Each row was measured beside its alternative in the same run. The last column says "
        "how many times as good cfgen is: below 1, the alternative is cheaper, and does less. Judge and plots go by "
        "the clock, the others by processor time, which other work on the machine changes less.",
        "",
        "| what | cfgen | alternative | alternative's | ratio |",
        "|---|---|---|---|---:|",
        *(f"| {r.what} | {r.ours} | {r.alternative} | {r.theirs} | {r.ratio:.2f} |" for r in rows),
        "",
        *(f"- Not measured: {name} ({why})." for name, why in wrong.items()),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    given = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    given.add_argument("--scenes", default=str(ROOT / "scenarios" / "scenes"))
    given.add_argument("--cases", type=int, default=12)
    given.add_argument("--out", type=Path)
    given.add_argument("--only", default="")
    asked = given.parse_args()
    wanted = asked.only.split(",") if asked.only else list(PARTS)
    before = os.getloadavg()[0]
    rows, wrong = [], {}
    for name in wanted:
        try:
            for row in PARTS[name](asked.scenes, asked.cases):
                rows.append(row)
                print(json.dumps(row.__dict__), flush=True)
        except Exception as error:  # the others are measured all the same
            wrong[name] = f"{type(error).__name__}: {error}"
            print(f"{name}: {wrong[name]}", file=sys.stderr)
    page = table(rows, wrong, (before, os.getloadavg()[0]))
    if asked.out:
        asked.out.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
