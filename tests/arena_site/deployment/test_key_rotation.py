"""Keys of ARENA_ENCRYPTION_KEYS are replaced, and so is SECRET_KEY."""

from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import AuditEntry
from battles.models import AnswerState
from models_registry import encryption
from models_registry.models import Provider
from tests import make

pytestmark = pytest.mark.django_db
OLD, NEW, LOST = (Fernet.generate_key().decode() for _ in range(3))


def run(*options: str) -> list[str]:
    out = StringIO()
    call_command("encryption_keys", *options, stdout=out)
    return out.getvalue().splitlines()


def provider(name: str) -> Provider:
    provider = Provider(name=name, base_url=f"http://{name}.test/v1")
    provider.store_key(f"sk-{name}")
    provider.save()
    return provider


def counts(current: int, older: int, unreadable: int) -> str:
    return f"{current} with the first key, {older} with an older one, {unreadable} with none of these keys"


def test_rotation_encrypts_everything_with_first_key(settings: Any):
    settings.ARENA_ENCRYPTION_KEYS = [OLD]
    stored = provider("before")
    answer = make.answered_battle(make.model("a"), make.model("b")).turns.get().answers.first()
    AnswerState.objects.create(answer=answer, encrypted=encryption.encrypt("a state"))
    settings.ARENA_ENCRYPTION_KEYS = [NEW, OLD]
    provider("after")
    assert run() == [
        f"keys of providers: {counts(1, 1, 0)}",
        f"states of answers: {counts(0, 1, 0)}",
        "The older keys are still needed: run this command with --rotate.",
    ]
    assert run("--rotate") == [
        f"keys of providers: {counts(2, 0, 0)}",
        f"states of answers: {counts(1, 0, 0)}",
        "Only backups made before the rotation still need keys after the first.",
    ]
    settings.ARENA_ENCRYPTION_KEYS = [NEW]
    stored.refresh_from_db()
    assert stored.read_key() == "sk-before"
    assert encryption.decrypt(AnswerState.objects.get().encrypted) == "a state"
    assert AuditEntry.objects.get(action="rotate encryption keys").details == {"rotated": 2}


def test_unreadable_keys_are_named(settings: Any):
    settings.ARENA_ENCRYPTION_KEYS = [LOST]
    provider("forgotten")
    settings.ARENA_ENCRYPTION_KEYS = [NEW]
    provider("known")
    with pytest.raises(CommandError, match=r"keys again: forgotten$"):
        run("--rotate")
    settings.ARENA_ENCRYPTION_KEYS = [NEW, LOST]
    assert run("--rotate")[0] == f"keys of providers: {counts(2, 0, 0)}"


def test_command_without_keys_is_refused(settings: Any):
    settings.ARENA_ENCRYPTION_KEYS = []
    with pytest.raises(CommandError, match="is empty"):
        run()


def test_people_stay_signed_in_with_former_secret(client: Client, settings: Any):
    client.force_login(make.user("ada@example.org"))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new secret", [settings.SECRET_KEY]
    assert client.get("/api/v1/me/").json()["email"] == "ada@example.org"
    settings.SECRET_KEY_FALLBACKS = []
    assert client.get("/api/v1/me/").json().get("email") == "ada@example.org"  # signed again with the new secret
    settings.SECRET_KEY = "another secret"
    assert client.get("/api/v1/me/").json().get("email") is None
