"""What a caller gives, read by the annotations of the library's functions; what does not fit is refused in words."""

import functools
import inspect
import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from cfgen.core.errors import InputError
from cfgen.core.object_store import is_url, url_of, working_copy

#: A path; what :func:`cfgen.build` and :func:`cfgen.open_benchmark` return stands for its folder.
Place = str | os.PathLike[str]
#: Names; one text may hold several, with commas between them.
Names = str | Sequence[str]
Options = Mapping[str, Any] | None

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, which then gets paths as :class:`Path`, names and numbers as tuples, options as plain dicts.

    Raises:
        InputError: an argument of another type, or out of its range.
    """
    signature = inspect.signature(function)
    place = {"build": "out", "open_benchmark": "path"}.get(function.__name__, "bench")

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        if isinstance(given := bound.arguments.get(place), str | os.PathLike) and (url := url_of(given)):
            bound.arguments[place] = working_copy(url, everything=place != "out")
        return function(**read(function, bound.arguments))  # type: ignore[call-arg]

    return call


def read(function: Callable[..., Any], given: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """The arguments of ``function``, with its defaults, as :func:`checked` hands them on.

    Args:
        where: comes before an argument's name in messages.
    """
    found, faults = {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        value = given.get(name, parameter.default)
        try:
            found[name] = _read(name, value, parameter.annotation)
        except InputError as error:
            faults.append(f"{where}{error}")
    if faults:
        raise InputError("; ".join(faults))
    return found


def _read(name: str, value: Any, annotation: Any) -> Any:
    kind = _KINDS.get(annotation)
    if kind is not None:
        try:
            value = kind.read(value)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        except (TypeError, ValueError, OverflowError):
            found = f"{repr(value)[:60]} ({type(value).__name__})"
            raise InputError(f"{name}: expected {kind.words}, found {found}") from None
    limit = _RANGES.get(name)
    if limit is not None and value is not None and not limit.fits(value):
        raise InputError(f"{name}: expected {limit.words}, found {_plainly(value)}")
    return value


def names(given: Names) -> tuple[str, ...]:
    """Words, from a list of them or from one text with commas."""
    words = given.split(",") if isinstance(given, str) else given
    return tuple(word.strip() for word in words if word.strip())


def _plainly(value: Any) -> str:
    """Nothing at all is shown as ``''``."""
    return (", ".join(map(str, value)) if isinstance(value, tuple) else str(value)) or "''"


# --- types ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    """``read`` gives the value in one form; what it cannot read raises TypeError or ValueError."""

    words: str
    read: Callable[[Any], Any]

    def or_none(self, words: str = "None") -> "_Kind":
        return _Kind(f"{self.words}, or {words}", lambda value: None if value is None else self.read(value))


def _only(*kinds: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise TypeError
        return value

    return read


def _whole(value: Any) -> int:
    """NumPy's are whole numbers as well; True is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or math.isnan(value):
        raise TypeError
    return float(value)


def _place(value: Any) -> Path:
    path = os.fspath(value)
    if not isinstance(path, str) or not path:
        raise TypeError
    if is_url(path):
        raise InputError(
            f"expected a path of this machine, found the address {path}; of object stores only a benchmark is read, "
            "and only build writes to them: write here and copy it there"
        )
    return Path(path).expanduser()


def _several(one: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | bytes | Mapping):
            raise TypeError
        return tuple(one(each) for each in value)

    return read


def _pair(value: Any) -> tuple[float, ...]:
    found: tuple[float, ...] = _several(_number)(value)
    if len(found) != 2:
        raise ValueError
    return found


def _names(value: Any) -> tuple[str, ...]:
    return names(value if isinstance(value, str) else _several(_only(str))(value))


