"""``cfgen inpainter list`` and its like: what can be chosen by name, what it needs, whether that is here."""

import argparse
import importlib
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cfgen.core.registry import Entry, Registry

#: command -> (what its names are for, where the registry is)
_LISTS = {
    "inpainter": ("draw hazards: cfgen build --inpainter NAME", "cfgen.inpaint.registry:INPAINTERS"),
    "masks": (
        "cut things out of frames: cfgen build --masks NAME",
        "cfgen.perception.detector_registry:SEGMENTERS",
    ),
    "detector": (
        "find what was added: cfgen build --detector NAME",
        "cfgen.perception.detector_registry:DETECTORS",
    ),
    "perception": (
        "see the road in frames: cfgen build --perception NAME",
        "cfgen.perception.registry:PERCEIVERS",
    ),
    "engine": (
        "do the work side by side: cfgen build, score, traces --engine NAME",
        "cfgen.core.engines.registry:ENGINES",
    ),
    "gates": ("say whether an edit becomes a case, in this order", "cfgen.benchmark.gates:GATES"),
    "anonymizer": (
        "find faces and plates to blur: cfgen scenes import --anonymize NAME",
        "cfgen.scenes.anonymize:ANONYMIZERS",
    ),
    "rubric": (
        "say what a judge is asked: cfgen score, cfgen traces --rubric NAME",
        "cfgen.judge.rubrics.registry:RUBRICS",
    ),
    "metrics": ("measure pairs of plans for the report", "cfgen.metrics.registry:METRICS"),
    "sections": ("are the parts of a report, in this order", "cfgen.reporting.registry:SECTIONS"),
}


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    for command, (what, path) in _LISTS.items():
        parser = subparsers.add_parser(command, help=f"list those that {what}")
        commands = parser.add_subparsers(metavar="COMMAND", required=True)
        listing = commands.add_parser("list", help="name, where it is from, what it needs, what it does")
        listing.set_defaults(func=partial(_list, path))


def _list(path: str, arguments: argparse.Namespace) -> int:
    module, _, name = path.partition(":")
    print_list(getattr(importlib.import_module(module), name))
    return 0


def print_list(registry: "Registry", more: dict[str, str] | None = None) -> None:
    """One line for each name; ``more``: what can be given instead of a name, and what that is."""
    rows = [(e.name, e.source, needs(e), e.problem or e.summary) for e in registry.entries()]
    rows += [(name, "", "", what) for name, what in (more or {}).items()]
    rows.insert(0, ("name", "from", "needs", "what it is"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        print(
            "  ".join(
                [*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]
            ).rstrip()
        )
    print(f"Third parties add theirs under the entry-point group '{registry.group}'.")


def needs(entry: "Entry") -> str:
    """What it needs beyond the base install, and whether that is here."""
    if entry.problem:
        return "broken"
    if entry.extra is None:
        return "-"
    return f"{entry.extra.label} ({'missing' if entry.extra.missing else 'here'})"
