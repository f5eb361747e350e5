"""``cfgen judge`` and ``cfgen planner``: judges looked at before they are trusted, and planners of one's own."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App

from cfgen import library
from cfgen.cli.parsing import add, group
from cfgen.cli.stories import show_run
from cfgen.core.errors import InputError, Shortfall
from cfgen.core.options import Bench, NewFolder, Place
from cfgen.core.sanitize import visible
from cfgen.options import DEFAULT_RUBRIC, Rubric

if TYPE_CHECKING:
    from cfgen.library.benchmark import Run
    from cfgen.library.rescoring import Rescoring
    from cfgen.records import Calibration, Dimension, ProbeKind, ProbeRun, RaterAgreement


def register(app: App) -> None:
    judge = group("judge", "Print, run, validate, rescore and calibrate judges.")
    add(judge, _prompt)
    add(judge, library.judge_answers, _show_runs, name="run")
    add(judge, library.probe, _show_probe, name="validate")
    add(judge, library.rescore, _show_rescoring)
    add(judge, library.calibrate, _show_calibration)
    app.command(judge)
    planner = group(
        "planner", "Start a package for a planner of your own, or export what one elsewhere is asked."
    )
    add(planner, _init)
    add(planner, library.export_inputs, _show_inputs, name="export-inputs")
    app.command(planner)


# --- planners --------------------------------------------------------------------------------------------


def _init(folder: NewFolder) -> int:
    """Write a small installable planner package."""
    from cfgen.planners.check import write_package

    for path in write_package(Path(folder)):
        print(path)
    name = Path(folder).resolve().name.replace("_", "-").lower()
    print(f"Next: pip install -e {folder} && cfgen score bench --planner {name}")
    print("in an environment of its own: the same, with --python VENV/bin/python")
    return 0


def _show_inputs(questions: int, *, bench: Path, out: Path) -> int:
    print(f"{questions} questions in {out}/inputs.jsonl. Answer each with one line of JSON:")
    print('  {"id": "<id of the question>", "text": "...", "waypoints": [[x, y, theta], ...]}')
    print(f"then: cfgen score {bench} --planner answers.jsonl")
    return 0


# --- judges ----------------------------------------------------------------------------------------------


def _prompt(
    bench: Bench | None = None,
    case: Annotated[str, "The case's id, as in cases/ab/<id>."] = "",
    *,
    rubric: Rubric = DEFAULT_RUBRIC,
    form: Annotated[Literal["tags", "json"], "Shape of the answer."] = "tags",
    planner: Annotated[str, "Whose answers (default: the first that answered)."] = "",
    arm: Annotated[str, "The version that is judged."] = "hazard",
    out: Annotated[Place | None, "New folder for the request (default: request-CASE)."] = None,
) -> int:
    """Print what a judge is asked, word for word; of a benchmark's case, write the whole request, with its pictures."""
    from cfgen.judge.rubrics.registry import create_rubric, find_rubric
    from cfgen.judge.run import write_request

    if bench is not None:
        folder = Path(out or f"request-{case}")
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(
                f"{folder}: expected a new or empty folder, found other files; choose another --out"
            )
        for path in write_request(Path(bench), case, folder, create_rubric(str(rubric)), form, planner, arm):
            print(path)
        return 0
    wording = find_rubric(str(rubric))
    print(f"rubric {wording.id.name}, version {wording.id.version}, {wording.id.hash}\n")
    print(wording.system(form))
    print("Then, in this order:\n")
    print("\n".join(wording.headings))
    return 0


def _show_runs(runs: "list[Run]", *, bench: Path) -> int:
    shown = [show_run(run) for run in runs]
    if short := [f"{summary.planner}: {why}" for summary, why in shown if why]:
        raise Shortfall(visible("; ".join(short)))
    print(f"Next: cfgen report {bench}")
    return 0


def _show_probe(probe: "ProbeRun", *, kinds: object) -> int:
    print(probe_table(probe))
    if probe.faults:
        print(f"{len(probe.faults)} faults, the first: {probe.faults[0]}")
        return 1
    if probe.half == "tune":
        print("Free answers of the tuning half do not make a judge tested; leave --half out for that")
        return 0
    if kinds or probe.enough:
        return 0
    print("Too little to call the judge tested; needed are")
    print("\n".join(f"  {line}" for line in probe.lacks))
    return 1


def _show_rescoring(rescoring: "Rescoring") -> int:
    print(f"{rescoring.verdicts} verdicts read again, {len(rescoring.changed)} changed")
    for old, new in rescoring.changed[:10]:
        print(
            f"  {new.planner} {new.case_id}: {old.status} {dict(old.scores)} -> {new.status} {dict(new.scores)}"
        )
    for line in rescoring.broke[:10]:
        print(f"  left as it was: {line}")
    if rescoring.broke:
        count = rescoring.verdicts + len(rescoring.broke)
        print(f"{len(rescoring.broke)} of {count} could not be read again")
    return 1 if rescoring.broke else 0


