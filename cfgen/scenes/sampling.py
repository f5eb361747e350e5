"""Strata of scenes, how many cases each gives, and which scenes are tried: by chance, with known probabilities."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from cfgen.core.errors import InputError
from cfgen.core.hashing import derive_seed
from cfgen.records.sampling import Sampling, Stratum
from cfgen.scenes.condition import Condition, condition
from cfgen.scenes.index import Tagged, known_tags, tagged_scenes, values_of
from cfgen.scenes.seen_tags import SeenTags
from cfgen.scenes.tags import SEEN, SEEN_BY

#: Of each stratum so many scenes are drawn for each case that is wanted, and so many at least: some are refused.
_SPARE, _LEAST = 10, 50
ALL, OTHERS = "all", "others"


def matching(folder: Path, where: str) -> tuple[list[Tagged], list[Tagged]]:
    """All scenes of a folder, and those that can be read and meet a condition ("": all of them).

    Raises:
        InputError: no scenes, a bad condition, or a tag that no scene has.
    """
    scenes = tagged_scenes(folder)
    readable = [scene for scene in scenes if not scene.wrong]
    if not where:
        return scenes, readable
    asked = _asked("--where", where, scenes)
    return scenes, [scene for scene in readable if _holds(asked, scene)]


def _asked(option: str, text: str, scenes: list[Tagged]) -> Condition:
    """
    Raises:
        InputError: names the option; no condition, a tag that no scene has, or one of what frames show where some were
            not looked at.
    """
    known = known_tags(scenes)
    try:
        asked = condition(text)
        asked.check(known)
    except InputError as error:
        raise InputError(f"{option} {error}") from error
    missing = [scene for scene in scenes if not scene.wrong and SEEN_BY not in scene.tags]
    if missing and any(name.startswith(SEEN) for name in asked.names):
        raise InputError(
            f"{option} '{text}': {len(missing)} of {len(scenes)} scenes were not looked at since they are as they are, "
            f"such as {missing[0].folder}; run: cfgen scenes tag {missing[0].root}"
        )
    return asked


def _holds(asked: Condition, scene: Tagged) -> bool:
    """
    Raises:
        InputError: names the scene whose tag is of another kind.
    """
    try:
        return asked.holds(scene.tags)
    except InputError as error:
        raise InputError(f"{scene.folder}: {error}") from error


def draw(
    folder: Path, where: str, quota: Mapping[str, int], weights: Mapping[str, float], n: int, seed: int
) -> tuple[Sampling, list[list[Path]]]:
    """The frame, and for each stratum the folders of the scenes that were drawn.

    Args:
        quota: condition -> accepted cases. weights: condition -> how much more often a scene is drawn than others; they
            share what the quotas leave of ``n``. A scene belongs to the first condition that it meets.

    Raises:
        InputError: as :func:`matching`; quotas above ``n``, or a stratum without scenes.
    """
    scenes, matched = matching(folder, where)
    if not matched:
        raise InputError(
            f"{folder}: none of its {len(scenes)} scenes meets --where '{where}'; try cfgen scenes list"
        )
    conditions = [*quota, *weights]
    groups = _groups(scenes, matched, quota, conditions)
    left = n - sum(quota.values())
    if left < 0:
        raise InputError(f"--quota: expected at most {n} cases in all, as --n says, found {n - left}")
    shared = [*weights, OTHERS if conditions else ALL]
    pull = [weights.get(name, 1.0) * len(groups[name]) for name in shared]
    if left and not sum(pull):
        raise InputError(
            f"--quota: names {n - left} of {n} cases and leaves no scene for the others; lower --n"
        )
    cases = dict(quota) | dict(zip(shared, _shares(left, pull), strict=True))
    strata, drawn = [], []
    for name, members in groups.items():
        if not members:
            continue
        order = sorted(members, key=lambda scene: derive_seed(seed, "drawn", str(scene.tags["id"])))
        count = min(len(order), max(_LEAST, _SPARE * cases[name])) if cases[name] else 0
        weight = None if name in quota else weights.get(name, 1.0)
        strata.append(
            Stratum(condition=name, scenes=len(members), cases=cases[name], weight=weight, drawn=count)
        )
        drawn.append([scene.folder for scene in order[:count]])
    return Sampling(
        where=where,
        found=len(scenes),
        unreadable=sum(bool(scene.wrong) for scene in scenes),
        matched=len(matched),
        seen_by=_seen_by(folder, [where, *conditions]),
        strata=tuple(strata),
    ), drawn


def _seen_by(folder: Path, conditions: Sequence[str]) -> str:
    """Who looked at the frames, where one of the conditions asks for what they show."""
    names = {name for text in conditions if text for name in condition(text).names}
    return SeenTags.read(folder).who if any(name.startswith(SEEN) for name in names) else ""


def _groups(
    scenes: list[Tagged], matched: list[Tagged], quota: Collection[str], conditions: Sequence[str]
) -> dict[str, list[Tagged]]:
    asked: list[tuple[str, Condition]] = []
    for text in conditions:
        asked.append((text, _asked("--quota" if text in quota else "--weights", text, scenes)))
    groups: dict[str, list[Tagged]] = {text: [] for text in conditions}
    groups[OTHERS if conditions else ALL] = []
    for scene in matched:
        first = next((text for text, one in asked if _holds(one, scene)), OTHERS if conditions else ALL)
        groups[first].append(scene)
    for text, one in asked:
        if not groups[text]:
            seen = "; ".join(f"{name}: {', '.join(values_of(matched, name))}" for name in sorted(one.names))
            option = "--quota" if text in quota else "--weights"
            raise InputError(
                f"{option} '{text}': none of {len(matched)} scenes meets it that met none before; there are {seen}"
            )
    return groups


def _shares(count: int, pull: Sequence[float]) -> list[int]:
    """``count`` split in proportion, the largest remainders first."""
    total = sum(pull)
    exact = [count * one / total if total else 0.0 for one in pull]
    shares = [int(one) for one in exact]
    for i in sorted(range(len(pull)), key=lambda i: shares[i] - exact[i])[: count - sum(shares)]:
        shares[i] += 1
    return shares
