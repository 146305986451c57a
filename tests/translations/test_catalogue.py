"""The catalogues are complete, keep placeholders and are compiled."""

import gettext
import re
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import allauth
import django
import pytest
from babel.messages.pofile import read_po
from django.conf import settings
from django.test import Client

from tools.messages import catalogue
from tools.messages.catalogue import ENGLISH, LANGUAGES, as_mo, forms, path_of, read, untranslated

pytestmark = pytest.mark.slow

PLACEHOLDERS = re.compile(r"%\(\w+\)[-.0-9]*[a-z]|%%|\{\w*\}|</?\w+[^>]*>")
# These marks need a no-break space beside them in French, and the apostrophe is ’.
LOOSE = re.compile(r" [;:!?»%](?!\()|« |\w'\w")

updated = cache(catalogue.updated)  # it collects the messages of all files for seconds


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_message_is_translated(language: str):
    assert [message.id for message in untranslated(updated(language))] == []


def test_catalogue_has_no_obsolete_messages(language: str):
    assert {message.id for message in read(language)} - {message.id for message in updated(language)} == set()


def test_translations_keep_placeholders(language: str):
    wrong = []
    for message in filter(lambda message: message.id, updated(language)):
        ids = message.id if isinstance(message.id, (tuple, list)) else [message.id]
        for original, translated in zip([*ids, *[ids[-1]] * 3], forms(message), strict=False):
            if translated and sorted(PLACEHOLDERS.findall(original)) != sorted(PLACEHOLDERS.findall(translated)):
                wrong.append((original, translated))
    assert wrong == []


@pytest.mark.parametrize("language", [*LANGUAGES, ENGLISH])
def test_compiled_catalogue_is_current(language: str):
    """Run `make messages` when this fails."""
    with path_of(language).with_suffix(".mo").open("rb") as compiled:
        assert contents(compiled) == contents(BytesIO(as_mo(read(language))))


def test_english_corrects_only_messages_of_allauth():
    """The corrections add no placeholders, which allauth would not fill."""
    with (Path(allauth.__file__).parent / "locale/fr/LC_MESSAGES/django.po").open("rb") as file:
        known = {message.id for message in read_po(file)}
    corrections = [message for message in read(ENGLISH) if message.id]
    assert corrections
    assert [message.id for message in corrections if message.id not in known] == []
    added = [
        message.id
        for message in corrections
        if {*PLACEHOLDERS.findall(message.string)} - {*PLACEHOLDERS.findall(message.id)}
    ]
    assert added == []


def test_corrections_leave_the_administration_unchanged():
    with (Path(django.__file__).parent / "contrib/admin/locale/en/LC_MESSAGES/django.po").open("rb") as file:
        of_the_administration = {message.id for message in read_po(file) if message.id}
    assert of_the_administration & {message.id for message in read(ENGLISH)} == set()


@pytest.mark.django_db
def test_account_pages_keep_the_words_of_allauth(client: Client):
    page = client.get("/accounts/login/").text
    assert "Remember Me" in page
    assert "Sign In" in page
    assert "Se connecter" in client.get("/accounts/login/", headers={"accept-language": "fr"}).text


def contents(file: Any) -> dict[Any, str]:
    known: dict[Any, str] = dict(gettext.GNUTranslations(file)._catalog)  # type: ignore[attr-defined]
    del known[""]
    return known


def test_french_punctuation_has_no_break_spaces():
    loose = [text for message in read("fr") for text in forms(message) if message.id and LOOSE.search(text)]
    assert loose == []


def test_translated_method_has_the_same_structure(language: str):
    """Compare the sequence of headings, paragraphs, lists and formulas."""
    docs = settings.BASE_DIR / "docs"
    assert parts(docs / f"method.{language}.md") == parts(docs / "method.md")


def parts(document: Path) -> list[str]:
    blocks = re.split(r"\n\s*\n", document.read_text().strip())
    return [match.group(0) if (match := re.match(r"#+|[-|]|    ", block)) else "paragraph" for block in blocks]
