"""Where consistent traces come from: scripted answers in many wordings, planners' stored answers, files of answers."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_each
from cfgen.geometry.manoeuvre import LEAST_SPEED
from cfgen.metrics.paired import blocks_of
from cfgen.planners import settings
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.responders import TIMES, Baseline, a
from cfgen.records import PLAN_STEPS, Case, Rollout, Scene, Trace
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store
from cfgen.traces.facts import CaseFacts, Content, Said, relations
from cfgen.traces.intent import Intent, read_intent
from cfgen.traces.room import Room
from cfgen.traces.wordings import MANOEUVRES, SCENES, VAGUE, say

SCRIPTED = "scripted"
#: m beside the lane's middle while passing something, and after a change of lanes
_NUDGE_M, _LANE_M = 1.9, 3.4


@dataclass(frozen=True)
class Source:
    """One consistent trace: ``manoeuvre`` names the wording's meaning for scripted ones, "" for others."""

    facts: CaseFacts
    arm: str
    source: str
    said: Said
    manoeuvre: str = ""
    side: str = ""
    #: case and repeat of a stored answer, line of a file
    place: str = ""


def case_facts(store: Store) -> list[CaseFacts]:
    """Of every case whose scene can be read and whose car is fast enough for its motion to say anything.

    Raises:
        StoreError: the benchmark holds no case. InputError: no car in it moves.
    """
    cases = store.cases()
    if not cases:
        raise StoreError(f"{store.root}: holds no accepted case; run: cfgen build --out {store.root}")
    inputs = RolloutInputs(store, store.benchmark.seed)
    scenes = {c.case_id: load_scene(store.scene_dir(c.scene_id)).scene for c in cases}
    blocks, _ = blocks_of(scenes)
    found = [_facts(inputs, c, scenes[c.case_id], blocks[c.case_id]) for c in cases]
    moving = [f for f in found if f.base.speed >= LEAST_SPEED]
    if not moving:
        raise InputError(
            f"{store.root}: expected a car of {LEAST_SPEED:g} m/s or more in some case, found none: motion says "
            "nothing there; build from scenes in which the car drives"
        )
    return moving


def _facts(inputs: RolloutInputs, case: Case, scene: Scene, drive: str) -> CaseFacts:
    base = Baseline.of(scene.history, scene.future)
    kerb = 1 if scene.extra.get("drive_on") == "left" else -1
    found = CaseFacts.of(case, base, drive, Room(base.path, scene.front, inputs.road(case), kerb))
    return replace(found, ways=tuple(_ways(found)))


# --- scripted ---------------------------------------------------------------------------------------------


def scripted(facts: CaseFacts, rng: random.Random) -> Source:
    """An answer to the hazard's frame: words, action and waypoints of one manoeuvre, in one of many wordings.

    One in five justifications is vague: it contradicts no action and no motion.
    """
    manoeuvre, side = rng.choice(facts.ways)
    longitudinal, lateral, wordings = MANOEUVRES[manoeuvre]
    lateral = lateral.format(side=side)
    vague = rng.random() < 0.2
    wording = rng.choice(VAGUE if vague else wordings)
    thing = a(facts.thing)
    content = Content(facts.thing, facts.place)
    trace = Trace(
        scene=say(rng.choice(SCENES), thing, facts.place),
        justification=say(wording, thing, facts.place, side),
        longitudinal=longitudinal,
        lateral=lateral,
    )
    intent = Intent() if vague else announced(manoeuvre, side)
    said = Said(trace, acted(facts.base, manoeuvre, side), content, content, intent)
    return Source(facts, "hazard", SCRIPTED, said, manoeuvre, side)


