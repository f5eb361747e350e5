"""A line now and then while a planner is silent, so that nobody takes patience for a hang."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

#: s; loading weights may take long
STARTUP_TIMEOUT_S = 900.0
#: s between two lines
EVERY_S = 10.0


@contextlib.contextmanager
def waiting(what: str, quiet: bool = False) -> Iterator[None]:
    """Says "waiting for ``what``, N s" on stderr every ten seconds until the block ends."""
    start, over = time.monotonic(), threading.Event()

    def tell() -> None:
        while not over.wait(EVERY_S):
            elapsed = time.monotonic() - start
            print(f"cfgen: waiting for {what}, {elapsed:.0f} s", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    if not quiet:
        teller.start()
    try:
        yield
    finally:
        over.set()
