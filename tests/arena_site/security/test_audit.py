import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.db import DatabaseError, connection
from django.test import Client, RequestFactory

from accounts.models import ApiToken, AuditEntry, Scope, User
from tests import make

pytestmark = pytest.mark.django_db

# Models that staff may change, with the tests of their audit entries.
AUDITED = {
    "account.EmailAddress", "accounts.ApiToken", "accounts.User", "auth.Group", "mfa.Authenticator",  # these
    "accounts.Ban", "accounts.Invitation", "accounts.Limit", "accounts.LimitGroup",  # tests/accounts
    "accounts.Team",  # tests/accounts/teams
    "accounts.IssuerGroup",  # tests/accounts/single_sign_on
    "battles.Category", "battles.ModerationCase", "battles.ModerationEndpoint", "battles.ModerationRule",  # its own
    "leaderboard.DataPolicy", "leaderboard.DataRelease", "leaderboard.EloSettings", "leaderboard.ListedBoard",
    "battles.Vote",  # these five: tests/leaderboard
    "socialaccount.SocialAccount",  # tests/accounts/single_sign_on
    "battles.FeedbackTag", "battles.PromptSuggestion",  # its own
    "site_content.PageVersion", "site_content.SiteIdentity",  # its own
    "models_registry.Budget",  # its own
    "models_registry.CatalogueChange", "models_registry.LanguageModel", "models_registry.Provider",  # its own
    "models_registry.RequestRepair",  # tests/models_registry
    "models_registry.ModelLimit",  # tests/battles/actions
    "benchmarks.LiveJudge", "benchmarks.Run",  # tests/benchmarks
    "reviews.DecisionReport",  # tests/reviews
    "routing.Rule", "routing.RoutingThresholds",  # tests/routing
}  # fmt: skip


@pytest.fixture
def client(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client


def audit_entries(administrator: User) -> list[tuple[str, str]]:
    assert set(AuditEntry.objects.values_list("user", flat=True)) <= {administrator.pk}
    return list(AuditEntry.objects.order_by("pk").values_list("action", "subject"))


def test_every_writable_admin_is_in_the_table(administrator: User):
    request = RequestFactory().get("/")
    request.user = administrator
    writable = {
        model._meta.label
        for model, page in admin.site._registry.items()
        if page.has_add_permission(request)
        or page.has_change_permission(request)
        or page.has_delete_permission(request)
        or page.get_actions(request)
    }
    assert writable == AUDITED


def test_password_change_by_staff_is_audited_without_it(client: Client, administrator: User):
    member = make.user("member@example.org")
    page = f"/admin/accounts/user/{member.pk}/password/"
    client.post(page, {"password1": "short", "password2": "other", "usable_password": "true"})
    assert audit_entries(administrator) == []
    words = "correct horse battery"
    client.post(page, {"password1": words, "password2": words, "usable_password": "true", "set-password": "1"})
    assert User.objects.get(pk=member.pk).check_password(words)
    client.post(page, {"usable_password": "false", "unset-password": "1"})
    assert audit_entries(administrator) == [("set password", f"user {member.pk}")] * 2
    assert words not in str(list(AuditEntry.objects.values()))


def test_granted_permissions_are_audited_by_name(client: Client, administrator: User):
    member, group = make.user("member@example.org"), Group.objects.get(name="Moderators")
    form = {"email": member.email, "is_active": "on", "is_staff": "on", "groups": group.pk}
    assert client.post(f"/admin/accounts/user/{member.pk}/change/", form).status_code == 302
    entry = AuditEntry.objects.get()
    assert entry.details == {"changed": ["is_staff", "groups"], "is_staff": True, "groups": ["Moderators"]}


def test_group_permissions_are_audited(client: Client, administrator: User):
    permission = Permission.objects.get(codename="view_battle")
    assert client.post("/admin/auth/group/add/", {"name": "Readers", "permissions": permission.pk}).status_code == 302
    group = Group.objects.get(name="Readers")
    client.post(f"/admin/auth/group/{group.pk}/change/", {"name": "Readers"})
    client.post(f"/admin/auth/group/{group.pk}/delete/", {"post": "yes"})
    assert audit_entries(administrator) == [(f"{verb} group", "Readers") for verb in ("add", "change", "delete")]
    added, changed, _ = AuditEntry.objects.order_by("pk")
    assert (len(added.details["permissions"]), changed.details["permissions"]) == (1, [])


def test_email_change_is_audited_without_address(client: Client, administrator: User):
    member = make.user("member@example.org")
    pages, of_member = "/admin/account/emailaddress/", f"user {member.pk}"
    client.post(f"{pages}add/", {"user": member.pk, "email": "new@example.org"})
    address = EmailAddress.objects.get(user=member)
    client.post(f"{pages}{address.pk}/change/", {"user": member.pk, "email": "newer@example.org"})
    client.post(pages, {"action": "make_verified", "_selected_action": address.pk})
    address.refresh_from_db()
    assert (address.email, address.verified) == ("newer@example.org", True)
    client.post(pages, {"action": "delete_selected", "_selected_action": address.pk, "post": "yes"})
    assert not EmailAddress.objects.filter(user=member).exists()
    verbs = ("add", "change", "verify", "delete")
    assert audit_entries(administrator) == [(f"{verb} email address", of_member) for verb in verbs]
    assert "example.org" not in str(list(AuditEntry.objects.values()))


def test_deleted_credentials_are_audited_single_or_bulk(client: Client, administrator: User):
    member = make.user("member@example.org")
    tokens = [ApiToken.issue(user=member, name=f"t{n}", scopes=[Scope.READ])[0] for n in range(3)]
    client.post(f"/admin/accounts/apitoken/{tokens[0].pk}/delete/", {"post": "yes"})
    chosen = [token.pk for token in tokens[1:]]
    form = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    client.post("/admin/accounts/apitoken/", form)
    lost = TOTP.activate(member, generate_totp_secret()).instance
    form = {"action": "delete_selected", "_selected_action": lost.pk, "post": "yes"}
    client.post("/admin/mfa/authenticator/", form)
    assert not ApiToken.objects.exists()
    assert [action for action, _ in audit_entries(administrator)] == ["delete api token"] * 3 + ["delete authenticator"]


@pytest.mark.parametrize("choice", ["make_verified", "delete_selected"])
def test_refused_bulk_action_is_not_audited(client: Client, choice: str):
    address = EmailAddress.objects.create(user=make.user(), email="newer@example.org")
    with connection.cursor() as cursor:
        cursor.execute("CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'it stays'; END $$")
        cursor.execute(
            "CREATE TRIGGER it_stays BEFORE UPDATE OR DELETE ON account_emailaddress "
            "FOR EACH ROW EXECUTE FUNCTION stays()"
        )
    with pytest.raises(DatabaseError, match="it stays"):
        client.post("/admin/account/emailaddress/", {"action": choice, "_selected_action": address.pk, "post": "yes"})
    assert not AuditEntry.objects.exists()
