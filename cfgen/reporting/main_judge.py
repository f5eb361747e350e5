"""Which judge's verdicts the headline is made of, whichever planners are shown."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from cfgen.metrics.success import dimensions_scored
from cfgen.records import Verdict
from cfgen.reporting.answers import Answers

#: (judge, planner) -> verdicts
Verdicts = Mapping[tuple[str, str], Sequence[Verdict]]


@dataclass(frozen=True)
class Judges:
    """The judges of a benchmark, by all of their verdicts.

    Attributes:
        verdicts: on every planner that was scored, shown or not.
        apart: planners that compete with nobody, so that a judge may lack them.
    """

    verdicts: Verdicts
    apart: Collection[str] = ()

    @cached_property
    def main(self) -> str:
        """One that reads words and has every hazard pair of every planner that competes; else the one with the most
        verdicts, one that reads pictures before the offline stand-in; "" without any.
        """

        def weight(judge: str) -> tuple[bool, int, bool]:
            whole = self.reads_words(judge) and not self.lacks(judge)
            return whole, sum(len(v) for (j, _), v in self.verdicts.items() if j == judge), judge != "offline"

        return max(self._names, key=weight, default="")

    def reads_words(self, judge: str) -> bool:
        """Whether it scores the answer as a whole."""
        found = (v for (j, _), verdicts in self.verdicts.items() if j == judge for v in verdicts)
        return "overall" in dimensions_scored(found, otherwise=())

    def lacks(self, judge: str) -> dict[str, int]:
        """Planner that competes -> hazard pairs that another judge has and this one has not, where there are some."""
        found: dict[str, int] = {}
        for planner in self._planners:
            asked = {judge: self._hazards.get((judge, planner), set()) for judge in self._names}
            if missing := set().union(*asked.values()) - asked[judge]:
                found[planner] = len(missing)
        return found

    def passed_over(self) -> list[str]:
        """Where the main judge reads no words: who does, what it lacks, and what to do about it."""
        if not self.main or self.reads_words(self.main):
            return []
        lines = []
        for judge in filter(self.reads_words, self._names):
            lacks = self.lacks(judge)
            lines.append(
                f"{judge} reads the words, but lacks {sum(lacks.values())} hazard pairs of "
                f"{len(lacks)} of {len(self._planners)} planners ({', '.join(lacks)}): the headline is {self.main}'s. "
                f"To make it {judge}'s, have it judge those: cfgen judge run BENCH --judge {judge} --planners "
                f"{','.join(lacks)}"
            )
        return lines

    @cached_property
    def _names(self) -> list[str]:
        return sorted({judge for judge, _ in self.verdicts})

    @cached_property
    def _planners(self) -> list[str]:
        names = {planner for _, planner in self.verdicts}
        return sorted(names - set(self.apart) or names)

    @cached_property
    def _hazards(self) -> dict[tuple[str, str], Set[tuple[str, int]]]:
        """(judge, planner) -> case and repeat of the hazard pairs."""
        return {key: _asked(found) for key, found in self.verdicts.items()}


def _asked(verdicts: Sequence[Verdict]) -> Set[tuple[str, int]]:
    if isinstance(verdicts, Answers):
        return verdicts.places.get("hazard", {}).keys()
    return {(v.case_id, v.repeat) for v in verdicts if v.arm == "hazard"}
