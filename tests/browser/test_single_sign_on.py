from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.browser.helpers.axe import violations_in_each_theme
from tests.browser.helpers.browser_inputs import Hand
from tests.fake_issuer import FakeIssuer
from tests.worlds.arena import Arena

pytestmark = pytest.mark.browser


def test_issuer_signs_in_across_sites(arena: Arena, issuer: FakeIssuer, hand: Hand):
    """Although the policy forbids that forms lead to other sites."""
    page, email = hand.page, f"{uuid4().hex}@example.net"
    issuer.person = {"sub": email, "email": email, "email_verified": True}
    page.goto(f"{arena.url}/accounts/login/?next=/uploads/")
    hand.press(page.get_by_role("button", name="Sign in with Example company"))
    page.wait_for_url("**/uploads/")
    hand.press(page.get_by_role("link", name="Account"))
    hand.press(page.get_by_role("link", name="Connections"))
    expect(page.get_by_role("main")).to_contain_text(email)
    hand.press(page.get_by_role("button", name="Disconnect Example company"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Example company is your only way to sign in.")


def test_page_of_issuers_explains_ones_own_sign_in(arena: Arena, issuer: FakeIssuer, hand: Hand):
    page, email = hand.page, f"{uuid4().hex}@example.net"
    issuer.person = {"sub": email, "email": email, "email_verified": True, "realm_access": {"roles": ["a-role"]}}
    for _ in range(2):
        page.goto(f"{arena.url}/accounts/login/?next=/uploads/")
        hand.press(page.get_by_role("button", name="Sign in with Example company"))
        page.wait_for_url("**/uploads/")
        arena.shell(
            "from accounts.models import User; from django.contrib.auth.models import Permission\n"
            f"user = User.objects.get(email={email!r}); user.is_staff = True; user.save()\n"
            "user.user_permissions.add(Permission.objects.get(codename='view_socialaccount'))"
        )
        cookies = page.context.cookies()
        page.context.clear_cookies()
    page.context.add_cookies(cookies)
    page.goto(f"{arena.url}/admin/socialaccount/socialaccount/issuers/")
    hand.press(page.get_by_role("button", name="Check now"))
    claims = page.get_by_role("table", name="ID token")
    expect(claims.get_by_role("row", name="realm_access.roles")).to_contain_text("list, 1 entry")
    expect(page.get_by_role("main")).to_contain_text("It answers as it should")
    assert violations_in_each_theme(page) == []
