from django.conf import settings
from django.utils.translation import gettext as _

from common.errors import InvalidInput
from common.text.markdown import to_plain_text
from common.text.numbers import format_numbers
from common.text.storable import has_unstorable


def clean_prompt(prompt: str) -> str:
    """Return the prompt as it is sent and stored, never truncated. Raises InvalidInput naming the field."""
    prompt = prompt.replace("\r\n", "\n").strip()
    limit = settings.ARENA_PROMPT_CHARACTERS
    if not prompt:
        problem = _("Write a prompt first.")
    elif len(prompt) > limit:
        problem = _("Your prompt has %(characters)s characters; the limit is %(most)s.") % format_numbers(
            characters=len(prompt), most=limit
        )
    elif has_unstorable(prompt):
        problem = _("Your prompt contains an invalid character (NUL or half of a surrogate pair).")
    else:
        return prompt
    raise InvalidInput(problem, fields={"prompt": [problem]})


# A title is made from at most so many characters of the prompt, which may be long.
_TITLE_SOURCE_CHARACTERS = 1_000


def title_from_prompt(prompt: str, *, max_length: int = 60) -> str:
    """Return the prompt's first words on one line, without Markdown."""
    line = to_plain_text(prompt[:_TITLE_SOURCE_CHARACTERS])
    return line if len(line) <= max_length else line[: max_length - 1].rsplit(" ", 1)[0] + "…"
