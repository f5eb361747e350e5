"""The gallery, a campaign's raters and its manager in Chromium: several people at once, at one server."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("gradio", reason="the app's browser tests need gradio: pip install 'cfgen-bench[app]'")
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="browser tests need playwright: pip install playwright"
)

from cfgen.app.api import Api  # noqa: E402
from cfgen.app.campaigns.create import create  # noqa: E402
from cfgen.app.server import serve  # noqa: E402
from tests.app.asking import ask  # noqa: E402
from tests.app.conftest import opened, serious  # noqa: E402
from tests.app.page import nameless  # noqa: E402
from tests.app.rooms import room  # noqa: E402

expect = sync_api.expect


@pytest.fixture(scope="module")
def api(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Api:
    root = shutil.copytree(scored, tmp_path_factory.mktemp("together") / "b")
    out = root.with_name("campaign.json")
    plan = create(root, out, ("anna", "ben"), overlap=1.0, gold=1, training=1, arms=["hazard"])
    keep = [i for i in plan.items if i.kind != "answer"] + [i for i in plan.items if i.kind == "answer"][:2]
    api = Api(root, campaign=plan.model_copy(update={"items": tuple(keep)}))
    yield api
    api.close()


@pytest.fixture(scope="module")
def url(api: Api) -> Iterator[str]:
    app = serve(api, port=0, block=False)
    yield app.local_url.rstrip("/")
    app.close()


def chosen(page, *numbers: int):
    """The gallery with these pictures chosen."""
    here = page.locator("#room-curate")
    if not here.locator("[data-gallery]").is_visible():
        page.keyboard.press("w")
    for n in numbers:
        here.locator("[data-tiles] input").nth(n).check()
    expect(here.locator("[data-chosen]")).to_have_text(f"{len(numbers)} chosen")
    return here


def answered(page, words: str) -> None:
    page.wait_for_selector("dialog[open]")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def test_in_the_gallery_many_are_rejected_and_undo_takes_it_back(desk, api) -> None:
    ids = api.store.case_ids()
    here = chosen(desk, 0, 2)
    assert serious(desk, "the gallery") == []
    assert nameless(desk, "#room-curate") == []
    picture = here.locator("[data-tiles] img").first
    after = picture.get_attribute("src")
    picture.hover()
    expect(picture).not_to_have_attribute("src", after)
    desk.mouse.move(0, 0)
    expect(picture).to_have_attribute("src", after)
    desk.keyboard.press(" ")
    expect(picture).not_to_have_attribute("src", after)
    desk.keyboard.press(" ")
    here.locator("[data-reject-all]").click()
    answered(desk, "too dark")
    expect(desk.locator(".cf-toast")).to_contain_text("2 × Rejected")
    assert api.store.case_ids() == [i for i in ids if i not in (ids[0], ids[2])]
    desk.keyboard.press("u")
    expect(desk.locator(".cf-toast")).to_contain_text("you rejected 2 cases (too dark)")
    assert api.store.case_ids() == ids
    expect(here.locator("[data-tiles] li")).to_have_count(len(ids))
    here.locator("[data-narrow] summary").click()
    hazard = api.store.cases()[0].hazard.id
    here.locator("select[name=hazard]").select_option(hazard)
    same = [case.case_id for case in api.store.cases() if case.hazard.id == hazard]
    expect(here.locator("[data-tiles] li")).to_have_count(len(same))
    here.locator("select[name=hazard]").select_option("")
    expect(here.locator("[data-tiles] li")).to_have_count(len(ids))
    here.locator("[data-tiles] button").nth(1).click()
    expect(here.locator("[data-single]")).to_be_visible()
    expect(here.locator(".cf-list li[aria-current]")).to_have_id(f"case-{ids[1]}")


def rated(page, keys: str) -> None:
    """All that this rater has, by keyboard alone."""
    here = room(page, "Rate")
    page.wait_for_selector("#room-rate fieldset.current")
    total = int(here.locator("[data-progress]").inner_text().split(" of ")[1].split()[0])
    page.keyboard.press("ArrowRight")
    expect(page.locator(".cf-toast")).to_contain_text("The training comes first: 1 of 1 to go")
    for n in range(total):
        expect(here.locator("[data-progress]")).to_contain_text(f"{n} of {total}")
        page.keyboard.type(keys)
        page.keyboard.press("Enter")
        if n == 0:  # the training tells what would have been right
            expect(page.locator("dialog[open]")).to_contain_text("Right would be")
            page.keyboard.press("Escape")
    expect(here.locator("[data-progress]")).to_contain_text(f"{total} of {total}")
    last = here.locator("[data-agreement] table").last
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    assert 0 <= box["y"] < box["y"] + box["height"] <= page.viewport_size["height"] + 1


def test_two_raters_at_once_and_the_manager_has_the_last_word(browser, url, api) -> None:
    for anna in opened(browser, url, 1440, "anna"):
        for ben in opened(browser, url, 834, "ben"):
            rated(anna, "000")
            rated(ben, "222")
    for mia in opened(browser, url, 1440, "mia"):
        here = room(mia, "Campaign")
        expect(here.locator("[data-progress] tbody tr")).to_have_count(2)
        expect(here.locator("[data-progress]")).to_contain_text("4 of 4")
        expect(here.locator("[data-pairs] tbody tr")).to_have_count(3)
        expect(here.locator("[data-drift] tbody tr")).to_have_count(6)
        expect(here.locator("[data-right]")).to_have_text(re.compile(r"anna: \d of 1 right · ben: \d of 1"))
        expect(here.locator("[data-list] li")).to_have_count(2)
        mia.wait_for_selector("#room-campaign [data-plots] polyline")  # the first is open
        mia.keyboard.press("ArrowRight")
        expect(here.locator("[data-said] li")).to_have_count(2)
        assert serious(mia, "Campaign") == []
        assert nameless(mia, "#room-campaign") == []
        assert mia.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1
        here.get_by_role("button", name="decide").click()
        expect(mia.locator(".cf-toast")).to_contain_text("Give all three scores first")
        for name, score in (("reasoning", "1"), ("waypoints", "X"), ("overall", "0")):
            here.locator(f"select[name={name}]").select_option(score)
        here.locator("[data-note]").fill("<b>late</b>")
        here.get_by_role("button", name="decide").click()
        expect(mia.locator("dialog[open]")).to_contain_text("cannot be told, yet the rest has scores")
        mia.get_by_role("button", name="keep them all the same").click()
        expect(mia.locator(".cf-toast")).to_contain_text("Decided")
        expect(here.locator("[data-list]")).to_contain_text("decided")
        assert here.locator("[data-list] b:text('late')").count() == 0
    final = [d["final"] for d in ask(api, "campaign", "mia")["disputed"]]
    assert sorted(final, key=str) == [None, [1, None, 0]], "one decided, one left"
