"""What comes of a build, on its way and by what it left on disk: accepted, refused, broken, and what it cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cfgen.benchmark.builder import Outcome
from cfgen.benchmark.plan import kind_of
from cfgen.core.files import read_record
from cfgen.core.machine import environment
from cfgen.core.network import current
from cfgen.models.limits import Ledger, in_words
from cfgen.perception.registry import seen_by
from cfgen.records import BuildReport, Fault, FaultCount, Rejection, Spent
from cfgen.storage.listing import Refused, Short, short_cases, short_rejections
from cfgen.storage.store import Store

#: so many places are named for each kind of fault
_PLACES = 5


def spending(store: Store) -> Ledger:
    """What inpainting cost, over all builds of this benchmark."""
    return Ledger(store.inpaint_cache)


def tally(
    store: Store,
    requested: int,
    unusable: Mapping[str, str | Fault],
    barren: Mapping[str, str],
    unasked: Mapping[str, Fault],
    undrawable: tuple[str, ...],
    stopped: str,
) -> BuildReport:
    """
    Args:
        wanted: cases asked for. unusable: scene folder -> why it was left out. barren: scene -> why
            nothing can stand in it. undrawable: hazards left out.
        unasked: hazards left out, for what the inpainter broke on when asked about them.
        stopped: why the build ended before its end, or "".
    """
    planned, rejections, cases = store.planned, short_rejections(store), short_cases(store)
    outcomes = {*cases, *(r.case_id for r in rejections)}
    tries = Counter(p.hazard_id for p in planned if p.case_id in outcomes)
    accepted = Counter(p.hazard_id for p in planned if p.case_id in cases)
    reasons = Counter(kind_of(r.reason) for r in rejections if not r.broke)
    scenes = [(f"scene {name}", wrong) for name, wrong in unusable.items() if isinstance(wrong, Fault)]
    hazards = [(f"hazard {name}", fault) for name, fault in unasked.items()]
    return BuildReport(
        accepted=sum(accepted.values()),
        wanted=requested,
        unusable_scenes={name: str(wrong) for name, wrong in {**unusable, **barren}.items()},
        perception=seen_by(store.benchmark.perception, [str(case["road_from"]) for case in cases.values()]),
        undrawable=undrawable,
        acceptance={h: (accepted[h], tries[h]) for h in sorted(tries)},
        reasons=dict(reasons.most_common()),
        faults=_by_kind([*scenes, *hazards, *_recorded(store, cases, rejections)]),
        lost=sum(r.broke for r in rejections),
        stopped=stopped,
        spent=spending(store).total(),
        network=current().words("Python's sockets refused in this process and its workers"),
        environment=environment(),
    )


def _recorded(
    store: Store, cases: Mapping[str, Short], rejections: Sequence[Refused]
) -> list[tuple[str, Fault]]:
    """All that broke, with where it is recorded: lost cases, and what was lost of accepted ones."""
    records: list[tuple[Path, Fault]] = []
    for refused in (r for r in rejections if r.broke):
        path = store.rejected_dir(refused.case_id) / "rejection.json"
        records += [(path, fault) for fault in [read_record(path, Rejection).fault] if fault]
    for case in (store.case(case_id) for case_id, row in cases.items() if row["broke"]):
        faults = [*(a.fault for a in case.attempts if a.fault), *case.arm_faults.values()]
        records += [(store.case_dir(case.case_id) / "case.json", fault) for fault in faults]
    return [(path.relative_to(store.root).as_posix(), fault) for path, fault in records]


def _by_kind(faults: Sequence[tuple[str, Fault]]) -> tuple[FaultCount, ...]:
    kinds = Counter(fault.kind for _, fault in faults)
    return tuple(
        FaultCount(
            kind=kind,
            count=count,
            example=next(fault for _, fault in faults if fault.kind == kind),
            places=tuple(dict.fromkeys(place for place, fault in faults if fault.kind == kind))[:_PLACES],
        )
        for kind, count in kinds.most_common()
    )


@dataclass
class ProgressNote:
    """What the line of progress says besides the count: the outcomes of this build."""

    outcomes: Counter[str] = field(default_factory=Counter)

    def count(self, outcome: Outcome) -> None:
        self.outcomes[outcome.status] += 1

    def words(self, spent: Spent | None) -> str:
        words = [f"{count} {kind}" for kind in ("refused", "broken") if (count := self.outcomes[kind])]
        words += [in_words(spent)] if spent else []
        return f"({', '.join(words)})" if words else ""
