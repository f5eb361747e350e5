"""Choosing among scenes: conditions on tags, the tags of all scenes below a folder, and strata that chance draws from.

Conditions such as ``speed > 5 and road == 'junction'`` are read, checked and held against tags, never run. A library's
evaluator (simpleeval, cel-python) serves users less: it takes a tag that a scene lacks for an error, knows no tags with
several values, and does not name the nearest tag.
"""

import ast
import json
import keyword
import operator
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cfgen.core.disk_backed import indexed
from cfgen.core.errors import InputError, did_you_mean
from cfgen.core.hashing import derive_seed
from cfgen.records.cases import Sampling, Stratum
from cfgen.scenes.folder import SCENE_FILE, find_scenes
from cfgen.scenes.perceived_tags import SeenTags
from cfgen.scenes.tags import SEEN, SEEN_BY, Tags, Value, tags_of

_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_HOW = "write like speed > 5 and road == 'junction', light in ('dusk', 'night') or not rain; or tag=value"
_LOOK = (
    "what frames show is looked for by cfgen scenes tag DIR (vehicles, people and animals with --perception-options "
    "things=fastestdet)"
)
_LONGEST = 2000
#: ``tag=value`` for ``tag == 'value'``
_SHORT = re.compile(r"\b([A-Za-z_]\w*)\s*=(?!=)\s*([^\s()\[\],=<>!]*)")
_QUOTED = re.compile(r"""('[^']*'|"[^"]*")""")
_Test = Callable[[Mapping[str, Value]], bool]


@dataclass(frozen=True)
class Condition:
    """What ``text`` says of tags. A comparison with a tag that a scene lacks does not hold."""

    text: str
    names: frozenset[str]
    _test: _Test

    def holds(self, tags: Mapping[str, Value]) -> bool:
        """
        Raises:
            InputError: a tag's kind does not fit what it is compared with.
        """
        return self._test(tags)

    def check(self, tags: Collection[str]) -> None:
        """
        Raises:
            InputError: a tag that no scene has.
        """
        for name in sorted(self.names - set(tags)):
            near = did_you_mean(name, tags)
            if name.startswith(SEEN) and SEEN not in near:
                near = f"; {_LOOK}"
            raise InputError(
                f"'{self.text}': no scene has a tag '{name}'{near}; "
                f"there are: {', '.join(sorted(filter(_can_be_asked, tags)))}"
            )


