"""Selection of calls for the interaction log: its page in the administration and its export."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from battles.models import Battle, Call, Session
from common.errors import InvalidInput
from common.text.numbers import parse_whole_number
from models_registry.models import LanguageModel
from models_registry.providers import FailureCode

ANY_ERROR = "any"
# Purposes of calls without an answer, beside the modes of battles.
PURPOSES = tuple(purpose.value for purpose in Call.Purpose if purpose is not Call.Purpose.ANSWER)
# Battles of reviews make no calls.
BATTLE_MODES = tuple(mode for mode in Battle.Mode if mode is not Battle.Mode.REVIEW)
MODES = (*(mode.value for mode in BATTLE_MODES), *PURPOSES)
ERRORS = (ANY_ERROR, *FailureCode)
_DAY = timedelta(days=1)


def readable_by(user_pk: int) -> QuerySet[Call]:
    """Return all calls but those of the person's own battles that are still blind."""
    return Call.objects.exclude(answer__turn__battle__in=Battle.objects.unrevealed_to(user_pk))


def select(calls: QuerySet[Call], values: Mapping[str, str]) -> QuerySet[Call]:
    """Apply the filters that have a value. Raises InvalidInput with every value that cannot be read."""
    problems: dict[str, list[str]] = {}
    for name, narrow in FILTERS.items():
        if value := values.get(name, "").strip():
            try:
                calls = narrow(calls, value)
            except InvalidInput as error:
                problems[name] = [error.detail]
    if problems:
        raise InvalidInput(fields=problems)
    return calls


def _since(calls: QuerySet[Call], value: str) -> QuerySet[Call]:
    return calls.filter(started_at__gte=parse_moment(value))


def _until(calls: QuerySet[Call], value: str) -> QuerySet[Call]:
    """Filter to calls before a time, or before the end of a day."""
    end = end_of(value)
    return calls if end is None else calls.filter(started_at__lt=end)


def end_of(value: str) -> datetime | None:
    """Return the time, or the end of the day; None after the last day that has one. Raises InvalidInput."""
    moment = parse_moment(value)
    try:
        return moment + _DAY if len(value) == len("2026-01-31") else moment
    except OverflowError:
        return None


def parse_moment(value: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(_("Write a day, as 2026-01-31, or a time, as 2026-01-31T12:00:00Z.")) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _model(calls: QuerySet[Call], value: str) -> QuerySet[Call]:
    model = LanguageModel.of_every_owner.named([value]).first()
    if model is None:
        raise InvalidInput(_("No model has this id."))
    return calls.filter(model=model)


def _mode(calls: QuerySet[Call], value: str) -> QuerySet[Call]:
    _refuse_unless_one_of(MODES, value)
    return calls.filter(purpose=value) if value in PURPOSES else calls.filter(answer__turn__battle__mode=value)


def _person(calls: QuerySet[Call], value: str) -> QuerySet[Call]:
    """Filter by the owner of the session: an e-mail address, or `user:<id>` or `visitor:<id>`."""
    kind, _colon, key = value.partition(":")
    if kind in ("user", "visitor") and (number := parse_whole_number(key)) is not None:
        owned = Session.objects.filter(**{f"owner_{kind}": number})
    elif "@" in value and "\x00" not in value:
        owned = Session.objects.filter(owner_user__in=members_with(value))
    else:
        raise InvalidInput(_("Write a member's e-mail address, or user:12 or visitor:34."))
    return calls.filter(answer__turn__battle__session__in=owned)


def members_with(email: str) -> list[int]:
    return list(User.objects.filter(email=email.strip().lower()).values_list("pk", flat=True))


def _error(calls: QuerySet[Call], value: str) -> QuerySet[Call]:
    _refuse_unless_one_of(ERRORS, value)
    return calls.filter(~Q(error="")) if value == ANY_ERROR else calls.filter(error=value)


def _refuse_unless_one_of(words: tuple[str, ...], value: str) -> None:
    if value not in words:
        raise InvalidInput(_("Choose one of %(words)s.") % {"words": ", ".join(words)})


FILTERS: dict[str, Callable[[QuerySet[Call], str], QuerySet[Call]]] = {
    "since": _since, "until": _until, "model": _model, "mode": _mode, "person": _person, "error": _error,
}  # fmt: skip
