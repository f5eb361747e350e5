"""Verified selection in one table: SEAL and VEGAS beside the plain planner and self-consistency, at what they cost."""

from collections.abc import Sequence
from statistics import mean, median
from typing import Any

from cfgen.metrics.faithfulness import Balanced
from cfgen.metrics.rates import Rate
from cfgen.metrics.success import success_row
from cfgen.records import DIMENSIONS, Rollout
from cfgen.reporting.data import ReportData
from cfgen.reporting.table import Table
from cfgen.traces.failures import synthetic

#: what a mode is called in the papers
_NAMES = {
    "early_exit": "SEAL, early exit",
    "best_of_n": "VEGAS, best of N",
    "self_consistency": "self-consistency",
    "random": "one of N at random",
    "oracle": "best of N with the truth",
    "": "plain",
}


def selection_table(data: ReportData) -> Table:
    """Every base planner that was also run with selection: a row for it and for each of its selections."""
    told = {planner: _told(data, planner) for planner in data.planners}
    bases = {str(one["base"]) for one in told.values() if one.get("base")}
    chosen = sorted(
        (p for p in data.planners if told[p].get("base") or p in bases),
        key=lambda p: (told[p].get("base") or p, p not in bases, _calls(data, p), p),
    )
    return Table(
        name="selection",
        title="Verified selection, at what it costs",
        columns=(
            *("base", "planner", "selection", "calls", "of them plans", *(f"{d} %" for d in DIMENSIONS)),
            *("contact %", "seconds", "N", "verifier", "its balanced accuracy", "synthetic failures found"),
        ),
        rows=tuple(_row(data, p, told[p]) for p in chosen),
        words=3,
        note="Compare rows with as many calls (plans and verifications together, mean of an answer). Contact: of the "
        "plans with the hazard, as a car drives them. Seconds: median of an answer. The verifier's balanced accuracy "
        "on E4 and E5 is that of cfgen traces probe here; untested where there was none. Synthetic failures: plans "
        "that do another thing, too little, too late or half of what their words say.",
    )


def _row(data: ReportData, planner: str, told: dict[str, Any]) -> tuple[str, ...]:
    asked = _asked(data, planner)
    judge = data.main_judge
    verdicts = data.verdicts_of(judge, planner, "hazard")
    row = success_row(planner, judge, "hazard", verdicts, scores=data.scores(judge))
    drives = data.drives(planner, "hazard")
    driven = [key for key in drives if drives.has(key)]
    contact = Rate.of(sum(data.met(planner, "hazard", key).collides for key in driven), len(driven))
    plans = [_number(r, "plan_calls", 1.0) for r in asked]
    verifier = str(told.get("verifier") or "")
    return (
        str(told.get("base") or planner),
        planner,
        _NAMES.get(str(told.get("mode", "")), str(told.get("mode", ""))),
        f"{_calls(data, planner):.1f}",
        f"{mean(plans):.1f}" if plans else "-",
        *(row.rates[d].percent() for d in DIMENSIONS),
        contact.percent(),
        f"{median(r.latency_s for r in asked):.3g}" if asked else "-",
        str(len(asked)),
        verifier or "-",
        *_tested(data, verifier),
    )


def _tested(data: ReportData, verifier: str) -> tuple[str, str]:
    if not verifier:
        return "-", "-"
    probe = next((p for p in data.edge_probes if p.model.startswith(f"verifier {verifier},")), None)
    count = probe.edges.get("E4 and E5") if probe else None
    found = Balanced.of(*count.recalls) if count else None
    if probe is None or found is None or found.value is None:
        return "untested", "untested"
    failed = [kind for name, kind in probe.kinds.items() if synthetic(name)]
    share = f"{sum(k.right for k in failed)} of {sum(k.n for k in failed)}"
    return f"{found.value:.3f} ({found.low:.3f}-{found.high:.3f})", share


def _asked(data: ReportData, planner: str) -> Sequence[Rollout]:
    return data.rollouts[planner].of_arm("hazard")


def _told(data: ReportData, planner: str) -> dict[str, Any]:
    """What a selecting planner reports of itself; {} of any other."""
    found = (r.report.get("verified") for r in _asked(data, planner))
    return next((one for one in found if isinstance(one, dict)), {})


def _calls(data: ReportData, planner: str) -> float:
    """Mean calls of an answer, of the planner and of its verifier; 1 where it reports none."""
    each = [_number(r, "plan_calls", 1.0) + _number(r, "verifier_calls", 0.0) for r in _asked(data, planner)]
    return mean(each) if each else 1.0


def _number(rollout: Rollout, name: str, otherwise: float) -> float:
    told = rollout.report.get("verified")
    value = told.get(name) if isinstance(told, dict) else None
    return float(value) if isinstance(value, int | float) else otherwise
