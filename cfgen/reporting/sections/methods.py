"""How all of it was made, in sentences for a paper's appendix: every option, version, seed and statistic."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from cfgen.core.environment import environment
from cfgen.core.files import read_each
from cfgen.core.network import without_secrets
from cfgen.records import JudgeRun
from cfgen.reporting.basis import judge_words
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.version import __version__

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
    "Rates have Wilson's 95% intervals; differences have Wilson's of both sides joined by their correlation (Newcombe "
    "1998, method 10; Zou and Donner 2008), with variances between blocks of cases ({blocks}) and Student's t for few "
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
    made = data.benchmark
    by = Counter(
        f"{case.provenance.inpainter} {case.provenance.inpainter_version} (cfgen {case.provenance.cfgen_version})"
        for case in data.cases
    )
    sources = Counter(
        f"{scene.source or 'unknown'} ({scene.license or 'no licence told'})"
        for scene in data.scenes.values()
    )
    options = {
        "hazards": list(made.hazards) or "all",
        "inpainter options": dict(made.inpainter_options),
        "guide": made.guide,
        "masks": f"{made.masks} {_told(made.masks_options)}".strip(),
        "detector": f"{made.detector} {_told(made.detector_options)}".strip(),
        "own gates": dict(made.gates),
        "where": made.sampling.where if made.sampling else "",
    }
    blurred = sum("anonymized" in case.provenance.report for case in data.cases)
    return (
        f"The benchmark holds {len(data.case_ids)} counterfactual cases of {made.n} asked for, in {len(data.scenes)} "
        f"scenes ({_counted(sources)}); {len(data.rejections)} pairs of scene and hazard were refused. It was built "
        f"with cfgen {made.cfgen_version}, seed {made.seed}, taxonomy {_short(made.taxonomy_hash)}; road seen by "
        f"'{made.perception}' ({_told(made.perception_identity)}); drawn by {_counted(by)}; required deceleration "
        f"{made.decel_band[0]:g} to {made.decel_band[1]:g} m/s^2; control arms: {', '.join(made.controls) or 'none'}; "
        f"other distances: {', '.join(f'{d:g}' for d in made.distances) or 'none'}; "
        f"{_told({k: v for k, v in options.items() if v})}."
        f" {_building(data)}"
        f"{f' Faces and plates were blurred in the frames of {blurred} cases.' if blurred else ''}"
    )


def _building(data: ReportData) -> str:
    """Of the build, what is on record besides its options: the network and the tries that it took."""
    report = data.store.build_report()
    tried = [len(one.attempts) for many in (data.cases, data.rejections) for one in many]
    tries = Counter(filter(None, tried))
    attempts = ", ".join(f"{count} took {n}" for n, count in sorted(tries.items())) or "not on record"
    network = "not on record" if report is None else report.network or "everything could be reached"
    return (
        f"Attempts at the {len(tried)} pairs tried: {attempts}; network in the last build: "
        f"{network}. {_made_with(report.environment if report else {})}"
    )


def _made_with(found: Mapping[str, str]) -> str:
    if not found:
        return "Versions of Python, OpenCV, NumPy and Pillow in the build are not on record."
    said = ", ".join(f"{_NAMES.get(name, name)} {version}" for name, version in found.items())
    return f"The last build had {said}."


def _here() -> str:
    found = environment()
    system = found.pop("system")
    said = ", ".join(
        f"{_NAMES.get(name, name)} {version}" for name, version in found.items() if name != "cfgen"
    )
    return f"This report was made by cfgen {__version__} with {said}, on {system}."


def _planner(data: ReportData, planner: str) -> str:
    run = data.runs.get(planner)
    found = [
        (answer.status, len(answer.plan.waypoints) if answer.plan else 0) for answer in data.rollouts[planner]
    ]
    steps = {n for _, n in found if n}
    horizon = " or ".join(f"{0.25 * n:g} s" for n in sorted(steps)) or "none: no plan"
    failed = sum(status != "ok" for status, _ in found)
    said = (
        f"Planner '{planner}' was asked in the arms original, {', '.join(data.arms(planner)) or 'none'}; horizon "
        f"{horizon} at 4 Hz; {failed} of {len(found)} answers failed; graded: {data.sample(planner)}"
    )
    if run is None:
        return f"{said}. What it was asked is not on record."
    return (
        f"{said}. Given as '{run.spec}', {run.repeats} answers an arm, seed {run.seed}, floor '{run.floor or 'mean'}', "
        f"needs {_told({k: v for k, v in run.needs.items() if v})}, process: {run.isolation or 'not told'}, network: "
        f"{_all(run.network)}, sight: {_all(run.sight)}; fingerprint {_told(run.fingerprint)}."
    )


def _judges(data: ReportData) -> Iterable[str]:
    found = read_each(sorted(data.store.root.glob("verdicts/*/judge.json")), JudgeRun)
    runs = {run.judge: run for _, run in found if isinstance(run, JudgeRun)}
    for judge in data.judges:
        words = f"J{judge_words(data, judge)[1:]}"
        if run := runs.get(judge):
            words += (
                f"; given as '{run.spec}', wording {_short(run.rubric_hash)}, options {_told(run.options)}, "
                f"network: {_all(run.network)}"
            )
        calibrated = (
            "calibrated against people" if judge in data.calibrations else "not calibrated against people"
        )
        yield f"{words}; {calibrated}. Scores are 0, 1 or 2; a 2 is a success."


def _all(words: Iterable[str]) -> str:
    return ", ".join(word or "everything" for word in words) or "not told"


def _counted(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{n} of {name}" for name, n in sorted(counts.items()))


def _told(values: Mapping[str, Any]) -> str:
    def one(value: Any) -> str:
        if isinstance(value, Mapping):
            return f"({_told(value)})"
        if isinstance(value, (list, tuple)):
            return "+".join(map(str, value))
        return _short(value) if isinstance(value, str) else str(value)

    return ", ".join(f"{key} {one(value)}" for key, value in values.items()) or "none"


def _short(text: str) -> str:
    return text.removeprefix("sha256:")[:_SHORT] if text.startswith("sha256:") else without_secrets(text)
