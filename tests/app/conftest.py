"""The app on a small benchmark of real scenes, and Chromium looking at it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cfgen.app.api import Api
from tests.benches import run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SLOW_MS = 60_000
#: faults of a page that are words for the user, thrown again after they were shown
SAID = ("expected", "above the road", "declined", "ValueError", "no longer known", "refused", "no answer")


@pytest.fixture(scope="session")
def scored(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small benchmark with two planners scored; copy it before changing it."""
    out = shutil.copytree(bench, tmp_path_factory.mktemp("scored") / "b")
    for planner in ("cruise", "logged"):
        code, _, err = run("score", str(out), "--planner", planner, "--quiet")
        assert code == 0, err
    return out


@pytest.fixture(scope="session")
def api(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    root = shutil.copytree(bench, tmp_path_factory.mktemp("app") / "b")
    code, _, err = run("score", str(root), "--planner", "cruise", "--quiet")
    assert code == 0, err
    api = Api(root)
    yield api
    api.close()


@pytest.fixture(scope="session")
def url(api: Api) -> Iterator[str]:
    pytest.importorskip(
        "gradio", reason="the app's browser tests need gradio: pip install 'cfgen-bench[app]'"
    )
    from cfgen.app.server import serve

    app = serve(api, port=0, block=False)
    yield app.local_url.rstrip("/")
    app.close()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="browser tests need playwright: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("browser tests need a 'chromium' on the path")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    sync_api.expect.set_options(timeout=SLOW_MS)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture(params=[1440, 834])
def page(request, browser, url):
    yield from opened(browser, url, request.param, f"anna{request.param}")


@pytest.fixture
def desk(browser, url):
    yield from opened(browser, url, 1440, "ben")


def opened(browser, url: str, width: int, name: str, **context):
    """A page on the first case, of a person called ``name``; nothing but loopback is reached."""
    page = browser.new_page(viewport={"width": width, "height": 1000}, **context)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.route(lambda u: not u.startswith((url, "data:")), lambda route: route.abort())
    page.add_init_script(f"localStorage.setItem('cfgen.name', {name!r})")
    page.set_default_timeout(SLOW_MS)
    page.goto(url)
    page.wait_for_selector("#room-curate .cf-list li[aria-current]")
    yield page
    page.close()
    assert [f for f in faults if not any(words in f for words in SAID)] == []


def serious(page, where: str) -> list:
    """What axe calls serious or critical in what is on screen."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python"
    )
    found = axe.Axe().run(page).response["violations"]
    return [
        (where, f["id"], [n["html"][:160] for n in f["nodes"]])
        for f in found
        if f["impact"] in ("serious", "critical")
    ]
