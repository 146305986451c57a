"""Built-in templates, one YAML file each. `right` and `wrong` are answers for tests."""

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from benchmarks.models import Check, Prompt
from benchmarks.pasting import PastedCase
from common.payload_types import JsonObject

FOLDER = Path(__file__).parent
NAMES = (
    "arithmetic", "facts", "instructions", "json_extraction", "translation", "summary", "declining", "needle",
)  # fmt: skip
CHARACTERS_PER_TOKEN = 4
_STRIP = [{"step": "strip_reasoning"}]
LANGUAGES = ("en", "fr")
_REFUSALS = {"en": "I'm sorry, but I can't help with that.", "fr": "Je suis désolé, mais je ne peux pas vous aider."}
# Keys of checks and tags that are made here.
_WORDS = {
    "en": {"rules": "rules", "language": "language", "answer": "answer", "refusal": "refusal", "at": "at"},
    "fr": {"rules": "règles", "language": "langue", "answer": "réponse", "refusal": "refus", "at": "à"},
}
_CODES = {"French": "fr", "English": "en", "français": "fr", "anglais": "en"}
_FIELDS = frozenset({"key", "expected", "tags", "right", "wrong"})


@dataclass(frozen=True)
class BuiltInCase:
    case: PastedCase
    right: str
    wrong: str


@dataclass(frozen=True)
class BuiltIn:
    """digest: of the file. is_first: offered where a member has no runs yet."""

    slug: str
    name: str
    description: str
    prompts: list[Prompt]
    checks: list[Check]
    parameters: JsonObject
    cases: list[BuiltInCase]
    digest: str
    is_first: bool


@cache
def first_slug(language: str) -> str:
    """Return the slug of the template that a new arena offers first, in a language of the site."""
    wanted = language if language in LANGUAGES else LANGUAGES[0]
    return next(built_in.slug for name in NAMES if (built_in := read(name, wanted)).is_first)


def slugs_of_other_languages(language: str) -> list[str]:
    wanted = language if language in LANGUAGES else LANGUAGES[0]
    return [_slug(name, other) for other in LANGUAGES if other != wanted for name in NAMES]


def read_all() -> Iterator[BuiltIn]:
    for language in LANGUAGES:
        for name in NAMES:
            yield read(name, language)


def _slug(name: str, language: str) -> str:
    slug = f"built-in-{name.replace('_', '-')}"
    return slug if language == LANGUAGES[0] else f"{slug}-{language}"


def read(name: str, language: str = LANGUAGES[0]) -> BuiltIn:
    folder = FOLDER if language == LANGUAGES[0] else FOLDER / language
    source = (folder / f"{name}.yaml").read_bytes()
    data: JsonObject = yaml.safe_load(source)
    rows = list(_needles(data["generated"], language)) if "generated" in data else data["cases"]
    return BuiltIn(
        slug=_slug(name, language),
        name=data["name"],
        description=data["description"],
        prompts=[Prompt(**prompt) for prompt in data["prompts"]],
        checks=[Check(**check) for check in data["checks"]],
        parameters=data["parameters"],
        cases=[_case(row, language) for row in rows],
        is_first=data.get("is_first", False),
        digest=hashlib.sha256(source + Path(__file__).read_bytes()).hexdigest(),
    )


def _case(row: JsonObject, language: str) -> BuiltInCase:
    """form: a scorer without settings, for rules that instructions know in English only."""
    rules, form, wants, words = row.pop("rules", None), row.pop("form", ""), row.pop("wants", ""), _WORDS[language]
    checks: list[JsonObject] = []
    if rules is not None:
        settings = {"instruction_id_list": [*rules], "kwargs": [*rules.values()], "mode": "loose"}
        checks = [{"key": words["rules"], "scorer": "instructions", "settings": settings, "extract": _STRIP}]
    elif form:
        checks = [{"key": words["rules"], "scorer": form, "extract": _STRIP}]
    elif wants:
        checks = [{"key": words[wants], "scorer": "refusal", "negate": wants == "answer", "extract": _STRIP}]
    elif "into" in row:
        settings = {"language": _CODES[row["into"]]}
        checks = [
            {"key": words["language"], "scorer": "language", "settings": settings, "is_gate": True, "extract": _STRIP}
        ]
    expected = row.get("expected", [])
    case = PastedCase(
        key=row["key"], expected=expected, tags=row.get("tags", [words[wants]] if wants else []), checks=checks or None,
        variables={name: value for name, value in row.items() if name not in _FIELDS},
    )  # fmt: skip
    return BuiltInCase(case, *_answers(row, wants, _REFUSALS[language]))


def _answers(row: JsonObject, wants: str, refusal: str) -> tuple[str, str]:
    """Return a right and a wrong answer; by default the reference and the input."""
    reference = row["expected"][0] if row.get("expected") else refusal
    right = row.get("right") or (reference if isinstance(reference, str) else json.dumps(reference))
    return right, row.get("wrong") or (refusal if wants == "answer" else row["text"])


def _needles(data: JsonObject, language: str) -> Iterator[JsonObject]:
    """Yield a case for each size and place; the needles take turns."""
    wanted = [(size, place) for size in data["sizes"] for place in data["places"]]
    for number, (size, place) in enumerate(wanted):
        needle = data["needles"][number % len(data["needles"])]
        sentences = _filler(data["filler"], size * 1_000 * CHARACTERS_PER_TOKEN, seed=number)
        sentences.insert(int(place * len(sentences)), needle["sentence"])
        facts = {name: needle[name] for name in ("question", "expected", "right", "wrong")}
        key = f"{size}k {_WORDS[language]['at']} {place:.0%}"
        yield {"key": key, "text": " ".join(sentences), "tags": [f"{size}k"], **facts}


def _filler(words: JsonObject, characters: int, *, seed: int) -> list[str]:
    draw, sentences, length = random.Random(seed), [], 0  # noqa: S311 (the same text each time)
    while length < characters:
        when, who, did, what, end = (draw.choice(words[part]) for part in ("when", "who", "did", "what", "end"))
        sentences.append(f"{when}, {who} {did} {what} {end}.")
        length += len(sentences[-1]) + 1
    return sentences
