import pytest
from django.test import Client

from accounts.audit import record
from accounts.models import ApiToken, AuditEntry, IdempotencyKey, User
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    return client


def test_member_is_added_by_email(admin: Client):
    form = {"email": "New@Example.org", "usable_password": "true", "password1": "a-good-password"}
    admin.post("/admin/accounts/user/add/", form | {"password2": "a-good-password"})
    user = User.objects.get(email="new@example.org")
    assert user.check_password("a-good-password")
    assert not user.is_staff


def test_addresses_are_unique_ignoring_case(admin: Client):
    make.user("someone@example.org")
    form = {"email": "Someone@Example.org", "usable_password": "false"}
    page = admin.post("/admin/accounts/user/add/", form).content.decode()
    assert "already exists" in page


def test_members_are_found_by_email(admin: Client):
    make.user("needle@example.org")
    page = admin.get("/admin/accounts/user/", {"q": "needle"}).content.decode()
    assert "needle@example.org" in page
    assert "1 result" in page


def test_member_is_deactivated_by_checkbox(admin: Client):
    user = make.user("someone@example.org")
    admin.post(f"/admin/accounts/user/{user.pk}/change/", {"email": "someone@example.org"})
    user.refresh_from_db()
    assert not user.is_active


def issue_in_admin(admin: Client) -> tuple[ApiToken, str]:
    member = make.user("member@example.org")
    form = {"user": member.pk, "name": "nightly", "scopes": ["read", "vote"]}
    page = admin.post("/admin/accounts/apitoken/add/", form, follow=True).content.decode()
    return ApiToken.objects.get(), page


def test_new_token_is_shown_once_and_stored_as_digest(admin: Client):
    row, page = issue_in_admin(admin)
    secret = page.split("<code>")[1].split("</code>")[0]
    assert ApiToken.digest_of(secret) == row.digest
    assert (row.name, row.scopes, row.user.email) == ("nightly", ["read", "vote"], "member@example.org")
    for path in ("/admin/accounts/apitoken/", f"/admin/accounts/apitoken/{row.pk}/change/"):
        again = admin.get(path).content.decode()
        assert secret not in again
        assert row.digest not in again
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.details) == (
        "add API token", {"member": f"user {row.user_id}", "scopes": ["read", "vote"]},
    )  # fmt: skip


def test_token_can_be_revoked_not_edited(admin: Client):
    row, _ = issue_in_admin(admin)
    path = f"/admin/accounts/apitoken/{row.pk}/change/"
    admin.post(path, {"name": "other", "scopes": ["export"], "digest": "0" * 64})
    row.refresh_from_db()
    assert (row.name, row.scopes) == ("nightly", ["read", "vote"])
    admin.post("/admin/accounts/apitoken/", {"action": "revoke", "_selected_action": [row.pk]})
    row.refresh_from_db()
    assert row.revoked_at is not None
    assert AuditEntry.objects.filter(action="revoke API token").count() == 1


def test_visitor_pages_hide_the_key(admin: Client):
    visitor = make.visitor().visitor
    path = f"/admin/accounts/visitor/{visitor.pk}/change/"
    for page in (admin.get("/admin/accounts/visitor/"), admin.get(path)):
        assert page.status_code == 200
        assert visitor.key not in page.content.decode()
    assert admin.post(path, {"claimed_by": ""}).status_code == 403


def test_audit_entry_cannot_be_changed_or_deleted(admin: Client):
    entry = record(User.objects.get(), "change provider", "Example", "a reason", changed={"name": ["a", "b"]})
    path = f"/admin/accounts/auditentry/{entry.pk}/"
    assert "a reason" in admin.get(f"{path}change/").content.decode()
    assert admin.post(f"{path}change/", {"action": "nothing"}).status_code == 403
    assert admin.post(f"{path}delete/", {"post": "yes"}).status_code == 403
    assert admin.get("/admin/accounts/auditentry/add/").status_code == 403
    assert AuditEntry.objects.get() == entry


def test_idempotency_keys_have_no_admin(admin: Client):
    IdempotencyKey.objects.create(actor="user:1", key="a", request_hash="x")
    assert admin.get("/admin/accounts/idempotencykey/").status_code == 404


def test_member_without_staff_right_is_refused(client: Client):
    client.force_login(make.user())
    for path in ("/admin/", "/admin/accounts/user/", "/admin/models_registry/provider/"):
        assert client.get(path).status_code == 302


def test_staff_without_rights_see_no_keys_and_no_tokens(client: Client):
    client.force_login(make.user(is_staff=True))
    for path in ("/admin/accounts/apitoken/", "/admin/models_registry/provider/", "/admin/accounts/auditentry/"):
        assert client.get(path).status_code == 403
