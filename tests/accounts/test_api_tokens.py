from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.forms import TokenForm
from accounts.models import ApiToken, Role, Scope, User
from tests import make

pytestmark = pytest.mark.django_db
MODELS, SESSIONS = "/api/v1/models/", "/api/v1/sessions/"


def token(*scopes: Scope, user: User | None = None, **fields: object) -> str:
    row, secret = ApiToken.issue(user=user or make.user(), name="test", scopes=list(scopes) or [Scope.READ])
    ApiToken.objects.filter(pk=row.pk).update(**fields)
    return secret


def get(client: Client, secret: str, path: str = MODELS) -> tuple[int, str | None]:
    response = client.get(path, headers={"Authorization": f"Bearer {secret}"})
    return response.status_code, response.json().get("code")


def post(client: Client, secret: str, path: str = SESSIONS) -> tuple[int, str | None]:
    response = client.post(path, {}, "application/json", headers={"Authorization": f"Bearer {secret}"})
    return response.status_code, response.json().get("code")


def test_token_has_prefix_and_is_stored_as_digest():
    secret = token()
    row = ApiToken.objects.get()
    assert secret.startswith("arena_")
    assert len(secret) > 40
    assert secret not in repr(vars(row))
    assert (row.digest, row.last_four) == (ApiToken.digest_of(secret), secret[-4:])


def test_usable_token_reads(client: Client):
    assert get(client, token()) == (200, None)
    assert timezone.now() - ApiToken.objects.get().last_used_at < timedelta(minutes=1)


@pytest.mark.parametrize(
    "fields",
    [
        {"revoked_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
    ],
)
def test_revoked_or_expired_token_is_refused(client: Client, fields: dict[str, object]):
    assert get(client, token(**fields)) == (401, "not_authenticated")


def test_token_works_until_it_expires(client: Client):
    assert get(client, token(expires_at=timezone.now() + timedelta(hours=1))) == (200, None)


def test_revoking_takes_effect_immediately(client: Client):
    secret = token()
    assert get(client, secret)[0] == 200
    ApiToken.objects.get().revoke()
    assert get(client, secret)[0] == 401


def test_token_of_inactive_member_is_refused(client: Client):
    user = make.user()
    secret = token(user=user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert get(client, secret) == (401, "not_authenticated")


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer arena_unknown", "Basic YTpi", "Bearer \xff\x00 x", "x"]
)
def test_invalid_authorization_is_refused_on_public_url(client: Client, header: str):
    response = client.get(MODELS, headers={"Authorization": header})
    assert response.status_code == 401
    assert response.json() == {"code": "not_authenticated", "detail": "Sign in, or send a valid token."}


def test_missing_scope_is_named(client: Client):
    secret = token(Scope.READ)
    response = client.post(SESSIONS, {}, "application/json", headers={"Authorization": f"Bearer {secret}"})
    assert response.status_code == 403
    assert response.json() == {"code": "permission_denied", "detail": "This token lacks the scope “battle”."}


def test_reading_needs_a_scope(client: Client):
    assert get(client, token(Scope.BATTLE)) == (403, "permission_denied")


def test_matching_scope_passes_to_validation(client: Client):
    assert post(client, token(Scope.BATTLE)) == (400, "invalid")


def test_csrf_token_is_needed_by_cookies_not_by_tokens():
    strict = Client(enforce_csrf_checks=True)
    assert post(strict, token(Scope.BATTLE))[0] == 400
    strict.force_login(make.user())
    refused = strict.post(SESSIONS, {}, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert "X-CSRFToken" in refused.json()["detail"]


def test_visitor_without_csrf_token_is_refused():
    refused = Client(enforce_csrf_checks=True).post(SESSIONS, {}, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")


def test_csrf_cookie_of_any_get_works_as_header():
    strict = Client(enforce_csrf_checks=True)
    strict.get(MODELS)
    cookie = strict.cookies["csrftoken"].value
    sent = strict.post(SESSIONS, {}, "application/json", headers={"X-CSRFToken": cookie})
    assert (sent.status_code, sent.json()["code"]) == (400, "invalid")


def test_token_beside_session_is_not_widened(client: Client):
    client.force_login(make.user())
    assert post(client, token(Scope.READ)) == (403, "permission_denied")


def create(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("create_api_token", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_command_prints_only_the_token(client: Client):
    make.user("someone@example.org")
    out, err = create("Someone@Example.org", "--name", "nightly", "--scopes", "read,vote", "--expires", "30")
    row = ApiToken.objects.get()
    assert (row.name, row.scopes, row.user.email) == ("nightly", ["read", "vote"], "someone@example.org")
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    assert out == f"{out.strip()}\n"
    assert get(client, out.strip()) == (200, None)
    assert out.strip() not in err
    assert "nightly for someone@example.org: read, vote." in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["unknown@example.org"], "No active member"),
        (["someone@example.org", "--scopes", "read,fly"], "not fly"),
        (["someone@example.org", "--scopes", ","], "not none"),
        (["someone@example.org", "--expires", "0"], "number of days"),
    ],
)
def test_command_explains_invalid_arguments(arguments: list[str], sentence: str):
    make.user("someone@example.org")
    with pytest.raises(CommandError, match=sentence):
        create(*arguments)
    assert not ApiToken.objects.exists()


def test_token_form_offers_every_scope():
    offered = [scope for scope, _label in TokenForm.base_fields["scopes"].choices]
    assert offered == list(Scope)


def test_command_creates_token_of_a_team():
    user = make.user("nick@example.org")
    team = make.team(slug="physics", members={Role.MEMBER: [user]})
    create("nick@example.org", "--team", "physics")
    assert ApiToken.objects.get().team == team
    make.team(slug="history", members={Role.GUEST: [user]})
    for address in ("history", "nothing", ""):
        with pytest.raises(CommandError, match="cannot use a team"):
            create("nick@example.org", "--team", address)
