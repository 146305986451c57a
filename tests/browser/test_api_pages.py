"""The API's documentation and the tokens' page under the site's content security policy."""

import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Page, expect

from tests.browser.helpers.axe import violations, violations_of_colours, violations_of_documentation
from tests.browser.helpers.members import new_address
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser


def test_api_documentation_tries_call_out_and_fits_phone(arena: Arena, page: Page):
    # Swagger UI renders only what is near the window.
    page.set_viewport_size({"width": 1280, "height": 16_000})
    page.goto(f"{arena.url}/api/v1/docs/")
    expect(page.locator(".opblock-summary-path").get_by_text("/api/v1/battles/{public_id}/vote/")).to_be_visible()
    page.locator("#operations-models-models_list .opblock-summary-control").click()
    page.get_by_role("button", name="Try it out").click()
    expect(page.get_by_role("combobox", name="drawable")).to_be_visible()
    assert violations_of_documentation(page) == []
    page.get_by_role("button", name="Execute").click()
    expect(page.locator("#operations-models-models_list .live-responses-table")).to_contain_text('"count"')
    assert violations_of_colours(page) == []
    page.locator("#operations-models-models_list .opblock-summary-control").click()

    page.set_viewport_size({"width": 360, "height": 740})
    call, part = page.locator("#operations-sessions-sessions_list"), page.locator("#operations-tag-sessions")
    for above, below in (
        (call.locator(".opblock-summary-method"), call.locator(".opblock-summary-path")),
        (part.locator("a"), part.locator("small")),
    ):
        expect(below).to_be_visible()
        first, second = above.bounding_box(), below.bounding_box()
        assert first is not None
        assert second is not None
        assert second["y"] >= first["y"] + first["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_token_works_until_revoked(arena: Arena, page: Page):
    email = new_address()
    page.goto(f"{arena.url}/accounts/signup/")
    page.locator("input[name=email]").fill(email)
    page.locator("input[name=password1]").fill("a-good-password-7")
    page.get_by_role("button", name="Sign Up").click()
    page.wait_for_url(lambda url: "/signup/" not in url)
    page.goto(f"{arena.url}/accounts/email/")
    page.get_by_role("link", name="API tokens").click()
    page.get_by_label("What it is for").fill("<b>script</b>")
    page.get_by_role("button", name="Make a token").click()
    token = page.get_by_label("Copy your new token now").input_value()
    expect(page.get_by_role("button", name="Copy the token")).to_be_visible()
    assert violations(page) == []
    request = urllib.request.Request(f"{arena.url}/api/v1/me/", headers={"Authorization": f"Bearer {token}"})
    assert email.encode() in urllib.request.urlopen(request).read()
    page.get_by_role("link", name="API tokens").click()
    expect(page.get_by_label("Copy your new token now")).to_have_count(0)
    expect(page.get_by_text("<b>script</b>")).to_be_visible()
    assert token not in page.content()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("” is revoked.")).to_be_visible()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request)
