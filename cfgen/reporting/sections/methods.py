"""How all of it was made, in sentences for a paper, and what broke on the way."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cfgen.core.files import read_each
from cfgen.core.machine import environment
from cfgen.core.network import without_secrets
from cfgen.records import Fault, JudgeRun
from cfgen.reporting.data import ReportData
from cfgen.reporting.footnotes import describe_judge
from cfgen.reporting.section import Section, Table
from cfgen.version import __version__

_NAMED = 12


def left_out(section: str, title: str, fault: Fault) -> Section:
    """In the place of a section that broke."""
    return Section(id=section, title=title, lead=(f"This section was left out: {fault}",))


def faults_section(data: ReportData, own: Sequence[Fault]) -> Section:
    """``own``: what broke while this report was made."""
    groups = {
        "in planners' answers and verdicts": [(f.kind, str(f)) for f in data.faults],
        "in this report": [(f.kind, str(f)) for f in own],
        "records that cannot be read": [("damaged record", words) for words in data.damaged],
    }
    rows = [
        {
            "where": where,
            "cause": kind,
            "for example": next(words for k, words in faults if k == kind),
            "N": str(count),
        }
        for where, faults in groups.items()
        for kind, count in Counter(kind for kind, _ in faults).most_common(_NAMED)
    ]
    note = (
        "A fault is neither the planner's nor the judge's: cfgen, or something it called, broke. The answers "
        "and verdicts count in no rate, and in the column 'faults' of the leaderboard."
    )
    return Section(
        id="faults",
        title="Faults",
        lead=tuple(f"{len(faults)} {where}." for where, faults in groups.items() if faults),
        tables=Table.of("faults", "Faults, by where they happened and what broke", rows, 3, note),
        figures={
            "faults": [f.model_dump(mode="json") for f in data.faults],
            "report_faults": [f.model_dump(mode="json") for f in own],
            "damaged": list(data.damaged),
        },
    )


# --- how all of it was made, in sentences for a paper's appendix: every option, version, seed and statistic

#: of a hash, as it is told here
_SHORT = 12
_NAMES = {
    "python": "Python",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "opencv-python": "OpenCV",
    "pillow": "Pillow",
    "pydantic": "Pydantic",
}
_STATISTICS = (
    "Rates have Wilson's 95% intervals; differences have Tango's score interval (1998) with a continuity correction of "
    "a quarter of a pair, with variances between blocks of cases ({blocks}) and Student's t for few "
    "of them; other means have bootstrap percentiles (4,000 draws, seed 0). Planners are compared on shared cases by "
    "McNemar's exact test with Holm's correction. A failed answer counts against its planner; unknown and failed "
    "verdicts are excluded and counted."
)


def methods_section(data: ReportData) -> Section:
    """One paragraph a step: benchmark, planners, judges, statistics."""
    paragraphs = (
        _benchmark(data),
        *(_planner(data, planner) for planner in data.planners),
        *_judges(data),
        _STATISTICS.format(blocks=data.blocks[1]),
        _here(),
    )
    return Section(
        id="methods",
        title="Methods, for an appendix",
        lead=paragraphs,
        figures={"methods": "\n\n".join(paragraphs)},
    )


def _benchmark(data: ReportData) -> str:
    bench = data.benchmark
    by = Counter(
        f"{case.provenance.inpainter} {case.provenance.inpainter_version} (cfgen {case.provenance.cfgen_version})"
        for case in data.cases
    )
    sources = Counter(
        f"{scene.source or 'unknown'} ({scene.license or 'no licence told'})"
        for scene in data.scenes.values()
    )
    options = {
        "hazards": list(bench.hazards) or "all",
        "inpainter options": dict(bench.inpainter_options),
        "guide": bench.guide,
        "masks": f"{bench.masks} {_in_words(bench.masks_options)}".strip(),
        "detector": f"{bench.detector} {_in_words(bench.detector_options)}".strip(),
        "own gates": dict(bench.gates),
        "where": bench.sampling.where if bench.sampling else "",
    }
    blurred = sum("anonymized" in case.provenance.report for case in data.cases)
    return (
        f"The benchmark holds {len(data.case_ids)} counterfactual cases of {bench.n} asked for, in {len(data.scenes)} "
        f"scenes ({_counted(sources)}); {len(data.rejections)} pairs of scene and hazard were rejected. It was built "
        f"with cfgen {bench.cfgen_version}, seed {bench.seed}, taxonomy {_short(bench.taxonomy_hash)}; road mask by "
        f"'{bench.perception}' ({_in_words(bench.perception_identity)}); drawn by {_counted(by)}; required "
        f"deceleration {bench.decel_band[0]:g} to {bench.decel_band[1]:g} m/s^2; control scenes: "
        f"{', '.join(bench.controls) or 'none'}; other distances: "
        f"{', '.join(f'{d:g}' for d in bench.distances) or 'none'}; "
        f"{_in_words({k: v for k, v in options.items() if v})}."
        f" {_building(data)}"
        f"{f' Faces and plates were blurred in the frames of {blurred} cases.' if blurred else ''}"
    )


def _building(data: ReportData) -> str:
    """Of the build, what is on record besides its options: the network and the tries that it took."""
    report = data.store.build_report()
    attempt_counts = [len(record.attempts) for many in (data.cases, data.rejections) for record in many]
    tries = Counter(filter(None, attempt_counts))
    attempts = ", ".join(f"{count} took {n}" for n, count in sorted(tries.items())) or "not on record"
    network = "not on record" if report is None else report.network or "everything could be reached"
    return (
        f"Attempts at the {len(attempt_counts)} pairs tried: {attempts}; network in the last build: "
        f"{network}; made with: {_versions(report.environment if report else {}) or 'not on record'}."
    )


def _versions(environment: Mapping[str, str]) -> str:
    return ", ".join(f"{_NAMES.get(name, name)} {version}" for name, version in environment.items())


def _here() -> str:
    versions = environment()
    system, _ = versions.pop("system"), versions.pop("cfgen", "")
    return f"This report was made by cfgen {__version__} with {_versions(versions)}, on {system}."


def _planner(data: ReportData, planner: str) -> str:
    run = data.runs.get(planner)
    answers = [
        (answer.status, len(answer.plan.waypoints) if answer.plan else 0) for answer in data.rollouts[planner]
    ]
    steps = {n for _, n in answers if n}
    horizon = " or ".join(f"{0.25 * n:g} s" for n in sorted(steps)) or "none: no plan"
    failed = sum(status != "ok" for status, _ in answers)
    words = (
        f"Planner '{planner}' was asked in the scenes original, {', '.join(data.arms(planner)) or 'none'}; horizon "
        f"{horizon} at 4 Hz; {failed} of {len(answers)} answers failed; graded: {data.sample(planner)}"
    )
    if run is None:
        return f"{words}. What it was asked is not on record."
    return (
        f"{words}. Given as '{run.spec}', {run.repeats} answers a scene, seed {run.seed}, "
        f"needs {_in_words({k: v for k, v in run.needs.items() if v})}, process: "
        f"{run.isolation or 'not recorded'}, network: {_all(run.network)}, "
        f"sight: {_all(run.sight)}; fingerprint {_in_words(run.fingerprint)}."
    )


def _judges(data: ReportData) -> Iterable[str]:
    records = read_each(sorted(data.store.root.glob("verdicts/*/judge.json")), JudgeRun)
    runs = {run.judge: run for _, run in records if isinstance(run, JudgeRun)}
    for judge in data.judges:
        words = f"J{describe_judge(data, judge)[1:]}"
        if run := runs.get(judge):
            words += (
                f"; given as '{run.spec}', wording {_short(run.rubric_hash)}, options {_in_words(run.options)}, "
                f"network: {_all(run.network)}"
            )
        calibrated = (
            "calibrated against people" if judge in data.calibrations else "not calibrated against people"
        )
        yield f"{words}; {calibrated}. Scores are 0, 1 or 2; a 2 is a success."


def _all(words: Iterable[str]) -> str:
    return ", ".join(word or "everything" for word in words) or "not recorded"


def _counted(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{n} of {name}" for name, n in sorted(counts.items()))


def _in_words(values: Mapping[str, Any]) -> str:
    def one(value: Any) -> str:
        if isinstance(value, Mapping):
            return f"({_in_words(value)})"
        if isinstance(value, (list, tuple)):
            return "+".join(map(str, value))
        return _short(value) if isinstance(value, str) else str(value)

    return ", ".join(f"{key} {one(value)}" for key, value in values.items()) or "none"


def _short(text: str) -> str:
    return text.removeprefix("sha256:")[:_SHORT] if text.startswith("sha256:") else without_secrets(text)
