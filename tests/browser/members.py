"""Somebody with an account, in more than one browser test."""

from playwright.sync_api import Page

from tests.faults.running import Arena

EMAIL, PASSWORD = "reader@example.org", "a-good-password"
_MADE = """
from accounts.models import User
User.objects.create_superuser("{email}", "{password}")
"""


def make_member(arena: Arena, email: str = EMAIL) -> None:
    arena.manage("shell", "-c", _MADE.format(email=email, password=PASSWORD))


def sign_in(page: Page, url: str, email: str = EMAIL) -> None:
    page.goto(f"{url}/accounts/login/")
    page.locator("[name=login]").fill(email)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
