"""Nobody else's hands: other pages, other host names, guessed tokens and passwords."""

import http.server
import json
import shutil
import threading
import time
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("gradio", reason="serving needs gradio: pip install 'cfgen-bench[app]'")

from cfgen.app.accounts import Account, Logins, add, hashed, matches, parse, read_file
from cfgen.app.api import Api
from cfgen.app.server import Hosts, refusal, serve
from cfgen.app.transport import Transport
from cfgen.core.errors import InputError
from cfgen.core.hashing import derive_id
from tests.app.asking import ask
from tests.app.asking_http import Browser, send
from tests.benches import run

HERE = "127.0.0.1:7860"
PASSWORD = "correct horse"
ELSEWHERE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}


@pytest.fixture(scope="module")
def api(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Api:
    return Api(shutil.copytree(scored, tmp_path_factory.mktemp("guard") / "b"))


@pytest.fixture(autouse=True, scope="module")
def _quick_hashes():
    """Hashing is slow on purpose; here it is hashed some fifty times."""
    patch = pytest.MonkeyPatch()
    patch.setattr("cfgen.app.accounts._N", 16)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def url(api: Api):
    app = serve(api, port=0, block=False)
    yield app.local_url
    app.close()


@pytest.fixture(scope="module")
def locked(api: Api):
    """With three accounts."""
    roles = ("rater", "curator", "manager")
    app = serve(
        api, port=0, accounts=[Account(role[:3], role, hashed(PASSWORD)) for role in roles], block=False
    )
    yield app.local_url
    app.close()


@pytest.fixture
def proxied(api: Api):
    """As ``locked``, behind a proxy on this machine."""
    accounts = [Account("rat", "rater", hashed(PASSWORD))]
    app = serve(api, port=0, accounts=accounts, block=False, transport=Transport(proxies=("127.0.0.1",)))
    yield app.local_url
    app.close()


def reviews(api: Api) -> list[Path]:
    return sorted(api.store.root.glob("reviews/*/*.json"))


# --- other pages and other names --------------------------------------------------------------------------

ATTACK = Path(__file__).with_name("attack.html").read_text()


def test_a_page_at_another_address_changes_and_sees_nothing(
    api: Api, url: str, browser, tmp_path: Path
) -> None:
    case = api.store.cases()[0].case_id
    (tmp_path / "index.html").write_text(ATTACK.replace("VICTIM", url).replace("CASE", case))
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    handler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = browser.new_context()
    try:
        own = context.new_page()
        own.add_init_script("localStorage.setItem('cfgen.name', 'anna')")
        own.goto(url)
        own.wait_for_selector("#room-curate .cf-list li[aria-current]")
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_function("document.title")
        found = json.loads(page.title())
    finally:
        context.close()
        server.shutdown()
        server.server_close()
    assert found == {"seen": False, "read": "", "framed": False}
    assert reviews(api) == []
    assert api.store.has_case(case)


EVIL = ["evil.example:7860", "127.0.0.1.evil.example", "", "x@127.0.0.1"]


@pytest.mark.parametrize("host", EVIL)
def test_a_name_that_was_bent_to_point_here_is_not_answered(api: Api, url: str, host: str) -> None:
    case = api.store.cases()[0].case_id
    for target in ("/", "/login", f"/picture/case/{case}/augmented.png", "/theme.css", "/gradio_api/info"):
        status, data, _ = send(url, target, host=host)
        assert status in (400, 421), target
        assert b"cfgen" not in data
    status, _, _ = send(url, "/session", "POST", b"{}", host=host, content_type="application/json")
    assert status in (400, 421)


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {}, None),
        ("GET", "/", {**ELSEWHERE, "sec-fetch-dest": "document"}, None),
        ("GET", "/", {**ELSEWHERE, "sec-fetch-dest": "iframe"}, 403),
        ("GET", "/picture/case/a/b.png", {"sec-fetch-site": "same-site"}, 403),
        ("POST", "/call", {"origin": f"http://{HERE}"}, None),
        ("POST", "/call", {"origin": "http://127.0.0.1:9000"}, 403),
        ("POST", "/call", {"content-type": "text/plain"}, 415),
        ("POST", "/call", {"content-length": "99000000"}, 413),
        ("POST", "/call", {"content-length": ""}, 411),
        ("POST", "/gradio_api/queue/join", {}, 404),
        ("GET", "/gradio_api/file=/etc/hostname", {}, 404),
        ("PUT", "/call", {}, 405),
    ],
)
def test_what_the_guard_lets_by(method: str, path: str, headers: dict[str, str], status: int | None) -> None:
    usual = {"host": HERE, "content-type": "application/json", "content-length": "2"}
    found = refusal(Hosts(), method, path, {**usual, **headers})
    assert (found[0] if found else None) == status


