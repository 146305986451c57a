import pytest
from playwright.sync_api import Browser, expect

from tests.browser.helpers.browser_inputs import Hand, new_context
from tests.browser.helpers.members import PASSWORD, make_member, sign_in
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

PLAYED = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


def test_member_signs_in_with_added_passkey_alone(arena: Arena, hand: Hand):
    page, email = hand.page, make_member(arena)
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": PLAYED})
    sign_in(page, f"http://localhost:{arena.port}", email)
    menu = page.get_by_role("navigation", name="Account")
    hand.press(page.get_by_role("link", name="Account"))
    hand.press(menu.get_by_role("link", name="Two-factor"))
    hand.press(page.get_by_role("main").get_by_role("link", name="Add"))
    hand.write(page.get_by_label("Password"), PASSWORD)
    page.keyboard.press("Enter")
    hand.write(page.get_by_label("Name"), "This laptop")
    hand.tick(page.get_by_label("Passwordless"))
    hand.press(page.get_by_role("main").get_by_role("button", name="Add"))
    page.wait_for_url("**/recovery-codes/**")
    hand.press(menu.get_by_role("link", name="Sign out"))
    hand.press(page.get_by_role("main").get_by_role("button", name="Sign out"))
    hand.press(page.get_by_role("link", name="Sign in").first)
    hand.press(page.get_by_role("button", name="Sign in with a passkey"))
    expect(page.get_by_role("link", name="Account")).to_be_visible()
    expect(page.locator("#prompt")).to_be_focused()


def test_unsupported_passkey_button_is_hidden(arena: Arena, browser: Browser):
    page = new_context(browser).new_page()
    page.goto(f"{arena.url}/accounts/login/")  # passkeys need a host name; the arena's URL has an IP address
    expect(page.locator("#passkey_login")).to_be_hidden()
    page.close()


def test_authenticator_code_is_on_white_in_dark_theme(arena: Arena, browser: Browser):
    page = new_context(browser, color_scheme="dark").new_page()
    sign_in(page, arena.url, make_member(arena))
    page.goto(f"{arena.url}/accounts/2fa/totp/activate/")
    if page.locator("[name=password]").is_visible():
        page.locator("[name=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
    code = page.locator("main img")
    expect(code).to_have_css("background-color", "rgb(255, 255, 255)")
    page.close()
