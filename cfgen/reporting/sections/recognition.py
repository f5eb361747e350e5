"""What a detector takes the hazards for: nobody can be blamed for missing what cannot be recognized."""

from collections import defaultdict
from statistics import median

from cfgen.benchmark.detector_gates import GATE, LARGE_PX
from cfgen.metrics.rates import Rate
from cfgen.records import Case
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.reporting.table import Table


def recognition_section(data: ReportData) -> Section:
    """Recognition by hazard, where the build asked a detector that records it."""
    found: dict[str, list[tuple[float | None, float]]] = defaultdict(list)
    for case in data.cases:
        for gate in case.gates:
            if gate.gate == GATE:
                found[case.hazard.name].append((gate.value, _height(case)))
    rows = [(name, *_words(results)) for name, results in sorted(found.items(), key=_least_known)]
    judged = [value for results in found.values() for value, _ in results if value is not None]
    unjudged = sum(len(results) for results in found.values()) - len(judged)
    seen = Rate.of(sum(value > 0 for value in judged), len(judged))
    lead = (
        f"The detector of this build sees {seen.hits:g} of {seen.n} hazards as what they are"
        + (f"; {unjudged} are of no class that it knows and are not judged." if unjudged else "."),
    )
    table = Table(
        name="recognition",
        title="Hazards that a detector recognizes",
        columns=(
            "hazard",
            "recognized %",
            "95% interval",
            "N",
            f"of these {LARGE_PX:g} px and more",
            "median height px",
        ),
        rows=tuple(rows),
        note="Looked at in a window around the hazard, in the edited frame. '-': not judged, since none of the "
        "detector's classes fits. Vehicles and upright people that were large enough and not seen never became cases.",
    )
    return Section(
        id="recognition",
        title="Recognition",
        lead=lead if found else (),
        tables=(table,) if rows else (),
        figures={"recognition": {name: [value for value, _ in results] for name, results in found.items()}},
    )


def _height(case: Case) -> float:
    return case.placement.box_px[3] - case.placement.box_px[1]


def _least_known(item: tuple[str, list[tuple[float | None, float]]]) -> tuple[float, str]:
    """What is recognized least comes first, what is not judged last."""
    judged = [value > 0 for value, _ in item[1] if value is not None]
    return (sum(judged) / len(judged) if judged else 2.0), item[0]


def _words(results: list[tuple[float | None, float]]) -> tuple[str, ...]:
    judged = [(value, height) for value, height in results if value is not None]
    tall = f"{median(height for _, height in results):.0f}"
    if not judged:
        return "-", "-", "0", "-", tall
    rate = Rate.of(sum(value > 0 for value, _ in judged), len(judged))
    large = [value > 0 for value, height in judged if height >= LARGE_PX]
    return rate.percent(), rate.interval(), str(rate.n), f"{sum(large)}/{len(large)}" if large else "-", tall