def test_names_are_known_or_numbers_or_given() -> None:
    hosts = Hosts("0.0.0.0", ["rate.example.org"])
    known = ("127.0.0.1:7860", "localhost", "[::1]:80", "192.168.1.7:7860", "RATE.example.org:443")
    assert [h for h in known if not hosts.knows(h)] == []
    strange = ("example.org", "rate.example.org.evil.com", "", "127.0.0.1:99999999", "127.0.0.1/x")
    assert [h for h in strange if hosts.knows(h)] == []


def test_a_change_needs_the_token_of_the_page(api: Api, url: str) -> None:
    anna, eve = Browser(url, "anna").begin(), Browser(url, "eve").begin()
    asked = {"do": "decide", "id": api.store.cases()[0].case_id, "decision": "flag"}
    for token in ("", "x", eve.told["token"]):
        assert anna.post("/call", asked, x_cfgen_token=token)[0] == 401
    assert (
        send(url, "/call", "POST", b"{}", content_type="application/json", cookie="cfgen=made-up")[0] == 401
    )
    assert reviews(api) == []
    assert anna.ask("decide", id=asked["id"], decision="flag", name="eve") == {"ok": {"said": "Flagged"}}
    assert [p.parent.name for p in reviews(api)] == ["anna"]
    shutil.rmtree(api.store.root / "reviews")


