"""Asking the app over HTTP as its page does, or as another page would."""

import http.client
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

Reply = tuple[int, bytes, dict[str, str]]


def send(url: str, target: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Reply:
    """The raw ``target`` as it stands: no client tidies it up first. ``sec_fetch_site`` is Sec-Fetch-Site."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, target, skip_accept_encoding=True, skip_host="host" in named)
    if body is not None:
        connection.putheader("content-length", str(len(body)))
    for name, value in named.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    reply = connection.getresponse()
    found = reply.status, reply.read(), {k.lower(): v for k, v in reply.getheaders()}
    connection.close()
    return found


@dataclass
class Browser:
    """One browser's session with the app."""

    url: str
    name: str = ""
    cookie: str = ""
    told: dict[str, Any] = field(default_factory=dict)

    def begin(self) -> "Browser":
        status, data, headers = self.post("/session", {"name": self.name})
        assert status == 200, data
        self.cookie = headers.get("set-cookie", self.cookie).partition(";")[0]
        self.told = json.loads(data)
        return self

    def log_in(self, name: str, password: str, **headers: str) -> Reply:
        body = f"username={name}&password={password}".encode()
        form = "application/x-www-form-urlencoded"
        reply = send(self.url, "/login", "POST", body, content_type=form, **headers)
        self.cookie = reply[2].get("set-cookie", "").partition(";")[0]
        return reply

    def post(self, target: str, asked: dict[str, Any], **headers: str) -> Reply:
        given = {
            "content_type": "application/json",
            "cookie": self.cookie,
            "x_cfgen_token": self.told.get("token", ""),
        }
        return send(self.url, target, "POST", json.dumps(asked).encode(), **{**given, **headers})

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        status, data, _ = self.post("/call", {"do": do, **fields})
        assert status == 200, data
        found: dict[str, Any] = json.loads(data)
        return found

    def get(self, target: str, **headers: str) -> Reply:
        return send(self.url, target, cookie=self.cookie, **headers)
