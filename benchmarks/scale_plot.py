"""What benchmarks/scale.py measured, as a picture and a table for docs/scale.md.

Usage: python benchmarks/scale_plot.py FOLDER/scale.json     (writes docs/scale.svg and the table in docs/scale.md)
"""

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path

from cfgen.reporting.drawing import SvgCanvas, color

DOCS = Path(__file__).resolve().parents[1] / "docs"
Phases = dict[str, dict[str, float]]
#: phase -> what it is called
NAMES = {
    "first": "first case of a new build",
    "build": "the whole build",
    "resume": "finished build again",
    "again": "and once more",
    "list": "the app's list",
    "verify": "verify",
    "report": "report",
}
_GREY, _INK = "#d8dce0", "#30363c"
_LEFT, _TOP, _HEIGHT, _WIDTH, _APART = 46.0, 30.0, 230.0, 300.0, 70.0


def read(path: Path) -> dict[int, Phases]:
    """n -> phase -> figures; the first case of a build is a phase of its own."""
    found: dict[int, Phases] = {}
    for n, phases in json.loads(path.read_text()).items():
        first = phases.get("build", {})
        if "first_case_s" in first:
            seconds, busy = first["first_case_s"], first["first_case_processor_s"]
            phases["first"] = {"seconds": seconds, "processor_s": busy, "load": first["load"]}
        found[int(n)] = {name: phases[name] for name in NAMES if name in phases}
    return dict(sorted(found.items()))


def plot(found: dict[int, Phases]) -> SvgCanvas:
    """Processor time and memory against the number of cases, both on logarithmic scales."""
    drawing = SvgCanvas(
        2 * _WIDTH + _LEFT + _APART + 30, _TOP + _HEIGHT + 86, "Time and memory against the number of cases"
    )
    _panel(drawing, found, _LEFT, "processor time, s", "processor_s")
    _panel(drawing, found, _LEFT + _WIDTH + _APART, "memory, MB", "memory_mb")
    for i, words in enumerate(NAMES.values()):
        x, y = _LEFT + (i % 4) * 165, _TOP + _HEIGHT + 46 + 20 * (i // 4)
        drawing.mark(x, y - 4, i)
        drawing.text(x + 10, y, words, 11, _INK)
    return drawing


def _panel(drawing: SvgCanvas, found: dict[int, Phases], left: float, title: str, key: str) -> None:
    values = [told[key] for phases in found.values() for told in phases.values() if key in told]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    x = _scale(math.log10(min(found)), math.log10(max(found)), left, left + _WIDTH)
    y = _scale(low, high, _TOP + _HEIGHT, _TOP)
    drawing.text(left, _TOP - 12, title, 12, _INK)
    for power in range(low, high + 1):
        at = y(10.0**power)
        drawing.line([(left, at), (left + _WIDTH, at)], _GREY)
        drawing.text(left - 6, at + 4, f"{10.0**power:g}", 10, _INK, anchor="end")
    for n in found:
        drawing.text(x(n), _TOP + _HEIGHT + 16, f"{n:,}", 10, _INK, anchor="middle")
    for i, name in enumerate(NAMES):
        points = [
            (x(n), y(phases[name][key]))
            for n, phases in found.items()
            if key in phases.get(name, {}) and not phases[name].get("laid")
        ]
        if len(points) > 1:
            drawing.line(points, color(i), 1.5)
        for at in points:
            drawing.mark(*at, i)


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = high - low or 1.0
    return lambda value: start + (math.log10(value) - low) / span * (end - start)


def table(found: dict[int, Phases]) -> str:
    """Processor seconds / seconds by the clock at that load / MB."""
    lines = ["| cases | " + " | ".join(NAMES.values()) + " |", "|---" * (len(NAMES) + 1) + "|"]
    for n, phases in found.items():
        lines.append(f"| {n:,} | " + " | ".join(_cell(phases.get(name)) for name in NAMES) + " |")
    return "\n".join(lines)


def _cell(told: dict[str, float] | None) -> str:
    if told is None:
        return "not run"
    memory = f", {told['memory_mb']:.0f} MB" if "memory_mb" in told else ""
    laid = ", laid down" if told.get("laid") else ""
    return f"{told['processor_s']:.1f} s ({told['seconds']:.0f} at load {told['load']:.0f}){memory}{laid}"


def main() -> None:
    found = read(Path(sys.argv[1]))
    (DOCS / "scale.svg").write_text(plot(found).svg() + "\n")
    page, new = DOCS / "scale.md", f"<!-- measured -->\n\n{table(found)}\n\n<!-- end -->"
    page.write_text(
        re.sub(r"<!-- measured -->.*<!-- end -->", lambda _: new, page.read_text(), flags=re.DOTALL)
    )
    print(table(found))


if __name__ == "__main__":
    main()
