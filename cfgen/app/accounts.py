"""Who may log in, and who sits at which browser.

An account has a name, a role, and a password that is kept hashed and cannot be tried without end. A browser is known
by a cookie that the server made up, with a token that only its own page gets.
"""

import hashlib
import hmac
import ipaddress
import math
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from cfgen.app.reviews import Role, person
from cfgen.core.errors import InputError

ROLES: tuple[Role, ...] = get_args(Role)
#: The rooms of each role. Who rates sees nothing that tells what was added.
ROOMS_OF: dict[Role, tuple[str, ...]] = {
    "rater": ("rate",),
    "curator": ("curate", "place"),
    "manager": ("curate", "place", "rate", "campaign"),
}
_N, _R, _P = 2**14, 8, 1  # scrypt: 16 MB and about 50 ms a try
_FREE_TRIES, _LONGEST_S, _FORGET_S, _MOST = 4, 300.0, 3600.0, 10_000
_HASHED = re.compile(r"scrypt\$[0-9a-f]{32}\$[0-9a-f]{64}")


@dataclass(frozen=True)
class Account:
    """``password`` is what :func:`hashed` returned."""

    name: str
    role: Role
    password: str = field(repr=False)


def hashed(password: str) -> str:
    """``scrypt$salt$hash``, hexadecimal, with a salt of its own."""
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${_scrypt(password, salt).hex()}"


def matches(password: str, stored: str) -> bool:
    """Whether ``kept`` is a hash of ``password``."""
    _, salt, digest = stored.split("$")
    return hmac.compare_digest(_scrypt(password, bytes.fromhex(salt)).hex(), digest)


def parse(text: str, where: str) -> Account:
    """An account from ``[ROLE/]NAME:PASSWORD``, the password plain or hashed; without a role, a manager.

    Raises:
        InputError: it is something else; the message does not repeat it.
    """
    who, colon, password = text.strip().partition(":")
    role, slash, name = who.partition("/")
    name = name if slash else who
    role_of = next((r for r in ROLES if r == (role if slash else "manager")), None)
    if not colon or not password or role_of is None:
        raise InputError(
            f"{where}: expected [ROLE/]NAME:PASSWORD with a role of {', '.join(ROLES)}, found something else"
        )
    return Account(person(name), role_of, password if _HASHED.fullmatch(password) else hashed(password))


def read(lines: Iterable[str], where: str) -> list[Account]:
    """One account a line, as :func:`parse`; empty lines and those that begin with ``#`` are left out."""
    numbered = ((n, line.strip()) for n, line in enumerate(lines, 1))
    return [parse(line, f"{where}, line {n}") for n, line in numbered if line and not line.startswith("#")]


