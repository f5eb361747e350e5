"""Asking the app's functions as the page does."""

import time
from typing import Any

from cfgen.app.api import Api

PATIENCE_S = 120


def ask(api: Api, what: str, name: str = "anna", **fields: Any) -> Any:
    answer = api.call({"do": what, "name": name, **fields})
    assert "ok" in answer, answer
    return answer["ok"]


def ended(api: Api, job: dict[str, Any]) -> dict[str, Any]:
    """The job once it has ended."""
    end = time.monotonic() + PATIENCE_S
    while job["state"] in ("waiting", "running") and time.monotonic() < end:
        time.sleep(0.05)
        job = ask(api, "job", job=job["id"])
    return job


def picture(api: Api, address: str, user: str = "anna") -> bytes:
    """Content behind the address of a picture."""
    _, kind, owner, name = address.partition("?")[0].split("/", 3)
    return api.picture(kind, owner, name, user=user)[0]
