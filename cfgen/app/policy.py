"""Who decides whether a case is in the benchmark: a rule over everybody's standing decisions, part of the benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfgen.records import Policy, Review, ReviewFile

#: Each rule in the words that the page shows.
SAID: dict[Policy, str] = {
    "one": "one rejection keeps a case out, until it is taken back or the case is brought back",
    "two_of_three": "two rejections keep a case out, unless as many accept it",
    "manager": "a manager's latest decision holds, everybody else advises",
}
BROUGHT_BACK = "brought back"


@dataclass(frozen=True)
class Held:
    """Whether a case is out, by whom and for what reason, and why in words."""

    out: bool
    why: str
    by: str = ""
    reason: str = ""


def current(history: Sequence[Review]) -> Review | None:
    """The decision that stands: each ``clear`` takes back the one before it."""
    stack: list[Review] = []
    for entry in history:
        if entry.decision != "clear":
            stack.append(entry)
        elif stack:
            stack.pop()
    return stack[-1] if stack else None


def decided(files: Sequence[ReviewFile], name: str) -> bool:
    """Whether ``name`` has decided on the case of these files, even where that was taken back since."""
    return any(file.rater == name and file.history for file in files)


def held(policy: Policy, files: Sequence[ReviewFile]) -> Held:
    """What ``policy`` makes of everybody's history of one case."""
    standing = [
        (s, f.rater) for f in files if (s := current(f.history)) and s.decision in ("accept", "reject")
    ]
    standing.sort(key=lambda one: one[0].at)
    if policy == "manager":
        standing = [one for one in standing if one[0].role == "manager"][-1:]
        if not standing:
            return Held(False, "no manager has decided")
        if standing[0][0].decision == "accept":
            return Held(False, f"{standing[0][1]}, a manager, wants it in")
    # bringing back overrules what was said before
    last = max((i for i, (s, _) in enumerate(standing) if s.reason == BROUGHT_BACK), default=0)
    rejects = [one for one in standing[last:] if one[0].decision == "reject"]
    accepts = len(standing[last:]) - len(rejects)
    wanted = 2 if policy == "two_of_three" else 1
    if len(rejects) >= wanted and (policy != "two_of_three" or len(rejects) > accepts):
        said, who = rejects[-1]
        return Held(True, "; ".join(f"{w} rejected it ({s.reason})" for s, w in rejects), who, said.reason)
    if rejects:
        return Held(False, f"{len(rejects)} rejected it and {accepts} accepted it; {SAID[policy]}")
    return Held(False, "nobody's rejection stands")


def may_overrule(policy: Policy, role: str) -> bool:
    """Whether one person of this role may bring a case back or replace it."""
    return policy == "one" or role == "manager"
