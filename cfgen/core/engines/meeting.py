"""What workers on other machines must have in common with this process: folders that they see, and versions."""

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cfgen.core.engines.protocol import Wanted
from cfgen.core.errors import CfgenError

#: packages that decide pixels and the bytes of a picture
DECIDE = ("numpy", "opencv-python", "pillow", "scipy")


class Meeting:
    """A file in the first of the ``wanted`` folders, which whoever sees that folder can read."""

    def __init__(self, wanted: Wanted, token: Path | None) -> None:
        self._wanted, self._token = wanted, token
        self._word = token.read_text() if token else ""
        self._here = facts(wanted.same)

    @property
    def asked(self) -> "Asked":
        """What :func:`look` gets."""
        return self._token, self._wanted.folders, self._wanted.same

    def fault(self, seen: "Seen") -> str:
        """Why a worker cannot be used, or ""."""
        word, hidden, there = seen
        if hidden:
            return f"does not see the folder {hidden[0]}; put it on a disk that every node sees, or leave the node out"
        if word != self._word:
            return (
                f"sees another folder at {self._wanted.folders[0]}; put it on a disk that every node sees under the "
                "same path"
            )
        for name, found in self._here.items():
            if there.get(name) != found:
                return f"has {name} {there.get(name, 'missing')}, expected {found} as here; install the same there"
        return ""


#: the file, folders that must be there, and what else must be the same
Asked = tuple[Path | None, tuple[Path, ...], Callable[[], Mapping[str, str]] | None]
#: the word in the file; folders that are not there; versions and hashes
Seen = tuple[str, list[str], dict[str, str]]


def facts(same: Callable[[], Mapping[str, str]] | None) -> dict[str, str]:
    found = {}
    for name in DECIDE:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return {**found, **(same() if same else {})}


def look(asked: Asked) -> Seen:
    """At a worker. Versions are not asked for where a folder is missing, as they may be read from it."""
    token, folders, same = asked
    hidden = [str(folder) for folder in folders if not folder.is_dir()]
    if hidden:
        return "", hidden, {}
    try:
        word = token.read_text() if token else ""
    except OSError:
        return "", [], {}
    return word, [], facts(same)


@contextlib.contextmanager
def meeting(wanted: Wanted) -> Iterator[Meeting]:
    """
    Raises:
        CfgenError: the folder cannot be written to.
    """
    if not wanted.folders:
        yield Meeting(wanted, None)
        return
    token = wanted.folders[0] / ".work" / f"meeting-{secrets.token_hex(8)}"
    try:
        token.parent.mkdir(parents=True, exist_ok=True)
        token.write_text(secrets.token_hex(8))
    except OSError as error:
        raise CfgenError(
            f"{token}: cannot write ({error.strerror}); free space or fix permissions"
        ) from error
    try:
        yield Meeting(wanted, token)
    finally:
        token.unlink(missing_ok=True)
