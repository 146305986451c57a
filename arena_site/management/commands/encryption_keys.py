"""`manage.py encryption_keys`: list what each key of ARENA_ENCRYPTION_KEYS encrypted, and rotate keys."""

from collections import Counter
from typing import NamedTuple

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import models

from accounts import audit
from battles.models import AnswerState
from models_registry import encryption
from models_registry.models import Provider

ROWS_AT_ONCE = 200


class _Column(NamedTuple):
    title: str
    rows: "models.QuerySet[models.Model]"
    name: str


COLUMNS = [
    _Column("keys of providers", Provider.of_every_owner.exclude(key_encrypted=None), "key_encrypted"),
    _Column("states of answers", AnswerState.objects.all(), "encrypted"),
]


class Command(BaseCommand):
    help = "Count values by the key that encrypted them. With --rotate, encrypt all with the first key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rotate", action="store_true", help="encrypt everything again with the first key")

    def handle(self, *args: object, rotate: bool, **options: object) -> None:
        if not settings.ARENA_ENCRYPTION_KEYS:
            raise CommandError("ARENA_ENCRYPTION_KEYS is empty.")
        total: Counter[str] = Counter()
        for column in COLUMNS:
            found = _examine(column, rotate=rotate)
            self.stdout.write(
                f"{column.title}: {found['current']:,} with the first key, {found['older']:,} with an older one, "
                f"{found['unreadable']:,} with none of these keys"
            )
            total += found
        if rotate:
            audit.record(None, "rotate encryption keys", "ARENA_ENCRYPTION_KEYS", rotated=total["rotated"])
        if total["unreadable"]:
            raise CommandError(
                "Add the keys that encrypted the unreadable values, or enter these providers' keys again: "
                + (", ".join(_unreadable_providers()) or "none, only states of answers")
            )
        if total["older"]:
            self.stdout.write("The older keys are still needed: run this command with --rotate.")
        else:
            self.stdout.write("Only backups made before the rotation still need keys after the first.")


def _examine(column: _Column, *, rotate: bool) -> Counter[str]:
    found: Counter[str] = Counter()
    for pk, stored in column.rows.values_list("pk", column.name).iterator(chunk_size=ROWS_AT_ONCE):
        state = _state(stored)
        if state == "older" and rotate:
            # The condition keeps a value that was entered meanwhile.
            again = {column.name: encryption.encrypt_again(stored)}
            found["rotated"] += column.rows.filter(pk=pk, **{column.name: stored}).update(**again)
            state = "current"
        found[state] += 1
    return found


def _state(stored: bytes) -> str:
    if encryption.is_current(stored):
        return "current"
    try:
        encryption.decrypt(stored)
    except encryption.KeyUnreadable:
        return "unreadable"
    return "older"


def _unreadable_providers() -> list[str]:
    providers = Provider.of_every_owner.exclude(key_encrypted=None).order_by("name")
    return [provider.name for provider in providers if _state(bytes(provider.key_encrypted or b"")) == "unreadable"]
