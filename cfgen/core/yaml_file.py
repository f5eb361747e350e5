"""YAML that people write: read strictly, and what does not fit is told in words, fault by fault."""

import inspect
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cfgen.core.errors import InputError, did_you_mean

#: faults of one file that are told; the rest is counted
MOST_FAULTS = 10


def read_yaml(path: Path) -> Any:
    """The content of a file.

    Raises:
        InputError: it cannot be read, is not YAML, or gives a key twice, of which YAML would silently drop one.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    try:
        return yaml.load(text, _OneKeyOnce)
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # ValueError: a date that is none
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        words = " ".join(str(getattr(error, "problem", None) or error).split())
        raise InputError(f"{path}: not readable as YAML: {words}{where}") from error


class _OneKeyOnce(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: list[Any] = []  # a key need not be hashable yet
        for place, _ in node.value:
            key = self.construct_object(place, deep=True)
            if key in keys:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key}' is given twice", place.start_mark
                )
            keys.append(key)
        return super().construct_mapping(node, deep)


def told(faults: Sequence[str]) -> str:
    """Faults as one line: the first :data:`MOST_FAULTS`, and how many there are besides."""
    more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    return "; ".join([*faults[:MOST_FAULTS], *more])


def faults_of(error: ValidationError, model: type[BaseModel], hidden: Collection[str] = ()) -> list[str]:
    """One fault for each field: what was expected, what was found, and the nearest right word.

    Args:
        model: what the content was to be. hidden: its fields that nobody may give.
    """
    found: dict[str, str] = {}
    for one in error.errors(include_url=False):
        place, words = _told(one, model, hidden)
        found[place] = f"{found[place]}, or {words}" if place in found else words
    return [f"{place}: {words}" for place, words in found.items()]


def _told(error: ErrorDetails, model: type[BaseModel], hidden: Collection[str]) -> tuple[str, str]:
    place, within = _place(error["loc"], model)
    field = ".".join(place) or "(the whole)"
    if error["type"] == "missing":
        return f"{field}", "expected this field, found none"
    if error["type"] == "extra_forbidden":
        holder = _model_in(within) or model
        known = [info.alias or name for name, info in holder.model_fields.items() if name not in hidden]
        last = str(error["loc"][-1])
        field = ".".join([*place, last])
        return field, f"unknown field{did_you_mean(last, known)}; expected one of {', '.join(known)}"
    message = error["msg"].removeprefix("Value error, ")
    hint = did_you_mean(str(error["input"]), _words_in(within)) if error["type"] == "literal_error" else ""
    return field, f"{message[:1].lower()}{message[1:]}, found {repr(error['input'])[:80]}{hint}"


def _place(loc: tuple[str | int, ...], model: Any) -> tuple[list[str], Any]:
    """The part of a pydantic location that stands in the file, and the annotation that it ends at."""
    place: list[str] = []
    here = model
    for part in loc:
        if isinstance(part, str):
            holder = _model_in(here)
            fields = {
                info.alias or name: info for name, info in (holder.model_fields if holder else {}).items()
            }
            if part not in fields:
                break  # a field that is not known, or a member of a union
            here = fields[part].annotation
        place.append(str(part))
    return place, here


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _model_in(arg))), None)


def _words_in(annotation: Any) -> list[str]:
    """What a field of literals may hold."""
    words = [arg for arg in get_args(annotation) if isinstance(arg, str)]
    return words or [word for arg in get_args(annotation) for word in _words_in(arg)]