def _can_be_asked(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def condition(text: str) -> Condition:
    """
    Raises:
        InputError: it is none; says where.
    """
    words = "".join(
        piece if piece[:1] in ("'", '"') else _SHORT.sub(_spelt_out, piece)
        for piece in _QUOTED.split(text.strip())
    )
    try:
        if len(words) > _LONGEST:
            raise ValueError("is longer than 2,000 characters")
        tree = ast.parse(words, mode="eval").body
        _check(tree)
    except SyntaxError as error:
        raise InputError(f"'{text}': expected a condition, found {error.msg}; {_HOW}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"'{text}': {error}; {_HOW}") from error
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Condition(text.strip(), names, _test(tree, text.strip()))


def _spelt_out(short: re.Match[str]) -> str:
    name, value = short.groups()
    if not value:  # a text in quotes follows
        return f"{name} == "
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        literal = {"true": True, "false": False}.get(value.lower(), value)
    return f"{name} == {(literal if isinstance(literal, (int, float)) else value)!r}"


def _check(node: ast.expr) -> None:
    """Refuses all but comparisons of a tag with values, joined by and, or, not."""
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                _check(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _check(operand)
        case ast.Name():
            pass
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [left, *others]
            if not any(isinstance(side, ast.Name) for side in sides):
                raise ValueError(f"'{ast.unparse(node)}' compares no tag")
            for op, side in zip(ops, others, strict=True):
                among = isinstance(op, (ast.In, ast.NotIn))
                if isinstance(op, (ast.Is, ast.IsNot)) or (
                    among and not isinstance(side, (ast.Tuple, ast.List))
                ):
                    raise ValueError(f"'{ast.unparse(node)}' is no comparison of a tag with values")
            for side in sides:
                if not isinstance(side, ast.Name):
                    _value(side)
        case _:
            raise ValueError(f"'{ast.unparse(node)}' is no comparison of a tag with values")


def _value(node: ast.expr) -> Any:
    """
    Raises:
        ValueError: no text, number, yes or no, or list of them.
    """
    try:
        value = ast.literal_eval(node)
    except ValueError:
        raise ValueError(
            f"expected a text in quotes, a number or a list, found '{ast.unparse(node)}'"
        ) from None
    for element in value if isinstance(value, (tuple, list)) else (value,):
        if not isinstance(element, (str, int, float, bool)):
            raise ValueError(f"expected texts or numbers, found '{ast.unparse(node)}'")
    return value


def _test(node: ast.expr, text: str) -> _Test:
    """A function of tags; made once, since 200,000 scenes are held against it."""
    match node:
        case ast.BoolOp(op=op, values=values):
            tests, conjunction = [_test(value, text) for value in values], isinstance(op, ast.And)

            def several(tags: Mapping[str, Value]) -> bool:
                return conjunction is not any(test(tags) is not conjunction for test in tests)

            return several
        case ast.UnaryOp(operand=operand):
            inner = _test(operand, text)
            return lambda tags: not inner(tags)
        case ast.Name(id=name):
            return lambda tags: bool(tags.get(name, False))
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_side(side) for side in (left, *others)]
            steps = list(zip(ops, sides[:-1], sides[1:], strict=True))
            return lambda tags: all(_compares(op, a(tags), b(tags), text) for op, a, b in steps)
    raise AssertionError(ast.dump(node))


def _side(node: ast.expr) -> Callable[[Mapping[str, Value]], Any]:
    if isinstance(node, ast.Name):
        name = node.id
        return lambda tags: tags.get(name)
    value = _value(node)
    return lambda _: value


def _compares(op: ast.cmpop, a: Any, b: Any, text: str) -> bool:
    if a is None or b is None:
        return False
    if isinstance(op, (ast.In, ast.NotIn)):
        return any(_same(a, element) for element in b) is isinstance(op, ast.In)
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return _same(a, b) is isinstance(op, ast.Eq)
    if isinstance(a, str) is not isinstance(b, str) or isinstance(a, list) or isinstance(b, list):
        raise InputError(
            f"'{text}': expected two numbers or two texts to compare, found {a!r} and {b!r} in a scene; "
            "compare the tag with its own kind"
        )
    return _ORDER[type(op)](a, b)


def _same(a: Any, b: Any) -> bool:
    """Equal, or one of a tag's several values is."""
    if isinstance(a, list) or isinstance(b, list):
        (several, scalar) = (a, b) if isinstance(a, list) else (b, a)
        return scalar == several if isinstance(scalar, list) else scalar in several
    return bool(a == b)


# --- the tags of every scene below a folder, kept in the user's cache folder ---

#: Changes with what is told of a scene.
_KIND = "tags 1"


@dataclass(frozen=True)
class Tagged:
    """A scene folder with its tags, or with what is wrong."""

    root: Path
    name: str
    tags: Tags
    wrong: str = ""

    @property
    def folder(self) -> Path:
        return self.root / self.name


def tagged_scenes(folder: Path) -> list[Tagged]:
    """All scenes below ``folder``, sorted; only those that changed since the last time are read.

    Raises:
        InputError: no such folder, or no scene in it.
    """
    if not folder.is_dir():
        find_scenes(folder)  # says what is wrong

    def learn(names: Sequence[str]) -> Iterator[tuple[Tags, str]]:
        return (_look(folder / name) for name in names)

    tags_of = indexed(folder, _KIND, _found(str(folder)), learn)
    if not tags_of:
        find_scenes(folder)
    perceived = SeenTags.read(folder)
    return [
        Tagged(folder, name, perceived.of(name) | tags, wrong)
        for name, (tags, wrong) in sorted(tags_of.items())
    ]


def _found(root: str, below: str = "") -> Iterator[tuple[str, str]]:
    """Scene folders as paths relative to ``root``, and a stamp that changes with their scene.json."""
    folder = f"{root}/{below}" if below else root
    try:
        at = os.stat(f"{folder}/{SCENE_FILE}")  # noqa: PTH116 - paths as objects take four times as long
        yield below or ".", f"{at.st_mtime_ns}-{at.st_size}"
        return
    except OSError:
        pass
    try:
        with os.scandir(folder) as entries:
            inner = [entry.name for entry in entries if entry.name[0] != "." and entry.is_dir()]
    except OSError:
        return
    for name in inner:
        yield from _found(root, f"{below}/{name}" if below else name)


def _look(folder: Path) -> tuple[Tags, str]:
    path = folder / SCENE_FILE
    try:
        content = json.loads(path.read_bytes())
        return tags_of(content), ""
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, ZeroDivisionError) as error:
        return (
            {},
            f"{path}: cannot be read for its tags ({type(error).__name__}: {error}); try cfgen scenes check",
        )


def values_of(scenes: list[Tagged], name: str, at_most: int = 8) -> list[str]:
    """Values that a tag has, the commonest first."""
    counts: dict[str, int] = {}
    for scene in scenes:
        value = scene.tags.get(name)
        for element in value if isinstance(value, list) else [] if value is None else [value]:
            counts[str(element)] = counts.get(str(element), 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value))[:at_most]


