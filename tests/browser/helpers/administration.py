"""Actions of administrators in a browser."""

from playwright.sync_api import Page

from tests.worlds.arena import Arena

EMAIL, PASSWORD = "admin@example.org", "a-good-password-1"
# Environment of an arena.
ADMINISTRATOR = {"ARENA_ADMIN_EMAIL": EMAIL, "ARENA_ADMIN_PASSWORD": PASSWORD}


def sign_in(arena: Arena, page: Page) -> None:
    page.goto(f"{arena.url}/admin/")
    page.locator("#id_login").fill(EMAIL)
    page.locator("#id_password").fill(PASSWORD)
    page.get_by_role("button", name="Sign In", exact=True).click()
    page.wait_for_url(lambda url: "/login/" not in url)
