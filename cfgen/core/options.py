"""How options are declared and read: by the annotations of a signature or of a class, once for all their uses.

The library, the command line, experiment files and the documentation take an option's name, type, default, range and
help from one declaration::

    @attrs.frozen(kw_only=True)
    class BuildOptions(Options):
        n: Annotated[Count, "Accepted cases to end with."] = 66

A plain text in ``Annotated`` is the help; a :class:`Range` is what values may be.
"""

import functools
import inspect
import json
import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin

import attrs

from cfgen.core.errors import InputError, did_you_mean

P = ParamSpec("P")
O = TypeVar("O")  # noqa: E741
R = TypeVar("R")

# --- declaring -------------------------------------------------------------------------------------------

#: A path; what :func:`cfgen.build` and :func:`cfgen.open_benchmark` return stands for its folder.
Place = str | os.PathLike[str]
#: Names; one text may hold several, with commas between them.
Names = str | Sequence[str]
#: Options of something chosen by name, such as an inpainter.
Settings = Mapping[str, Any] | None


@dataclass(frozen=True)
class Range:
    """What values of an option may be, in words and as a test."""

    words: str
    fits: Callable[[Any], bool]


@dataclass(frozen=True)
class Spelling:
    """How a command line writes a value: ``read`` gets it from one text, raising ValueError for any other text.

    ``shape``: how such a text looks, for help and messages.
    """

    shape: str
    read: Callable[[str], Any]


@dataclass(frozen=True)
class Addressable:
    """Marks a path of a benchmark that may be an address in an object store.

    ``records``: of what is there these alone are brought here, without pictures.
    """

    records: bool = False


def _number_text(unit: str) -> Callable[[str], float]:
    return lambda text: float(text.strip().removesuffix(unit).removeprefix(unit))


Count = Annotated[int, Range("a whole number above 0", lambda value: value >= 1)]
Natural = Annotated[int, Range("a whole number of at least 0", lambda value: value >= 0)]
Seconds = Annotated[
    float,
    Range("seconds above 0, a week at most", lambda value: 0 < value <= 604_800),
    Spelling("SECONDS", _number_text("s")),
]
Dollars = Annotated[
    float,
    Range("dollars, or 0 for no limit", lambda value: 0 <= value < math.inf),
    Spelling("USD", _number_text("$")),
]
#: None, on the command line ``all``, for no limit
Limit = Annotated[
    int | None,
    Range("a whole number of at least 0", lambda value: value >= 0),
    Spelling("N|all", lambda text: None if text == "all" else int(text)),
]
SomeNames = Range("one name at least", lambda value: len(value) > 0)

Quiet = Annotated[bool, "Show no progress."]
Strict = Annotated[bool, "End at the first unexpected exception, with its traceback."]
Offline = Annotated[
    bool,
    "Send nothing off this machine: models elsewhere are refused, and sockets of planners and workers; a planner gets "
    "a network of its own where the system permits it.",
]
AllowHosts = Annotated[
    Names,
    "Reach these hosts only, this machine too only where localhost is named; how it was enforced is recorded.",
]
Engine = Annotated[
    str, "Who does the work side by side: serial, processes (default: on this machine) or ray (a cluster)."
]
EngineOptions = Annotated[Settings, "Options of the engine, such as address=HOST:PORT."]
_BENCH = "Benchmark directory."
Bench = Annotated[Place, Addressable(), _BENCH]
#: the same as the field of an options class
BenchPath = Annotated[Path, Addressable(), _BENCH]
NewFolder = Annotated[Place, "New folder to write to."]
NewFile = Annotated[Place, "New file to write."]


# What the fields of options classes accept beyond their own type: type checkers take it from these converters, and
# :class:`Options` does the reading.


def path(value: Place) -> Path:
    return cast(Path, value)


def path_or_none(value: Place | None) -> Path | None:
    return cast("Path | None", value)


def paths(value: Sequence[Place]) -> tuple[Path, ...]:
    return cast("tuple[Path, ...]", value)


def names(value: Names) -> tuple[str, ...]:
    return cast("tuple[str, ...]", value)


def names_or_none(value: Names | None) -> tuple[str, ...] | None:
    return cast("tuple[str, ...] | None", value)


