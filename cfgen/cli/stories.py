"""``cfgen build``, ``score``, ``report``, ``try``, ``run`` and ``bench``."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from cfgen import library
from cfgen.cli.parsing import add, group
from cfgen.core.errors import InputError, Shortfall
from cfgen.core.options import Bench, NewFolder, Place, Quiet
from cfgen.core.sanitize import visible

if TYPE_CHECKING:
    from cfgen.benchmark.verifying import Verification
    from cfgen.library.benchmark import Benchmark, Run
    from cfgen.library.one_picture import Tried
    from cfgen.records import BuildReport
    from cfgen.report import Report
    from cfgen.rollouts.summary import ScoreSummary


def register(app: App) -> None:
    add(app, library.build, _show_build)
    add(app, library.score, _show_score)
    add(app, library.report, _show_report)
    add(app, library.try_picture, _show_try, name="try")
    add(app, _run, name="run")
    bench = group("bench", "Verify, show or merge benchmark directories.")
    add(bench, library.verify, _show_verification)
    add(bench, _show_case, name="show")
    add(bench, library.merge, _show_merge)
    app.command(bench)


# --- build -----------------------------------------------------------------------------------------------


def _show_build(built: "Benchmark", *, out: Path, definition: str, shard: str) -> int:
    if built.built:
        _show_tally(built.built, out)
    missing = Counter(arm for case in built for arm in case.record.arms_missing)
    for arm, count in sorted(missing.items()):
        print(f"\narm '{arm}' is missing in {count} of {len(built)} cases; each case.json says why")
    if definition:
        print(f"\n{len(built)} cases in {out}, each as '{definition}' tells")
        return 0
    if built.part_done:
        print(f"\nshard {shard} is done: {len(built)} cases in {out}. When all are:")
        print("  cfgen bench merge OUT SHARD SHARD ...")
        return 0
    if built.shortfall:
        raise Shortfall(built.shortfall)
    print(f"\n{len(built)} cases in {out}{spread(built)}. Next: score a planner on them, for example")
    print(f"  cfgen score {out} --planner cruise")
    print(f"  cfgen report {out}")
    return 0


def spread(built: "Benchmark") -> str:
    """Where the cases are of fewer scenes than could be."""
    scenes, giving = set(built.record.scenes), {case.record.scene_id for case in built}
    return f", of {len(giving)} of {len(scenes)} scenes" if len(giving) < min(len(built), len(scenes)) else ""


def _show_tally(summary: "BuildReport", out: Path) -> None:
    print(f"road seen by: {summary.perception}\n")
    print("hazard                          accepted  tried")
    for hazard, (accepted, attempts) in summary.acceptance.items():
        print(f"{hazard:<32}{accepted:>8}{attempts:>7}")
    _show_counts("refused, by reason (numbers as #):", summary.reasons)
    if summary.faults:
        print(
            "\nfaults: these broke and are no refusals; what was lost was replaced where there were pairs left:"
        )
        for kind in summary.faults:
            print(f"{kind.count:>6}  {kind.kind}, for example in {kind.places[0]}:\n        {kind.example}")
        print(
            f"  each is recorded with what reproduces it below {out}; --strict ends at the first with its "
            "traceback, --retry-faults tries lost pairs again"
        )
    if summary.spent:
        from cfgen.models.limits import in_words

        print(f"\nspent on inpainting so far: {in_words(summary.spent)}")
    for scene, fault in summary.unusable_scenes.items():
        print(f"cfgen: warning: scene {scene} left out: {fault}", file=sys.stderr)
    if summary.undrawable:
        print(f"\nleft out, this inpainter has no model for them: {', '.join(summary.undrawable)}")


def _show_counts(title: str, counts: "dict[str, int]") -> None:
    if counts:
        print(f"\n{title}")
    for reason, count in counts.items():
        print(f"{count:>6}  {reason}")


# --- score -----------------------------------------------------------------------------------------------


def _show_score(run: "Run", *, bench: Path) -> int:
    """What came of a run, and how to ask again for what failed."""
    from cfgen.options import NOBODY

    summary, short = show_run(run)
    if short:
        raise Shortfall(visible(short))
    if summary.judge == NOBODY:
        print(f"Next: cfgen judge run {bench} --planners {summary.planner} --judge NAME")
    else:
        print(f"Next: cfgen report {bench}")
    return 0


def show_run(run: "Run") -> "tuple[ScoreSummary, str]":
    """Its summary, printed, and what it fell short of, in words."""
    from cfgen.judge.stored_verdicts import judge_failures, short_verdicts

    summary = run.summary
    assert summary is not None
    _show_answers(summary)
    _show_verdicts(summary)
    missing = judge_failures(short_verdicts(run.bench.store, summary.judge, summary.planner))
    for line in missing.lines("the same command with --retry-failed"):
        print(visible(line))
    return summary, summary.short() or ("verdicts are missing" if missing.short else "")


def _show_answers(summary: "ScoreSummary") -> None:
    failed = sum(f.count for f in summary.failures)
    faults = f", {len(summary.faults)} faults" if summary.faults else ""
    print(f"{summary.planner}: {summary.rollouts} answers, {failed} failed{faults}")
    for failure in summary.failures:
        print(visible(f"{failure.count:>6}  {failure.words}, for example: {failure.example}"))
    mendable = sum(f.count for f in summary.failures if f.mendable)
    if mendable:
        print(f"{mendable} of these may be mended by asking again: the same command with --retry-failed")
    if failed > mendable:
        print(
            f"{failed - mendable} of these are the planner's own and count against it; --retry-all asks them again"
        )
    if summary.cut:
        print(f"{summary.cut} answers were cut, as their words were longer than --max-answer-chars")
    for fault in summary.faults[:5]:
        print(visible(f"fault: {fault}"))
    if len(summary.faults) > 5:
        print(f"fault: and {len(summary.faults) - 5} more")


def _show_verdicts(summary: "ScoreSummary") -> None:
    if summary.judge == "none":
        print("answers are stored, none was judged")
    for kind, counts in (("", summary.verdicts), (" control pairs,", summary.shams)):
        verdicts = ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in sorted(counts.items()))
        if verdicts or not (kind or summary.judge == "none"):
            print(f"{summary.judge}:{kind} {verdicts or 'no verdicts'}")
    for line in _unjudged(summary) if summary.unjudged else ():
        print(visible(line))
    if summary.calibrated:
        print(
            f"{summary.judge}: calibrated on {summary.calibrated} answers that people rated, none of its scenes here"
        )
    for stage, rate in summary.followed.items():
        print(f"swaps followed, {stage}: {rate.percent()}% of {rate.n} (95% {rate.interval()})")


def _unjudged(summary: "ScoreSummary") -> list[str]:
    """What was not judged, and who could judge it."""
    names, left_out = " and ".join(summary.judged), " and ".join(summary.unjudged)
    return [
        f"{summary.judge}: {names} scored; {left_out} not scored",
        "To have them judged, serve a vision-language model on this machine behind an OpenAI-compatible address:",
        "  --judge openai --judge-options model=NAME --judge-options base_url=http://localhost:8000/v1",
        "then compare it with people who rate (cfgen app) by cfgen judge calibrate",
    ]


# --- report, try, run -------------------------------------------------------------------------------------


def _show_report(report: "Report") -> int:
    print(report.leaderboard.markdown())
    for line in report.headline:
        print(line)
    print(
        f"\n{report.cases} cases. Open {report.out / 'index.html'}; tables, plots and panels are beside it."
    )
    if report.faults:
        print(f"{report.faults} answers and verdicts are missing for faults; see the section Faults.")
    for line in report.left_out[:10]:
        print(f"Left out: {line}")
    if report.left_out:
        print(f"{len(report.left_out)} things were left out of the report")
    return 1 if report.left_out else 0


def _show_try(trial: "Tried") -> int:
    for line in trial.lines():
        print(visible(line))
    print(f"Picture: {trial.panel}")
    print(f"Next: cfgen report {trial.run.bench.path}")
    return 0 if trial.before.plan and trial.after.plan else 1


def _run(file: Annotated[Place, "experiment.yaml"], *, quiet: Quiet = False) -> int:
    """Build, score, judge and report as one file says."""
    from cfgen.library.run_experiment import run as run_experiment

    outcome = run_experiment(file, quiet=quiet)
    for run in outcome.runs:
        print(run)
    if outcome.report:
        print(f"\n{outcome.report.leaderboard}\nOpen {outcome.report.out / 'index.html'}")
    if outcome.shortfalls:
        raise Shortfall("; ".join(outcome.shortfalls))
    return 0


# --- bench -----------------------------------------------------------------------------------------------


def _show_verification(verification: "Verification", *, bench: Path) -> int:
    for fault in verification.faults:
        print(fault)
    if verification.unfinished:
        print(f"{bench}: {verification.unfinished}")
    if verification.faults:
        raise Shortfall(f"{len(verification.faults)} faults in {verification.files_checked} files")
    print(f"{bench}: {verification.files_checked} files, all as cfgen wrote them")
    return 0


def _show_merge(merged: "Benchmark", *, out: Path, shards: list[Path]) -> int:
    print(f"{len(merged)} of {merged.record.n} cases in {out}, from {len(shards)} folders")
    if not merged.planners:
        print(
            f"Next: the command of the shards with --out {out} and without --shard: it makes what is missing and ends "
            "the benchmark"
        )
    return 0


def _show_case(
    bench: Bench, case: Annotated[str, "The case's id, as in cases/ab/<id>."], *, out: NewFolder
) -> int:
    """Write the frames of a case whole, to look at."""
    from cfgen.benchmark.frames import write_whole
    from cfgen.core.files import read_record
    from cfgen.records import Case
    from cfgen.storage.store import Store

    store, folder = Store(Path(bench)), Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{out}: expected a new or empty folder, found other files; choose another --out")
    name = Path(case).name
    accepted, rejected = store.case_dir(name), store.rejected_dir(name)
    source = next((place for place in (accepted, rejected) if (place / "case.json").is_file()), None)
    if source is None and (rejected / "rejection.json").is_file():
        raise InputError(f"{rejected}: was refused before it was a case; its pictures lie there whole")
    if source is None:
        raise InputError(f"case: expected the id of a case in {store.root / 'cases'}, found '{case}'")
    written = write_whole(store, read_record(source / "case.json", Case), folder, source)
    print(f"{len(written)} pictures in {out}")
    return 0
