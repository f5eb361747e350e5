"""Finding one's way in the page."""


def room(page, name: str):
    """Open a room."""
    page.get_by_role("tab", name=name, exact=True).click()
    return page.locator(f"#room-{name.lower()}")


def settled(here) -> None:
    """Place has nothing on its way."""
    from playwright.sync_api import expect

    expect(here.locator("[data-stage]")).to_have_attribute("aria-busy", "false")


def placed(page, case):
    """Place, where the build put ``case``, with a place that works."""
    from playwright.sync_api import expect

    here = room(page, "Place")
    page.wait_for_selector("#room-place [data-numbers] dd")
    here.locator("[data-scene]").select_option(case.scene_id)
    settled(here)
    here.locator("[data-hazard]").select_option(case.hazard.id)
    settled(here)
    expect(here.locator("[data-verdict]")).to_have_text("This place works.")
    here.locator("[data-hazard]").blur()
    return here
