"""What administrators do in a browser, in more than one test."""

from playwright.sync_api import Page, expect

from tests.faults.running import Arena

EMAIL, PASSWORD = "admin@example.org", "a-good-password-1"
# For an arena's environment.
ADMINISTRATOR = {"ARENA_ADMIN_EMAIL": EMAIL, "ARENA_ADMIN_PASSWORD": PASSWORD}


def sign_in(arena: Arena, page: Page) -> None:
    page.goto(f"{arena.url}/admin/")
    page.locator("#id_login").fill(EMAIL)
    page.locator("#id_password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def see_the_answer_grow(page: Page) -> None:
    """On the page of a model that is being tested, until it has answered."""
    answer = page.locator("[data-of=text] pre")
    lengths: set[int] = set()
    expect(page.locator("#model-test")).to_be_visible()
    while page.get_by_text("The model is answering").is_visible():
        lengths.add(len(answer.text_content() or ""))
        assert len(lengths) < 1000
        page.wait_for_timeout(50)
    assert len(lengths) > 4
    expect(page.get_by_text("The model answered")).to_be_visible()