def settings(value: Settings) -> dict[str, Any]:
    return cast("dict[str, Any]", value)


def factors(value: Sequence[float]) -> tuple[float, ...]:
    return cast("tuple[float, ...]", value)


def text_path(value: Place) -> str:
    return cast(str, value)


@attrs.frozen(kw_only=True, slots=False)
class Options:
    """Base of options classes: what is given is read by the fields' annotations; all faults are named together.

    Attributes:
        given: names of the options that a caller of :func:`function_of` gave, be it with their defaults.

    Raises:
        InputError: a value of another type, or out of its range.
    """

    given: ClassVar[frozenset[str]] = frozenset()

    def __attrs_post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        for name, value in read(field_types(type(self)), values).items():
            object.__setattr__(self, name, value)


def field_types(options: type) -> dict[str, Any]:
    """The annotation of each field of an options class."""
    return {field.name: field.type for field in attrs.fields(options)}


def function_of(options: Callable[P, O], work: Callable[[O], R]) -> Callable[P, R]:
    """``work`` as a function whose arguments are the fields of an options class."""

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs.keys() - signature.parameters.keys():
            raise TypeError(
                f"{call.__name__}: unknown option '{name}'{did_you_mean(name, signature.parameters)}"
            )
        made = options(*args, **kwargs)
        object.__setattr__(made, "given", frozenset(signature.bind(*args, **kwargs).arguments))
        return work(made)

    signature = call.__signature__ = signature_of(cast(type, options))  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = work.__name__.removeprefix("_")
    call.__module__ = work.__module__
    lines = [f"    {p.name}: {help_of(p.annotation)}" for p in signature.parameters.values()]
    call.__doc__ = "\n".join([inspect.cleandoc(work.__doc__ or ""), "", "Args:", *lines])
    return call


def signature_of(options: type) -> inspect.Signature:
    """What an options class takes: its own fields before those that it shares with others."""
    accepted = inspect.signature(options)
    parameters = []
    for field in sorted(
        attrs.fields(options), key=lambda f: (bool(f.kw_only), bool(f.kw_only and f.inherited))
    ):
        parameter, annotation = accepted.parameters[field.name], field.type
        if field.converter is not None and _extras(annotation):
            annotation = Annotated[(parameter.annotation, *_extras(annotation))]
        made_anew = isinstance(field.default, attrs.Factory)  # type: ignore[arg-type]
        default = None if made_anew else parameter.default
        parameters.append(parameter.replace(annotation=annotation, default=default))
    return accepted.replace(parameters=parameters)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, which then gets paths as :class:`Path`, names and numbers as tuples, settings as plain dicts.

    Raises:
        InputError: an argument of another type, or out of its range.
    """
    signature = inspect.signature(function)
    types = {name: parameter.annotation for name, parameter in signature.parameters.items()}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return function(**read(types, bound.arguments))  # type: ignore[call-arg]

    return call


# --- reading ---------------------------------------------------------------------------------------------


def read(types: Mapping[str, Any], arguments: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """The values by their names, read by their annotations.

    Args:
        where: comes before an option's name in messages.

    Raises:
        InputError: names each option that does not fit, what was expected and what was found.
    """
    values, faults = {}, []
    for name, annotation in types.items():
        try:
            values[name] = _read(annotation, arguments[name])
        except InputError as error:
            faults.append(f"{where}{name}: {error}")
    if faults:
        raise InputError("; ".join(faults))
    return values


def help_of(annotation: Any) -> str:
    """The text in an ``Annotated``; "" without one."""
    return next((extra for extra in _extras(annotation)[::-1] if isinstance(extra, str)), "")


def from_text(annotation: Any, texts: Sequence[str]) -> Any:
    """What a command line gives for an option: one text, or several where it may be repeated.

    Raises:
        InputError: says what was expected and what was found.
    """
    kind, spelling = _kind(annotation), _extra(annotation, Spelling)
    try:
        if kind and kind.repeatable:
            if spelling is None:
                return kind.join(texts)
            values = [spelling.read(text) for text in texts]
            return kind.join(values) if kind.join is _pairs else values[-1]
        value = spelling.read(texts[-1]) if spelling else kind.parse(texts[-1]) if kind else texts[-1]
    except (ValueError, OverflowError):
        expected = spelling.shape if spelling else kind.words if kind else "a value"
        if limit := _extra(annotation, Range):
            expected = limit.words
        words = (
            f"'{' '.join(texts)}'" if any(map(str.strip, texts)) else "nothing; leave it out for its default"
        )
        raise InputError(f"expected {expected}, found {words}") from None
    return value


def bare(annotation: Any) -> Any:
    """An annotation without help, range and ``None``."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    members = [m for m in get_args(annotation) if m is not NoneType]
    if get_origin(annotation) in (Union, UnionType) and len(members) < len(get_args(annotation)):
        return bare(Union[tuple(members)])  # noqa: UP007
    return annotation