def test_the_cookie_is_the_servers_own_and_no_script_or_other_site_gets_it(url: str) -> None:
    _, _, headers = Browser(url, cookie="cfgen-1=chosen").post("/session", {})
    cookie = headers["set-cookie"].lower()
    assert "chosen" not in cookie
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    policy = send(url, "/")[2]
    assert policy["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in policy["content-security-policy"]


# --- logins and roles -------------------------------------------------------------------------------------


def test_without_a_login_nothing_is_told_and_each_role_gets_its_rooms(api: Api, locked: str) -> None:
    case = api.store.cases()[0].case_id
    assert send(locked, "/")[0] == 303
    assert send(locked, f"/picture/case/{case}/augmented.png")[0] == 401
    assert send(locked, "/session", "POST", b"{}", content_type="application/json")[0] == 401
    rooms = {}
    for role in ("rater", "curator", "manager"):
        there = Browser(locked)
        status, _, headers = there.log_in(role[:3], PASSWORD.replace(" ", "+"))
        assert (status, headers["location"]) == (303, "./")
        there.begin()
        assert (there.told["name"], there.told["role"]) == (role[:3], role)
        page = there.get("/")[1].decode()
        rooms[role] = {name for name in ("curate", "rate") if f"room-{name}" in page}
        assert ("ok" in there.ask("item", id=case)) == (role != "rater")
        assert ("ok" in there.ask("rate_progress")) == (role != "curator")
        assert (there.get(f"/picture/case/{case}/augmented.png")[0] == 200) == (role != "rater")
    assert rooms == {"rater": {"rate"}, "curator": {"curate"}, "manager": {"curate", "rate"}}


def test_guessing_passwords_becomes_slow_for_that_name_from_there_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr("cfgen.app.accounts._N", 2)
    logins = Logins([Account(n, "rater", hashed(PASSWORD)) for n in ("anna", "ben")])
    for _ in range(5):
        assert logins.check("anna", "guess", "10.0.0.1") is None
    first = logins.wait("anna", "10.0.0.1")
    assert first > 0
    assert logins.check("anna", PASSWORD, "10.0.0.1") is None, "too soon, whatever the password"
    assert logins.check("ben", PASSWORD, "10.0.0.1") is not None
    assert logins.wait("anna", "10.0.0.2") == 0
    now[0] += first
    assert logins.check("anna", "guess", "10.0.0.1") is None
    assert logins.wait("anna", "10.0.0.1") > first
    now[0] += 301
    assert logins.check("anna", PASSWORD, "10.0.0.1") is not None
    assert logins.wait("anna", "10.0.0.1") == 0


def test_one_password_tried_on_many_names_ends_in_a_wait_for_that_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cfgen.app.accounts._N", 2)
    logins = Logins([Account("anna", "rater", hashed(PASSWORD))])
    looked: list[str] = []
    monkeypatch.setattr("cfgen.app.accounts.matches", lambda p, kept: looked.append(kept) or p == PASSWORD)
    for n in range(21):
        assert logins.check(f"n{n}", "guess", f"2001:db8::{n}") is None, "one party's 2^64 addresses are one"
    assert len(looked) == 21, "as long for a name that nobody has"
    assert logins.check("anna", PASSWORD, "2001:db8::ffff") is None
    assert logins.wait("nobody", "2001:db8::ffff") == logins.wait("anna", "2001:db8::ffff") > 0
    assert logins.check("anna", PASSWORD, "10.0.0.2") is not None


def test_wrong_passwords_over_http_end_in_a_wait(locked: str) -> None:
    codes = [Browser(locked).log_in("nobody", "guess")[0] for _ in range(6)]
    assert codes == [401] * 5 + [429]
    status, data, headers = Browser(locked).log_in("nobody", "guess")
    assert status == 429
    assert int(headers["retry-after"]) > 0
    assert b"Try again in" in data


def test_behind_a_proxy_wrong_passwords_lock_out_their_own_client_alone(
    proxied: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cfgen.app.accounts._FREE_TRIES", 1)

    def log_in(name: str, password: str, **headers: str) -> int:
        return Browser(proxied).log_in(name, password, **headers)[0]

    for n in range(7):
        log_in(f"made-up{n}", "guess", x_forwarded_for="192.0.2.1")
    assert [log_in(name, PASSWORD, x_forwarded_for="192.0.2.1") for name in ("not-yet", "rat")] == [429, 429]
    assert log_in("rat", PASSWORD, x_forwarded_for="192.0.2.2") == 303
    for n in range(7):
        log_in(f"new{n}", "guess")
    assert log_in("rat", PASSWORD) == 303, "a proxy that names no client is not taken for one"


def test_a_client_that_makes_up_its_address_is_counted_by_its_own(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cfgen.app.accounts._N", 2)
    app = serve(api, port=0, accounts=[Account("rat", "rater", hashed(PASSWORD))], block=False)
    try:
        codes = [
            Browser(app.local_url).log_in("rat", "guess", x_forwarded_for=f"198.51.100.{n}")[0]
            for n in range(7)
        ]
    finally:
        app.close()
    assert codes == [401] * 5 + [429] * 2


def test_passwords_are_kept_hashed_and_salted(tmp_path: Path) -> None:
    file = tmp_path / "users"
    for who in ("rater/anna", "manager/mia", "rater/anna"):
        add(file, who, PASSWORD)
    text = file.read_text()
    assert PASSWORD not in text
    assert [(a.name, a.role) for a in read_file(file)] == [("mia", "manager"), ("anna", "rater")]
    assert len({a.password for a in read_file(file)}) == 2
    assert all(matches(PASSWORD, a.password) and not matches("other", a.password) for a in read_file(file))
    assert file.stat().st_mode & 0o077 == 0
    for who, words in (("manager/anna", "'anna' is a rater there"), ("rater/b:c", "without ':'")):
        with pytest.raises(InputError, match=words):
            add(file, who, PASSWORD)
    assert file.read_text() == text
    assert PASSWORD not in repr(parse(f"anna:{PASSWORD}", "users"))
    with pytest.raises(InputError, match="at least 8"):
        add(file, "rater/ben", "short")
    assert file.read_text() == text


# --- what a rater could work out --------------------------------------------------------------------------


def test_tokens_and_their_order_cannot_be_computed_from_names(api: Api) -> None:
    tokens = [t.token for t in api.rating.tasks("anna")]
    told = {p.case_id: p for p in api.rating.tasks("anna")}
    for width in (8, 16, 32):
        guessed = {derive_id("rate", "anna", t.planner, c, t.arm, t.repeat)[:width] for c, t in told.items()}
        assert not guessed & {t[:width] for t in tokens}
    other = Api(
        shutil.copytree(api.store.root, api.store.root.with_name("same"), ignore=lambda *_: [".work"])
    )
    theirs = other.rating.tasks("anna")
    assert {t.case_id for t in theirs} == set(told)
    assert not {t.token for t in theirs} & set(tokens), "another server draws other tokens"
    assert [t.token for t in Api(api.store.root).rating.tasks("anna")] == tokens, "a restart keeps them"


def test_a_rater_gets_no_token_or_picture_of_anothers(api: Api, url: str) -> None:
    anna, ben = Browser(url, "anna").begin(), Browser(url, "ben").begin()
    token = anna.ask("rate_progress")["ok"]["tokens"][0]
    assert anna.get(f"/picture/rate/{token}/after")[0] == 200
    assert ben.get(f"/picture/rate/{token}/after")[0] == 404
    assert "no longer" in ben.ask("rate_question", token=token)["error"]


def test_beyond_this_machine_a_login_is_asked_for(bench: Path) -> None:
    code, _, err = run("app", str(bench), "--host", "0.0.0.0")
    assert code == 2
    assert "--open" in err
    assert ask(Api(bench), "queue")["rows"]


def test_logins_beyond_this_machine_want_tls(bench: Path, tmp_path: Path) -> None:
    users = tmp_path / "users"
    add(users, "rater/anna", PASSWORD)
    code, _, err = run("app", str(bench), "--host", "0.0.0.0", "--users", str(users))
    assert code == 2
    assert "travel in clear; give --certificate FILE" in err
    assert "--behind-proxy" in err
    code, _, err = run("app", str(bench), "--users", str(users), "--certificate", str(users))
    assert (code, "expected both or neither" in err) == (2, True)
