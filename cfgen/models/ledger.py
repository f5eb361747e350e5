"""What was paid for: one line a call in a file, so that a budget holds over builds that stop and go on."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.models.limits import Limits
from cfgen.records import Spent

FILE = "spent.jsonl"


class Ledger:
    """``folder``: None keeps nothing and has spent nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.path = None if folder is None else folder / FILE

    def add(self, model: str, what: str, good: bool, usage: Mapping[str, float]) -> None:
        """Note one answered call. ``what`` it was for; ``good``: whether the answer was of use."""
        if self.path is None:
            return
        # on a line of its own, even if a kill cut the one before it short
        line = "\n" + json.dumps({"model": model, "for": what, "good": good, "usage": dict(usage)})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # one write to the end of the file: lines of several processes do not mix
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    def total(self) -> Spent | None:
        """The sum so far; None when nothing was spent."""
        lines = self._lines()
        if not lines:
            return None
        sums: dict[str, float] = {}
        for line in lines:
            for name, value in line["usage"].items():
                sums[name] = sums.get(name, 0.0) + float(value)
        return Spent(
            requests=len(lines),
            declined=sum(not line["good"] for line in lines),
            images=round(sums.get("images", 0)),
            tokens_in=round(sums.get("input_tokens", 0)),
            tokens_out=round(sums.get("output_tokens", 0) + sums.get("thinking_tokens", 0)),
            usd=round(sums["usd"], 6) if "usd" in sums else None,
            unpriced=sum("usd" not in line["usage"] for line in lines),
        )

    def usd(self, prices: Limits) -> float:
        """Dollars so far; calls that were made without a price count at ``prices``."""
        return sum(line["usage"].get("usd", prices.cost(line["usage"])) for line in self._lines())

    def _lines(self) -> list[dict[str, Any]]:
        if self.path is None or not self.path.is_file():
            return []
        found = []
        for line in self.path.read_text().splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:  # empty, or cut short
                continue
        return found


def in_words(spent: Spent) -> str:
    """For a progress line and the end of a build."""
    words = [f"{spent.requests} requests", f"{spent.images} pictures"]
    if spent.declined:
        words.append(f"{spent.declined} declined")
    words.append(f"{(spent.tokens_in + spent.tokens_out) / 1e6:.2f}M tokens")
    if spent.usd is not None:
        words.append(f"${spent.usd:.2f}")
    if spent.unpriced:
        words.append("no prices given" if spent.usd is None else f"{spent.unpriced} of them without a price")
    return ", ".join(words)