def _ways(facts: CaseFacts) -> list[tuple[str, str]]:
    """Manoeuvres and the sides that they are drawn to: those for which the scene has room.

    Something in the car's own lane may be passed on either side; something beside it on the other one.
    """
    free = "left" if facts.target.free_side > 0 else "right"
    other = "right" if free == "left" else "left"
    found = []
    for manoeuvre in sorted(MANOEUVRES):
        sides = (free, other) if facts.in_lane else (free,)
        room = (s for s in sides if facts.room.allows(acted(facts.base, manoeuvre, s)))
        if (side := next(room, None)) is not None:
            found.append((manoeuvre, side))
    return found


def announced(manoeuvre: str, side: str) -> Intent:
    """What the wordings of a manoeuvre announce: those that keep the lane are silent about the way."""
    longitudinal, lateral, _ = MANOEUVRES[manoeuvre]
    if "nudge" in lateral:
        return Intent(longitudinal, f"to the {side}")
    return Intent(longitudinal, lateral.format(side=side) if "{side}" in lateral else "")


def acted(base: Baseline, manoeuvre: str, side: str) -> np.ndarray:
    """(24, 3) waypoints that carry a manoeuvre out along the lane, from the car's own speed."""
    v, sign = base.speed, 1.0 if side == "left" else -1.0
    s = v * TIMES
    if manoeuvre == "stop":
        s = braked(v, v / 3.6, 0.0)
    elif manoeuvre == "yield":
        s = braked(v, max(0.5 * v / 3.0, 0.7), 0.5 * v)
    elif manoeuvre == "pass":
        s = s + 0.5 * 0.7 * TIMES**2
    lateral = np.zeros_like(TIMES)
    if manoeuvre == "nudge":
        lateral = sign * _NUDGE_M * np.sin(np.pi * np.clip((TIMES - 0.5) / 5.0, 0, 1)) ** 2
    elif manoeuvre in ("lane change", "pass"):
        part = np.clip((TIMES - 0.5) / 4.0, 0, 1)
        lateral = sign * _LANE_M * part**2 * (3 - 2 * part)
    return base.follow(s, lateral)


def braked(speed: float, deceleration: float, until: float) -> np.ndarray:
    """(25,) m along the lane: constant deceleration after the reaction time, down to ``until`` m/s."""
    t = np.maximum(TIMES - settings.SCRIPTED.reaction_s, 0.0)
    braking = np.minimum(t, (speed - until) / deceleration)
    after = t - braking
    found: np.ndarray = (
        speed * np.minimum(TIMES, settings.SCRIPTED.reaction_s)
        + speed * braking
        - deceleration * braking**2 / 2
        + until * after
    )
    return found


# --- stored answers -----------------------------------------------------------------------------------------


def stored(store: Store, planner: str, facts: Sequence[CaseFacts], dropped: Counter[str]) -> list[Source]:
    """A planner's answers to originals and hazards that hang together: by the words read strictly, by geometry.

    Raises:
        InputError: it has no answer with a plan here.
    """
    by_case = {f.case.case_id: f for f in facts}
    found, plans = [], 0
    for arm in ("original", "hazard"):
        for path, one in read_each(store.rollout_paths(planner, arm), Rollout):
            if isinstance(one, StoreError):
                dropped["source: damaged record"] += 1
            elif one.plan is not None and one.case_id in by_case:
                plans += 1
                points = np.array(one.plan.waypoints)
                if source := _whole(by_case[one.case_id], arm, planner, one.plan.trace, points, dropped):
                    found.append(_placed(source, f"{path.parent.name}/{path.name}"))
    if not plans:
        raise InputError(
            f"planner '{planner}' has no answer with a plan in {store.root}; score it first: "
            f"cfgen score {store.root} --planner {planner}"
        )
    return found


