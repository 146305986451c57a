"""Same response and same work for known and unknown addresses."""

import re
from typing import Any

import pytest
from django.core import mail
from django.db import connection, transaction
from django.test import Client

from accounts.models import OutgoingEmail, User
from accounts.tasks import send_due_emails, send_email
from tests import make

pytestmark = pytest.mark.django_db
SIGN_UP, RESET = "/accounts/signup/", "/accounts/password/reset/"
KNOWN, UNKNOWN = "known@example.org", "unknown@example.org"
LOCMEM = "django.core.mail.backends.locmem.EmailBackend"
VARYING_HEADERS = ("x-request-id", "expires", "content-length")
VARYING_VALUES = re.compile(r'(csrfmiddlewaretoken" value|nonce|request_id)="[^"]*"')


@pytest.fixture(autouse=True)
def _known() -> User:
    return make.user(KNOWN)


@pytest.fixture
def sends_email(settings: Any) -> None:
    settings.ARENA_EMAIL_BACKEND = LOCMEM
    settings.EMAIL_BACKEND = "accounts.email_backend.QueuedBackend"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def visible_response(path: str, email: str) -> tuple[Any, ...]:
    """Return the visible response and next page, without the address and varying values."""
    client = Client()
    response = client.post(path, {"email": email, "password1": "a-good-password"})
    page = client.get(response.get("Location", path))
    text = VARYING_VALUES.sub("", page.text).replace(email, "")
    headers = {name: value for name, value in response.items() if name.lower() not in VARYING_HEADERS}
    return response.status_code, headers, sorted(client.cookies), page.status_code, text


@pytest.mark.parametrize("path", [SIGN_UP, RESET])
def test_known_and_unknown_address_get_the_same_answer(sends_email: None, path: str):
    assert visible_response(path, KNOWN) == visible_response(path, UNKNOWN)
    assert User.objects.filter(email=KNOWN).count() == 1


@pytest.mark.parametrize("path", [SIGN_UP, RESET])
@pytest.mark.parametrize("email", [KNOWN, UNKNOWN])
def test_request_sends_no_mail_and_queues_one(sends_email: None, path: str, email: str):
    visible_response(path, email)
    assert mail.outbox == []
    assert [row.message["to"] for row in OutgoingEmail.objects.all()] == [[email]]


@pytest.mark.parametrize("email", [KNOWN, UNKNOWN])
def test_sign_up_hashes_the_password_once(sends_email: None, email: str, monkeypatch: pytest.MonkeyPatch):
    from django.contrib.auth.hashers import MD5PasswordHasher

    hashed = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", lambda *args: hashed.append(args[1]) or encode(*args))
    visible_response(SIGN_UP, email)
    assert hashed == ["a-good-password"]


def test_known_and_unknown_addresses_reach_the_same_limit(settings: Any, sends_email: None):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signup", "network"): "2/hour"}
    statuses = [visible_response(SIGN_UP, email)[0] for email in (KNOWN, KNOWN, KNOWN, UNKNOWN)]
    assert statuses == [302, 302, 429, 429]


@pytest.mark.slow
def test_attempts_with_taken_address_are_limited_without_mail(settings: Any):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signup", "network"): "2/hour"}
    assert [visible_response(SIGN_UP, KNOWN)[0] for _ in range(3)] == [200, 200, 429]


def test_new_account_signs_in_once_its_address_is_confirmed(sends_email: None, client: Client):
    client.post(SIGN_UP, {"email": UNKNOWN, "password1": "a-good-password"})
    assert client.get("/accounts/tokens/").status_code == 302
    send_due_emails()
    [link] = re.findall(r"/accounts/confirm-email/\S+", mail.outbox[0].body)
    client.post(link)
    assert client.get("/accounts/tokens/").status_code == 200


def test_sign_up_announces_no_mail_where_none_is_sent(client: Client):
    page = client.post(SIGN_UP, {"email": UNKNOWN, "password1": "a-good-password"}, follow=True).content.decode()

    assert User.objects.filter(email=UNKNOWN).exists()
    assert "Confirmation email" not in page
    assert mail.outbox == []


def test_administrator_signs_in_without_confirming(sends_email: None, client: Client):
    User.objects.create_superuser("admin@example.org", "a-good-password")
    client.post("/accounts/login/", {"login": "admin@example.org", "password": "a-good-password"})
    assert client.get("/accounts/tokens/").status_code == 200


def queue(number: int = 1) -> list[OutgoingEmail]:
    for n in range(number):
        mail.send_mail(f"Subject {n}", "Body", None, [f"{n}@example.org"])
    return list(OutgoingEmail.objects.order_by("pk"))


def test_queued_mail_is_sent_as_it_was_written(sends_email: None):
    message = mail.EmailMultiAlternatives(
        "Subject", "Body", "from@example.org", ["to@example.org"], headers={"X-A": "b"}
    )
    message.attach_alternative("<p>Body</p>", "text/html")
    message.send()
    send_due_emails()
    [sent] = mail.outbox
    assert (sent.subject, sent.body, sent.from_email, sent.to) == (
        "Subject",
        "Body",
        "from@example.org",
        ["to@example.org"],
    )
    assert (sent.extra_headers, [tuple(part) for part in sent.alternatives]) == (
        {"X-A": "b"},
        [("<p>Body</p>", "text/html")],
    )
    assert not OutgoingEmail.objects.exists()


def test_message_delivered_twice_sends_one_mail(sends_email: None):
    [row] = queue()
    send_email(row.pk)
    send_email(row.pk)
    assert len(mail.outbox) == 1


def test_failed_mail_is_tried_again_later(sends_email: None, settings: Any):
    settings.ARENA_EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    [row] = queue()
    send_email(row.pk)
    send_due_emails()  # not due yet
    row.refresh_from_db()
    assert row.attempts == 1
    settings.ARENA_EMAIL_BACKEND = LOCMEM
    OutgoingEmail.objects.update(due_at=row.created_at)
    send_due_emails()
    assert len(mail.outbox) == 1


def test_failed_mail_does_not_stop_the_others(sends_email: None):
    rows = queue(3)
    OutgoingEmail.objects.filter(pk=rows[0].pk).update(message={"to": ["broken"]})
    send_due_emails()
    assert [message.subject for message in mail.outbox] == ["Subject 1", "Subject 2"]


def test_mail_that_cannot_be_sent_for_a_day_is_given_up(sends_email: None):
    queue()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_outgoingemail SET created_at = now() - interval '25 hours'")
    send_due_emails()
    assert (mail.outbox, OutgoingEmail.objects.count()) == ([], 0)


@pytest.mark.django_db(transaction=True)
def test_unreachable_broker_leaves_mail_queued(sends_email: None, settings: Any, no_valkey: None):
    with transaction.atomic():
        queue()
    assert OutgoingEmail.objects.count() == 1
    send_due_emails()
    assert len(mail.outbox) == 1
