"""Who sits at which browser: known by a cookie that the server made up, with a token that only its own page gets."""

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from cfgen.app.accounts import Role
from cfgen.app.reviews import person
from cfgen.core.errors import InputError

_IDLE_S = 24 * 3600.0
_MOST = 10_000


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
        wanted = person(name)
        if self.name and self.name != wanted:
            raise InputError(f"your name: this browser is {self.name}; leave first to go on as {wanted}")
        self.name = wanted


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
            while len(self._open) > _MOST:
                self._open.popitem(last=False)
        return cookie, session

    def find(self, cookie: str | None) -> Session | None:
        """None where the cookie was not given out, or was not used for a day."""
        now = time.monotonic()
        with self._lock:
            session = self._open.get(cookie or "")
            if session is None or now - session.used > _IDLE_S:
                self._open.pop(cookie or "", None)
                return None
            self._open.move_to_end(cookie or "")
            session.used = now
            return session

    def end(self, cookie: str | None) -> None:
        with self._lock:
            self._open.pop(cookie or "", None)


def is_token(session: Session, given: str) -> bool:
    """Whether the page's token belongs to the session."""
    return hmac.compare_digest(session.token.encode(), given.encode())
