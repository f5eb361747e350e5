"""Long work and work by hand, in Chromium: generate, restart, several people."""

import base64
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("gradio", reason="the app's browser tests need gradio: pip install 'cfgen-bench[app]'")
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="browser tests need playwright: pip install playwright"
)

from cfgen.app.api import Api  # noqa: E402
from cfgen.app.server import serve  # noqa: E402
from cfgen.core.files import read_image  # noqa: E402
from tests.app import slow  # noqa: E402
from tests.app.conftest import opened  # noqa: E402
from tests.app.rooms import placed, room  # noqa: E402
from tests.app.test_command import free_port  # noqa: E402

expect = sync_api.expect


def shown(page) -> str:
    """Id of the case that Curate shows."""
    return page.locator("#room-curate .cf-list li[aria-current]").get_attribute("id").removeprefix("case-")


# --- with an inpainter that takes its time ----------------------------------------------------------------


@pytest.fixture
def root(bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site").mkdir()
    slow.install(tmp_path / "site", monkeypatch)
    return shutil.copytree(bench, tmp_path / "b")


def generating(page, api):
    """Place with the slow inpainter chosen."""
    here = placed(page, api.store.cases()[0])
    here.locator("[data-inpainter]").select_option("slow")
    expect(here.locator("[data-preview-word]")).to_have_text("generate")
    expect(here.locator("[data-guide-label]")).to_be_visible()
    here.locator("[data-inpainter]").blur()
    return here


def test_generating_shows_progress_can_be_stopped_and_keeps_nobody_waiting(root: Path, browser) -> None:
    api = Api(root, options={"slow": {"seconds": 300}})
    app = serve(api, port=0, block=False)
    try:
        url = app.local_url.rstrip("/")
        for anna in opened(browser, url, 1440, "anna"):
            here = generating(anna, api)
            anna.keyboard.press("p")
            expect(here.locator("[data-job] [role=status]")).to_contain_text("drawing: frame 1 of 1")
            expect(here.locator("[data-job] progress")).to_be_visible()
            for ben in opened(browser, url, 834, "ben"):
                start = time.monotonic()
                ben.keyboard.press("a")
                expect(ben.locator("#room-curate [data-counts] b")).to_have_text(re.compile("^1 of"))
                there = placed(ben, api.store.cases()[0])
                ben.keyboard.press("p")
                ben.wait_for_selector("#room-place [data-gates] tr")
                assert there.locator("[data-part]").is_visible()
                assert time.monotonic() - start < 60, "the long job takes 300 s"
            anna.reload()
            anna.wait_for_selector("#room-curate .cf-list li[aria-current]")
            here = room(anna, "Place")
            expect(here.locator("[data-job] [role=status]")).to_contain_text("drawing")
            here.locator("[data-job] [data-stop]").click()
            expect(here.locator("[data-job] [role=status]")).to_have_text("stopped")
            expect(here.locator("[data-job] [data-stop]")).to_be_hidden()
    finally:
        app.close()
        api.jobs.end()


def test_what_was_generated_is_saved_and_failing_is_text(root: Path, browser) -> None:
    api = Api(root)
    app = serve(api, port=0, block=False)
    try:
        for page in opened(browser, app.local_url.rstrip("/"), 1440, "anna"):
            here = generating(page, api)
            page.keyboard.press("p")
            page.wait_for_selector("#room-place [data-gates] tr")
            expect(here.locator("[data-took]")).to_contain_text("drawn in")
            page.keyboard.press("Enter")
            expect(here.locator("[data-job] [role=status]")).to_contain_text("Saved as")
            made = here.locator("[data-job] [role=status]").inner_text().split()[-1].rstrip(".")
            part = here.locator("[data-part]").get_attribute("src").partition(",")[2]
            (root.parent / "part.png").write_bytes(base64.b64decode(part))
            looked_at = read_image(root.parent / "part.png")
            x, y = where(api, made)
            saved = read_image(api.store.case_dir(made) / "augmented.png")
            assert (saved[y : y + looked_at.shape[0], x : x + looked_at.shape[1]] == looked_at).all()
            api._options["slow"] = {"fault": "breaks"}
            here.locator("[data-inpainter]").select_option("composite")
            expect(here.locator("[data-preview-word]")).to_have_text("preview")
            generating(page, api)
            page.keyboard.press("p")
            expect(here.locator("[data-job] [role=status]")).to_contain_text("wrong <b>shape</b>")
            assert here.locator("[data-job] b").count() == 0
    finally:
        app.close()
        api.jobs.end()


def where(api: Api, case_id: str) -> tuple[int, int]:
    """Left and top of what a case changes."""
    mask = read_image(api.store.case_dir(case_id) / "mask.png")[..., 0]
    return int(mask.any(0).argmax()), int(mask.any(1).argmax())


def test_an_inpainter_that_is_not_installed_is_listed_and_cannot_be_chosen(desk) -> None:
    here = room(desk, "Place")
    desk.wait_for_selector("#room-place [data-numbers] dd")
    for option in here.locator("[data-inpainter] option").all():
        missing = "pip install" in option.inner_text()
        assert option.is_disabled() == missing, option.inner_text()


def test_a_restart_loses_nothing(root: Path, browser) -> None:
    app = serve(Api(root), port=0, block=False)
    for page in opened(browser, app.local_url.rstrip("/"), 1440, "anna"):
        page.keyboard.press("a")
        expect(page.locator("#room-curate [data-counts] b")).to_have_text(re.compile("^1 of"))
        page.keyboard.press("f")
        page.wait_for_selector("dialog[open]")
        page.keyboard.press("2")
        expect(page.locator("#room-curate [data-counts] b")).to_have_text(re.compile("^2 of"))
        page.keyboard.press("ArrowRight")
        expect(page.locator("#room-curate [data-state]")).to_contain_text("2 of 3")
        at = shown(page)
        state = page.context.storage_state()
    port = app.server_port
    app.close()
    app = serve(Api(root), port=port, block=False)
    try:
        for page in opened(browser, app.local_url.rstrip("/"), 1440, "anna", storage_state=state):
            expect(page.locator("#room-curate [data-counts] b")).to_have_text(re.compile("^2 of"))
            assert shown(page) == at
            page.locator("#room-curate [data-filter]").select_option("flag")
            expect(page.locator("#room-curate [data-reviews]")).to_contain_text(
                "anna flag: borderline realism"
            )
    finally:
        app.close()


def test_a_page_that_outlives_the_server_says_so_and_goes_on_after(root: Path, browser) -> None:
    port = free_port()
    app, url = started(root, port)
    for page in opened(browser, url, 1440, "anna"):
        stopped(app)
        page.keyboard.press("a")
        expect(page.locator(".cf-toast")).to_contain_text("Is cfgen app still running?")
        again = serve(Api(root), port=port, block=False)
        page.keyboard.press("a")
        expect(page.locator("#room-curate [data-counts] b")).to_have_text(re.compile("^1 of"))
    again.close()
    decided = json.loads(next(root.glob("reviews/anna/*.json")).read_text())
    assert [entry["decision"] for entry in decided["history"]] == ["accept"]


def started(root: Path, port: int) -> tuple[subprocess.Popen, str]:
    """``cfgen app`` in a process of its own, once it answers."""
    command = [sys.executable, "-m", "cfgen", "app", str(root), "--port", str(port)]
    hears = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # also where the tests run in the background
    app = subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL, preexec_fn=hears
    )
    url, end = f"http://127.0.0.1:{port}", time.monotonic() + 120
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url).close()
            return app, url
        except OSError:
            time.sleep(0.1)
    raise AssertionError("cfgen app did not start")


def stopped(app: subprocess.Popen) -> None:
    """As Ctrl-C does."""
    app.send_signal(signal.SIGINT)
    assert app.wait(60) in (0, 130)
