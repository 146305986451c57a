"""Claims by path, and names of groups in the shapes that issuers send."""

import json
import re

from common.payload_types import Json, JsonObject

# Fields by which issuers name a group in a list of objects, without capitals and underscores.
NAME_FIELDS = {
    "name", "displayname", "display", "value", "id", "key", "slug", "path", "role", "rolename", "roleid", "group",
    "groupname", "groupid", "authority",
}  # fmt: skip
# A list in a list in a list; a token with more is not one of groups.
MAX_DEPTH = 3


def find(document: JsonObject, path: str) -> Json:
    """Return the value at a path such as realm_access.roles; None where there is none.

    A name that contains dots itself (https://example.org/roles) is found before the parts of it. A list of objects on
    the way gives the list of their values.
    """
    value: Json = document.get(path)
    if value is not None:
        return value
    # Every split at a dot, the longest name first: a client in resource_access may be called arena.example.org.
    for dot in sorted((match.start() for match in re.finditer(r"\.", path)), reverse=True):
        found = _find_inside(document.get(path[:dot]), path[dot + 1 :])
        if found is not None:
            return found
    return None


def _find_inside(value: Json, path: str) -> Json:
    if isinstance(value, list):
        found = [find(entry, path) for entry in value if isinstance(entry, dict)]
        return [each for each in found if each is not None] or None
    return find(value, path) if isinstance(value, dict) else None


def names_in(value: Json, *, depth: int = 0) -> set[str]:
    """Return the names in a text, a list of texts or of objects, or an object with the names as keys.

    Numbers and booleans have none. Texts in a list are whole: a name there may have commas and blanks.
    """
    if isinstance(value, str):
        return _names_in_text(value) if depth == 0 else {value} - {""}
    if isinstance(value, dict):
        return _names_in_object(value)
    if isinstance(value, list) and depth < MAX_DEPTH:
        return {name for entry in value for name in names_in(entry, depth=depth + 1)}
    return set()


def _names_in_text(text: str) -> set[str]:
    text = text.strip()
    if text[:1] in ("[", "{"):  # JSON as a text, or a list without quotes
        try:
            return names_in(json.loads(text), depth=1)
        except (ValueError, RecursionError):
            text = text.strip("[]{}")
    parts = re.split(r"[,;|\n]", text)
    parts = parts if len(parts) > 1 else text.split()
    return {name.strip().strip("\"'") for name in [text, *parts]} - {""}


def _names_in_object(value: JsonObject) -> set[str]:
    named = {
        text
        for field, text in value.items()
        if isinstance(text, str) and field.lower().replace("_", "").replace("-", "") in NAME_FIELDS
    }
    # Otherwise the keys are the names, as Zitadel's roles; {"staff": false} denies one.
    return (named or {name for name, given in value.items() if not _is_denial(given)}) - {""}


def _is_denial(given: Json) -> bool:
    return given in (None, False, 0, "", []) or str(given).lower() in ("false", "no", "0")