def shape_of(annotation: Any) -> str:
    """How a command line writes it, for help: ``A,B``, ``KEY=VALUE``, ``PATH``; "" as its type says."""
    if spelling := _extra(annotation, Spelling):
        return spelling.shape
    kind = _kind(annotation)
    return kind.shape if kind else ""


def is_repeatable(annotation: Any) -> bool:
    """Whether a command line may give it several times."""
    kind = _kind(annotation)
    return bool(kind and kind.repeatable)


def split(text: Names) -> tuple[str, ...]:
    """Words, from a list of them or from one text with commas."""
    words = text.split(",") if isinstance(text, str) else text
    return tuple(word.strip() for word in words if word.strip())


def _extras(annotation: Any) -> tuple[Any, ...]:
    """What ``Annotated`` adds to a type, or to a member of a union."""
    if get_origin(annotation) in (Union, UnionType):
        return tuple(extra for member in get_args(annotation) for extra in _extras(member))
    if get_origin(annotation) is not Annotated:
        return ()
    return (*_extras(get_args(annotation)[0]), *annotation.__metadata__)


T = TypeVar("T")


def _extra(annotation: Any, kind: type[T]) -> T | None:
    return next((extra for extra in _extras(annotation) if isinstance(extra, kind)), None)


def _read(annotation: Any, value: Any) -> Any:
    kind = _kind(annotation)
    if mark := _extra(annotation, Addressable):
        value = _localized(value, mark)
    if value is None and _optional(annotation) and kind is not _SETTINGS:
        return None
    if kind is not None:
        try:
            value = kind.read(value)
        except (TypeError, ValueError, OverflowError):
            alternative = ", or None" if _optional(annotation) else ""
            description = f"{repr(value)[:60]} ({type(value).__name__})"
            raise InputError(f"expected {kind.words}{alternative}, found {description}") from None
    limit = _extra(annotation, Range)
    if limit is not None and not limit.fits(value):
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        raise InputError(f"expected {limit.words}, found {text or chr(39) * 2}")
    return value


def _localized(value: Any, mark: Addressable) -> Any:
    """Working copies in place of addresses."""
    from cfgen.core.object_store import url_of, working_copy

    if isinstance(value, list | tuple):
        return [_localized(item, mark) for item in value]
    if isinstance(value, str | os.PathLike) and (url := url_of(value)):
        return working_copy(url, everything=not mark.records)
    return value


def _optional(annotation: Any) -> bool:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return NoneType in get_args(annotation)


@dataclass(frozen=True)
class Kind:
    """``read`` gives a value in one form; what it cannot read raises TypeError or ValueError.

    ``parse``: from one text of a command line. ``join``: from all the texts of an option that may be repeated.
    """

    words: str
    read: Callable[[Any], Any]
    parse: Callable[[str], Any] = str
    join: Callable[[Sequence[Any]], Any] = list
    repeatable: bool = False
    shape: str = ""


