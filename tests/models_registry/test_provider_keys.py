import logging
from io import StringIO
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client
from django.views.debug import SafeExceptionReporterFilter

from accounts.models import AuditEntry
from models_registry import encryption
from models_registry.models import Provider
from tests import make

pytestmark = pytest.mark.django_db
KEY = "sk-live-4f9c-do-not-show-7Q2z"
ADD = "/admin/models_registry/provider/add/"


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    return client


def form(**fields: Any) -> dict[str, Any]:
    return {"name": "Example", "base_url": "https://api.example.com/v1", "needs_key": "on", **fields}


def stored() -> Provider:
    return Provider.objects.get()


def change_page() -> str:
    return f"/admin/models_registry/provider/{stored().pk}/change/"


@pytest.mark.slow
def test_entered_key_is_never_shown(admin: Client, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    seen = admin.post(ADD, form(key=KEY), follow=True).content.decode()
    provider = stored()
    assert provider.read_key() == KEY
    for path in ("/admin/models_registry/provider/", change_page(), change_page().replace("change", "history")):
        seen += admin.get(path).content.decode()
    seen += admin.get("/admin/accounts/auditentry/").content.decode()
    entry = AuditEntry.objects.get()
    seen += admin.get(f"/admin/accounts/auditentry/{entry.pk}/change/").content.decode()
    dump = StringIO()
    call_command("dumpdata", "models_registry", "accounts", "admin", "sessions", stdout=dump)
    seen += dump.getvalue() + repr(provider) + str(provider) + repr(vars(provider)) + caplog.text
    seen += "".join(row.change_message for row in LogEntry.objects.all()) + repr(entry.details)
    export = StringIO()
    call_command("export_models", stdout=export)
    seen += export.getvalue()
    assert KEY not in seen
    assert KEY[:-4] not in seen
    assert bytes(provider.key_encrypted) != KEY.encode()


def test_page_shows_last_four_characters_and_fingerprint(admin: Client):
    admin.post(ADD, form(key=KEY))
    page = admin.get(change_page()).content.decode()
    assert f"…7Q2z ({encryption.fingerprint(KEY)})" in page
    assert 'name="key" ' in page
    assert 'type="password"' in page


def test_invalid_form_does_not_repeat_key(admin: Client):
    page = admin.post(ADD, form(key=KEY, base_url="nowhere")).content.decode()
    assert "begins with http" in page
    assert KEY not in page


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_invalid_key_is_refused_without_repeating_it(admin: Client, key: str):
    page = admin.post(ADD, form(key=key)).content.decode()
    assert "A key contains only letters, digits and signs" in page
    assert key not in page


def test_saving_without_key_keeps_stored_key(admin: Client):
    admin.post(ADD, form(key=KEY))
    admin.post(change_page(), form(name="Renamed"))
    assert (stored().name, stored().read_key()) == ("Renamed", KEY)


def test_new_key_replaces_old_one_with_audit_entry(admin: Client):
    admin.post(ADD, form(key=KEY))
    admin.post(change_page(), form(key="another-key-0987"))
    assert stored().read_key() == "another-key-0987"
    changed = AuditEntry.objects.first().details["changed"]
    assert changed == {"key": ["", f"entered ({encryption.fingerprint('another-key-0987')})"]}


def test_stored_key_can_be_removed(admin: Client):
    admin.post(ADD, form(key=KEY))
    admin.post(change_page(), form(remove_key="on"))
    provider = stored()
    assert (provider.key_encrypted, provider.key_last_four, provider.key_fingerprint) == (None, "", "")
    assert AuditEntry.objects.first().details["changed"] == {"key": ["", "removed"]}


def test_changed_address_needs_key_again(admin: Client):
    admin.post(ADD, form(key=KEY))
    page = admin.post(change_page(), form(base_url="https://evil.example.org/v1")).content.decode()
    assert "The address changed: enter the key again, or remove it." in page
    admin.post(change_page(), form(base_url="https://api.example.com/v2"))
    assert (stored().base_url, stored().has_key) == ("https://api.example.com/v2", True)


def test_short_key_has_no_last_four_characters():
    provider = Provider(name="x", base_url="https://api.example.com/v1")
    provider.store_key("hunter22")
    assert provider.key_last_four == ""


def test_error_report_contains_no_key(admin: Client):
    request = admin.post(ADD, form(key=KEY)).wsgi_request
    reported = SafeExceptionReporterFilter().get_post_parameters(request)
    assert reported["name"] == "Example"
    assert KEY not in reported.values()


def test_unreadable_key_raises_error_without_key(settings):
    provider = Provider(name="x", base_url="https://api.example.com/v1")
    provider.store_key(KEY)
    settings.ARENA_ENCRYPTION_KEYS = ["YW5vdGhlci1rZXktYW5vdGhlci1rZXktYW5vdGhlci0="]
    with pytest.raises(encryption.KeyUnreadable) as error:
        provider.read_key()
    assert KEY not in repr(error.value) + str(error.value)


def test_new_encryption_key_keeps_old_keys_readable(settings):
    provider = Provider(name="x", base_url="https://api.example.com/v1")
    provider.store_key(KEY)
    newer = "YW5vdGhlci1rZXktYW5vdGhlci1rZXktYW5vdGhlci0="
    settings.ARENA_ENCRYPTION_KEYS = [newer, *settings.ARENA_ENCRYPTION_KEYS]
    assert provider.read_key() == KEY