def _options(value: Any) -> dict[str, Any]:
    """They are stored as JSON, which has no paths."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise TypeError
    return {key: str(v) if isinstance(v, os.PathLike) else v for key, v in value.items()}


def _planner(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return str(_place(value))
    if isinstance(value, str | type) or callable(getattr(value, "plan", None)):
        return value
    raise TypeError


def _run(value: Any) -> Any:
    from cfgen.library.benchmark import Run

    return _only(str, Run)(value)


def _requirements(value: Any) -> Any:
    from cfgen.planners.protocol import Requirements

    return _only(Requirements)(value)


_TEXT = _Kind("text", _only(str))
_WHOLE = _Kind("a whole number", _whole)
_NUMBER = _Kind("a number", _number)
_PLACE = _Kind("a path (text or os.PathLike)", _place)
_NAMES = _Kind("names: text, or a list of texts", _names)
_NUMBERS = _Kind("a list of numbers", _several(_number))
#: by annotation; those in quotes are imported only where they are needed
_KINDS: dict[Any, _Kind] = {
    int: _WHOLE,
    int | None: _WHOLE.or_none(),
    float: _NUMBER,
    float | None: _NUMBER.or_none(),
    bool: _Kind("True or False", _only(bool)),
    str: _TEXT,
    str | None: _TEXT.or_none(),
    str | Path: _Kind("a name or a path", lambda value: str(_place(value))),
    Place: _PLACE,
    Place | None: _PLACE.or_none(),
    Names: _NAMES,
    Names | None: _NAMES.or_none(),
    Options: _Kind("a mapping from texts to values, or None", _options),
    Sequence[float]: _NUMBERS,
    Sequence[float] | None: _NUMBERS.or_none(),
    tuple[float, float]: _Kind("two numbers, (low, high)", _pair),
    Sequence[Place]: _Kind("a list of paths", _several(_place)),
    "str | Path | type | Planner": _Kind(
        "a name, package.module:Class, cmd:PROGRAM, a URL, a .jsonl file, a class, or an object with a method "
        "'plan(observations)'",
        _planner,
    ),
    "str | Run": _Kind("BENCH:PLANNER or a cfgen.Run", _run),
    "Requirements | None": _Kind("a cfgen.Requirements", _requirements).or_none(),
}


# --- ranges ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Range:
    words: str
    fits: Callable[[Any], bool]


_POSITIVE = _Range("a whole number above 0", lambda value: value >= 1)
_NOT_NEGATIVE = _Range("a whole number of at least 0", lambda value: value >= 0)
_SOME = _Range("one name at least", lambda value: len(value) > 0)
_SECONDS = _Range("seconds above 0, a week at most", lambda value: 0 < value <= 604_800)
#: as the records name them, which take longer to import
FLOORS = ("mean", "rerun", "null", "nuisance", "worst")
SELECTS = ("mean", "first", "medoid", "best")
_RANGES: dict[str, _Range] = {
    **dict.fromkeys(
        ("n", "attempts", "repeats", "workers", "votes", "cases", "limit", "max_answer_chars", "per_edge"),
        _POSITIVE,
    ),
    **dict.fromkeys(("planner_retries", "panels", "pages"), _NOT_NEGATIVE),
    **dict.fromkeys(("timeout_s", "startup_timeout_s", "every_s"), _SECONDS),
    **dict.fromkeys(("arms", "planners"), _SOME),
    "name": _Range("a name, or None for one of cfgen's own", lambda value: bool(value.strip())),
    "planner_memory": _Range("GB above 0, or None for no limit", lambda value: 0 < value < 1e6),
    "jobs": _Range("a number of processes, or 0 for one a core", lambda value: value >= 0),
    "budget": _Range("dollars, or 0 for no limit", lambda value: 0 <= value < math.inf),
    "decel_band": _Range("0 < low < high", lambda value: 0 < value[0] < value[1] < math.inf),
    "controls": _Range("null and/or nuisance", lambda value: {"null", "nuisance"} >= set(value)),
    "select": _Range("mean, first, medoid or best", lambda value: value in SELECTS),
    "floor": _Range("mean, rerun, null, nuisance or worst", lambda value: value in ("", *FLOORS)),
    "distances": _Range("factors from 0.2 to 5", lambda value: all(0.2 <= factor <= 5 for factor in value)),
}
