"""Named factories: built-in ones by dotted path, third-party ones by entry point.

A factory is imported only when it is asked for, so that heavy packages load in the one file that needs them.
"""

import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import ends_the_run, words


class Registry:
    """Factories of one kind, e.g. inpainters.

    Args:
        kind: singular noun for messages, e.g. ``"inpainter"``.
        group: entry-point group for third parties, e.g. ``"cfgen.inpainters"``.
        builtin: name -> ``"package.module:attribute"``.
    """

    def __init__(self, kind: str, group: str, builtin: Mapping[str, str]) -> None:
        self.kind = kind
        self.group = group
        self._builtin = dict(builtin)

    def names(self) -> list[str]:
        """Every name that :meth:`get` accepts, sorted."""
        return sorted({*self._builtin, *self._plugins()})

    def get(self, name: str) -> Callable[..., Any]:
        """The factory registered as ``name``.

        Raises:
            InputError: unknown name, or a plug-in that cannot be imported; names the known ones.
        """
        if name in self._builtin:
            return _import(self._builtin[name])
        plugin = self._plugins().get(name)
        if plugin is None:
            raise InputError(
                f"{self.kind} '{name}' is not known; expected one of: {', '.join(self.names())}. "
                f"Third parties register theirs under the entry-point group '{self.group}'."
            )
        try:
            return plugin.load()
        except BaseException as error:
            if isinstance(error, CfgenError) or ends_the_run(error):
                raise
            raise InputError(
                f"{self.kind} plug-in '{name}' ({plugin.value}) failed to import: {_told(error)}; "
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
            known = [n for n, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD]
            raise InputError(
                f"{self.kind} '{name}': {error}; options: {', '.join(known) or 'none'}"
            ) from error
        if name in self._builtin:
            return factory(**options)
        try:
            return factory(**options)
        except BaseException as error:
            if isinstance(error, CfgenError) or ends_the_run(error):
                raise
            raise InputError(
                f"{self.kind} plug-in '{name}' failed to start: {_told(error)}; check its options, or report it "
                "to those who provide it"
            ) from error

    def _plugins(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=self.group):
            if point.name in self._builtin:
                warnings.warn(
                    f"{self.kind} plug-in '{point.name}' ({point.value}) has a built-in's name: ignored",
                    stacklevel=3,
                )
            else:
                found[point.name] = point
        return found


def _told(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {words(error)}".split())[:500]


def _import(path: str) -> Callable[..., Any]:
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)