def known_tags(scenes: list[Tagged]) -> set[str]:
    """
    Raises:
        InputError: none of the scenes can be read.
    """
    if all(scene.wrong for scene in scenes):
        raise InputError(scenes[0].wrong)
    return {name for scene in scenes for name in scene.tags}


# --- strata: how many cases each gives, and which scenes are tried ---

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
    wanted_condition = _asked("--where", where, scenes)
    return scenes, [scene for scene in readable if _holds(wanted_condition, scene)]


def _asked(option: str, text: str, scenes: list[Tagged]) -> Condition:
    """
    Raises:
        InputError: names the option; no condition, a tag that no scene has, or one of what frames show where some were
            not looked at.
    """
    tags = known_tags(scenes)
    try:
        parsed = condition(text)
        parsed.check(tags)
    except InputError as error:
        raise InputError(f"{option} {error}") from error
    missing = [scene for scene in scenes if not scene.wrong and SEEN_BY not in scene.tags]
    if missing and any(name.startswith(SEEN) for name in parsed.names):
        raise InputError(
            f"{option} '{text}': {len(missing)} of {len(scenes)} scenes were not looked at since they are as they are, "
            f"such as {missing[0].folder}; run: cfgen scenes tag {missing[0].root}"
        )
    return parsed


def _holds(required: Condition, scene: Tagged) -> bool:
    """
    Raises:
        InputError: names the scene whose tag is of another kind.
    """
    try:
        return required.holds(scene.tags)
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
    remainder = n - sum(quota.values())
    if remainder < 0:
        raise InputError(f"--quota: expected at most {n} cases in all, as --n says, found {n - remainder}")
    shared = [*weights, OTHERS if conditions else ALL]
    pull = [weights.get(name, 1.0) * len(groups[name]) for name in shared]
    if remainder and not sum(pull):
        raise InputError(
            f"--quota: names {n - remainder} of {n} cases and leaves no scene for the others; lower --n"
        )
    cases = dict(quota) | dict(zip(shared, _shares(remainder, pull), strict=True))
    strata, sample = [], []
    for name, members in groups.items():
        if not members:
            continue
        order = sorted(members, key=lambda scene: derive_seed(seed, "drawn", str(scene.tags["id"])))
        count = min(len(order), max(_LEAST, _SPARE * cases[name])) if cases[name] else 0
        weight = None if name in quota else weights.get(name, 1.0)
        strata.append(
            Stratum(condition=name, scenes=len(members), cases=cases[name], weight=weight, drawn=count)
        )
        sample.append([scene.folder for scene in order[:count]])
    return Sampling(
        where=where,
        found=len(scenes),
        unreadable=sum(bool(scene.wrong) for scene in scenes),
        matched=len(matched),
        seen_by=_seen_by(folder, [where, *conditions]),
        strata=tuple(strata),
    ), sample


def _seen_by(folder: Path, conditions: Sequence[str]) -> str:
    """Who looked at the frames, where one of the conditions asks for what they show."""
    names = {name for text in conditions if text for name in condition(text).names}
    return SeenTags.read(folder).who if any(name.startswith(SEEN) for name in names) else ""


def _groups(
    scenes: list[Tagged], matched: list[Tagged], quota: Collection[str], conditions: Sequence[str]
) -> dict[str, list[Tagged]]:
    parsed: list[tuple[str, Condition]] = []
    for text in conditions:
        parsed.append((text, _asked("--quota" if text in quota else "--weights", text, scenes)))
    groups: dict[str, list[Tagged]] = {text: [] for text in conditions}
    groups[OTHERS if conditions else ALL] = []
    for scene in matched:
        first = next(
            (text for text, required in parsed if _holds(required, scene)), OTHERS if conditions else ALL
        )
        groups[first].append(scene)
    for text, required in parsed:
        if not groups[text]:
            values = "; ".join(
                f"{name}: {', '.join(values_of(matched, name))}" for name in sorted(required.names)
            )
            option = "--quota" if text in quota else "--weights"
            raise InputError(
                f"{option} '{text}': none of {len(matched)} scenes meets it that met none before; there are {values}"
            )
    return groups


def _shares(count: int, pull: Sequence[float]) -> list[int]:
    """``count`` split in proportion, the largest remainders first."""
    total = sum(pull)
    exact = [count * weight / total if total else 0.0 for weight in pull]
    shares = [int(weight) for weight in exact]
    for i in sorted(range(len(pull)), key=lambda i: shares[i] - exact[i])[: count - sum(shares)]:
        shares[i] += 1
    return shares
