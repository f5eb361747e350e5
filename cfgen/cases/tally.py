"""What comes of a build, on its way and by what it left on disk: accepted, refused, broken, and what it cost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cfgen.cases.builder import Outcome
from cfgen.cases.plan import kind_of, scenes_given_up, scenes_refused
from cfgen.core.network import current
from cfgen.models.ledger import Ledger, in_words
from cfgen.perception.registry import seen_by
from cfgen.records import BuildReport, Fault, FaultCount, Rejection, Spent, StratumOutcome
from cfgen.store import Store

#: so many places are named for each kind of fault
_PLACES = 5


def spent_so_far(store: Store) -> Spent | None:
    """On inpainting, over all builds of this benchmark."""
    return Ledger(store.inpaint_cache).total()


def tally(
    store: Store,
    wanted: int,
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
    planned = store.benchmark.planned
    rejections = store.rejections()
    unsuited = {r.case_id: r.reason for r in rejections if r.unsuited}
    tried = Counter(p.hazard_id for p in planned if p.case_id not in unsuited)
    accepted = Counter(p.hazard_id for p in planned if store.has_case(p.case_id))
    reasons = Counter(kind_of(r.reason) for r in rejections if not r.fault and not r.unsuited)
    scenes = [(f"scene {name}", wrong) for name, wrong in unusable.items() if isinstance(wrong, Fault)]
    hazards = [(f"hazard {name}", fault) for name, fault in unasked.items()]
    return BuildReport(
        accepted=sum(accepted.values()),
        wanted=wanted,
        unusable_scenes={
            **{name: str(wrong) for name, wrong in unusable.items()},
            **scenes_refused(rejections),
            **scenes_given_up(store, rejections),
        },
        perception=seen_by(store.benchmark.perception, [case.seen_by for case in store.cases()]),
        undrawable=undrawable,
        acceptance={h: (accepted[h], tried[h]) for h in sorted(tried)},
        reasons=dict(reasons.most_common()),
        unsuited=dict(Counter(unsuited.values()).most_common()),
        faults=_by_kind([*scenes, *hazards, *_recorded(store, rejections)]),
        lost=sum(bool(r.fault) for r in rejections),
        stopped=stopped,
        spent=spent_so_far(store),
        strata=strata_of(store),
        network=current().words("Python's sockets refused in this process and its workers"),
    )


def strata_of(store: Store) -> tuple[StratumOutcome, ...]:
    """What came of each stratum; () where scenes were not drawn. A scene counts as tried once a pair of it is done."""
    sampling = store.benchmark.sampling
    if sampling is None:
        return ()
    unsuited = {r.case_id for r in store.rejections() if r.unsuited}
    planned = [p for p in store.benchmark.planned if store.is_finished(p.case_id)]
    tried = {p.scene_id for p in planned if p.case_id not in unsuited}
    cases = Counter(p.scene_id for p in planned if store.has_case(p.case_id))
    found = []
    for stratum in sampling.strata:
        own = {*stratum.usable}
        count, good = len(own & tried), sum(1 for s in own if cases[s])
        # those drawn that did not load were as likely to be tried as the others
        reached = count * stratum.drawn / len(own) if own else 0.0
        found.append(
            StratumOutcome(
                condition=stratum.condition,
                scenes=stratum.scenes,
                drawn=stratum.drawn,
                usable=len(own),
                tried=count,
                with_case=good,
                cases=sum(cases[s] for s in own),
                wanted=stratum.cases,
                p_selected=reached / stratum.scenes if stratum.scenes else None,
                p_refused=1 - good / reached if reached else None,
            )
        )
    return tuple(found)


def _recorded(store: Store, rejections: Sequence[Rejection]) -> list[tuple[str, Fault]]:
    """All that broke, with where it is recorded: lost cases, and what was lost of accepted ones."""
    found = [(store.rejected_dir(r.case_id) / "rejection.json", r.fault) for r in rejections if r.fault]
    for case in store.cases():
        faults = [*(a.fault for a in case.attempts if a.fault), *case.arm_faults.values()]
        found += [(store.case_dir(case.case_id) / "case.json", fault) for fault in faults]
    return [(path.relative_to(store.root).as_posix(), fault) for path, fault in found]


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
        self.outcomes[outcome.status] += 1
        self.untried -= 1

    def words(self, spent: Spent | None, done: bool = False) -> str:
        words = []
        if self.replacing and not done:
            words.append(f"trying replacements, {self.untried} (scene, hazard) pairs left to try")
        words += [f"{count} {kind}" for kind in ("refused", "broken") if (count := self.outcomes[kind])]
        words += [in_words(spent)] if spent else []
        return f"({', '.join(words)})" if words else ""
