"""Named factories: built-in ones by dotted path, third-party ones by entry point.

A factory is imported only when it is asked for, so that heavy packages load in the one file that needs them.
"""

import dataclasses
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cfgen.core.errors import CfgenError, InputError, did_you_mean, install_command, warn
from cfgen.core.faults import ends_the_run, words

#: of what has no docstring of its own
NO_WORDS = "(no description)"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Extra:
    """What a built-in one needs beyond the base install.

    Attributes:
        name: the extra of cfgen that installs it; "" for a package that is to be had only from those who make it.
        package: shows whether it is there; of several with ``|`` between them one will do.
    """

    name: str
    package: str

    @property
    def label(self) -> str:
        """What a list calls it."""
        return self.name or self.package.replace("|", " or ")

    @property
    def missing(self) -> bool:
        return not any(map(_installed, self.package.split("|")))

    @property
    def command(self) -> str:
        """What a user types; empty where no command of cfgen installs it."""
        return install_command(self.name) if self.name else ""


#: by a factory's annotation, what an option certainly is not, and what it is in words
_UNLIKE: dict[Any, tuple[type, ...]] = {
    str: (bool, int, float, list, dict),
    int: (str, list, dict),
    float: (str, list, dict),
    bool: (str, list, dict),
}
_PLAINLY = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Entry:
    """One name of a registry, for a list.

    Attributes:
        summary: first line of its own docstring. source: "built-in", or the distribution and its version.
        extra: what it needs beyond the base install. problem: why it cannot be used, or "".
    """

    name: str
    summary: str
    source: str
    extra: Extra | None = None
    problem: str = ""


