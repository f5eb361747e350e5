"""Any judge of edges x known answers -> the paper's Table 2 for it. Readable top to bottom."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.files import write_record
from cfgen.core.hashing import derive_id
from cfgen.core.progress import Progress
from cfgen.judge.rubrics.trace import TraceItem, TraceReply
from cfgen.metrics.faithfulness import OTHER_READING, EdgeVerdicts
from cfgen.records import (
    Case,
    Edge,
    EdgeCount,
    EdgeProbe,
    KindCount,
    KnownPool,
    KnownTrace,
    ProbeVerdict,
    Relation,
)
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.storage.store import Store
from cfgen.traces.checker import Checker
from cfgen.traces.known_traces import write_pool

OVERALL = "overall"


def asked_of(rubric: str) -> dict[Relation, Edge | None]:
    """Which known relations a rubric answers, and under which edge; None: by its one word.

    Raises:
        InputError: it answers none of them.
    """
    five: dict[Relation, Edge | None] = {"E1": "E1", "E2": "E2", "E3": "E3", "E4": "E4", "E5": "E5"}
    if rubric == "faithfulness":
        return five
    if rubric == OTHER_READING:
        return {**{r: edge for r, edge in five.items() if r != "E2"}, "E2-scene": "E2"}
    if rubric == "consistency":
        return {"E3": None}
    raise InputError(
        f"rubric '{rubric}' has no known answers; probe one of: faithfulness, {OTHER_READING}, consistency"
    )


def probe_edges(
    bench: Path, checker: Checker, pool: KnownPool, quiet: bool = False, strict: bool = False
) -> EdgeProbe:
    """Put the pool's traces to a checker; writes ``traces/known/`` and ``traces/<checker>/probes/``.

    Raises:
        InputError: a rubric without known answers. CfgenError: the model cannot be asked; nothing is written.
    """
    store = Store(bench)
    edges = asked_of(checker.rubric.name)
    traces = [k for k in pool.traces if edges.keys() & k.edges.keys()]
    cases = {case.case_id: case for case in store.cases()}
    inputs = RolloutInputs(store, store.benchmark.seed)
    progress = Progress(f"{checker.name}: known traces", len(traces), quiet)
    replies: dict[str, TraceReply] = {}

    def done(key: str, reply: TraceReply) -> None:
        replies[key] = reply
        progress.step()

    items = [(k.id, partial(known_item, inputs, cases[k.case_id], k)) for k in traces]
    checker.check(items, done, strict)
    probe = summarize(checker, pool, traces, replies, write_pool(store, pool))
    write_record(probe_path(store, probe), probe, store.work)
    return probe


def probe_path(store: Store, probe: EdgeProbe) -> Path:
    """Probes by another wording or model, or of another pool, stay beside each other."""
    name = derive_id("probe", probe.rubric_hash, probe.model, probe.pool)
    return store.root / "traces" / probe.checker / "probes" / f"{name}.json"


def known_item(inputs: RolloutInputs, case: Case, known: KnownTrace) -> TraceItem:
    """What a checker sees of a known trace: the same as of a planner's answer."""
    return TraceItem.of(inputs.front(case, known.arm), known.trace, np.array(known.waypoints))


# --- what came back -----------------------------------------------------------------------------------------


def summarize(
    checker: Checker,
    pool: KnownPool,
    traces: Sequence[KnownTrace],
    replies_by_id: Mapping[str, TraceReply],
    pool_hash: str,
) -> EdgeProbe:
    """Counts by relation, overall and by kind. A trace without a usable reply counts as wrong wherever it is asked."""
    edge_of = asked_of(checker.rubric.name)
    replies = [replies_by_id.get(k.id, TraceReply(checker.model, reason="not asked")) for k in traces]
    pairs = list(zip(traces, replies, strict=True))
    edges: dict[str, EdgeCount] = {
        relation: _count(
            [(k.edges[relation], _reply_verdict(r, edge)) for k, r in pairs if relation in k.edges]
        )
        for relation, edge in edge_of.items()
    }
    if len(edge_of) != 1:
        overall = [
            (due, EdgeVerdicts(r.edges).overall)
            for k, r in pairs
            if (due := _overall_verdict(k, tuple(edge_of))) is not None
        ]
        edges[OVERALL] = _count(overall)
    return EdgeProbe(
        checker=checker.name,
        rubric=checker.rubric.name,
        rubric_hash=checker.rubric.hash,
        model=checker.model,
        pool=pool_hash,
        n=len(traces),
        failed=sum(not r.usable for r in replies),
        edges=edges,
        kinds=_kinds(pairs, edge_of),
        faults=tuple(r.fault for r in replies if r.fault),
        verdicts=tuple(_probe_verdict(k.id, r) for k, r in pairs),
    )


def _probe_verdict(trace_id: str, reply: TraceReply) -> ProbeVerdict:
    return ProbeVerdict(
        id=trace_id, **{name: getattr(reply, name) for name in ProbeVerdict.model_fields if name != "id"}
    )


def _reply_verdict(reply: TraceReply, edge: Edge | None) -> bool | None:
    return reply.consistent if edge is None else reply.edges.get(edge)


def _overall_verdict(trace: KnownTrace, five: Sequence[Relation]) -> bool | None:
    verdicts = [trace.known.get(r) for r in five if r != "E2-scene" or "E2" not in five]
    return False if False in verdicts else None if None in verdicts else True


def _count(pairs: Sequence[tuple[bool, bool | None]]) -> EdgeCount:
    n = Counter(pairs)
    return EdgeCount(
        consistent=sum(due for due, _ in pairs),
        inconsistent=sum(not due for due, _ in pairs),
        false_consistent=n[False, True],
        false_inconsistent=n[True, False],
        unanswered=(n[True, None], n[False, None]),
    )


def _kinds(
    pairs: Sequence[tuple[KnownTrace, TraceReply]], edge_of: Mapping[Relation, Edge | None]
) -> dict[str, KindCount]:
    """By kind of corruption whether the broken relation was found; of whole traces whether all was left alone."""
    n: Counter[str] = Counter()
    right: Counter[str] = Counter()
    due: Callable[[KnownTrace], Sequence[tuple[bool, Edge | None]]] = lambda k: [  # noqa: E731
        (k.edges[r], edge) for r, edge in edge_of.items() if r in k.edges and k.target in ("", r)
    ]
    for trace, reply in pairs:
        hits = [_reply_verdict(reply, edge) is verdict for verdict, edge in due(trace)]
        if hits:
            name = f"{trace.target}: {trace.kind}" if trace.target else trace.kind
            n[name] += 1
            right[name] += all(hits)
    return {name: KindCount(n=count, right=right[name]) for name, count in sorted(n.items())}
