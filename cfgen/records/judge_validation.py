"""How far a judge has been tested: on known answers and against people."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from cfgen.core.faults import Fault
from cfgen.core.record import Record, Stored
from cfgen.records.base import Count, Dimension, Identifier, Sha256

#: A judge that was asked in fewer kinds about some case was not tested there.
ENOUGH_KINDS = 12
#: So many free answers that nothing was tuned on, of so many kinds, make a judge tested.
ENOUGH_FREE, ENOUGH_FREE_KINDS = 30, 8
#: before the kinds of free answers, which are not scripted
FREE = "free: "


class RaterAgreement(Record):
    """Two raters on one dimension; shares and kappas are None where undefined."""

    n: int
    accuracy: float | None
    accuracy_interval: tuple[float, float] | None = None
    kappa: float | None
    kappa_interval: tuple[float, float] | None = None
    quadratic: float | None
    quadratic_interval: tuple[float, float] | None = None
    #: rows: the reference's 0, 1, 2; columns: the other's
    confusion: tuple[tuple[int, ...], ...]
    #: of the reference's 0s, 1s and 2s, the share that the other found
    recall: tuple[float | None, ...]
    recall_interval: tuple[tuple[float, float] | None, ...] = ()


class ProbeKind(Record):
    """Known answers of one kind: how many were asked, and how many came back right on each dimension."""

    n: Count
    right: dict[Dimension, int]
    #: answers on which it left the dimension out; they are neither right nor wrong
    unjudged: dict[Dimension, int] = Field(default_factory=dict)
    #: 2 where another score is right; another score, UNKNOWN or no usable reply where 2 is right; where 2 is right
    false_two: dict[Dimension, int] = Field(default_factory=dict)
    missed_two: dict[Dimension, int] = Field(default_factory=dict)
    due_two: dict[Dimension, int] = Field(default_factory=dict)
    #: why it could not be asked on the other cases -> how many
    left_out: dict[str, int] = Field(default_factory=dict)


class ProbeMiss(Record):
    """One known answer that the judge got wrong; None is UNKNOWN or no usable reply."""

    case_id: Identifier
    kind: str
    expected: tuple[int | None, int | None, int | None]
    found: tuple[int | None, int | None, int | None]
    status: str


class ProbeRun(Stored):
    """``verdicts/<judge>/probe.json``: a judge's answers to scripted plans whose right scores are known."""

    judge: Identifier
    rubric: str
    rubric_version: str
    rubric_hash: Sha256
    #: hash of the judge's own code, of one that is nothing but code; "": of a model
    code: str = ""
    n: int
    cases: int = 0
    #: kinds that were asked on the case with fewest of them
    fewest_kinds: int = 0
    #: verdicts without a usable reply; they count as wrong
    failed: int
    kinds: dict[str, ProbeKind]
    #: share of right answers on each dimension; UNKNOWN is an answer here
    accuracy: dict[Dimension, float]
    #: among probes whose right answer is a score and that were scored
    agreement: dict[Dimension, RaterAgreement]
    #: of the probes whose right answer is UNKNOWN, the share that got it
    unknown_found: float | None
    misses: tuple[ProbeMiss, ...] = ()
    #: which free answers were asked: those that anything may be tuned on, or those that nothing is; "": none
    half: Literal["", "tune", "test"] = ""
    #: of the probes, those in free words
    free: int = 0
    #: what broke; its answers are among the failed ones, or were not asked
    faults: tuple[Fault, ...] = ()

    @property
    def enough(self) -> bool:
        """Whether the judge counts as tested: by free answers that nothing was tuned on, and by scripted ones."""
        return not self.lacks

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is missing for the judge to count as tested, each with what is needed and what was found."""
        missing = []
        if self.fewest_kinds < ENOUGH_KINDS:
            missing.append(
                f"{ENOUGH_KINDS} kinds of scripted answers on every case, found {self.fewest_kinds} on the case with "
                "fewest: build with --controls null,nuisance, and of hazards that a car can stop for and pass"
            )
        if self.half != "test":
            missing.append("free answers of the half on which nothing is tuned (--half test, the default)")
            return tuple(missing)
        kinds = sum(k.startswith(FREE) and kind_count.n > 0 for k, kind_count in self.kinds.items())
        if self.free < ENOUGH_FREE or kinds < ENOUGH_FREE_KINDS:
            unshown = sum(sum(k.left_out.values()) for name, k in self.kinds.items() if name.startswith(FREE))
            missing.append(
                f"{ENOUGH_FREE} free answers of {ENOUGH_FREE_KINDS} kinds, found {self.free} of {kinds}: a free answer "
                f"is asked on a case that shows what it is about, and {unshown} have none here. A benchmark with more "
                "cases shows more of them"
            )
        return tuple(missing)

    def twos(self, dimension: Dimension, free: bool) -> tuple[int, int, int, int]:
        """False 2s, of so many; missed 2s, of so many: of the free or of the scripted answers."""
        kinds = [kind_count for kind, kind_count in self.kinds.items() if kind.startswith(FREE) == free]
        due, unjudged = (
            sum(getattr(k, name).get(dimension, 0) for k in kinds) for name in ("due_two", "unjudged")
        )
        false, missed = (
            sum(getattr(k, name).get(dimension, 0) for k in kinds) for name in ("false_two", "missed_two")
        )
        return false, sum(k.n for k in kinds) - due - unjudged, missed, due


class Calibration(Stored):
    """``verdicts/<judge>/calibration.json``: a judge against people.

    It lies beside the rated cases, and in every benchmark that was checked to hold none of their scenes.
    """

    judge: Identifier
    rubric_hash: Sha256
    raters: tuple[str, ...]
    #: answers that at least one person rated and the judge was asked about
    n: int
    #: of these, the ones on which the judge gave no scores
    unscored: int
    #: the judge against the majority of the people
    against_people: dict[Dimension, RaterAgreement]
    #: answers with the judge's score on which people have no majority: left out
    split: dict[Dimension, int] = Field(default_factory=dict)
    #: every pair, "a ~ b": people among themselves, and the judge with each of them
    pairs: dict[Dimension, dict[str, RaterAgreement]]
    #: content hashes of the scenes that people rated: a benchmark that holds one of them is refused
    scenes: tuple[Sha256, ...]
    #: content hashes of the scene sets of the benchmarks that were checked to hold none of them
    kept_from: tuple[Sha256, ...] = ()
    #: records that could not be read, and why
    damaged: tuple[str, ...] = ()

    def shared_with(self, scenes: Mapping[str, str]) -> tuple[str, ...]:
        """The ids, of scenes given as id -> content hash, that people rated: with one, it does not count there."""
        rated = set(self.scenes)
        return tuple(sorted(scene_id for scene_id, content in scenes.items() if content in rated))
