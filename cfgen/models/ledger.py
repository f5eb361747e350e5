"""What was paid for: one line a call in a file, so that a budget holds over commands that stop and go on."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.models.limits import Limits
from cfgen.records import Spent

FILE = "spent.jsonl"


class Ledger:
    """``folder``: None keeps nothing and has spent nothing. ``account``: only lines for this are summed; "": all."""

    def __init__(self, folder: Path | None, account: str = "") -> None:
        self.path = None if folder is None else folder / FILE
        self._account = account

    def add(self, model: str, what: str, good: bool, usage: Mapping[str, float], failed: str = "") -> None:
        """Note one call. ``what`` it was for; ``good``: was the answer of use; ``failed``: why there was none."""
        if self.path is None:
            return
        content: dict[str, Any] = {"model": model, "for": what, "good": good, "usage": dict(usage)}
        if failed:
            content["failed"] = failed
        # on a line of its own, even if a kill cut the one before it short
        line = "\n" + json.dumps(content)
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
            declined=sum(not line["good"] and "failed" not in line for line in lines),
            images=round(sums.get("images", 0)),
            tokens_in=round(sums.get("input_tokens", 0)),
            tokens_out=round(sums.get("output_tokens", 0) + sums.get("thinking_tokens", 0)),
            usd=round(sums["usd"], 6) if "usd" in sums else None,
            unpriced=sum("usd" not in line["usage"] and "failed" not in line for line in lines),
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
                content = json.loads(line)
            except ValueError:  # empty, or cut short
                continue
            if self._account in ("", content["for"]):
                found.append(content)
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
