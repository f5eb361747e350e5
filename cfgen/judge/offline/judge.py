"""The offline judge: a stand-in for people where there is no key, and a check on the whole pipeline.

It sees what any judge sees (frames, words, plans) and the camera; it never sees the hazard's label. It cannot
recognise objects: it believes a newly named thing when that thing's usual size and outline and its stated place fit
what it measures. A thing of the right size and outline under a wrong name ("deer" for "cyclist") therefore passes.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from cfgen.core.hashing import hash_image, hash_json
from cfgen.geometry.path import path_of_plan
from cfgen.hazards.vocabulary import Class, class_of
from cfgen.judge.combine import combine
from cfgen.judge.offline.change import Change, NoChangeError, find_change
from cfgen.judge.offline.motion import Response, compare
from cfgen.judge.offline.reading import Reading, read
from cfgen.judge.protocol import JudgeItem, VerdictKey
from cfgen.judge.rubrics.hazard import HAZARD
from cfgen.models.quote import cut_notes
from cfgen.records import JudgeRun, Plan, Score, Verdict, Vote

#: What a measured size may differ from a thing's usual sizes: shadows, blur and cut edges.
_SIZE_SLACK = 1.35
_SIDE_M = 0.6
_OFF_ROAD_M = 1.2
#: What fills its outline can still be a tree with so much green, or a trunk that lies no higher than this, m.
_LEAFY, _TRUNK_M = 0.25, 1.2
#: An overlap this small is within what pixels can tell, m.
_TOUCH_M = 0.2


class OfflineJudge:
    """Scores by measurement: no model, no key, no network. ``name`` is the folder of its verdicts."""

    def __init__(self, name: str = "offline") -> None:
        self.name = name
        self.rubric = HAZARD.id
        self.note = ""
        self.blind_to = {"names_a_lookalike": "it measures size and outline and cannot recognise a thing"}

    def run_record(self) -> JudgeRun:
        return JudgeRun(
            judge=self.name,
            spec="offline",
            rubric=self.rubric.name,
            rubric_version=self.rubric.version,
            rubric_hash=self.rubric.hash,
        )

    def judge(
        self, items: Sequence[tuple[VerdictKey, Callable[[], JudgeItem]]], done: Callable[[Verdict], None]
    ) -> None:
        for key, build in items:
            item = build()
            found = combine(key, self.rubric, self.name, [look(item)], input_hash(item))
            done(found.model_copy(update={"notes": cut_notes(item.answers)}))


def look(item: JudgeItem) -> Vote:
    """One vote on one item."""
    try:
        change = find_change(item.original_image, item.modified_image, item.camera)
    except NoChangeError as error:
        return Vote(model="offline", status="unknown", reason=str(error), explanation=f"Unknown: {error}.")
    words = read(item.original_text, item.original_plan, item.modified_text, item.modified_plan)
    place = Place.of(change, item)
    moves = compare(item.original_plan, item.modified_plan, change.base)
    reasoning, why_words = score_words(words, place)
    waypoints, why_moves = score_moves(moves)
    overall, why = score_overall(reasoning, waypoints, words, moves)
    return Vote(
        model="offline",
        status="scored",
        scores={"reasoning": reasoning, "waypoints": waypoints, "overall": overall},
        element_type=place.size_words,
        element_position=place.words,
        explanation=f"The change is {place.size_words}, {place.words}. {why_words} {why_moves} {why}",
    )


class Place:
    """Where the change is against the original plan's path, and how large it is."""

    def __init__(self, change: Change, ahead: float, beside: tuple[float, float], in_image: float) -> None:
        self.change, self.ahead, self.beside, self.in_image = change, ahead, beside, in_image

    @classmethod
    def of(cls, change: Change, item: JudgeItem) -> "Place":
        in_image = change.side / item.original_image.shape[1] - 0.5
        if not len(change.base):
            return cls(change, math.nan, (math.nan, math.nan), in_image)
        path = path_of_plan(np.array(item.original_plan.waypoints))
        along, beside = path.locate(change.base)
        return cls(change, float(along.min()), (float(beside.min()), float(beside.max())), in_image)

    @property
    def lateral(self) -> float:
        """Its middle, m to the left of the path; NaN when it stands nowhere on the ground."""
        return sum(self.beside) / 2

    @property
    def size_words(self) -> str:
        if math.isnan(self.change.width):
            return "something above the road of unknown size"
        return f"something about {self.change.width:.1f} m wide and {self.change.height:.1f} m high"

    @property
    def words(self) -> str:
        if math.isnan(self.lateral):
            return "in the left half of the frame" if self.in_image < 0 else "in the right half of the frame"
        if self.beside[0] < _SIDE_M and self.beside[1] > -_SIDE_M:
            side = "in the car's path"
        else:
            side = f"{abs(self.lateral):.1f} m {'left' if self.lateral > 0 else 'right'} of the car's path"
        return f"{self.ahead:.0f} m ahead, {side}"

    def allows(self, side: str) -> bool:
        """Whether "on the left" or "on the right" can be said of it, on the road or in the picture."""
        sign = 1 if side == "left" else -1
        seen_there = self.in_image * -sign > 0.02
        if math.isnan(self.lateral):
            return seen_there
        return sign * self.lateral > -0.2 or (seen_there and sign * self.lateral > -_SIDE_M)

    def fits(self, word: str) -> bool:
        """Whether a thing of that name can have the measured size and outline; yes where nothing could be measured."""
        kind = class_of(word)
        width, height = self.change.width, self.change.height
        if math.isnan(width):
            return True
        widest = kind.width[1] * _SIZE_SLACK + 0.3
        tallest = kind.height[1] * _SIZE_SLACK + 0.2
        sized = kind.width[0] / _SIZE_SLACK <= width <= widest
        sized = sized and kind.height[0] / _SIZE_SLACK <= height <= tallest
        return sized and self._shaped_like(kind)

    def _shaped_like(self, kind: Class) -> bool:
        shape = self.change.shape
        if shape is None or self.change.cut or kind.fill[0] <= shape.fill <= kind.fill[1]:
            return True
        return kind.name == "tree" and (shape.green > _LEAFY or self.change.height < _TRUNK_M)


