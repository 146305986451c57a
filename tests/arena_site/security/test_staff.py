import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client

from accounts.models import AuditEntry, Ban, User
from arena_site.moderators import MODERATORS, permissions
from battles.actions import cast_vote
from tests import make
from tests.site_urls import addresses

pytestmark = pytest.mark.django_db
PASSWORD = "a-good-password"
SEEN = {
    "accounts/user", "accounts/visitor", "accounts/ban", "battles/session", "battles/battle", "battles/answer",
    "battles/vote", "battles/moderationcase", "uploads/upload", "leaderboard/votechange", "leaderboard/anomalyreview",
    "leaderboard/aggregationrun", "leaderboard/standing",
}  # fmt: skip


def test_moderators_have_exactly_their_permissions(moderator: User):
    assert moderator.get_all_permissions() == permissions()


def test_migration_resets_moderators_permissions(moderator: User):
    group = Group.objects.get(name=MODERATORS)
    group.permissions.set([])
    call_command("migrate", verbosity=0)
    assert User.objects.get(pk=moderator.pk).get_all_permissions() == permissions()


@pytest.mark.slow
def test_moderators_see_no_keys_and_no_settings(at_work: Client):
    lists = [path for path in addresses() if path.startswith("/admin/") and path.count("/") == 4 and "{" not in path]
    lists = [path for path in lists if not path.startswith(("/admin/password_change", "/admin/r/"))]
    seen = {path.removeprefix("/admin/").strip("/") for path in lists if at_work.get(path).status_code == 200}
    assert seen == SEEN


def test_moderators_change_no_rights_and_see_no_password(at_work: Client):
    member = make.user("someone@example.org")
    path = f"/admin/accounts/user/{member.pk}/change/"
    page = at_work.get(path)
    assert (page.status_code, "someone@example.org" in page.text) == (200, True)
    assert member.password[-8:-4] not in page.text
    assert "algorithm" not in page.text
    assert at_work.post(path, {"email": "someone@example.org", "is_superuser": "on"}).status_code == 403


def test_moderators_exclude_votes_and_block_people(at_work: Client):
    cast_vote(
        actor=(voter := make.visitor()),
        battle=make.answered_battle(make.model(), make.model(), actor=voter),
        choice="left",
    )
    votes = at_work.get("/admin/battles/vote/").text
    assert 'value="exclude_votes"' in votes
    assert '<td class="field-choice">A is better</td>' in votes
    form = {"visitor": voter.visitor.pk, "reason": "Advertising.", "expires_at_0": "", "expires_at_1": ""}
    assert at_work.post("/admin/accounts/ban/add/", form).status_code == 302
    assert Ban.objects.in_force().count() == 1


def test_person_change_is_audited_without_password(client: Client):
    admin = make.user("admin@example.org", is_staff=True, is_superuser=True)
    client.force_login(admin)
    member = make.user("someone@example.org")
    client.post(f"/admin/accounts/user/{member.pk}/change/", {"email": "someone@example.org", "is_staff": "on"})
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.action, entry.subject) == (admin, "change user", f"user {member.pk}")
    assert {"is_active", "is_staff"} <= set(entry.details["changed"])


def test_admin_login_is_the_sites_sign_in(client: Client):
    make.user("admin@example.org", is_staff=True, is_superuser=True)
    signed_in = client.post("/admin/login/?next=/admin/", {"username": "admin@example.org", "password": PASSWORD})
    assert signed_in["Location"].startswith("/accounts/login/?next=")
    assert client.get("/admin/").status_code == 302
    client.post("/accounts/login/?next=/admin/", {"login": "admin@example.org", "password": PASSWORD})
    assert client.get("/admin/").status_code == 200


def test_staff_without_second_factor_must_set_one_up(settings, at_work: Client):
    assert at_work.get("/admin/").status_code == 200
    settings.ARENA_STAFF_SECOND_FACTOR = True
    for path in ("/admin/", "/admin/battles/vote/", "/admin/jsi18n/"):
        assert at_work.get(path)["Location"] == "/accounts/2fa/totp/activate/"
    assert "Set up a second factor" in at_work.get("/accounts/2fa/", follow=True).text
    assert at_work.get("/").status_code == 200


def test_setting_up_second_factor_opens_admin(settings, client: Client):
    settings.ARENA_STAFF_SECOND_FACTOR = True
    settings.MFA_TOTP_TOLERANCE = 1  # the code may be of the half minute that has just ended
    admin = make.user("admin@example.org", is_staff=True, is_superuser=True)
    client.post("/accounts/login/", {"login": admin.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    client.get("/admin/", follow=True)
    _, now, _ = yield_hotp_counters_from_time()
    code = format_hotp_value(hotp_value(client.session["mfa.totp.secret"], now))
    client.post("/accounts/2fa/totp/activate/", {"code": code})
    assert client.get("/admin/").status_code == 200


def test_signed_in_second_factor_opens_admin(settings, at_work: Client, moderator: User):
    settings.ARENA_STAFF_SECOND_FACTOR = True
    TOTP.activate(moderator, generate_totp_secret())
    assert at_work.get("/admin/").status_code == 200


def test_sign_in_asks_for_second_factor(settings, client: Client, moderator: User):
    settings.ARENA_STAFF_SECOND_FACTOR = True
    TOTP.activate(moderator, generate_totp_secret())
    response = client.post("/accounts/login/?next=/admin/", {"login": moderator.email, "password": PASSWORD})
    assert response["Location"].startswith("/accounts/2fa/authenticate/")
    assert client.get("/admin/").status_code == 302


def test_lost_second_factor_is_deleted_unseen(client: Client):
    client.force_login(make.user(is_staff=True, is_superuser=True))
    lost = TOTP.activate(make.user("lost@example.org"), secret := generate_totp_secret()).instance
    path = f"/admin/mfa/authenticator/{lost.pk}"
    page = client.get(f"{path}/change/")
    assert (page.status_code, secret in page.text) == (200, False)
    client.post(f"{path}/delete/", {"post": "yes"})
    assert not Authenticator.objects.exists()
    assert AuditEntry.objects.get().action == "delete authenticator"
