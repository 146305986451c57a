import hashlib
from collections.abc import Sequence

import msgspec
from django.utils.translation import gettext as _

from benchmarks.errors import WrongState
from benchmarks.models import TemplateVersion
from uploads.models import Upload


def case_digest(
    variables: object, expected: object, messages: object = None, files: Sequence[tuple[str, Upload]] = ()
) -> str:
    """Return SHA-256, hexadecimal, shared by equal cases. files: variables and uploads."""
    content = [variables, expected, messages]
    if files:
        content.append([(variable, upload.name, upload.sha256) for variable, upload in files])
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def lock_draft(version: TemplateVersion) -> TemplateVersion:
    """Raises WrongState."""
    draft = TemplateVersion.objects.select_for_update().get(pk=version.pk)
    if draft.state != TemplateVersion.State.DRAFT:
        raise WrongState(_("This version was used by a run and stays as it is. Make a new draft."))
    return draft
