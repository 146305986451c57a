from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.functional import Promise

from common.errors import ArenaError
from tools.messages.messages import APPS, templates
from tools.messages.unmarked import sentences_in_program, words_in_template

# Commands, the supervisor and the API's documentation are in English only.
ENGLISH = (
    "management",
    "supervisor",
    "embedded",
    "backups",
    "schema.py",
    "payload_types.py",
    "migrations",
)


def programs() -> Iterator[Path]:
    for app in APPS:
        for path in sorted((settings.BASE_DIR / app).rglob("*.py")):
            if not set(ENGLISH) & set(path.parts):
                yield path


def refusals(kind: type[ArenaError] = ArenaError) -> set[type[ArenaError]]:
    return {kind}.union(*(refusals(narrower) for narrower in kind.__subclasses__()))


def named(path: Path) -> str:
    return str(path.relative_to(settings.BASE_DIR))


@pytest.mark.parametrize("path", templates(), ids=named)
def test_templates_have_no_unmarked_words(path: Path):
    assert words_in_template(path.read_text()) == []


def test_unmarked_words_of_template_are_found():
    source = """{% load i18n %}
    <p title="A tip">{% comment %}not read{% endcomment %}Plain{% if a %}, more{% endif %}</p>
    <input type="submit" value="Send"><code>not prose</code>{% blocktranslate %}Marked{% endblocktranslate %}
    {% translate "Marked" %}<a href="/address/" class="button">{{ name }}</a> CSV"""
    assert words_in_template(source) == ["tip", "Plain", "more", "Send"]


def test_refusal_messages_are_lazy_translations():
    kinds = {kind for kind in refusals() if kind.__module__.split(".")[0] in APPS}
    assert [kind for kind in kinds if not isinstance(kind.message, Promise)] == []


@pytest.mark.slow
def test_python_has_no_unmarked_sentences():
    names = {kind.__name__ for kind in refusals()}
    unmarked = {named(path): sentences_in_program(path.read_text(), names) for path in programs()}
    assert {path: sentences for path, sentences in unmarked.items() if sentences} == {}


def test_unmarked_sentences_of_python_are_found():
    source = """
class Refused(ArenaError):
    message = "Not now."
def view(request):
    messages.success(request, f"{model} is gone.")
    logger.warning("not read by people")
    raise NotFound("There is none.") if a else NotFound(_("There is none."))
name = forms.CharField(label="Your name", help_text=_("As people know you."))
"""
    unmarked = sentences_in_program(source, {"NotFound"})
    assert sorted(unmarked) == ["Not now.", "There is none.", "Your name", "… is gone."]
