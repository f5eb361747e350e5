"""What people decide, appended under a lock: two browsers on one case lose nothing of each other's."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from cfgen.core.errors import InputError
from cfgen.core.files import read_record
from cfgen.core.hashing import derive_id
from cfgen.records import (
    ADJUDICATED,
    Dimension,
    Identifier,
    Rating,
    RatingFile,
    Review,
    ReviewFile,
    Score,
)
from cfgen.storage.store import Store

Role = Literal["rater", "curator", "manager"]
Decision = Literal["accept", "reject", "flag", "clear"]
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)
_MAX_WORDS = 2000


def person(name: str) -> str:
    """A person's name as it is stored: spaces become underscores.

    Raises:
        InputError: no name, or characters other than letters, digits and ``_ . -``.
    """
    name = "_".join(str(name).split())
    if not name:
        raise InputError("your name: expected a name, found none; type it at the top of the page")
    if name == ADJUDICATED:
        raise InputError(f"your name: '{ADJUDICATED}' is kept for a manager's last word; choose another")
    return identifier(name, "your name")


def identifier(text: str, what: str) -> str:
    """``text`` if it can be part of a file name.

    Raises:
        InputError: it is not an identifier.
    """
    try:
        return _IDENTIFIER.validate_python(text)
    except ValidationError:
        raise InputError(
            f"{what}: expected letters, digits and _ . - (at most 120, a letter or digit first), found {text[:60]!r}"
        ) from None


def append_review(
    store: Store, rater: str, case_id: str, decision: Decision, reason: str = "", batch: str = ""
) -> ReviewFile:
    """One more entry in this person's history of this case."""
    entry = Review(at=_now(), decision=decision, reason=words(reason), batch=batch)
    rater, path = person(rater), store.review_path(person(rater), identifier(case_id, "case"))
    with store.held(f"review-{derive_id(rater, case_id)}"):
        file = read_record(path, ReviewFile) if path.is_file() else ReviewFile(rater=rater, case_id=case_id)
        file = file.model_copy(update={"history": (*file.history, entry)})
        store.write_review(file)
    return file


def standing(history: Iterable[Review]) -> list[Review]:
    """The decisions that stand, oldest first: each ``clear`` takes back the one before it."""
    stack: list[Review] = []
    for entry in history:
        if entry.decision != "clear":
            stack.append(entry)
        elif stack:
            stack.pop()
    return stack


def current(history: Iterable[Review]) -> Review | None:
    """The last decision that stands."""
    return next(reversed(standing(history)), None)


def latest_verdict(files: Iterable[ReviewFile]) -> tuple[str, Review] | None:
    """Who accepted or rejected a case last, of what stands in everybody's ``files`` on it: that decision holds."""
    verdicts = [(f.rater, entry) for f in files for entry in standing(f.history) if entry.decision != "flag"]
    return max(verdicts, key=lambda verdict: verdict[1].at, default=None)


def append_rating(
    store: Store,
    rater: str,
    planner: str,
    case_id: str,
    arm: str,
    repeat: int,
    scores: Mapping[Dimension, Score | None],
    note: str = "",
    spent: tuple[float | None, float | None] = (None, None),
) -> RatingFile:
    """One more entry in this person's history of this answer; ``scores`` has all three, None for UNKNOWN.

    ``spent``: s that it was looked at, and s of pauses within.
    """
    rater = rater if rater == ADJUDICATED else person(rater)
    path = store.rating_path(rater, identifier(planner, "planner"), identifier(case_id, "case"), arm, repeat)
    seconds, paused = spent
    entry = Rating(at=_now(), scores=dict(scores), note=words(note), seconds=seconds, paused=paused)
    with store.held(f"rating-{derive_id(rater, planner, path.stem)}"):
        earlier = read_record(path, RatingFile).history if path.is_file() else ()
        file = RatingFile(
            rater=rater,
            planner=planner,
            case_id=case_id,
            arm=arm,
            repeat=repeat,
            history=(*earlier, entry),
        )
        store.write_rating(file)
    return file


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def words(text: str) -> str:
    """Free text without control characters.

    Raises:
        InputError: it is too long.
    """
    text = "".join(c for c in str(text) if c.isprintable() or c == "\n").strip()
    if len(text) > _MAX_WORDS:
        raise InputError(f"text: expected at most {_MAX_WORDS} characters, found {len(text)}; shorten it")
    return text