def _whole(
    facts: CaseFacts, arm: str, source: str, trace: Trace, points: np.ndarray, dropped: Counter[str]
) -> Source | None:
    """None, counted, where words, action and motion do not hang together as far as can be told."""
    why = ""
    intent = read_intent(trace.justification)
    if len(points) != PLAN_STEPS:
        why = "plan of less than 6 s"
    elif not (trace.longitudinal and trace.lateral):
        why = "no meta-action in the vocabulary"
    elif intent is None:
        why = "what its words announce cannot be told"
    said = Said(trace, points, intent=intent)
    if not why:
        known = relations(facts, arm, said)
        broken = sorted(name for name, margin in known.items() if not margin.kept)
        if broken:
            why = f"not consistent on {broken[0]}"
        elif "E4" not in known:
            why = "whether its waypoints carry out its action cannot be told"
    if why:
        dropped[f"source: {why}"] += 1
        return None
    return Source(facts, arm, source, said)


def _placed(source: Source, place: str) -> Source:
    return Source(source.facts, source.arm, source.source, source.said, place=place)


# --- files --------------------------------------------------------------------------------------------------


def from_file(path: Path, facts: Sequence[CaseFacts], dropped: Counter[str], seed: int) -> list[Source]:
    """Answers made elsewhere: a JSON list or JSON lines of objects with "text" in the papers' format, or "cot" alone.

    Words without waypoints get those that carry them out in one of the cases: other people's wording, our motion.
    Nothing is known of what they say about the frame.

    Raises:
        InputError: the file cannot be read, or no answer in it can be used.
    """
    found = []
    rng = random.Random(f"{seed} {path.name}")
    for number, row in enumerate(_rows(path), 1):
        at = rng.choice(list(facts))
        try:
            one = _from_row(row, at, path.name, dropped)
        except PlanFaultError:
            dropped["source: no plan"] += 1
            continue
        if one:
            found.append(_placed(one, f"{path.name}:{number}"))
    if not found:
        why = "; ".join(f"{count}: {words}" for words, count in dropped.items() if words.startswith("source"))
        raise InputError(f"{path}: expected answers whose words can be acted out, found none ({why})")
    return found


def _from_row(row: Mapping[str, object], facts: CaseFacts, name: str, dropped: Counter[str]) -> Source | None:
    if "waypoints" in row or "<wp>" in str(row.get("text", "")):
        _, plan = to_plan(row)  # type: ignore[arg-type]
        return _whole(facts, "original", name, plan.trace, np.array(plan.waypoints), dropped)
    words = str(row.get("cot") or row.get("text") or "")
    intent = read_intent(words)
    manoeuvre = intent and _ACTS.get(
        (intent.longitudinal, intent.lateral.removesuffix(" left").removesuffix(" right"))
    )
    if intent is None or not manoeuvre:
        dropped["source: words that cannot be acted out on a lane"] += 1
        return None
    side = "right" if intent.lateral.endswith("right") else "left"
    longitudinal, lateral, _ = MANOEUVRES[manoeuvre]
    if manoeuvre == "pass" and not intent.lateral:
        lateral, points = "lane keeping", facts.base.follow(facts.base.speed * TIMES + 0.35 * TIMES**2)
    else:
        points = acted(facts.base, manoeuvre, side)
    trace = Trace(justification=words, longitudinal=longitudinal, lateral=lateral.format(side=side))
    return Source(facts, "original", name, Said(trace, points, intent=intent), side=side)


_ACTS = {
    ("stop", ""): "stop",
    ("yield", ""): "yield",
    ("set speed tracking", ""): "keep",
    ("set speed tracking", "lane keeping"): "keep",
    ("yield", "lane keeping"): "yield",
    ("stop", "lane keeping"): "stop",
    ("pass", ""): "pass",
    ("pass", "lane change"): "pass",
    ("set speed tracking", "lane change"): "lane change",
    ("", "lane change"): "lane change",
    ("set speed tracking", "to the"): "nudge",
    ("", "to the"): "nudge",
}


def _rows(path: Path) -> Iterator[Mapping[str, object]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        read: Callable[[str], object] = json.loads
        rows = (
            read(text)
            if text.lstrip().startswith("[")
            else [read(line) for line in text.splitlines() if line.strip()]
        )
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected a JSON list, or a JSON object a line ({error})") from error
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: expected a JSON list of objects, or one a line, found something else")
    yield from rows