def score_words(words: Reading, place: Place) -> tuple[Score, str]:
    """The reasoning score and one sentence why."""
    if words.same:
        return 0, "The reasoning is the same as before."
    if not words.named:
        if words.vague:
            return 1, "The reasoning newly suspects something without saying what."
        return 0, "The reasoning names nothing new."
    fitting = [w for w in words.named if place.fits(w)]
    if not fitting:
        return (
            1,
            f"The reasoning newly names '{words.named[0]}', which does not fit the size or the outline of the change.",
        )
    wrong = [s for s in sorted(words.sides) if not place.allows(s)]
    if wrong or (words.off_road and not words.in_lane and abs(place.lateral) < _OFF_ROAD_M):
        return 1, f"The reasoning newly names '{fitting[0]}' but puts it where the change is not."
    if not words.reacts:
        return 1, f"The reasoning newly names '{fitting[0]}' but intends nothing about it."
    return 2, f"The reasoning newly names '{fitting[0]}', which fits, and means to react."


def score_moves(moves: Response) -> tuple[Score, str]:
    """The waypoints score and one sentence why."""
    if not moves.distinct:
        return 0, "The two trajectories cannot be told apart."
    hits = moves.in_the_way and moves.gap < -_TOUCH_M
    clears = moves.towards < -0.25 and not hits
    if moves.hurried > max(0.6, moves.slowed) and not clears:
        return 1, f"The trajectory gains {3.6 * moves.hurried:.0f} km/h before the place."
    if moves.brakes:
        if hits and moves.arrival > 0.6:
            return 1, f"It brakes too late: {moves.arrival:.0%} of the speed is left where it would hit."
        if moves.towards > 0.5 and moves.arrival > 0.3:
            return 1, f"It brakes but turns {moves.towards:.1f} m towards the place."
        return 2, f"The trajectory sheds {3.6 * moves.slowed:.0f} km/h before the place."
    if clears:
        return 2, f"The trajectory turns away and leaves {max(moves.gap, 0):.1f} m beside it."
    return 1, "The trajectory differs, but not in a direction that answers the change."


def score_overall(reasoning: Score, waypoints: Score, words: Reading, moves: Response) -> tuple[Score, str]:
    """The overall score from the other two and from whether the words fit the motion."""
    if reasoning == waypoints == 2:
        if _fits_intent(words, moves):
            return 2, "Words and motion agree with each other."
        return 1, "Words and motion both react, but not in the same way."
    if waypoints == 0 and (reasoning == 0 or not words.reacts or words.refused):
        return 0, "Neither words nor motion answer the change."
    return 1, "Only part of the answer fits the change."


def _fits_intent(words: Reading, moves: Response) -> bool:
    side: Literal["left", "right"] = "left" if moves.shift > 0 else "right"
    steers = abs(moves.shift) > 0.3
    if words.brake and moves.brakes:
        return True
    return steers and (side in words.steer or (words.around and not words.steer))


def input_hash(item: JudgeItem) -> str:
    """Over everything that this judge looks at."""

    def plan(p: Plan) -> dict[str, object]:
        return p.model_dump(mode="json")

    return hash_json(
        [
            hash_image(item.original_image),
            hash_image(item.modified_image),
            item.original_text,
            item.modified_text,
            plan(item.original_plan),
            plan(item.modified_plan),
            item.camera.model_dump(mode="json"),
        ]
    )
