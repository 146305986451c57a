"""A passkey in place of a password, with an authenticator that the browser plays."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.arenas import echoing  # noqa: F401 (a fixture)
from tests.browser.members import PASSWORD, make_member, sign_in
from tests.faults.running import Arena

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]

PLAYED = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


def test_a_member_adds_a_passkey_and_signs_in_with_it_alone(echoing: Arena, browser: Browser):  # noqa: F811
    make_member(echoing)
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": PLAYED})
    url = f"http://localhost:{echoing.port}"
    sign_in(page, url)
    page.goto(f"{url}/accounts/2fa/")
    page.locator("[href*=webauthn]").click()
    if page.locator("[name=password]").is_visible():
        page.locator("[name=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
    page.locator("[name=name]").fill("This laptop")
    page.locator("[name=passwordless]").check()
    page.locator("#mfa_webauthn_add").click()
    page.wait_for_url(lambda address: "/add/" not in address)
    page.goto(f"{url}/accounts/2fa/webauthn/")
    expect(page.get_by_text("This laptop")).to_be_visible()
    page.goto(f"{url}/accounts/logout/")
    page.locator("main form button").click()
    page.goto(f"{url}/accounts/login/")
    page.locator("#passkey_login").click()
    page.wait_for_url(f"{url}/")
    expect(page.get_by_role("link", name="Account")).to_be_visible()
    context.close()


def test_where_a_browser_takes_no_passkey_none_is_asked_for(echoing: Arena, browser: Browser):  # noqa: F811
    page = browser.new_page()
    page.goto(f"{echoing.url}/accounts/login/")  # at an address made of numbers
    expect(page.locator("#passkey_login")).to_be_hidden()
    page.close()


def test_the_code_for_an_authenticator_app_can_be_scanned_in_the_dark(echoing: Arena, browser: Browser):  # noqa: F811
    make_member(echoing, "another@example.org")
    page = browser.new_page(color_scheme="dark")
    sign_in(page, echoing.url, "another@example.org")
    page.goto(f"{echoing.url}/accounts/2fa/totp/activate/")
    if page.locator("[name=password]").is_visible():
        page.locator("[name=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
    code = page.locator("main img")
    expect(code).to_have_css("background-color", "rgb(255, 255, 255)")
    page.close()
