"""Conditions on tags, such as ``speed > 5 and road == 'junction'``: read, checked and held against tags; never run."""

import ast
import keyword
import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from cfgen.core.errors import InputError, did_you_mean
from cfgen.scenes.tags import SEEN, Value

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

    def check(self, known: Collection[str]) -> None:
        """
        Raises:
            InputError: a tag that no scene has.
        """
        for name in sorted(self.names - set(known)):
            near = did_you_mean(name, known)
            if name.startswith(SEEN) and SEEN not in near:
                near = f"; {_LOOK}"
            raise InputError(
                f"'{self.text}': no scene has a tag '{name}'{near}; "
                f"there are: {', '.join(sorted(filter(_can_be_asked, known)))}"
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
        found = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        found = {"true": True, "false": False}.get(value.lower(), value)
    return f"{name} == {(found if isinstance(found, (int, float)) else value)!r}"


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
    for one in value if isinstance(value, (tuple, list)) else (value,):
        if not isinstance(one, (str, int, float, bool)):
            raise ValueError(f"expected texts or numbers, found '{ast.unparse(node)}'")
    return value


def _test(node: ast.expr, text: str) -> _Test:
    """A function of tags; made once, since 200,000 scenes are held against it."""
    match node:
        case ast.BoolOp(op=op, values=values):
            tests, whole = [_test(value, text) for value in values], isinstance(op, ast.And)

            def several(tags: Mapping[str, Value]) -> bool:
                return whole is not any(test(tags) is not whole for test in tests)

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
        return any(_same(a, one) for one in b) is isinstance(op, ast.In)
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
        (several, other) = (a, b) if isinstance(a, list) else (b, a)
        return other == several if isinstance(other, list) else other in several
    return bool(a == b)
