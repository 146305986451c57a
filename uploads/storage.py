"""Where files are kept: Django's default storage, under names that say nothing."""

import errno
import logging
import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from common.errors import ServiceAway
from uploads.errors import StorageAway, StorageFull

logger = logging.getLogger(__name__)

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def keep(content: bytes) -> str:
    """Store it; the name it has there. Raises StorageFull or StorageAway, and leaves nothing behind then."""
    name = _new_name()
    try:
        return default_storage.save(name, ContentFile(content))
    except Exception as error:  # each kind of storage raises its own
        logger.exception("an upload was not kept")
        with suppress(Exception):  # what was written of it before there was no room
            default_storage.delete(name)
        is_full = isinstance(error, OSError) and error.errno in _NO_ROOM
        raise (StorageFull if is_full else StorageAway) from error


def _new_name() -> str:
    """In one of 256 directories, because some file systems are slow with a million files in one."""
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name}"


def content_of(name: str) -> bytes:
    """Raises FileNotFoundError and ServiceAway."""
    try:
        with default_storage.open(name) as file:
            return bytes(file.read())
    except FileNotFoundError:
        raise
    except Exception as error:  # each kind of storage raises its own
        logger.exception("a file could not be fetched")
        raise ServiceAway from error


def forget(name: str) -> None:
    default_storage.delete(name)


def names_older_than(age: timedelta) -> Iterator[str]:
    """Of all files there are; asks the storage for each directory."""
    before = timezone.now() - age
    with suppress(FileNotFoundError):  # nothing was ever uploaded
        for folder in default_storage.listdir("")[0]:
            for file in default_storage.listdir(folder)[1]:
                name = f"{folder}/{file}"
                if default_storage.get_modified_time(name) < before:
                    yield name
