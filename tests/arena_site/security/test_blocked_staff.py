"""A blocked, deactivated or demoted account has no right of staff at any door from the next request on."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from accounts import actions
from accounts.actor import Actor
from accounts.models import Ban, User, Visitor
from benchmarks.models import Template
from tests import make

pytestmark = pytest.mark.django_db
BAN = {"reason": "Advertising.", "expires_at_0": "", "expires_at_1": ""}
# Columns of a row, not the rights of the person who acts.
ROWS_ROLES = {
    "accounts/models/users.py", "accounts/admin/users.py", "accounts/staff_rights.py", "accounts/actions.py",
    "accounts/access.py", "accounts/single_sign_on/rights.py", "battles/actions/moderation.py",
    "arena_site/requests.py", "arena_site/management/commands/prepare.py", "arena_site/backups/restoring.py",
    "accounts/payload_types.py", "accounts/models/staff_networks.py",
}  # fmt: skip


def block(user: User) -> None:
    Ban.objects.create(user=user, reason="Advertising.")


def block_visit(user: User) -> None:
    Ban.objects.create(visitor=Visitor.objects.create(claimed_by=user), reason="Advertising.")


def deactivate(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def demote(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_staff=False)


WAYS = pytest.mark.parametrize("lose", [block, block_visit, deactivate, demote])


def token_of(user: User) -> dict[str, str]:
    return make.bearer(user)


@WAYS
@pytest.mark.parametrize("is_administrator", [False, True])
def test_administration_closes(moderator: User, administrator: User, lose: Any, is_administrator: bool):
    person = administrator if is_administrator else moderator
    browser = make.browser(Actor(user=person))
    assert browser.get("/admin/").status_code == 200
    lose(person)
    target = make.user()
    for path in ("/admin/", "/admin/battles/vote/", "/admin/accounts/ban/add/", "/admin/autocomplete/"):
        response = browser.get(path, follow=True)
        assert response.status_code == 403 or "/accounts/login/" in response.redirect_chain[-1][0]
    browser.post("/admin/accounts/ban/add/", {**BAN, "user": target.pk})
    assert not Ban.objects.filter(user=target).exists()
    assert 'name="username"' not in browser.get("/admin/login/", follow=True).text


def test_blocked_moderator_reads_how_it_ends(at_work: Client, moderator: User):
    block(moderator)
    page = at_work.get("/admin/")
    assert (page.status_code, "Only an administrator can lift a block" in page.text) == (403, True)
    assert at_work.post("/admin/logout/").status_code in (200, 302)


@pytest.mark.parametrize("end", [{"lifted_at": timezone.now()}, {"expires_at": timezone.now()}])
def test_ended_block_gives_rights_back(at_work: Client, moderator: User, end: dict[str, object]):
    block(moderator)
    assert at_work.get("/admin/").status_code == 403
    Ban.objects.update(**end)
    assert at_work.get("/admin/").status_code == 200


@WAYS
def test_interaction_log_closes(client: Client, moderator: User, lose: Any):
    moderator.user_permissions.add(Permission.objects.get(codename="view_call"))
    header = token_of(moderator)
    path = "/api/v1/exports/interactions.jsonl"
    assert client.get(path, headers=header).status_code == 200
    lose(moderator)
    assert client.get(path, headers=header).status_code in (401, 403)


@WAYS
def test_api_calls_them_staff_no_longer(moderator: User, lose: Any):
    browser = make.browser(Actor(user=moderator))
    assert browser.get("/api/v1/me/").json()["is_staff"] is True
    lose(moderator)
    assert not browser.get("/api/v1/me/").json().get("is_staff")
    assert browser.get("/styleguide/").status_code == 404


@WAYS
def test_templates_of_the_site_close(administrator: User, lose: Any):
    template = Template.objects.create(name="Site's", visibility=Template.Visibility.SITE)
    template.versions.create(number=1)
    browser, path = make.browser(Actor(user=administrator)), f"/api/v1/benchmarks/templates/{template.public_id}/"
    assert browser.delete(path).status_code == 204
    other = Template.objects.create(name="Site's", visibility=Template.Visibility.SITE)
    lose(administrator)
    assert browser.delete(path.replace(template.public_id, other.public_id)).status_code in (401, 403, 404)
    assert Template.objects.filter(pk=other.pk).exists()


def test_blocked_administrator_has_a_moderators_limits(administrator: User, moderator: User):
    block(administrator)
    blocked = User.objects.get(pk=administrator.pk)
    with pytest.raises(actions.staff_rights.NeedsAdministrator):
        actions.ban(Ban(user=moderator, reason="x"), by=blocked)
    with pytest.raises(actions.staff_rights.NeedsAdministrator):
        actions.lift_ban(Ban.objects.get(), by=blocked)
    assert not blocked.has_perms(["accounts.add_ban"])
    assert not blocked.has_module_perms("accounts")


def test_removal_from_the_group_takes_its_rights(at_work: Client, moderator: User):
    moderator.groups.clear()
    assert at_work.get("/admin/battles/vote/").status_code == 403


def test_rights_are_asked_of_one_property():
    # `is_staff` and `is_superuser` do not tell of a block.
    apps = [Path(settings.BASE_DIR) / app for app in (*settings.INSTALLED_APPS, "templates") if "." not in app]
    files = {
        str(path.relative_to(settings.BASE_DIR))
        for app in apps
        for path in [*app.rglob("*.py"), *app.rglob("*.html")]
        if "migrations" not in path.parts and re.search(r"\b(is_staff|is_superuser)\b", path.read_text())
    }
    assert files - ROWS_ROLES == {"accounts/payloads.py"}  # the API's name of the right
