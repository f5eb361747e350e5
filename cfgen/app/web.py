"""The app's own addresses: the login, the session of a page, its questions and its pictures."""

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cfgen.app.accounts import Logins, Role
from cfgen.app.api import Api
from cfgen.app.sessions import Session, Sessions, is_token
from cfgen.core.errors import CfgenError

_YEAR_S = 365 * 24 * 3600
_LOGIN = (Path(__file__).parent / "assets" / "login.html").read_text()


class Web:
    """The routes over one :class:`Api`; ``cookie`` is the name that tells this app's from another's on the machine."""

    def __init__(self, api: Api, logins: Logins, cookie: str) -> None:
        self.api, self.logins, self.cookie = api, logins, cookie
        self.sessions = Sessions()
        self._looked_up = CapacityLimiter(2)  # a flood of passwords waits in line, nobody else behind it

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/session", self._session, methods=["POST"]),
            Route("/leave", self._leave, methods=["POST"]),
            Route("/call", self._call, methods=["POST"]),
            Route("/login", self._login_page, methods=["GET"]),
            Route("/login", self._login, methods=["POST"]),
            Route("/picture/{kind}/{owner}/{name:path}", self._picture),
        ]

    def role(self, cookies: Mapping[str, str]) -> Role | None:
        """Whose page is to be shown; None where a login comes first."""
        if not self.logins.accounts:
            return "manager"
        session = self.sessions.find(cookies.get(self.cookie))
        return session.role if session else None

    # --- who it is --------------------------------------------------------------------------------------------

    async def _session(self, request: Request) -> Response:
        """The page's token; where no login is asked for, a session begins here and gets its name."""
        asked = await _json(request)
        session, cookie = self._found(request), None
        if session is None:
            if self.logins.accounts:
                return _said("log in first", 401)
            cookie, session = self.sessions.begin("", "manager")
        try:
            if asked.get("name"):
                session.call_oneself(str(asked["name"]))
        except CfgenError as error:
            answer = {"error": str(error)}
        else:
            answer = {}
        told = {
            "token": session.token,
            "name": session.name,
            "role": session.role,
            "bench": self.api.store.root.resolve().name,
            "login": bool(self.logins.accounts),
        }
        response = JSONResponse({**told, **answer}, headers={"Cache-Control": "no-store"})
        if cookie:
            self._give(request, response, cookie)
        return response

    async def _leave(self, request: Request) -> Response:
        session = self._found(request)
        if session is None or not is_token(session, request.headers.get("x-cfgen-token", "")):
            return _said("reload the page", 401)
        self.sessions.end(request.cookies.get(self.cookie))
        response = JSONResponse({})
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite="lax")
        return response

    async def _login_page(self, request: Request) -> Response:
        return _login_form("") if self.logins.accounts else RedirectResponse("./", 303)

    async def _login(self, request: Request) -> Response:
        fields = parse_qs((await request.body())[:10_000].decode("utf-8", "replace"))
        name, password = (fields.get(k, [""])[0] for k in ("username", "password"))
        name, address = "_".join(name.split())[:120], request.client.host if request.client else ""
        left = self.logins.wait(name, address)
        account = await to_thread.run_sync(
            self.logins.check, name, password, address, limiter=self._looked_up
        )
        if account is None and left:
            return _login_form(f"Too many wrong passwords. Try again in {left} s.", 429, left)
        if account is None:
            return _login_form("Name or password is wrong.", 401)
        self.sessions.end(request.cookies.get(self.cookie))
        cookie, _ = self.sessions.begin(account.name, account.role)
        response = RedirectResponse("./", 303)
        self._give(request, response, cookie)
        return response

    def _found(self, request: Request) -> Session | None:
        return self.sessions.find(request.cookies.get(self.cookie))

    def _give(self, request: Request, response: Response, cookie: str) -> None:
        secure = request.url.scheme == "https"
        response.set_cookie(self.cookie, cookie, path="/", httponly=True, samesite="lax", secure=secure)

    # --- what it asks -----------------------------------------------------------------------------------------

    async def _call(self, request: Request) -> Response:
        session = self._found(request)
        if session is None or not is_token(session, request.headers.get("x-cfgen-token", "")):
            return _said("reload the page", 401)
        asked = await _json(request)
        answer = await run_in_threadpool(self.api.call, asked, session.name, session.role)
        return Response(_dumped(answer), media_type="application/json", headers={"Cache-Control": "no-store"})

    def _picture(self, request: Request) -> Response:
        session = self._found(request)
        if session is None:
            return _said("open the page first", 401)
        asked = {**request.path_params, "as_small": "small" in request.query_params}
        try:
            data, kind = self.api.picture(**asked, user=session.name, role=session.role)
        except (CfgenError, OSError):
            return _said("no such picture", 404)
        kept = "v" in request.query_params and asked["kind"] != "rate"
        keep = f"private, max-age={_YEAR_S}, immutable" if kept else "no-store"
        return Response(data, media_type=kind, headers={"Cache-Control": keep})


def _said(words: str, status: int) -> Response:
    return Response(words, status, media_type="text/plain")


def _login_form(words: str, status: int = 200, wait: int = 0) -> Response:
    headers = {"Cache-Control": "no-store", **({"Retry-After": str(wait)} if wait else {})}
    return HTMLResponse(_LOGIN.replace("{words}", html.escape(words)), status, headers=headers)


async def _json(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _dumped(answer: Any) -> bytes:
    import orjson

    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
