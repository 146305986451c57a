from datetime import datetime

from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.models import Team
from battles import feedback
from battles.actions import reports
from battles.labels.languages import language_name
from battles.mode_words import MODE_WORDS, ModeWords
from battles.models import Attachment, Battle, Session
from battles.payload_types import AnswerPayload, SharedBattlePage, VotePayload
from battles.prompting.prompt import title_from_prompt
from battles.sessions.sharing import share_description
from battles.side_words import side_letter
from battles.suggestions import suggestions
from uploads.errors import FileTooLarge
from uploads.limits import MAX_FILE_MB

register = template.Library()

SESSIONS_ON_PAGE = 12


@register.filter
def mode_words(mode: str) -> ModeWords:
    return MODE_WORDS[mode]


@register.filter
def mode_name(mode: str) -> str:
    return str(Battle.Mode(mode).label)


@register.filter
def language_called(code: str) -> str:
    return language_name(code)


@register.filter
def named(key: str, names: dict[str, str]) -> str:
    return names.get(key, key)


@register.filter
def shared_verdict(battle: SharedBattlePage) -> str:
    return share_description(battle)


@register.simple_tag
def shared_sessions(team: Team) -> list[Session]:
    """Return the newest sessions that members share with their team."""
    shared = Session.objects.shared_with(team).select_related("owner_user")
    return list(shared.with_battle_count().latest_first()[:SESSIONS_ON_PAGE])


@register.filter
def is_start_of(title: str, prompt: str) -> bool:
    """Return whether a session has this title from its first prompt."""
    return bool(title) and title == title_from_prompt(prompt)


@register.simple_tag
def answer_label(mode: str, side: str) -> str:
    """Return the title of one answer: "Answer A"."""
    if mode == Battle.Mode.DIRECT:
        return _("Answer")
    return _("Answer %(number)s") % {"number": side_letter(side)}


@register.simple_tag
def the_answer(mode: str, side: str) -> str:
    """Return one answer as the object of a sentence: "answer A"."""
    if mode == Battle.Mode.DIRECT:
        return _("this answer")
    return _("answer %(number)s") % {"number": side_letter(side)}


@register.filter
def states(answers: list[AnswerPayload]) -> set[str]:
    return {answer["state"] for answer in answers}


@register.filter
def seconds_since(moment: datetime) -> float:
    return (timezone.now() - moment).total_seconds()


@register.filter
def seconds(milliseconds: int) -> str:
    """Return "1.2 s", or "0.05 s" below 100 ms."""
    digits = 1 if milliseconds >= 100 else 2
    # number_format cuts digits off.
    return _("%(seconds)s s") % {"seconds": number_format(round(milliseconds / 1000, digits), digits)}


@register.simple_tag
def feedback_tags(vote: VotePayload, side: str) -> list[list[dict[str, object]]]:
    """Return positive and negative tags as lists of {value, label, chosen}; of retired ones those chosen before."""
    chosen = vote["tags"].get(side, [])
    offered = [tag for tag in feedback.tags().values() if not tag.is_retired or tag.slug in chosen]
    return [
        [
            {"value": tag.slug, "label": tag.label, "chosen": tag.slug in chosen}
            for tag in offered
            if tag.is_good == is_good
        ]
        for is_good in (True, False)
    ]


@register.filter
def tag_words(tag: str) -> str:
    return feedback.label_of(tag)


@register.simple_tag
def prompt_suggestions(place: Team | None) -> list[str]:
    return suggestions(None if place is None else place.pk)


@register.simple_tag
def max_prompt_characters() -> int:
    return int(settings.ARENA_PROMPT_CHARACTERS)


@register.simple_tag
def max_comment_characters() -> int:
    return feedback.MAX_CHARACTERS


@register.simple_tag
def max_report_characters() -> int:
    return reports.MAX_CHARACTERS


@register.simple_tag
def max_attachments() -> int:
    return Attachment.MAX_PER_TURN


@register.simple_tag
def max_file_mb() -> int:
    return MAX_FILE_MB


@register.simple_tag
def file_too_large() -> str:
    return str(FileTooLarge.message)
