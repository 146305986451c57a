"""What a prompt may be; the same for page and API."""

from django.conf import settings
from django.utils.translation import gettext as _

from common.errors import InvalidInput
from common.text.markdown import to_plain_text
from common.text.numbers import format_numbers
from common.text.storable import has_unstorable


def accepted_prompt(prompt: str) -> str:
    """The prompt as it will be sent and stored, never cut. Raises InvalidInput naming the field."""
    prompt = prompt.replace("\r\n", "\n").strip()
    most = settings.ARENA_PROMPT_CHARACTERS
    if not prompt:
        problem = _("Write a prompt first.")
    elif len(prompt) > most:
        problem = _("Your prompt has %(characters)s characters; the limit is %(most)s.") % format_numbers(
            characters=len(prompt), most=most
        )
    elif has_unstorable(prompt):
        problem = _("Your prompt contains an invalid character (NUL or half of a surrogate pair).")
    else:
        return prompt
    raise InvalidInput(problem, fields={"prompt": [problem]})


# Of a longer prompt no more is read for its title.
_READ_FOR_A_TITLE = 1_000


def title_of(prompt: str, *, at_most: int = 60) -> str:
    """A session's first title: the prompt's first words on one line, without Markdown's marks."""
    line = to_plain_text(prompt[:_READ_FOR_A_TITLE])
    return line if len(line) <= at_most else line[: at_most - 1].rsplit(" ", 1)[0] + "…"