def read_file(path: Path) -> list[Account]:
    """
    Raises:
        InputError: it cannot be read, or a line is no account.
    """
    try:
        return read(path.read_text().splitlines(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read accounts from it ({error}); expected a text file") from error


def add(path: Path, who: str, password: str) -> Account:
    """Write ``[ROLE/]NAME`` with the hash of ``password`` to the file, in place of an earlier line of that account.

    Raises:
        InputError: no role or name, a name that has another role there, a password of less than 8 characters, or a
            file that is something else.
    """
    if len(password) < 8:
        raise InputError("password: expected at least 8 characters, found fewer; choose a longer one")
    if ":" in who:
        raise InputError(f"account: expected [ROLE/]NAME without ':', found {who[:60]!r}; leave it out")
    new = parse(f"{who}:{hashed(password)}", "account")
    accounts = read_file(path) if path.exists() else []
    earlier_role = next((a.role for a in accounts if a.name == new.name and a.role != new.role), None)
    if earlier_role:
        raise InputError(
            f"{path}: '{new.name}' is a {earlier_role} there; take another name, or delete that line first to make "
            f"a {new.role}"
        )
    remaining = [a for a in accounts if a.name != new.name]
    path.touch(mode=0o600)
    path.write_text("".join(f"{a.role}/{a.name}:{a.password}\n" for a in (*remaining, new)))
    return new


class Logins:
    """The accounts, and a brake on guessing: after some wrong passwords each further one has to wait longer.

    Raises:
        InputError: two accounts have one name.
    """

    def __init__(self, accounts: Iterable[Account] = ()) -> None:
        self.accounts: dict[str, Account] = {}
        for account in accounts:
            if account.name in self.accounts:
                raise InputError(f"accounts: '{account.name}' is there twice; leave one out")
            self.accounts[account.name] = account
        self._lock = threading.Lock()
        self._wrong: dict[str, tuple[int, float]] = {}
        self._nobody = hashed(secrets.token_hex(8))

    def roles(self) -> list[Role]:
        """Those that somebody has."""
        return [r for r in ROLES if any(a.role == r for a in self.accounts.values())]

    def wait(self, name: str, address: str) -> int:
        """Seconds until this name may be tried again from this address, whether or not anybody has it; 0 for now."""
        with self._lock:
            remaining = max(map(self._until, _counted(name, address))) - time.monotonic()
        return max(0, math.ceil(remaining))

    def check(self, name: str, password: str, address: str) -> Account | None:
        """The account, or None where the password is wrong, nobody has the name, or it is too soon to try again.

        Tries are counted by address, of one name and of all, so that who guesses elsewhere locks nobody out here.
        It takes as long for a name that nobody has.
        """
        account, counted = self.accounts.get(name), _counted(name, address)
        with self._lock:
            if max(map(self._until, counted)) > time.monotonic():
                return None
            before = {key: self._wrong[key] for key in list(counted)[1:] if key in self._wrong}
            for key, free in counted.items():  # before it is looked at: many tries at once count as many
                self._count(key, free)
        right = matches(password[:1000], account.password if account else self._nobody)
        if not right or account is None:
            return None
        with self._lock:
            for key in counted:
                self._wrong.pop(key, None)
            self._wrong |= before
        return account

    def _until(self, key: str) -> float:
        return self._wrong.get(key, (0, 0.0))[1]

    def _count(self, key: str, free: float) -> None:
        clock = time.monotonic()
        while len(self._wrong) > _MOST:
            del self._wrong[next(iter(self._wrong))]
        n, until = self._wrong.get(key, (0, clock))
        n = 1 if until < clock - _FORGET_S else n + 1
        self._wrong[key] = n, clock + (min(_LONGEST_S, 2.0 ** min(n - free, 20)) if n > free else 0.0)


def _counted(name: str, address: str) -> dict[str, int]:
    """What a try counts for, with how many are free: the name from there, and the address whatever the name.

    An address is what one party holds: of version 6, the 2^64 that it is given at once. One of this machine is no
    client's own where a proxy here passes on what everybody sends, so that all names together do not count there.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return {f"{name} from {address}": _FREE_TRIES}
    party = str(ipaddress.ip_network((parsed, 64 if parsed.version == 6 else 32), strict=False))
    by_name = {f"{name} from {party}": _FREE_TRIES}
    return by_name if parsed.is_loopback else {**by_name, f"from {party}": 5 * _FREE_TRIES}


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P, dklen=32)


# --- sessions -------------------------------------------------------------------------------------

_IDLE_S = 24 * 3600.0
_MOST_sessions = 10_000


@dataclass
class Session:
    """One browser. ``name`` is set once: by the login, or by the person at its first use."""

    name: str
    role: Role
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    used: float = field(default_factory=time.monotonic)

    def call_oneself(self, name: str) -> None:
        """
        Raises:
            InputError: it has another name already, or this can be none.
        """
        new_name = person(name)
        if self.name and self.name != new_name:
            raise InputError(f"your name: this browser is {self.name}; leave first to go on as {new_name}")
        self.name = new_name


class Sessions:
    """Every browser that has opened the page. No cookie is taken over that was not given out here."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Session] = OrderedDict()

    def begin(self, name: str, role: Role) -> tuple[str, Session]:
        """A new session and the cookie that stands for it."""
        cookie, session = secrets.token_urlsafe(32), Session(name, role)
        with self._lock:
            self._open[cookie] = session
            while len(self._open) > _MOST_sessions:
                self._open.popitem(last=False)
        return cookie, session

    def find(self, cookie: str | None) -> Session | None:
        """None where the cookie was not given out, or was not used for a day."""
        clock = time.monotonic()
        with self._lock:
            session = self._open.get(cookie or "")
            if session is None or clock - session.used > _IDLE_S:
                self._open.pop(cookie or "", None)
                return None
            self._open.move_to_end(cookie or "")
            session.used = clock
            return session

    def end(self, cookie: str | None) -> None:
        with self._lock:
            self._open.pop(cookie or "", None)


def is_token(session: Session, token: str) -> bool:
    """Whether the page's token belongs to the session."""
    return hmac.compare_digest(session.token.encode(), token.encode())