class Registry:
    """Factories of one kind, e.g. inpainters.

    Args:
        kind: singular noun for messages, e.g. ``"inpainter"``.
        group: entry-point group for third parties, e.g. ``"cfgen.inpainters"``.
        builtin: name -> ``"package.module:attribute"``.
        source: whose names count here as well; ``adapt``, also ``"package.module:attribute"``, makes the factory
            of a name there. A name that is registered here comes first.
        extras: what those of them need that the base install lacks.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        builtin: Mapping[str, str],
        source: "Registry | None" = None,
        adapt: str = "",
        *,
        extras: Mapping[str, Extra] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self._builtin = dict(builtin)
        self._source, self._adapt = source, adapt
        self._extras = dict(extras or {})

    @property
    def builtin(self) -> tuple[str, ...]:
        """Names of our own, in their order."""
        return tuple(self._builtin)

    def place(self, name: str) -> str:
        """Where one of our own is: ``package.module:attribute``."""
        return self._builtin[name]

    def ordered(self) -> list[str]:
        """Every name: ours in their order, then third parties', sorted."""
        adapted = self._source.ordered() if self._source else []
        return list(dict.fromkeys([*self._builtin, *adapted, *sorted(self._plugins())]))

    def names(self) -> list[str]:
        """Every name that :meth:`get` accepts, sorted."""
        return sorted(self.ordered())

    def adapts(self, name: str) -> bool:
        """Whether ``name`` comes from ``source``."""
        registered = name in self._builtin or name in self._plugins()
        return not registered and self._source is not None and name in self._source.names()

    def get(self, name: str) -> Callable[..., Any]:
        """The factory registered as ``name``.

        Raises:
            InputError: unknown name, or a plug-in that cannot be imported; names the known ones.
        """
        if name in self._builtin:
            return _import(self._builtin[name])
        if self.adapts(name):
            adapted: Callable[..., Any] = _import(self._adapt)(name)
            return adapted
        plugin = self._plugins().get(name)
        if plugin is None:
            raise InputError(
                f"{self.kind} '{name}' is not known; expected one of: {', '.join(self.names())}"
                f"{did_you_mean(name, self.names())}. "
                f"Third parties register theirs under the entry-point group '{self.group}'."
            )
        try:
            return plugin.load()
        except BaseException as error:
            if isinstance(error, CfgenError) or ends_the_run(error):
                raise
            raise InputError(
                f"{self.kind} plug-in '{name}' ({plugin.value}) failed to import: {_error_line(error)}; "
                "fix or uninstall the package that provides it"
            ) from error

    def create(self, name: str, options: Mapping[str, Any]) -> Any:
        """What the factory registered as ``name`` makes of ``options``.

        Raises:
            InputError: unknown name, an option that it does not take, or one missing that it needs.
        """
        factory = self.get(name)
        signature = inspect.signature(factory)
        try:
            signature.bind(**options)
        except TypeError as error:
            options_taken = [n for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD]
            raise InputError(
                f"{self.kind} '{name}': {error}; options: {', '.join(options_taken) or 'none'}"
            ) from error
        self._check_kinds(name, options)
        if name in self._builtin:
            return factory(**options)
        try:
            return factory(**options)
        except BaseException as error:
            if isinstance(error, CfgenError) or ends_the_run(error):
                raise
            raise InputError(
                f"{self.kind} plug-in '{name}' failed to start: {_error_line(error)}; check its options, or report it "
                "to those who provide it"
            ) from error

    def _check_kinds(self, name: str, options: Mapping[str, Any]) -> None:
        """What is plainly of another kind than the factory's annotation says: a number for text, text for a number.

        Raises:
            InputError: names the option.
        """
        if self._source and self.adapts(name):
            self._source._check_kinds(name, options)
            return
        signature = inspect.signature(self.get(name))
        for option, value in options.items():
            parameter = signature.parameters.get(option)
            if parameter is None or not isinstance(value, _UNLIKE.get(parameter.annotation, ())):
                continue
            quoted = isinstance(value, int | float) and parameter.annotation is str
            mend = f"; text that reads as a number is written {option}='\"{value}\"'" if quoted else ""
            raise InputError(
                f"{self.kind} '{name}': option '{option}': expected {_PLAINLY[parameter.annotation]}, "
                f"found {value!r}{mend}"
            )

    def missing_extra(self, name: str) -> str:
        """The command that installs what ``name`` lacks here; "" where it lacks nothing known."""
        extra = self.extra(name)
        return extra.command if extra and extra.missing else ""

    def extra(self, name: str) -> Extra | None:
        """What ``name`` needs beyond the base install."""
        return self._source.extra(name) if self._source and self.adapts(name) else self._extras.get(name)

    def source(self, name: str) -> str:
        """Where ``name`` comes from: "built-in", or a distribution and its version."""
        if name in self._builtin:
            return "built-in"
        if self._source and self.adapts(name):
            return self._source.source(name)
        point = self._plugins()[name]
        return f"{point.dist.name} {point.dist.version}" if point.dist else point.value

    def load_each(self) -> tuple[dict[str, Callable[..., Any]], dict[str, CfgenError]]:
        """All that are registered, built-in ones first in their order, then third parties' by name.

        A plug-in that cannot be imported is warned of by its name and left out; the second dict says why.
        """
        factories: dict[str, Callable[..., Any]] = {}
        broken: dict[str, CfgenError] = {}
        for name in self.ordered():
            try:
                factories[name] = self.get(name)
            except CfgenError as error:
                if name in self._builtin:
                    raise
                broken[name] = error
                warn(f"left out: {error}")
        return factories, broken

    def entries(self) -> list[Entry]:
        """Every name, ours first, with what a list says of it; one that cannot be imported says so."""
        rows = []
        for name in self.ordered():
            summary = problem = ""
            try:
                summary = first_line(self.get(name)) or NO_WORDS
            except CfgenError as error:
                problem = str(error)
            rows.append(Entry(name, summary, self.source(name), self.extra(name), problem))
        return rows

    def _plugins(self) -> dict[str, EntryPoint]:
        plugins: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            if point.name in self._builtin:
                warn(f"{self.kind} plug-in '{point.name}' ({point.value}) has a built-in's name: ignored")
            elif not _NAME.fullmatch(point.name):
                warn(
                    f"{self.kind} plug-in '{point.name}' ({point.value}): expected a name of letters, digits and "
                    "_ . -, as it goes into records and paths: ignored"
                )
            else:
                plugins[point.name] = point
        return plugins


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def first_line(thing: Callable[..., Any]) -> str:
    """Of :func:`own_doc`; "" without one."""
    return next(iter(own_doc(thing).splitlines()), "")


def own_doc(thing: Callable[..., Any]) -> str:
    """Its own docstring: that of a base class, or what a dataclass makes up, tells nothing of it."""
    own = inspect.cleandoc(thing.__doc__ or "")
    made_up = dataclasses.is_dataclass(thing) and own.startswith(f"{getattr(thing, '__name__', '')}(")
    return "" if made_up else own


def _error_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {words(error)}".split())[:500]


def _import(path: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)
