"""The wall, a campaign's raters and its manager in Chromium: several people at once, at one server."""

import re
import shutil
from pathlib import Path

import pytest

pytest.importorskip("gradio", reason="the app's browser tests need gradio: pip install 'cfgen-bench[app]'")
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="browser tests need playwright: pip install playwright"
)

from cfgen.app.api import Api  # noqa: E402
from cfgen.app.campaigns.create import create  # noqa: E402
from cfgen.app.tags import tags_of  # noqa: E402
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


def tags(api: Api, case_id: str, name: str) -> list[str]:
    return tags_of(api.case_index.reviews().get(case_id, ()), name)


def chosen(page, *numbers: int):
    """The wall with these pictures chosen."""
    here = page.locator("#room-curate")
    if not here.locator("[data-wall]").is_visible():
        page.keyboard.press("w")
    for n in numbers:
        here.locator("[data-tiles] input").nth(n).check()
    expect(here.locator("[data-chosen]")).to_have_text(f"{len(numbers)} chosen")
    return here


def answered(page, words: str) -> None:
    page.wait_for_selector("dialog[open]")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def test_on_the_wall_many_are_tagged_rejected_and_found_again_and_undo_takes_it_back(desk, api) -> None:
    ids = api.store.case_ids()
    here = chosen(desk, 0, 2)
    assert serious(desk, "the wall") == []
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
    desk.keyboard.press("t")
    answered(desk, "for the talk")
    expect(desk.locator(".cf-toast")).to_contain_text("2 × Tagged “for the talk”")
    expect(here.locator("[data-tiles]")).to_contain_text("#for the talk")
    assert [tags(api, i, "ben") for i in ids[:3]] == [["for the talk"], [], ["for the talk"]]
    here.locator("[data-narrow] summary").click()
    here.locator("select[name=tag]").select_option("for the talk")
    expect(here.locator("[data-tiles] li")).to_have_count(2)
    here.locator("select[name=tag]").select_option("")
    expect(here.locator("[data-tiles] li")).to_have_count(len(ids))
    here.locator("select[name=tag]").blur()
    here.locator("[data-untag-all]").click()
    desk.wait_for_selector("dialog[open]")
    desk.keyboard.press("1")
    expect(desk.locator(".cf-toast")).to_contain_text("2 × No longer “for the talk”")
    assert tags(api, ids[0], "ben") == []
    for left in (["for the talk"], []):
        desk.keyboard.press("u")
        expect(desk.locator(".cf-toast")).to_contain_text("you took" if left else "you tagged 2 cases")
        assert tags(api, ids[0], "ben") == left
    here.locator("[data-reject-all]").click()
    answered(desk, "too dark")
    expect(desk.locator(".cf-toast")).to_contain_text("2 × Rejected")
    assert api.store.case_ids() == [i for i in ids if i not in (ids[0], ids[2])]
    desk.keyboard.press("u")
    expect(desk.locator(".cf-toast")).to_contain_text("you rejected 2 cases (too dark)")
    assert api.store.case_ids() == ids
    expect(here.locator("[data-tiles] li")).to_have_count(len(ids))
    here.locator("[data-tiles] button").nth(1).click()
    expect(here.locator("[data-single]")).to_be_visible()
    expect(here.locator(".cf-list li[aria-current]")).to_have_id(f"case-{ids[1]}")


def test_two_curators_tag_and_decide_on_the_same_cases_at_once(browser, url, api) -> None:
    first = api.store.case_ids()[0]
    for cara in opened(browser, url, 1440, "cara"):
        for dan in opened(browser, url, 834, "dan"):
            for page, word in ((cara, "glare"), (dan, "night")):
                chosen(page, 0, 1)
                page.keyboard.press("t")
                answered(page, word)
            for page in (cara, dan):
                expect(page.locator(".cf-toast")).to_contain_text("2 × Tagged")
            assert (tags(api, first, "cara"), tags(api, first, "dan")) == (["glare"], ["night"])
            for page in (cara, dan):
                chosen(page, 0, 1).locator("[data-accept-all]").click()
                expect(page.locator(".cf-toast")).to_contain_text("2 × Accepted")
            assert tags(api, first, "cara") == ["glare", "night"], "after one's own decision"
            for _ in range(2):
                dan.keyboard.press("u")
                expect(dan.locator(".cf-toast")).to_contain_text("Taken back")
            expect(dan.locator(".cf-toast")).to_contain_text("you tagged 2 cases “night”")
    assert tags(api, first, "cara") == ["glare"]
    decisions = {r["who"]: r["decision"] for r in ask(api, "item", "cara", id=first)["reviews"]}
    assert (decisions["cara"], decisions["dan"]) == ("accept", "clear")


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
