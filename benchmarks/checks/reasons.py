"""Sentences of reasons to refuse a check, in the language of the request."""

from django.utils.translation import gettext

from benchmarks.scoring.refusals import SENTENCES, CheckError, Refusal


def error_sentence(error: CheckError) -> str:
    """Return a reason with the check's position."""
    return placed(error.position, check_reason(error))


def check_reason(error: CheckError | Refusal) -> str:
    """Return a reason with its place in the check. Plug-ins' reasons stay as they are."""
    reason = str(error.values["text"]) if error.code == "other" else gettext(SENTENCES[error.code]) % error.values
    for place in reversed(error.places):
        reason = placed(place, reason)
    return reason


def placed(position: str, reason: str) -> str:
    return gettext("%(position)s: %(reason)s") % {"position": position, "reason": reason} if position else reason
