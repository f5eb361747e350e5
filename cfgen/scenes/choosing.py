"""Choosing among scenes: conditions on tags, and the tags of all scenes below a folder.

Conditions such as ``speed > 5 and road == 'junction'`` are read, checked and held against tags, never run. A library's
evaluator (simpleeval, cel-python) serves users less: it takes a tag that a scene lacks for an error, knows no tags with
several values, and does not name the nearest tag.
"""

import ast
import json
import keyword
import operator
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cfgen.core.disk_backed import indexed
from cfgen.core.errors import InputError, did_you_mean
from cfgen.scenes.folder import SCENE_FILE, find_scenes
from cfgen.scenes.tags import Tags, Value, tags_of

_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_HOW = "write like speed > 5 and road == 'junction', light in ('dusk', 'night') or not rain"
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
    text = text.strip()
    try:
        tree = ast.parse(text, mode="eval").body
        test = _test(tree, text)
    except SyntaxError as error:
        raise InputError(f"'{text}': expected a condition, found {error.msg}; {_HOW}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"'{text}': {error}; {_HOW}") from error
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Condition(text, names, test)


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
    """A function of tags; made once, since 200,000 scenes are held against it.

    Raises:
        ValueError: it is no comparison of a tag with values, nor several joined by and, or, not.
    """
    match node:
        case ast.BoolOp(op=junction, values=values):
            tests, conjunction = [_test(value, text) for value in values], isinstance(junction, ast.And)
            return lambda tags: conjunction is not any(test(tags) is not conjunction for test in tests)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _test(operand, text)
            return lambda tags: not inner(tags)
        case ast.Name(id=name):
            return lambda tags: bool(tags.get(name, False))
        case ast.Compare(left=left, ops=ops, comparators=others):
            nodes = [left, *others]
            if not any(isinstance(side, ast.Name) for side in nodes):
                raise ValueError(f"'{ast.unparse(node)}' compares no tag")
            for op, side in zip(ops, others, strict=True):
                if isinstance(op, (ast.Is, ast.IsNot)) or (
                    isinstance(op, (ast.In, ast.NotIn)) and not isinstance(side, (ast.Tuple, ast.List))
                ):
                    break
            else:
                sides = [_side(side) for side in nodes]
                steps = list(zip(ops, sides[:-1], sides[1:], strict=True))
                return lambda tags: all(_compares(op, a(tags), b(tags), text) for op, a, b in steps)
    raise ValueError(f"'{ast.unparse(node)}' is no comparison of a tag with values")


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
    return [Tagged(folder, name, tags, wrong) for name, (tags, wrong) in sorted(tags_of.items())]


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


def known_tags(scenes: list[Tagged]) -> set[str]:
    """
    Raises:
        InputError: none of the scenes can be read.
    """
    if all(scene.wrong for scene in scenes):
        raise InputError(scenes[0].wrong)
    return {name for scene in scenes for name in scene.tags}


def matching(folder: Path, where: str) -> tuple[list[Tagged], list[Tagged]]:
    """All scenes of a folder, and those that can be read and meet a condition ("": all of them).

    Raises:
        InputError: no scenes, a bad condition, or a tag that no scene has.
    """
    scenes = tagged_scenes(folder)
    readable = [scene for scene in scenes if not scene.wrong]
    if not where:
        return scenes, readable
    asked = _asked(where, scenes)
    matched = []
    for scene in readable:
        try:
            if asked.holds(scene.tags):
                matched.append(scene)
        except InputError as error:
            raise InputError(f"{scene.folder}: {error}") from error
    return scenes, matched


def _asked(text: str, scenes: list[Tagged]) -> Condition:
    """
    Raises:
        InputError: no condition, or a tag that no scene has.
    """
    tags = known_tags(scenes)
    try:
        parsed = condition(text)
        parsed.check(tags)
    except InputError as error:
        raise InputError(f"--where {error}") from error
    return parsed