def _instance_of(*kinds: type) -> Callable[[Any], Any]:
    def read_instance(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise TypeError
        return value

    return read_instance


def _integer(value: Any) -> int:
    """NumPy's are whole numbers as well; True is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError
    return int(value)


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or math.isnan(value):
        raise TypeError
    return float(value)


def _path(value: Any) -> Path:
    from cfgen.core.object_store import is_url  # not for --help

    text = os.fspath(value)
    if not isinstance(text, str) or not text:
        raise TypeError
    if is_url(text):
        raise InputError(
            f"expected a path of this machine, found the address {text}; of object stores only a benchmark is read, "
            "and only build writes to them: write here and copy it there"
        )
    return Path(text).expanduser()


def _sequence(item: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read_sequence(value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | bytes | Mapping):
            raise TypeError
        return tuple(item(each) for each in value)

    return read_sequence


def _pair(value: Any) -> tuple[float, ...]:
    numbers_read: tuple[float, ...] = _sequence(_float)(value)
    if len(numbers_read) != 2:
        raise ValueError
    return numbers_read


def _names(value: Any) -> tuple[str, ...]:
    return split(value if isinstance(value, str) else _sequence(_instance_of(str))(value))


def _settings(value: Any) -> dict[str, Any]:
    """They are stored as JSON, which has no paths."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise TypeError
    return {key: str(item) if isinstance(item, os.PathLike) else item for key, item in value.items()}


def key_value(text: str) -> tuple[str, Any]:
    """``KEY=VALUE``; the value is JSON where it parses as such, else text.

    Raises:
        ValueError: there is no ``=``.
    """
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ValueError(text)
    try:
        return key.replace("-", "_"), json.loads(value)
    except ValueError:
        return key.replace("-", "_"), value


def _pairs(items: Sequence[Any]) -> dict[str, Any]:
    return dict(key_value(item) if isinstance(item, str) else item for item in items)


def _numbers(texts: Sequence[str]) -> tuple[float, ...]:
    return tuple(float(word) for text in texts for word in split(text))


def _words(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for text in texts for word in split(text))


#: a name, or the path of a file in its place
NAME_OR_PATH = Kind(
    "a name or a path", lambda value: str(_instance_of(str, os.PathLike)(value)), shape="NAME"
)
_PATH = Kind("a path (text or os.PathLike)", _path, shape="PATH")
_NAMES = Kind("names: text, or a list of texts", _names, join=_words, repeatable=True, shape="A,B")
_SETTINGS = Kind(
    "a mapping from texts to values (KEY=VALUE)", _settings, join=_pairs, repeatable=True, shape="KEY=VALUE"
)
_NUMBERS = Kind("a list of numbers", _sequence(_float), join=_numbers, repeatable=True, shape="X,Y")
_PATHS = Kind("a list of paths", _sequence(_path), join=list, repeatable=True, shape="PATH")
_KINDS: dict[Any, Kind] = {
    int: Kind("a whole number", _integer, int, shape="N"),
    float: Kind("a number", _float, float, shape="X"),
    bool: Kind("True or False", _instance_of(bool)),
    str: Kind("text", _instance_of(str), shape="TEXT"),
    str | Path: NAME_OR_PATH,
    Place: _PATH,
    Path: _PATH,
    Names: _NAMES,
    tuple[str, ...]: _NAMES,
    Sequence[str]: Kind(
        "a list of texts", _sequence(_instance_of(str)), join=list, repeatable=True, shape="TEXT"
    ),
    Mapping[str, Any]: _SETTINGS,
    dict[str, Any]: _SETTINGS,
    Sequence[float]: _NUMBERS,
    tuple[float, ...]: _NUMBERS,
    tuple[float, float]: Kind(
        "two numbers, LOW,HIGH", _pair, lambda text: _numbers([text]), shape="LOW,HIGH"
    ),
    Sequence[Place]: _PATHS,
    tuple[Path, ...]: _PATHS,
}


def _literal(words: tuple[Any, ...]) -> Kind:
    listing = ", ".join(str(word) for word in words if word)

    def choose(value: Any) -> Any:
        if value not in words:
            raise InputError(f"expected one of {listing}, found {value!r}{did_you_mean(str(value), words)}")
        return value

    return Kind(f"one of {listing}", choose, shape=listing.replace(", ", "|"))


def _kind(annotation: Any) -> Kind | None:
    if kind := _extra(annotation, Kind):
        return kind
    type_ = bare(annotation)
    if get_origin(type_) is Literal:
        return _literal(get_args(type_))
    if get_origin(type_) is tuple and get_origin(get_args(type_)[0]) is Literal:
        return _NAMES
    return _KINDS.get(type_)
