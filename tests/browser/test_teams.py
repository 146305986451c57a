"""Teams in the browser: a link, the switch of places, a shared session, the end of a membership."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.helpers.arenas import ask
from tests.browser.helpers.axe import violations
from tests.browser.helpers.browser_inputs import Hand, new_context
from tests.browser.helpers.pictures import look
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser

PASSWORD = "a-good-password-1"
# Teams of an owner, and a link into the first with two uses. KEY is replaced.
PEOPLE = """
from datetime import timedelta
from django.utils import timezone
from accounts.models import Role, User
from accounts.teams.actions import create_team, invite
owner = User.objects.create_user("owner-KEY@example.org", "a-good-password-1")
team = create_team(by=owner, owner=owner, name="Physics KEY", slug="physics-KEY", colour="teal")
create_team(by=owner, owner=owner, name="History KEY", slug="history-KEY", colour="red")
soon = timezone.now() + timedelta(days=1)
print(invite(by=owner, team=team, role=Role.MEMBER, uses=2, expires_at=soon)[1])
"""


def sign_in(page: Page, arena: Arena, email: str) -> None:
    page.goto(f"{arena.url}/accounts/login/")
    page.locator("#id_login").fill(email)
    page.locator("#id_password").fill(PASSWORD)
    page.get_by_role("button", name="Sign In", exact=True).click()
    page.wait_for_url(lambda url: "/login/" not in url)


def test_class_is_invited_and_reads_a_shared_session(arena: Arena, hand: Hand, browser: Browser):
    key, page = hand.name.replace("-", ""), hand.page
    token = arena.shell(PEOPLE.replace("KEY", key)).strip().splitlines()[-1]
    student = new_context(browser).new_page()

    sign_in(page, arena, f"owner-{key}@example.org")
    hand.press(page.locator(".place-switch"))
    expect(page.get_by_role("button", name="Personal", exact=True)).to_be_visible()
    if not hand.by_keys:
        assert violations(page) == []
    look(page, f"places-{hand.name}")
    hand.press(page.locator("#places").get_by_role("button", name=f"Physics {key}"))
    expect(page.locator(".begins-in")).to_contain_text(f"Physics {key}")
    ask(page, arena, "one two three")
    hand.press(page.get_by_role("button", name="Tie"))
    page.locator(".reveal").wait_for()
    hand.press(page.get_by_role("button", name="Share with the team"))
    expect(page.get_by_role("button", name="Stop sharing")).to_be_visible()

    student.goto(f"{arena.url}/teams/join/?invitation={token}")
    student.get_by_role("link", name="Create an account").click()
    student.locator("#id_email").fill(f"student-{key}@example.org")
    student.locator("#id_password1").fill(PASSWORD)
    student.get_by_role("button", name="Sign Up").click()
    expect(student.get_by_role("heading", level=1)).to_have_text(f"Physics {key}")
    student.get_by_role("link", name="one two three").click()
    expect(student.locator(".shared-verdict")).to_contain_text("equally good")
    assert violations(student) == []

    page.goto(f"{arena.url}/teams/physics-{key}/members/")
    row = page.locator("li", has_text=f"student-{key}@example.org")
    hand.press(row.locator("summary"))
    hand.press(row.get_by_role("button", name="Remove from the team"))
    expect(row).to_have_count(0)
    student.reload()
    expect(student.locator(".status")).to_have_text("404")
    student.context.close()
