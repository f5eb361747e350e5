"""How far whoever checks traces can be trusted: the paper's Table 2 for any judge of edges, critic or verifier."""

from cfgen.metrics.faithfulness import Balanced
from cfgen.metrics.rates import Rate
from cfgen.records import EdgeProbe
from cfgen.records.known import ENOUGH_KNOWN
from cfgen.report_page.data import ReportData
from cfgen.report_page.table import Table


def edge_trust(data: ReportData) -> tuple[Table, tuple[str, ...]]:
    """The table, and a sentence about each checker whose verdicts this report shows."""
    rows = [
        (checker, name, *_words(probe, name))
        for checker, probe in data.edge_probes.items()
        for name in probe.edges
    ]
    table = Table(
        name="edge-probes",
        title="Judges of edges on known answers",
        columns=(
            *("checker", "edge", "balanced accuracy", "95% interval", "false consistent %"),
            *("95% interval", "false inconsistent %", "95% interval", "consistent + broken"),
        ),
        rows=tuple(rows),
        words=2,
        note="Traces whose right verdicts are known by construction and geometry (cfgen traces probe). Balanced "
        "accuracy: the mean of both recalls; what got no usable reply counts as wrong. Intervals take known answers as "
        "independent.",
    )
    checkers = sorted({(v.checker, v.rubric) for found in data.traces.values() for v in found})
    return table, tuple(
        _sentence(checker, rubric, data) for checker, rubric in checkers if rubric != "grounding"
    )


def _sentence(checker: str, rubric: str, data: ReportData) -> str:
    """Tested, or untested and why."""
    probe = data.edge_probes.get(checker)
    if probe is None:
        return f"{checker} is untested: it was tried on no known answers here; cfgen traces probe does so."
    models, hashes = (
        {
            getattr(v, name)
            for found in data.traces.values()
            for v in found
            if v.checker == checker and v.edges
        }
        for name in ("model", "rubric_hash")
    )
    if hashes - {probe.rubric_hash}:
        return f"{checker} is untested: its verdicts are by another wording than what was probed; probe it again."
    if models - {probe.model, ""}:
        return f"{checker} is untested: its verdicts are by another model or other weights than were probed."
    shares = []
    for name, count in probe.edges.items():
        one = Balanced.of(*count.recalls)
        if one.value is not None:
            shares.append(f"{name} {one.value:.2f}")
    words = f"{checker} was tried on {probe.n} known traces; balanced accuracy: {', '.join(shares)}."
    if probe.untested:
        words += (
            f" It is untested on {', '.join(probe.untested)}: fewer than {ENOUGH_KNOWN} answers of a verdict."
        )
    return words


def _words(probe: EdgeProbe, name: str) -> tuple[str, ...]:
    count = probe.edges[name]
    one = Balanced.of(*count.recalls)
    balanced = ("-", "-") if one.value is None else (f"{one.value:.3f}", f"{one.low:.3f}-{one.high:.3f}")
    wrong = [
        Rate.of(hits, n)
        for hits, n in (
            (count.false_consistent, count.inconsistent),
            (count.false_inconsistent, count.consistent),
        )
    ]
    figures = [words for rate in wrong for words in (rate.percent(), rate.interval())]
    return (*balanced, *figures, f"{count.consistent} + {count.inconsistent}")