def _show_calibration(calibration: "Calibration", *, benchmarks: object) -> int:
    print(calibration_table(calibration))
    if not benchmarks:
        print("Not checked against a benchmark: these scenes must not be in one that this judge scores.")
    for line in calibration.damaged:
        print(f"Damaged, left out of it: {line}")
    return 1 if calibration.damaged else 0


def calibration_table(calibration: "Calibration") -> str:
    """What came of a calibration, for a terminal."""
    from cfgen.records import DIMENSIONS

    scored = calibration.n - calibration.unscored
    lines = [
        f"{calibration.n} answers rated by {len(calibration.raters)}; judge '{calibration.judge}' scored {scored}"
    ]
    for dimension in DIMENSIONS:
        agreement = calibration.against_people[dimension]
        split = _left_out(calibration.split.get(dimension, 0))
        lines += [
            "",
            f"{dimension}: judge against the majority of people, n = {agreement.n}{split}",
            f"  accuracy {_with_interval(agreement.accuracy, agreement.accuracy_interval)}",
            f"  kappa {_with_interval(agreement.kappa, agreement.kappa_interval)}, "
            f"quadratic {_with_interval(agreement.quadratic, agreement.quadratic_interval)}",
            f"  recall of failures (0): {_with_interval(agreement.recall[0], agreement.recall_interval[0])}",
            "  people \\ judge      0     1     2",
        ]
        lines += [
            f"  {i:>14}  " + " ".join(f"{v:>5}" for v in row) for i, row in enumerate(agreement.confusion)
        ]
        lines += [
            f"  {pair}: kappa {_with_interval(c.kappa, c.kappa_interval)}, quadratic "
            f"{_with_interval(c.quadratic, c.quadratic_interval)}, n = {c.n}"
            for pair, c in calibration.pairs[dimension].items()
        ]
    return "\n".join(lines)


def _left_out(split: int) -> str:
    return (
        f" ({split} more left out: people are split, so the figures are of the clearer answers)"
        if split
        else ""
    )


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.2f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")


def probe_table(probe: "ProbeRun") -> str:
    """What came of a probe, for a terminal."""
    from cfgen.records import DIMENSIONS

    width = max(map(len, probe.kinds))

    def row(label: str, n: object, value: "Callable[[Dimension], str]", why: str = "") -> str:
        return f"{label:<{width}}  {n:>4}  {'  '.join(f'{value(d):>8} ' for d in DIMENSIONS)} {why}".rstrip()

    lines = [f"{'right answers':<{width}}     n  " + "  ".join(f"{d:>9}" for d in DIMENSIONS)]
    for name, kind in probe.kinds.items():
        why = "; ".join(f"{count} not asked: {reason}" for reason, count in kind.left_out.items())
        lines.append(row(name, kind.n, partial(_share, kind), why))
    lines.append(row("all", probe.n, lambda d: _or_undefined(probe.accuracy.get(d), ".1%")))
    agreement = probe.agreement
    lines.append(row("quadratic kappa", "", lambda d: _or_undefined(agreement[d].quadratic, ".2f")))
    for score in (0, 1, 2):
        recall = partial(_recall, agreement, score)
        lines.append(row(f"recall of {score}", "", recall))
    lines += [line for free in (False, True) for line in _twos(probe, free)]
    lines.append(f"UNKNOWN where nothing was added: {_or_undefined(probe.unknown_found, '.0%')}")
    if probe.failed:
        lines.append(f"{probe.failed} of {probe.n} got no usable reply and count as wrong")
    lines.append(f"{probe.cases} cases, each asked about in at least {probe.fewest_kinds} kinds of answers")
    return "\n".join(lines)


def _recall(agreement: "Mapping[Dimension, RaterAgreement]", score: int, dimension: "Dimension") -> str:
    return _or_undefined(agreement[dimension].recall[score], ".0%")


def _share(kind: "ProbeKind", dimension: "Dimension") -> str:
    judged = kind.n - kind.unjudged.get(dimension, 0)
    return f"{kind.right[dimension] / judged:.0%}" if judged else "-"


def _twos(probe: "ProbeRun", free: bool) -> list[str]:
    """False and missed 2s, apart: what a success rate is made of."""
    from cfgen.records import DIMENSIONS

    words = []
    for dimension in DIMENSIONS:
        false, negatives, missed, due = probe.twos(dimension, free)
        if negatives or due:
            words.append(f"{dimension} {false} of {negatives} false, {missed} of {due} missed")
    name = f"free answers ({probe.half})" if free else "scripted answers"
    return [f"2s on {name}: {'; '.join(words)}"] if words else []


def _or_undefined(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
