"""What a page is to somebody who cannot see it well, or has no mouse; looked at in the browser by ``page.js``."""

from pathlib import Path
from typing import Any

_LOOK = Path(__file__).with_name("page.js").read_text().partition("\n")[2].strip()


def contrasts(page: Any, root: str) -> list[dict[str, Any]]:
    """Of every visible text: ``text``, ``ratio`` to what is behind it, and the ratio ``needed``."""
    found: list[dict[str, Any]] = page.evaluate(f"(root) => {_LOOK}.contrasts(root)", root)
    return found


def focused(page: Any) -> dict[str, Any] | None:
    """``name``, ``ring``, ``room`` and place of the focused element."""
    found: dict[str, Any] | None = page.evaluate(f"() => {_LOOK}.focused()")
    return found


def nameless(page: Any, root: str) -> list[str]:
    """Controls without a name, pictures without a text, ids used twice."""
    found: list[str] = page.evaluate(f"(root) => {_LOOK}.nameless(root)", root)
    return found
