"""Names, contrast and focus, computed in the page."""

import pytest

pytest.importorskip("gradio", reason="the app's browser tests need gradio: pip install 'cfgen-bench[app]'")
pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: pip install playwright")

from tests.app.conftest import opened, serious
from tests.app.page import contrasts, focused, nameless
from tests.app.rooms import room

#: What shows that a room has loaded.
READY = {
    "Curate": "[data-gates] tr",
    "Place": "[data-numbers] dd",
    "Rate": "fieldset.current",
}
CURATE = [
    "Show",
    "Find",
    "Narrow down",
    "Cases",
    "W gallery",
    "Before and after: left of the line is th",
    "A accept",
    "R reject…",
    "F flag…",
    "U undo",
    "Previous case",
    "Next case",
    "space flicker",
    "Z zoom to the edit",
    "M mask outline",
]
PLACE = [
    "Scene",
    "Hazard",
    "Size",
    "Drawn by",
    "Frame: click on the road to put the haza",
    "P preview",
    "O other seed",
    "space hide it",
    "Distance",
    "Lateral offset",
    "Heading",
    "N suggest a place",
    "Enter save as a case",
]


def ready(page, name: str) -> str:
    room(page, name)
    root = f"#room-{name.lower()}"
    page.wait_for_selector(f"{root} {READY[name]}")
    return root


WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (834, 1112), (390, 844)])
def test_no_room_has_a_serious_fault_for_axe_or_sticks_out(browser, url, width, height) -> None:
    for page in opened(browser, url, width, "anna"):
        page.set_viewport_size({"width": width, "height": height})
        for name in READY:
            root = ready(page, name)
            assert nameless(page, root) == []
            assert page.evaluate(WIDE) <= 1, name
            assert serious(page, name) == []
            headings = page.locator("h1:visible").count(), page.locator("main:visible").count()
            assert headings == (1, 1), name
            if name == "Rate" and width > 700:
                all_in_view(page, height)


def all_in_view(page, height: int) -> None:
    """Rating needs no scrolling: picture, words, plots and form."""
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 1
    for part in (".frame", "[data-after]", ".cf-above", ".cf-over-time", "[data-form]", "[data-save]"):
        box = page.locator(f"#room-rate {part}").first.bounding_box()
        assert box["y"] >= 0, part
        seen = (
            60 if part == "[data-after]" else box["height"]
        )  # words may be long; they scroll in their own box
        assert box["y"] + min(box["height"], seen) <= height, part


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(browser, url, scheme) -> None:
    for page in opened(browser, url, 1440, "anna", color_scheme=scheme):
        checked = 0
        for name in ("#room-top", "#rooms [role=tablist]", *READY):
            root = ready(page, name) if name in READY else name
            if root == "#room-curate":
                page.locator("#room-curate .cf-facts summary").click()
                page.keyboard.press("r")
                page.wait_for_selector("dialog[open]")
            texts = contrasts(page, root)
            page.keyboard.press("Escape")
            checked += len(texts)
            assert [t for t in texts if t["ratio"] < t["needed"]] == []
        assert checked > 150
        dark = page.evaluate("getComputedStyle(document.querySelector('.cf-card')).backgroundColor")
        assert (dark != "rgb(255, 255, 255)") == (scheme == "dark")


def test_the_contrast_check_sees_what_cannot_be_read(desk) -> None:
    desk.evaluate("document.querySelector('#room-curate h2[data-title]').style.color = '#ccc'")
    texts = contrasts(desk, "#room-curate .cf-head[role=status]")
    assert min(t["ratio"] for t in texts) < 2


@pytest.mark.parametrize(("name", "order"), [("Curate", CURATE), ("Place", PLACE)])
def test_the_tab_key_goes_through_a_room_in_reading_order_with_a_ring(page, name, order) -> None:
    root = ready(page, name)
    page.locator(f"{root} :is(input, select, button)").first.focus()
    page.keyboard.press("Shift+Tab")
    seen = []
    for _ in range(len(order)):
        page.keyboard.press("Tab")
        at = focused(page)
        assert at["ring"], at
        assert at["top"] < at["height"], at
        assert at["bottom"] > 0, at
        seen.append(at["name"])
    assert seen == order


def test_every_stop_of_the_tab_key_shows_a_ring_and_the_last_leaves_the_room(desk) -> None:
    root = ready(desk, "Rate")
    desk.get_by_role("tab", name="Rate", exact=True).focus()
    stops = 0
    for _ in range(40):
        desk.keyboard.press("Tab")
        at = focused(desk)
        if at is None or at["room"] != root[1:]:
            break
        assert at["ring"], at
        assert at["top"] < at["height"], at
        stops += 1
    assert 6 <= stops < 40


def test_what_happens_is_read_out(desk) -> None:
    spoken = """[...document.querySelectorAll('[role=status], [aria-live]')]
        .filter((e) => e.checkVisibility()).map((e) => e.textContent).join(' ')"""
    title = desk.locator("#room-curate [data-title]").inner_text()
    assert title in desk.evaluate(spoken)
    desk.keyboard.press("f")
    desk.wait_for_selector("dialog[open]")
    desk.keyboard.press("1")
    desk.wait_for_selector(".cf-toast.shown")
    assert "Flagged" in desk.evaluate(spoken)
    desk.keyboard.press("u")
    desk.wait_for_function(
        "document.querySelector('.cf-toast').textContent.startsWith('Taken back: you flagged')"
    )
    desk.wait_for_function(
        """() => {
            const list = document.querySelector('#room-curate [data-list]');
            const option = document.getElementById(list.getAttribute('aria-activedescendant'));
            return option && option.getAttribute('aria-selected') === 'true' && option.hasAttribute('aria-current');
        }"""
    )
