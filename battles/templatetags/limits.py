"""`{% max_prompt_characters %}`, `{% max_attachments %}`, `{% max_file_mb %}`, `{% file_too_large %}`."""

from django import template
from django.conf import settings

from battles.models import Attachment
from uploads.errors import FileTooLarge
from uploads.limits import MAX_FILE_MB

register = template.Library()


@register.simple_tag
def max_prompt_characters() -> int:
    return int(settings.ARENA_PROMPT_CHARACTERS)


@register.simple_tag
def max_attachments() -> int:
    return Attachment.MAX_PER_TURN


@register.simple_tag
def max_file_mb() -> int:
    return MAX_FILE_MB


@register.simple_tag
def file_too_large() -> str:
    return str(FileTooLarge.message)
