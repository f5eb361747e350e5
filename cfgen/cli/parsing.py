"""From a function's signature to a command: names, types, defaults and help are taken from the function."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter
from cyclopts.help.formatters.plain import PlainFormatter

from cfgen.core.errors import InputError
from cfgen.core.options import bare, checked, from_text, help_of, is_repeatable, read, shape_of

if TYPE_CHECKING:
    from rich.console import Console

#: their texts may begin with a hyphen
_NUMERIC = (int, float, tuple[float, float], tuple[float, ...], Sequence[float])


def group(name: str, about: str) -> App:
    """A command of commands."""
    return App(name=name, help=about, help_flags=["--help", "-h"], version_flags=[])


def add(
    app: App,
    function: Callable[..., Any],
    show: Callable[..., int | None] | None = None,
    *,
    name: str = "",
    about: str = "",
) -> None:
    """Make a command of a function.

    Args:
        show: prints what the function returns; its keyword-only arguments are those of the function that have their
            names, or options of the command alone.
        about: help in place of the first paragraph of the function's docstring.
    """
    own = inspect.signature(function).parameters
    keywords = _keywords(show)
    parameters = [*own.values(), *(p for key, p in keywords.items() if key not in own)]
    types = {p.name: p.annotation for p in parameters}
    # functions of an options class read what they are given themselves, and tell it from defaults
    work = function if hasattr(function, "__signature__") else checked(function)

    def command(*positional: Any, **texts: Any) -> int:
        arguments = _read({**dict(zip(types, positional, strict=False)), **texts}, types)
        result = work(**{key: value for key, value in arguments.items() if key in own})
        if show is None:
            return int(result or 0)
        values = {**{key: p.default for key, p in own.items()}, **arguments}
        return show(result, **{key: values[key] for key in keywords if key in values}) or 0

    typed = [_parameter(p) for p in parameters]
    command.__signature__ = inspect.Signature(typed)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in typed}
    command.__doc__ = about or inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0].replace(
        "\n", " "
    )
    app.command(command, name=name or function.__name__.strip("_").replace("_", "-"))


def _keywords(show: Callable[..., Any] | None) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(show).parameters if show else {}
    return {key: p for key, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    """As cyclopts takes it: texts, which are read by the function's own annotations later on."""
    annotation, default = parameter.annotation, parameter.default
    kind = bool if bare(annotation) is bool else list[str] if is_repeatable(annotation) else str
    about = Parameter(
        help=help_of(annotation),
        metavar=shape_of(annotation) or None,
        negative=(),
        allow_leading_hyphen=bare(annotation) in _NUMERIC,
        allow_repeating=True,  # the last one counts, as in other commands; several values are all kept
        show_default=_shown_default if default not in ("", (), None, False) else False,
    )
    if default is not inspect.Parameter.empty and kind is not bool:  # only shown: the function has its own
        values = (
            list(map(str, default))
            if isinstance(default, tuple)
            else []
            if default is None
            else [str(default)]
        )
        default = values if kind is not str else ",".join(values)
    return parameter.replace(annotation=Annotated[kind, about], default=default)


def _shown_default(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def _read(arguments: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """
    Raises:
        InputError: names each option that does not fit, what was expected and what was found.
    """
    values, faults = {}, []
    for name, value in arguments.items():
        try:
            texts = value if isinstance(value, list) else [value]
            values[name] = value if isinstance(value, bool) else from_text(types[name], texts)
        except InputError as error:
            faults.append(f"{name}: {error}")
    if faults:
        raise InputError("; ".join(faults))
    return read({name: types[name] for name in values}, values)


class TwoColumns(PlainFormatter):
    """Help as two columns: what is typed, and what that means."""

    LABEL, WIDTH = 30, 110

    def _print_plain(self, console: "Console", text: str) -> None:
        words = " ".join(text.split())
        width = min(console.width, self.WIDTH)
        if not text.startswith(self.indent):
            lines = textwrap.wrap(words, width)
        else:
            label, _, about = words.partition(": ")
            lines = [f"  {label:<{self.LABEL}}"]
            column = textwrap.wrap(about, max(width - self.LABEL - 4, 20)) or [""]
            if len(label) <= self.LABEL:
                lines = [f"{lines[0]}  {column[0]}".rstrip()]
                column = column[1:]
            lines += [" " * (self.LABEL + 4) + line for line in column]
        console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
