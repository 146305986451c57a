"""Files in Django's default storage, under random names."""

import errno
import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from common.errors import ServiceAway
from uploads.errors import StorageAway, StorageFull

logger = logging.getLogger(__name__)

# Not lost+found, for example, which the arena may not read.
_FOLDER = re.compile("[0-9a-f]{2}|releases")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def save(content: bytes) -> str:
    """Store the content and return its random name. Raises StorageFull or StorageAway, leaving nothing behind."""
    name = _new_name()
    try:
        return default_storage.save(name, ContentFile(content))
    except Exception as error:  # each storage backend raises its own exceptions
        logger.exception("an upload was not stored")
        with suppress(Exception):  # a full disk leaves the part that was written
            default_storage.delete(name)
        is_full = isinstance(error, OSError) and error.errno in _NO_ROOM
        raise (StorageFull if is_full else StorageAway) from error


def _new_name() -> str:
    """Return a name in one of 256 directories: some file systems are slow with a million files in one."""
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name}"


def read(name: str) -> bytes:
    """Raises FileNotFoundError and ServiceAway."""
    try:
        with default_storage.open(name) as file:
            return bytes(file.read())
    except FileNotFoundError:
        raise
    except Exception as error:  # each storage backend raises its own exceptions
        logger.exception("a file was not read from the storage")
        raise ServiceAway from error


def delete(name: str) -> None:
    default_storage.delete(name)


def files_older_than(age: timedelta) -> Iterator[tuple[str, datetime]]:
    """Yield name and time of all stored files of this age; one request to the storage per directory."""
    before = timezone.now() - age
    with suppress(FileNotFoundError):  # nothing was uploaded yet
        for folder in default_storage.listdir("")[0]:
            for file in default_storage.listdir(folder)[1]:
                name = f"{folder}/{file}"
                stored_at = default_storage.get_modified_time(name)
                if stored_at < before:
                    yield name, stored_at


def is_empty() -> bool:
    """Return whether no upload and no file of a release is stored."""
    try:
        folders = default_storage.listdir("")[0]
    except FileNotFoundError:  # nothing was uploaded yet
        return True
    return not any(any(default_storage.listdir(folder)) for folder in folders if _FOLDER.fullmatch(folder))
