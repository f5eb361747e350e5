"""One line of progress on stderr: rewritten in a terminal, one line every few seconds elsewhere."""

import sys
import time

#: How fast it goes on is told by so many of the latest outcomes, over at least this share of the time: a batch ends
#: all at once.
_RECENT, _SHARE = 20, 0.25


class Progress:
    """Counts done out of ``total`` under a ``label``, of which ``done`` are there already.

    What time is left follows from the latest outcomes alone; where none of them counted, nobody knows.
    """

    def __init__(self, label: str, total: int, quiet: bool = False, done: int = 0) -> None:
        self.label, self.total, self.done = label, total, done
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._start = time.monotonic()
        self._shown = float("-inf")
        self.forget()

    def forget(self) -> None:
        """What comes next goes at another rate."""
        #: when each outcome began, and how much it counted
        self._outcomes: list[tuple[float, int]] = []
        self._last = time.monotonic()

    def step(self, note: str = "", by: int = 1) -> None:
        """One outcome; ``by`` is how much it counts. ``note`` is appended as given."""
        self.done += by
        now = time.monotonic()
        self._outcomes.append((self._last, by))
        self._last = now
        self._show(note, now, at_once=self.done >= self.total)

    def wait(self, note: str) -> None:
        """Nothing came of it yet; ``note`` says what is waited for."""
        self._show(note, time.monotonic())

    def left(self) -> float | None:
        """Seconds that the rest will take at the latest rate, or None where that is unknown."""
        missing = max(self.total - self.done, 0)
        counted, span = 0, 0.0
        for number, (started, by) in enumerate(reversed(self._outcomes), start=1):
            counted, span = counted + by, self._last - started
            if number >= _RECENT and span >= _SHARE * (self._last - self._outcomes[0][0]):
                break
        if not counted:
            return None if missing else 0.0
        return span / counted * missing

    def _show(self, note: str, now: float, at_once: bool = False) -> None:
        if not self._quiet and (at_once or now - self._shown > (0.1 if self._live else 5.0)):
            self._shown = now
            self._write(note, now - self._start)

    def _write(self, note: str, elapsed: float) -> None:
        remaining = self.left()
        rest = ", time left unknown" if remaining is None else f", about {remaining:.0f} s left"
        if self.done >= self.total:
            rest = ""
        line = f"{self.label} {self.done}/{self.total}  {elapsed:.0f} s{rest}  {note}".rstrip()
        if self._live:
            print(f"\r\x1b[K{line}", end="\n" if self.done >= self.total else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
