"""What comes of a build, on its way and by what it left on disk: accepted, refused, broken, and what it cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cfgen.benchmark.builder import Outcome
from cfgen.benchmark.plan import kind_of, scenes_given_up, scenes_refused
from cfgen.core.files import read_record
from cfgen.core.machine import environment
from cfgen.core.network import current
from cfgen.hazards.placement import UNSUITED
from cfgen.models.limits import Ledger, in_words
from cfgen.perception.registry import seen_by
from cfgen.records import BuildReport, Fault, FaultCount, Rejection, Spent
from cfgen.storage.listing import Refused, Short, short_cases, short_rejections
from cfgen.storage.store import Store

#: so many places are named for each kind of fault
_PLACES = 5
#: what the progress line calls pairs whose scene has not what the hazard needs
_NOT_DRAWN = "not drawn from"


def spending(store: Store) -> Ledger:
    """What inpainting cost, over all builds of this benchmark."""
    return Ledger(store.inpaint_cache)


def tally(
    store: Store,
    requested: int,
    unusable: Mapping[str, str | Fault],
    unasked: Mapping[str, Fault],
    undrawable: tuple[str, ...],
    stopped: str,
) -> BuildReport:
    """
    Args:
        wanted: cases asked for. unusable: scene folder -> why it was left out. undrawable: hazards left out.
        unasked: hazards left out, for what the inpainter broke on when asked about them.
        stopped: why the build ended before its end, or "".
    """
    planned, rejections, cases = store.planned, short_rejections(store), short_cases(store)
    unsuited = {r.case_id: r.reason for r in rejections if r.unsuited}
    tries = Counter(p.hazard_id for p in planned if p.case_id not in unsuited)
    accepted = Counter(p.hazard_id for p in planned if p.case_id in cases)
    reasons = Counter(kind_of(r.reason) for r in rejections if not r.broke and not r.unsuited)
    scenes = [(f"scene {name}", wrong) for name, wrong in unusable.items() if isinstance(wrong, Fault)]
    hazards = [(f"hazard {name}", fault) for name, fault in unasked.items()]
    return BuildReport(
        accepted=sum(accepted.values()),
        wanted=requested,
        unusable_scenes={
            **{name: str(wrong) for name, wrong in unusable.items()},
            **scenes_refused(rejections),
            **scenes_given_up(planned, cases, rejections),
        },
        perception=seen_by(store.benchmark.perception, [str(case["road_from"]) for case in cases.values()]),
        undrawable=undrawable,
        acceptance={h: (accepted[h], tries[h]) for h in sorted(tries)},
        reasons=dict(reasons.most_common()),
        unsuited=dict(Counter(unsuited.values()).most_common()),
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
    """What the line of progress says besides the count: the outcomes of this build, and pairs without one."""

    untried: int = 0
    replacing: bool = False
    outcomes: Counter[str] = field(default_factory=Counter)

    def begin(self, untried: int, replacing: bool) -> None:
        """A round begins."""
        self.untried, self.replacing = untried, replacing

    def count(self, outcome: Outcome) -> None:
        """It has its outcome; what its scene does not suit is no refusal, as in ``build.json``."""
        self.outcomes[_NOT_DRAWN if outcome.reason.startswith(UNSUITED) else outcome.status] += 1
        self.untried -= 1

    def words(self, spent: Spent | None, finished: bool = False) -> str:
        words = []
        if self.replacing and not finished:
            words.append(f"trying replacements, {self.untried} (scene, hazard) pairs left to try")
        words += [
            f"{count} {kind}" for kind in ("refused", _NOT_DRAWN, "broken") if (count := self.outcomes[kind])
        ]
        words += [in_words(spent)] if spent else []
        return f"({', '.join(words)})" if words else ""
