"""How far a judge has been tested: on known answers and against people."""

from collections.abc import Mapping

from pydantic import Field

from cfgen.records.base import Dimension, Identifier, Record, Sha256, Stored
from cfgen.records.faults import Fault

#: A judge that was asked in fewer kinds about some case was not tested there.
ENOUGH_KINDS = 12


class Comparison(Record):
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

    n: int = Field(ge=0)
    right: dict[Dimension, int]
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
    agreement: dict[Dimension, Comparison]
    #: of the probes whose right answer is UNKNOWN, the share that got it
    unknown_found: float | None
    #: kinds that this judge says it cannot tell, and why; they count above
    blind_to: dict[str, str] = Field(default_factory=dict)
    misses: tuple[ProbeMiss, ...] = ()
    #: what broke; its answers are among the failed ones, or were not asked
    faults: tuple[Fault, ...] = ()

    @property
    def enough(self) -> bool:
        """Whether every case was asked about in enough kinds of answers."""
        return self.fewest_kinds >= ENOUGH_KINDS

    def accuracy_of_told(self) -> dict[Dimension, float] | None:
        """Accuracy without the kinds that the judge says it cannot tell; None when nothing else was asked."""
        told = [found for kind, found in self.kinds.items() if kind not in self.blind_to]
        n = sum(found.n for found in told)
        return {d: sum(found.right[d] for found in told) / n for d in self.accuracy} if n else None


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
    against_people: dict[Dimension, Comparison]
    #: every pair, "a ~ b": people among themselves, and the judge with each of them
    pairs: dict[Dimension, dict[str, Comparison]]
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
