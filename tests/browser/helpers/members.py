from uuid import uuid4

from playwright.sync_api import Page

from tests.site import Reader
from tests.worlds.arena import Arena

PASSWORD = "a-good-password"


def new_address() -> str:
    return f"{uuid4().hex}@example.org"


def make_member(arena: Arena) -> str:
    """Sign up a new member with a verified e-mail address and return the address."""
    email = new_address()
    answer = Reader(arena.url).post("/accounts/signup/", data={"email": email, "password1": PASSWORD})
    assert answer.status_code == 302, answer.text
    arena.query("UPDATE account_emailaddress SET verified = true WHERE email = %s RETURNING id", email)
    return email


def sign_in(page: Page, url: str, email: str) -> None:
    page.goto(f"{url}/accounts/login/")
    page.locator("[name=login]").fill(email)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
