"""One line of progress on stderr: rewritten in a terminal, one line every few seconds elsewhere."""

import sys
import time


class Progress:
    """Counts done out of ``total`` under a ``label``; ``note`` is appended as given."""

    def __init__(self, label: str, total: int, quiet: bool = False) -> None:
        self.label, self.total, self.done = label, total, 0
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._start = time.monotonic()
        self._shown = float("-inf")

    def step(self, note: str = "", by: int = 1) -> None:
        self.done += by
        now = time.monotonic()
        if not self._quiet and (now - self._shown > (0.1 if self._live else 5.0) or self.done >= self.total):
            self._shown = now
            self._write(note, now - self._start)

    def _write(self, note: str, elapsed: float) -> None:
        left = elapsed / self.done * (self.total - self.done) if self.done else 0.0
        line = f"{self.label} {self.done}/{self.total}  {elapsed:.0f} s, about {left:.0f} s left  {note}"
        if self._live:
            print(f"\r\x1b[K{line}", end="\n" if self.done >= self.total else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
