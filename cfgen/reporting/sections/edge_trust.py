"""How far whoever checks traces can be trusted: the paper's Table 2 for any judge of edges, critic or verifier."""

from cfgen.metrics.faithfulness import Balanced
from cfgen.metrics.rates import Rate
from cfgen.records import EdgeProbe
from cfgen.records.known import ENOUGH_KNOWN
from cfgen.reporting.data import ReportData
from cfgen.reporting.table import Table


def edge_trust(data: ReportData) -> tuple[Table, tuple[str, ...]]:
    """The table, and a sentence about each checker whose verdicts this report shows."""
    rows = [
        (probe.checker, *_by(probe), name, *_words(probe, name))
        for probe in data.edge_probes
        for name in probe.edges
    ]
    table = Table(
        name="edge-probes",
        title="Judges of edges on known answers",
        columns=(
            *(
                "checker",
                "asked with",
                "answered by",
                "known traces",
                "edge",
                "balanced accuracy",
                "95% interval",
                "false consistent %",
            ),
            *("95% interval", "false inconsistent %", "95% interval", "consistent + broken"),
        ),
        rows=tuple(rows),
        words=5,
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
    probes = [p for p in data.edge_probes if p.checker == checker]
    if not probes:
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
    if not (probes := [p for p in probes if not hashes - {p.rubric_hash}]):
        return f"{checker} is untested: its verdicts are by another wording than what was probed; probe it again."
    if not (probes := [p for p in probes if not models - {p.model, ""}]):
        return f"{checker} is untested: its verdicts are by another model or other weights than were probed."
    probe = probes[0]
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


def _by(probe: EdgeProbe) -> tuple[str, str, str]:
    """The wording, the model, and the pool: what one probe differs from another in."""
    asked = f"{probe.rubric} {probe.rubric_hash.removeprefix('sha256:')[:6]}"
    model = probe.model.removeprefix("sha256:")
    pool = f"{probe.n} of {probe.pool.removeprefix('sha256:')[:6]}"
    return asked, model if model == probe.model else f"weights {model[:12]}", pool


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
