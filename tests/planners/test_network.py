"""Which exceptions of a planner's own code are asked again before they count."""

import asyncio
import http.client
import signal
import ssl
import urllib.error
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
import requests

from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.process import PlannerObject
from cfgen.planners.protocol import Requirements, Response
from cfgen.planners.registry import open_planner
from cfgen.planners.response import transient_kind
from tests.planners.nasty_planners import AskingPlanner
from tests.planners.test_answers import question

ASKED = httpx.Request("POST", "http://127.0.0.1:9/v1")


def asked(planner: object, questions: list) -> list:
    return PlannerObject(planner, Requirements(), 1000).plan(questions)


def raised_from(cause: Exception, error: Exception) -> Exception:
    try:
        try:
            raise cause
        except type(cause) as found:
            raise error from found
    except Exception as found:
        return found


def while_handling(cause: Exception, error: Exception) -> Exception:
    try:
        try:
            raise cause
        except type(cause):
            raise error  # noqa: B904 - the point of it
    except Exception as found:
        return found


def of_package(module: str, name: str, **attributes: object) -> Exception:
    """As a client raises it that is not installed here."""
    return type(name, (Exception,), {"__module__": module, **attributes})("away")


UNAVAILABLE = {
    "refused": ConnectionRefusedError("away"),
    "urllib busy": urllib.error.HTTPError("http://127.0.0.1:9", 503, "busy", http.client.HTTPMessage(), None),
    "cut off": http.client.IncompleteRead(b""),
    "httpx": httpx.ConnectError("away"),
    "google": of_package("google.genai.errors", "ServerError", code=503),
    "openai broke": of_package("openai", "InternalServerError", status_code=500),
    "grpc": of_package(
        "grpc._channel", "_InactiveRpcError", code=lambda _: SimpleNamespace(name="UNAVAILABLE")
    ),
    "told otherwise": raised_from(ConnectionRefusedError("away"), RuntimeError("no model")),
    "while handling": while_handling(httpx.ReadError("cut"), KeyError("text")),
    "group": ExceptionGroup("both", [ValueError("a"), ConnectionAbortedError()]),
}
LATE = {
    "builtin": TimeoutError("slow"),
    "httpx": httpx.ReadTimeout("slow"),
    "requests": requests.exceptions.Timeout("slow"),
    "openai": of_package("openai", "APITimeoutError"),
}
ITS_OWN = {
    "value": ValueError("timeout"),
    "file": FileNotFoundError("weights"),
    "own class": of_package("my_planner", "ConnectionLost", status_code=503),
    "wrong key": of_package("openai", "AuthenticationError", status_code=401),
    "httpx refused": httpx.HTTPStatusError("no", request=ASKED, response=httpx.Response(400, request=ASKED)),
    "address": http.client.InvalidURL("x"),
    "certificate": raised_from(ssl.SSLCertVerificationError("self-signed"), httpx.ConnectError("no")),
}


KINDS = {"unavailable": UNAVAILABLE, "timeout": LATE, None: ITS_OWN}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, errors in KINDS.items() for name in errors]
)
def test_what_the_network_did_is_told_from_the_planners_own_failure(kind: str | None, name: str):
    assert transient_kind(KINDS[kind][name]) == kind


def test_a_full_disk_and_memory_that_ran_out_are_the_machines():
    assert transient_kind(OSError(28, "No space left on device")) == "machine"
    assert transient_kind(MemoryError()) == "machine"


def test_a_model_server_that_is_away_is_known_through_the_process_and_in_it():
    planner = open_planner("tests.planners.nasty_planners:AskingPlanner")
    try:
        fault = planner.ask([question("a")])[0]
    finally:
        planner.close()
    assert isinstance(fault, PlanFaultError)
    assert fault.kind == "unavailable"
    assert str(fault).startswith("raised ConnectionRefusedError: model server away (nasty_planners.py:")
    same = asked(AskingPlanner(), [question("a")])[0]
    hint = "; a planner has no network, not even this machine's, unless --planner-network gives it one"
    assert (fault.kind, str(fault).removesuffix(hint)) == (same.kind, str(same))


class UnspeakableError(Exception):
    """Breaks while it is told."""

    def __str__(self) -> str:
        raise SystemExit(4)


class SlipperyError(PlanFaultError):
    def __str__(self) -> str:
        raise RuntimeError("later")


class Thorny:
    text = "here"

    @property
    def waypoints(self):
        raise SystemExit(5)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SystemExit(3), "raised SystemExit: 3 (test_network.py:"),
        (asyncio.CancelledError(), "raised CancelledError: (test_network.py:"),
        (BaseExceptionGroup("all", [SystemExit(1)]), "raised BaseExceptionGroup: all"),
        (UnspeakableError(), "raised UnspeakableError without words"),
        (SlipperyError("no"), "raised SlipperyError without words"),
        (None, "raised SystemExit: 5 (test_network.py:"),
    ],
)
def test_however_an_object_breaks_off_it_is_its_failed_answer(error: BaseException | None, words: str):
    class Breaks(AskingPlanner):
        def plan(self, observations):
            if len(observations) == 1 and observations[0].token == "b":
                return [Response("fine", np.zeros((24, 2)))]
            if error is not None:
                raise error
            return [Thorny() for _ in observations]

    failed, fine = asked(Breaks(), [question("a"), question("b")])
    assert isinstance(failed, PlanFaultError)
    assert failed.kind == "error"
    assert str(failed).startswith(words)
    assert to_plan(fine)


def test_the_users_interrupt_is_no_answer_of_an_objects():
    class Stopped(AskingPlanner):
        def plan(self, observations):
            raise KeyboardInterrupt

    was = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # ignored where tests run in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            asked(Stopped(), [question("a")])
    finally:
        signal.signal(signal.SIGINT, was)
