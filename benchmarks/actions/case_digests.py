import hashlib
from collections.abc import Sequence

import msgspec

from uploads.models import Upload


def case_digest(
    variables: object, expected: object, messages: object = None, files: Sequence[tuple[str, Upload]] = ()
) -> str:
    """Return SHA-256, hexadecimal, shared by equal cases. files: variables and uploads."""
    content = [variables, expected, messages]
    if files:
        content.append([(variable, upload.name, upload.sha256) for variable, upload in files])
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()
