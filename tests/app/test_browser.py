"""The app in Chromium on loopback: every room, by keyboard, at desk and tablet width."""

import time
import urllib.error
import urllib.request

import pytest

pytest.importorskip("gradio", reason="the app's browser tests need gradio: pip install 'cfgen-bench[app]'")
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="browser tests need playwright: pip install playwright"
)

from cfgen.app.accounts import parse  # noqa: E402
from cfgen.app.server import serve  # noqa: E402
from cfgen.core.hashing import hash_bytes  # noqa: E402
from tests.app.rooms import placed, room  # noqa: E402

MARKUP = '<img src=x onerror="window.pwned=1"><b>bold</b>'


def test_curate_by_keyboard(page, api) -> None:
    here = page.locator("#room-curate")
    cases = len(api.store.cases())
    sync_api.expect(here.locator("[data-state]")).to_contain_text(f"1 of {cases}")
    first = here.locator("[data-title]").inner_text()
    page.keyboard.press("ArrowRight")
    sync_api.expect(here.locator("[data-state]")).to_contain_text(f"2 of {cases}")
    page.keyboard.press("ArrowLeft")
    sync_api.expect(here.locator("[data-state]")).to_contain_text(f"1 of {cases}")
    for key, button in ((" ", "flicker"), ("z", "zoom"), ("m", "outline")):
        page.keyboard.press(key)
        sync_api.expect(here.locator(f"[data-{button}]")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press(key)
    page.keyboard.press("a")
    sync_api.expect(here.locator("[data-counts] b")).to_have_text(f"1 of {cases}")
    page.keyboard.press("u")
    sync_api.expect(here.locator("[data-counts] b")).to_have_text(f"0 of {cases}")
    sync_api.expect(here.locator("[data-title]")).to_have_text(first)
    for typed in ("", "my own words, 7"):  # no reason is chosen beforehand, and typed words win
        page.keyboard.press("r")
        page.wait_for_selector("dialog[open]")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        said = "Rejected" if typed else "needs a reason"
        sync_api.expect(page.locator(".cf-toast")).to_contain_text(said)
    page.keyboard.press("u")
    sync_api.expect(page.locator(".cf-toast")).to_contain_text("(my own words, 7)")
    sync_api.expect(here.locator("[data-title]")).to_have_text(first)
    page.keyboard.press("r")
    page.wait_for_selector("dialog[open]")
    page.keyboard.press("2")
    sync_api.expect(here.locator("[data-counts] small")).to_contain_text("1 rejected")
    here.locator("[data-filter]").select_option("rejected")
    sync_api.expect(here.locator("[data-state]")).to_contain_text("floats or sinks")
    page.locator("body").click(position={"x": 2, "y": 2})
    here.locator("[data-filter]").blur()
    page.keyboard.press("a")
    sync_api.expect(here.locator("[data-counts] small")).to_contain_text("0 rejected")
    page.keyboard.press("u")
    sync_api.expect(here.locator("[data-counts] small")).to_contain_text("1 rejected")
    page.keyboard.press("u")
    sync_api.expect(here.locator("[data-counts] small")).to_contain_text("0 rejected")
    end = time.monotonic() + 20
    while len(api.store.cases()) != cases and time.monotonic() < end:  # the page is ahead of the files
        time.sleep(0.1)
    assert len(api.store.cases()) == cases


def test_what_is_shown_is_the_exact_file(page, api) -> None:
    source = page.locator("#room-curate .stage img.over").get_attribute("src")
    served = hash_bytes(page.request.get(f"{page.url.rstrip('/')}/{source}").body())
    assert served in {case.files["augmented.png"] for case in api.store.cases()}


def test_free_text_stays_text(desk) -> None:
    here = desk.locator("#room-curate")
    desk.keyboard.press("f")
    desk.locator("dialog[open] [data-words]").fill(MARKUP)
    desk.locator("dialog[open] [data-go]").click()
    here.locator("[data-filter]").select_option("flag")
    sync_api.expect(here.locator("[data-reviews]")).to_contain_text("onerror")
    assert desk.evaluate("window.pwned") is None
    assert here.locator("[data-reviews] img").count() == 0
    here.locator("[data-undo]").click()
    sync_api.expect(here.locator("[data-reviews]")).to_contain_text("took that back")


def test_an_older_answer_of_the_queue_does_not_take_a_newer_ones_place(desk) -> None:
    here, late = desk.locator("#room-curate"), []

    def hold(route) -> None:
        if '"show":"flag"' in route.request.post_data and not late:
            late.append((route, route.fetch()))
        else:
            route.continue_()

    title = here.locator("[data-title]").inner_text()
    desk.route("**/call", hold)
    here.locator("[data-filter]").select_option("flag")
    here.locator("[data-filter]").select_option("all")
    sync_api.expect(here.locator("[data-list] li")).not_to_have_count(0)
    while not late:
        desk.wait_for_timeout(10)
    with desk.expect_response("**/call"):
        late[0][0].fulfill(response=late[0][1])
    sync_api.expect(here.locator("[data-title]")).to_have_text(title)
    assert here.locator("[data-list] li").count() > 0
    desk.unroute("**/call")


def test_a_name_is_no_path_and_once_given_takes_no_more_keys(browser, url, api) -> None:
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector("#room-curate .cf-list li[aria-current]")
    box = page.locator("[data-name]")
    box.fill("../../evil")
    box.press("Enter")
    sync_api.expect(page.locator(".cf-toast")).to_contain_text("your name: expected letters")
    assert not (api.store.root.parent / "evil").exists()
    box.fill("vera")
    box.press("Enter")
    sync_api.expect(box).to_be_disabled()
    page.keyboard.type("012")
    page.get_by_role("tab", name="Rate", exact=True).click()
    page.wait_for_selector("#room-rate fieldset.current")
    page.keyboard.type("000")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#room-rate [data-progress]")).to_contain_text("1 of")
    assert box.input_value() == "vera"
    assert (api.store.root / "ratings" / "vera").is_dir()
    page.close()


def test_place_by_click_and_keyboard(page, api) -> None:
    here = placed(page, min(api.store.cases(), key=lambda c: c.placement.distance_m))
    before = here.locator("[data-s-out]").inner_text()
    page.keyboard.press("i")
    sync_api.expect(here.locator("[data-s-out]")).not_to_have_text(before)
    page.keyboard.press("p")
    page.wait_for_selector("#room-place [data-gates] tr")
    assert here.locator("[data-part]").is_visible()
    box = here.locator("[data-bev]").bounding_box()
    here.locator("[data-bev]").click(position={"x": box["width"] / 2, "y": box["height"] * 0.93})
    sync_api.expect(here.locator("[data-verdict]")).to_contain_text("too hard to stop for")
    assert here.locator("[data-save]").is_disabled()
    stage = here.locator("[data-stage]").bounding_box()
    here.locator("[data-stage]").click(position={"x": stage["width"] / 2, "y": 3})
    sync_api.expect(page.locator(".cf-toast")).to_contain_text("above the road")


def test_place_saves_a_case_that_then_is_in_the_queue(desk, api) -> None:
    count = len(api.store.cases())
    here = placed(desk, min(api.store.cases(), key=lambda c: c.placement.distance_m))
    desk.keyboard.press("Enter")
    sync_api.expect(here.locator("[data-job]")).to_contain_text("Saved as")
    assert len(api.store.cases()) == count + 1
    made = here.locator("[data-job]").inner_text().split()[-1].rstrip(".")
    assert api.store.case(made).provenance.report["placed_by"] == "ben"


def test_rate_by_keyboard_until_agreement_shows(page, api) -> None:
    here = room(page, "Rate")
    page.wait_for_selector("#room-rate fieldset.current")
    assert "cruise" not in here.inner_text().lower()
    sure = here.locator("[data-sure]")
    page.keyboard.type("012")
    page.keyboard.press("Enter")
    sync_api.expect(sure).to_contain_text("overall 2 with reasoning 0, waypoints 1")
    page.keyboard.press("Escape")
    sync_api.expect(sure).to_be_hidden()
    total = int(here.locator("[data-progress]").inner_text().split(" of ")[1].split()[0])
    for done in range(total):
        sync_api.expect(here.locator("[data-progress]")).to_contain_text(f"{done} of {total}")
        if done == 0:
            for _ in range(2):
                page.keyboard.press("ArrowUp")
            assert here.locator("[data-plots] .foot").count() == 0, (
                "before the score nothing points at the hazard"
            )
        page.keyboard.type("011" if done else "xxx")
        page.keyboard.press("Enter")
        if done == 0:
            sync_api.expect(here.locator("[data-progress]")).to_contain_text("this is number 2")
            page.keyboard.press("ArrowLeft")
            sync_api.expect(here.locator("[data-plots] .foot")).to_have_count(1)
            page.keyboard.press("ArrowRight")
            sync_api.expect(here.locator("[data-progress]")).to_contain_text("this is number 2")
    sync_api.expect(here.locator("[data-agreement]")).to_contain_text("judge offline")


def test_it_listens_on_this_machine_only(url) -> None:
    assert url.startswith("http://127.0.0.1:")


def test_with_a_login_nothing_is_told_before_it_and_the_name_is_the_login(api, browser) -> None:
    app = serve(api, port=0, accounts=[parse("rater/carla:secret", "users")], block=False)
    try:
        url = app.local_url.rstrip("/")
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(f"{url}/picture/case/{api.store.cases()[0].case_id}/augmented.png")
        assert error.value.code == 401
        page = browser.new_page()
        page.goto(url)
        page.get_by_label("username").fill("carla")
        page.get_by_label("password").fill("secret")
        page.get_by_role("button", name="Login").click()
        sync_api.expect(page.locator("[data-name]")).to_have_value("carla")
        assert page.locator("[data-name]").is_disabled()
        sync_api.expect(page.locator("#room-rate [data-progress]")).to_contain_text("this is number 1")
        assert page.get_by_role("tab").all_inner_texts() == ["Rate"]
        page.close()
    finally:
        app.close()
