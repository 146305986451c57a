"""Names of models: LanguageModel.contestant_name in counts and facts, full_slug for readers."""

from collections.abc import Callable

from django.db.models import Case, F, Value, When
from django.db.models.functions import Concat

from common.payload_types import Json, JsonObject
from models_registry.models import TEAM_SEPARATOR


def name_sql(model: str) -> str:
    """Return an SQL expression of the name. model: alias of a row."""
    return f"CASE WHEN {model}.team_id IS NULL THEN {model}.slug ELSE '{TEAM_SEPARATOR}' || {model}.slug END"


def name_of(model: str) -> Case:
    """Return the same for a queryset. model: name of a foreign key."""
    slug = F(f"{model}__slug")
    return Case(When(**{f"{model}__team": None}, then=slug), default=Concat(Value(TEAM_SEPARATOR), slug))


def full_slug(name: str, team: str) -> str:
    """team: slug of the board's team."""
    return f"{team}{name}" if name.startswith(TEAM_SEPARATOR) else name


def marked_name(name: str, full_slug: str) -> str:
    """Return a model's name with its team: the site may have a model of the same name. An imported one is its id."""
    team = full_slug.rpartition(TEAM_SEPARATOR)[0]
    return f"{name} · {team}" if team and name != full_slug else name


def contestant_name(full_slug: str) -> str:
    _team, separator, slug = full_slug.rpartition(TEAM_SEPARATOR)
    return f"{separator}{slug}"


def facts_for_readers(facts: JsonObject, team: str) -> JsonObject:
    return _renamed_object(facts, lambda name: full_slug(name, team))


def facts_as_stored(facts: JsonObject) -> JsonObject:
    return _renamed_object(facts, contestant_name)


def _renamed_object(facts: JsonObject, rename: Callable[[str], str]) -> JsonObject:
    return {rename(name): _renamed(value, rename) for name, value in facts.items()}


def _renamed(value: Json, rename: Callable[[str], str]) -> Json:
    match value:
        case dict():
            return _renamed_object(value, rename)
        case list():
            return [_renamed(item, rename) for item in value]
        case str():
            return rename(value)
    return value
