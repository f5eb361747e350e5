"""What may be reached: everything, only this machine (``offline``), or only some hosts (``allow_hosts``).

A limit holds for this process and for those it starts while :func:`limited`. Models and servers that declare their
host are refused before the first call; beyond that, Python's own sockets are refused here and in planners' and
workers' processes. What goes around Python's sockets (native code, programs that are started) is not held back, except
in planners that get a network of their own (:func:`own_network`): offline, where the system permits it and no server
on this machine is named.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import urlsplit

from cfgen.core.errors import InputError, SetupError
from cfgen.core.isolate import available

#: how child processes learn of it
VARIABLE = "CFGEN_NETWORK"
#: set for child processes and libraries that read them: nothing is fetched from a hub
HUBS = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
#: a proxy on this machine would be a way out
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_UNSPECIFIED = ("0.0.0.0", "::")
#: of an address: user and password, the place, and what is asked of it
_ADDRESS = re.compile(r"(?<=://)(?:[^/@\s]*@)?([^\s?#'\"]*)(?:[?#][^\s'\"]*)?")


def is_loopback(host: str) -> bool:
    """Whether ``host``, a name or an address, is this machine itself."""
    return host.startswith("127.") or host in ("localhost", "::1", "::ffff:127.0.0.1", *_UNSPECIFIED)


def host_of(url: str) -> str:
    """The host in a URL; "" where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def without_secrets(words: str) -> str:
    """Every address in ``words`` without user, password, query and fragment: any of these may hold a key."""
    return _ADDRESS.sub(r"\1", words)


@dataclass(frozen=True)
class Network:
    """``offline``: this machine only. ``allow_hosts``: these only, then also loopback only where it is among them.

    Raises:
        InputError: a host that is none, or one elsewhere together with ``offline``.
    """

    offline: bool = False
    allow_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "allow_hosts", tuple(h.strip().lower() for h in self.allow_hosts))
        for host in self.allow_hosts:
            if not host or "/" in host or (":" in host and host.count(":") < 2):
                raise InputError(f"--allow-hosts: expected host names without scheme or port, found '{host}'")
            if self.offline and not is_loopback(host):
                raise InputError(
                    f"--allow-hosts {host}: cannot be reached with --offline; leave one of them out"
                )

    @property
    def limits(self) -> bool:
        return self.offline or bool(self.allow_hosts)

    def allows(self, host: str) -> bool:
        """Whether ``host``, as a model, a URL or a socket names it, may be reached."""
        if not self.limits:
            return True
        if self.allow_hosts:
            local = is_loopback(host) and any(map(is_loopback, self.allow_hosts))
            return local or host.lower() in self.allow_hosts
        return is_loopback(host)

    def require(self, host: str | None, who: str) -> None:
        """
        Args:
            host: that ``who`` talks to; "": none, it runs here. None: it does not say.

        Raises:
            SetupError: the host may not be reached.
        """
        if not self.limits or host == "" or (host is not None and self.allows(host)):
            return
        if host is None:
            raise SetupError(f"{who}: does not declare which host it talks to, and {self.asked} is in force")
        mend = "use something that runs on this machine, or leave --offline out"
        if self.allow_hosts and not self.offline:
            mend = f"add {host} to --allow-hosts"
        raise SetupError(f"{who}: talks to {host}, which {self.asked} does not allow; {mend}")

    @property
    def asked(self) -> str:
        """As the user asked for it."""
        words = ["--offline"] if self.offline else []
        words += [f"--allow-hosts {','.join(self.allow_hosts)}"] if self.allow_hosts else []
        return " ".join(words)

    def words(self, protection: str) -> str:
        """For the record: what was asked for and how it was held; "" where nothing was."""
        if not self.limits:
            return ""
        what = ["offline"] if self.offline else []
        what += [f"only {', '.join(self.allow_hosts)}"] if self.allow_hosts else []
        return f"{', '.join(what)} ({protection})"


_OPEN = Network()
#: the innermost limit counts; the hook cannot be taken out again, so it asks here
_in_force: list[Network] = []
#: addresses that allowed names have resolved to
_resolved: set[str] = set()


def current() -> Network:
    """The limit that is in force in this process."""
    return _in_force[-1] if _in_force else _OPEN


def own_network() -> bool:
    """Whether a planner that starts now gets a network of its own with nothing in it, as does all that it starts."""
    return current().offline and not current().allow_hosts and available()


class _Options(Protocol):
    @property
    def offline(self) -> bool: ...

    @property
    def allow_hosts(self) -> tuple[str, ...]: ...


Work = TypeVar("Work", bound="Callable[..., Any]")


def within_its_network(work: Work) -> Work:
    """``work(options, ...)``, within what the options' ``offline`` and ``allow_hosts`` leave."""

    @functools.wraps(work)
    def run(options: _Options, *args: Any, **kwargs: Any) -> Any:
        with limited(Network(options.offline, options.allow_hosts)):
            return work(options, *args, **kwargs)

    return cast("Work", run)  # typed as on Python 3.9, which has no ParamSpec


@contextlib.contextmanager
def limited(network: Network) -> Iterator[None]:
    """Hold this process, all its threads, and those it starts to ``network``; an unlimited one changes nothing."""
    if not network.limits:
        yield
        return
    before = dict(os.environ)
    os.environ.update({VARIABLE: json.dumps(asdict(network)), **HUBS})
    if network.offline:
        for name in _PROXIES:
            os.environ.pop(name, None)
    _hold(network)
    try:
        yield
    finally:
        _in_force.remove(network)
        for name in (VARIABLE, *HUBS, *_PROXIES):
            if name in before:
                os.environ[name] = before[name]
            else:
                os.environ.pop(name, None)


def obey() -> None:
    """In a process that cfgen has started: hold it, for good, to what its parent was limited to."""
    variable = os.environ.get(VARIABLE)
    if variable:
        content: Mapping[str, Any] = json.loads(variable)
        _hold(Network(content["offline"], tuple(content["allow_hosts"])))


def _hold(network: Network) -> None:
    _in_force.append(network)
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_refuse)
        _lookup = socket.getaddrinfo

        @functools.wraps(_lookup)
        def getaddrinfo(*args: Any, **kwargs: Any) -> Any:
            """Remembers the addresses of allowed names."""
            addresses = _lookup(*args, **kwargs)
            if _in_force:
                _resolved.update(str(address[4][0]) for address in addresses)
            return addresses

        socket.getaddrinfo = getaddrinfo


_hooked: list[bool] = []


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Python's audit hook: what it raises ends the call, before anything is sent."""
    if not _in_force or not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        link, address = arguments
        if link.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
            host = str(address[0])
            if not current().allows(host) and not (host in _resolved and current().allow_hosts):
                raise _refused(host)
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0] or "")
        if host and not current().allows(host):
            raise _refused(host)


def _refused(host: str) -> OSError:
    return PermissionError(f"cfgen refused a connection to {host}: {current().asked} is in force")
