"""Where the app listens and how requests come: known before anything of the extra ``app`` is imported."""

import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path

from cfgen.core.errors import InputError, MissingExtraError


@dataclass(frozen=True)
class Transport:
    """How requests come. ``proxies``: addresses whose ``X-Forwarded-For`` is believed; nobody else's is.
    ``certificate``, ``key``: of TLS; None where a proxy does that, or nobody else listens."""

    proxies: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None


#: nobody before it, in clear
NO_PROXY = Transport()


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach it."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def listening_socket(host: str, port: int) -> socket.socket:
    """
    Raises:
        InputError: the port is taken.
    """
    listens = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listens.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listens.bind((host, port))
    except OSError as error:
        listens.close()
        raise InputError(
            f"--port {port}: cannot listen on {host} ({error.strerror}); choose another, e.g. --port {port + 1}"
        ) from error
    return listens


def check_ready(host: str, port: int) -> None:
    """Whether the app could start.

    Raises:
        MissingExtraError: Gradio is not installed.
        InputError: the port is taken.
    """
    try:
        import gradio  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the app", "app", error) from error
    listening_socket(host, port).close()
