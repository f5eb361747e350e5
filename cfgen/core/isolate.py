"""Runs a program in a network of its own with nothing in it but a loopback interface: Linux, where that is permitted.

Usage: python isolate.py PROGRAM ARGUMENTS...   (run by path, so that it needs no package)
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_SIOCSIFFLAGS, _UP_RUNNING = 0x8914, 0x1 | 0x40
#: exit code of this program when the system does not permit it
REFUSED = 86


@lru_cache(maxsize=1)
def available() -> bool:
    """Whether this system lets programs be isolated; tried once."""
    if not sys.platform.startswith("linux"):
        return False
    trial = subprocess.run(isolated([sys.executable, "-c", ""]), capture_output=True, timeout=60, check=False)
    return trial.returncode == 0


def isolated(command: Sequence[str]) -> list[str]:
    """The command that runs ``command`` in a network of its own.

    Raises:
        FileNotFoundError: there is no such program.
    """
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), *command]


def _leave_the_network() -> bool:
    """New user and network namespaces under the same user; with privileges of its own, the latter will do."""
    system = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if system.unshare(_NEWUSER | _NEWNET) == 0:
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    elif system.unshare(_NEWNET) != 0:
        return False
    with contextlib.suppress(OSError), socket.socket() as link:  # its own loopback: some programs want one
        fcntl.ioctl(link, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _UP_RUNNING))
    return True


if __name__ == "__main__":
    if not _leave_the_network():
        sys.exit(REFUSED)
    os.execvp(sys.argv[1], sys.argv[1:])
