"""What was paid for: one line a call in a file, so that a budget holds over commands that stop and go on."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cfgen.models.limits import Limits
from cfgen.records import Spent

FILE = "spent.jsonl"


@dataclass
class _Sum:
    """Of the lines before byte ``end``."""

    end: int = 0
    requests: int = 0
    declined: int = 0
    unpriced: int = 0
    usage: dict[str, float] = field(default_factory=dict)

    def add(self, line: Mapping[str, Any]) -> None:
        self.requests += 1
        self.declined += not line["good"] and "failed" not in line
        self.unpriced += "usd" not in line["usage"] and "failed" not in line
        for name, value in line["usage"].items():
            self.usage[name] = self.usage.get(name, 0.0) + float(value)

    def told(self) -> Spent:
        return Spent(
            requests=self.requests,
            declined=self.declined,
            images=round(self.usage.get("images", 0)),
            tokens_in=round(self.usage.get("input_tokens", 0)),
            tokens_out=round(self.usage.get("output_tokens", 0) + self.usage.get("thinking_tokens", 0)),
            usd=round(self.usage["usd"], 6) if "usd" in self.usage else None,
            unpriced=self.unpriced,
        )


class Ledger:
    """``folder``: None keeps nothing and has spent nothing. ``account``: only lines for this are summed; "": all."""

    def __init__(self, folder: Path | None, account: str = "") -> None:
        self.path = None if folder is None else folder / FILE
        self._account = account
        self._sum = _Sum()

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
        """The sum so far; None when nothing was spent. What it has read it does not read again."""
        for line in self._after(self._sum.end):
            self._sum.add(line)
        return self._sum.told() if self._sum.requests else None

    def usd(self, prices: Limits) -> float:
        """Dollars so far; calls that were made without a price count at ``prices``."""
        return sum(
            line["usage"].get("usd", prices.cost(line["usage"])) for line in self._after(0, keep=False)
        )

    def _after(self, end: int, keep: bool = True) -> Iterator[dict[str, Any]]:
        """Calls noted from byte ``end`` on; with ``keep``, the sum's own end moves behind them."""
        if self.path is None or not self.path.is_file():
            return
        with self.path.open("rb") as file:
            file.seek(end)
            for line in file:
                try:
                    content = json.loads(line)
                except ValueError:  # empty, or cut short: the last one may be being written
                    if not line.endswith(b"\n"):
                        return
                    content = None
                end += len(line)
                if keep:
                    self._sum.end = end
                if content is not None and self._account in ("", content["for"]):
                    yield content


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
