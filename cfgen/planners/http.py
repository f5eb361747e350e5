"""``http://`` planners: a server that answers ``GET /needs`` and ``POST /plan``; see ``openapi.yaml``."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from cfgen.errors import InputError
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Observation, Response
from cfgen.planners.wire import decode, decode_needs, encode

#: A longer reply is not a plan.
MAX_REPLY = 64 * 2**20


class Server:
    """A planner behind a URL.

    Raises:
        InputError: the server does not answer ``GET /needs``.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        try:
            self.needs = decode_needs(self._call("/needs", None, timeout_s))
        except PlanFaultError as fault:
            raise InputError(f"planner '{url}': GET /needs: {fault}; is the server running?") from fault

    def plan(self, observations: Sequence[Observation]) -> list[str | Response | PlanFaultError]:
        """One request for the batch; a batch that fails as a whole is asked again one by one."""
        body = {"observations": [encode(o) for o in observations]}
        try:
            content = self._call("/plan", body, self._timeout_s * len(observations))
            return self._matched(content, observations)
        except PlanFaultError as fault:
            if len(observations) == 1:
                return [fault]
            return [answer for one in observations for answer in self.plan([one])]

    def close(self) -> None:
        """Nothing to end: the server is somebody else's."""

    def _matched(
        self, content: Any, observations: Sequence[Observation]
    ) -> list[str | Response | PlanFaultError]:
        answers = content.get("answers") if isinstance(content, dict) else None
        if not isinstance(answers, list):
            raise PlanFaultError('expected {"answers": [...]}')
        by_id = {a.get("id"): a for a in answers if isinstance(a, dict)}
        found: list[str | Response | PlanFaultError] = []
        for observation in observations:
            try:
                if observation.token not in by_id:
                    raise PlanFaultError(f"no answer with id '{observation.token}'")
                found.append(decode(by_id[observation.token]))
            except PlanFaultError as fault:
                found.append(fault)
        return found

    def _call(self, path: str, body: dict[str, Any] | None, timeout_s: float) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as reply:
                raw = reply.read(MAX_REPLY + 1)
        except urllib.error.HTTPError as error:
            words = " ".join(error.read(300).decode("utf-8", "replace").split())
            raise PlanFaultError(f"HTTP {error.code}: {words}") from error
        except TimeoutError as error:
            raise PlanFaultError(f"hung: no reply within {timeout_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise PlanFaultError(f"connection failed ({getattr(error, 'reason', None) or error})") from error
        if len(raw) > MAX_REPLY:
            raise PlanFaultError(f"reply: expected at most {MAX_REPLY} bytes, found more")
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise PlanFaultError(f"reply: expected JSON ({error})") from error
