from uuid import uuid4

import pytest
from playwright.sync_api import expect

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
