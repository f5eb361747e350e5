"""``--offline`` and ``--allow-hosts``: what is refused, where, and what the record says of it. Nothing here leaves."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cfgen.core import isolate, network
from cfgen.core.errors import SetupError
from cfgen.core.files import read_record
from cfgen.core.network import Network, current, limited
from cfgen.judge.registry import create_judge
from cfgen.planners import runtime
from cfgen.planners.registry import open_planner
from cfgen.records import JudgeRun, PlannerRun
from tests.benches import run
from tests.models.providers import install, server
from tests.reporting.bench import make_bench

NOSY = "tests.models.nosy_planners:Nosy"
LOOSE = "programs that it starts are NOT held)"


@pytest.fixture
def bench(tmp_path):
    return make_bench(tmp_path / "b", 1, {}, arms=("hazard",)).root


@pytest.fixture
def listener(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as found:
        monkeypatch.setenv("NOSY_PORT", str(found.getsockname()[1]))
        yield found


@pytest.fixture
def _permitted():
    if not isolate.available():
        pytest.skip("this system permits no network of one's own")


@pytest.fixture
def _not_permitted(monkeypatch):
    monkeypatch.setattr(runtime, "permitted", frozenset)


def score(bench, planner, *more, told=""):
    code, _, err = run("score", bench, "--planner", planner, "--name", "nosy", "--quiet", *more)
    assert code == 0, err
    assert ("does not hold programs that it starts" in err) == bool(told), err
    assert told in err
    rollout = next(bench.glob("runs/nosy/hazard/*.json")).read_text()
    ran = read_record(bench / "runs/nosy/planner.json", PlannerRun)
    text = json.loads(rollout)["text"]
    scene = (
        text if text.startswith("{") else json.loads(text.split("<think>")[1].split("</think>")[0])["scene"]
    )
    return json.loads(scene.replace("'", '"')), ran.network


# --- what may be reached --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "yes", "no"),
    [
        (Network(), ["example.com", "localhost"], []),
        (Network(offline=True), ["localhost", "127.0.0.1", "127.9.9.9", "::1"], ["example.com", "10.0.0.1"]),
        (Network(allow_hosts=("A.example",)), ["a.example"], ["localhost", "b.a.example", "example"]),
        (Network(allow_hosts=("a.example", "localhost")), ["a.example", "127.0.0.1"], ["b.example"]),
        (Network(True, ("localhost",)), ["127.0.0.1"], ["a.example"]),
    ],
)
def test_what_each_limit_allows(limit, yes, no):
    assert [limit.allows(host) for host in (*yes, *no)] == [True] * len(yes) + [False] * len(no)


def test_a_limit_ends_with_its_block_and_inner_ones_count(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:3128")
    import os

    with limited(Network(offline=True)):
        assert "https_proxy" not in os.environ, "a proxy on this machine would be a way out"
        with limited(Network(allow_hosts=("a.example",))):
            assert current().allows("a.example")
        assert current().offline
        with pytest.raises(PermissionError, match=r"refused a connection to example.invalid: --offline"):
            socket.getaddrinfo("example.invalid", 80)
    assert not current().limits
    assert os.environ["https_proxy"]
    assert network.VARIABLE not in os.environ


# --- models ---------------------------------------------------------------------------------------------------------


def test_a_model_elsewhere_is_refused_in_one_line_before_anything_is_asked(bench, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "no-key-of-anyones")
    for flags, mend in (
        (["--offline"], "leave --offline out"),
        (["--allow-hosts", "a.example"], "add generativelanguage"),
    ):
        code, _, err = run(
            "score", bench, "--planner", "gemini", "--planner-options", "model=m", "--quiet", *flags,
        )  # fmt: skip
        assert code == 2
        assert err.count("\n") == 1
        assert "talks to generativelanguage.googleapis.com" in err
        assert mend in err
        assert not list(bench.glob("runs/*/*/*.json"))
        with (
            limited(Network("--offline" in flags, tuple(flags[1:]))),
            pytest.raises(SetupError, match="talks to"),
        ):
            create_judge("gemini", model="m")


def test_a_model_that_does_not_say_where_it_is_is_refused_under_a_limit(tmp_path, monkeypatch):
    install(tmp_path / "site", monkeypatch)
    judge = create_judge("house", model="m", url="http://127.0.0.1:9")
    del judge.models[0].host
    judge.check()
    with (
        limited(Network(offline=True)),
        pytest.raises(SetupError, match="does not declare which host it talks to"),
    ):
        judge.check()


# --- children -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_permitted")
def test_a_planner_and_what_it_starts_get_a_network_of_their_own(bench, listener):
    found, recorded = score(bench, NOSY, "--offline")
    for way in ("connect", "datagram", "lookup"):
        assert found[way].startswith("PermissionError: cfgen refused a connection to"), found
    assert found["loopback"].startswith("ConnectionRefusedError"), "not even this machine's servers"
    assert found["program"] == "ConnectionRefusedError"
    assert found["hub"] == "1"
    assert recorded == ("offline (the planner has a network of its own with nothing in it)",)


def test_a_planner_that_is_a_model_on_this_machine_still_reaches_it(bench, tmp_path, monkeypatch):
    install(tmp_path / "site", monkeypatch)
    with server(lambda sent: "no plan") as found:
        given = ("model=m", f"url={found.url}", 'look={"frame_times": [0]}')
        options = [word for option in given for word in ("--planner-options", option)]
        _, _, err = run("score", bench, "--planner", "house", *options, "--offline", "--quiet")
    assert found.requests
    assert "does not hold programs" in err


def test_servers_on_this_machine_stay_within_reach_where_they_are_named(bench, listener):
    found, recorded = score(
        bench, NOSY, "--offline", "--allow-hosts", "localhost", told="--allow-hosts localhost"
    )
    assert found["connect"].startswith("PermissionError: cfgen refused a connection to 192.0.2.1")
    assert (found["loopback"], found["program"]) == ("went out", "went out")
    assert recorded == (
        "offline, only localhost (Python's sockets refused in the planner's process; " + LOOSE,
    )


@pytest.mark.usefixtures("_not_permitted")
def test_where_no_network_of_its_own_is_permitted_python_is_held_and_the_rest_is_told(bench, listener):
    found, recorded = score(bench, NOSY, "--offline", told="--offline does not hold")
    for way in ("connect", "datagram", "lookup"):
        assert found[way].startswith("PermissionError: cfgen refused a connection to"), found
    assert (found["loopback"], found["program"]) == ("went out", "went out")
    assert recorded == ("offline (Python's sockets refused in the planner's process; " + LOOSE,)
    run("score", bench, "--planner", NOSY, "--name", "nosy", "--quiet", "--repeats", "2")
    ran = read_record(bench / "runs/nosy/planner.json", PlannerRun)
    assert ran.network == (*recorded, ""), "both ways in which it was run"


@pytest.mark.usefixtures("_permitted")
def test_a_program_gets_a_network_of_its_own_where_the_system_permits_it(bench, listener):
    found, recorded = score(bench, f"cmd:{sys.executable} -m tests.models.nosy_planners", "--offline")
    assert "unreachable" in found["connect"]
    assert "unreachable" in found["datagram"]
    assert "refused" in found["loopback"], "not even this machine's servers"
    assert found["program"] == "ConnectionRefusedError"
    assert recorded == ("offline (the planner has a network of its own with nothing in it)",)


def test_a_server_elsewhere_is_refused_before_it_is_asked():
    with limited(Network(offline=True)), pytest.raises(SetupError, match=r"talks to 192\.0\.2\.1"):
        open_planner("http://192.0.2.1:8000")


CHILD = """
from cfgen.core.network import Network, limited
from cfgen.core.engines.processes import process_pool
from tests.models.nosy_planners import work

with limited(Network(offline=True)), process_pool(2) as workers:
    print(list(workers.run(work, [1], lambda item, error: error))[0])
"""


def test_workers_are_held_to_it_as_well(tmp_path, listener):
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=120, check=False, env=here
    )
    assert done.stdout.count("PermissionError: cfgen refused") == 3, done.stderr


def test_a_judges_record_says_what_held_each_time(bench):
    def recorded(command, *more):
        planner = ("--planner", "cruise") if command == "score" else ()
        start = (command, bench) if command == "score" else ("judge", command, bench)
        code, _, err = run(*start, *planner, "--quiet", *more)
        assert code in (0, 1), err
        return read_record(bench / "verdicts/offline/judge.json", JudgeRun).network

    held = "(models elsewhere refused, and Python's sockets in this process)"
    assert recorded("score", "--offline") == (f"offline {held}",)
    assert recorded("validate", "--allow-hosts", "a.example") == (f"offline {held}", f"only a.example {held}")
    assert recorded("score") == (f"offline {held}", f"only a.example {held}", "")
    assert recorded("score", "--offline") == (f"offline {held}", f"only a.example {held}", "")
