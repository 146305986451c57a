"""Pages requested in French contain no English."""

import html
import re

import pytest
from django import forms
from django.contrib import admin
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from accounts.actor import Actor
from battles.models import ModerationRule
from tests import api_fixtures, make
from tests.api_fixtures import World
from tests.worlds.benchmarks import samples
from tools.messages.catalogue import forms as forms_of
from tools.messages.catalogue import read
from tools.messages.messages import APPS

pytestmark = pytest.mark.django_db

FRENCH = {"Accept-Language": "fr"}
# Shorter runs of words may be names.
MIN_WORDS = 3
PLACE = re.compile(r"%\(\w+\)[-.0-9]*[a-z]|\{\w*\}|<[^>]+>")
VISITORS_PAGES = [
    "/", "/?mode=side_by_side", "/?mode=compare", "/?mode=direct", "/nowhere/", "/sessions/", "/sessions/?archived=1",
    "/sessions/?search=nothing", "/uploads/", "/leaderboard/", "/leaderboard/?search=nothing",
    "/leaderboard/?board=compare",
    "/leaderboard/charts/", "/leaderboard/models/ada/", "/leaderboard/compare/", "/leaderboard/compare/ada/bob/",
    "/leaderboard/snapshots/", "/benchmarks/", "/data/", "/api/v1/docs/", "/accounts/login/", "/accounts/signup/",
    "/accounts/password/reset/",
]  # fmt: skip
MEMBERS_PAGES = [
    "/accounts/browsers/", "/accounts/tokens/", "/accounts/data/", "/accounts/email/", "/accounts/password/change/",
    "/accounts/logout/", "/accounts/2fa/",
]  # fmt: skip


@pytest.fixture(scope="module")
def english() -> re.Pattern[str]:
    """Pattern of the longest run of words of each message, unless its translation contains it, too."""
    runs = set()
    for message in read("fr"):
        for text_id in message.id if isinstance(message.id, (tuple, list)) else [message.id]:
            longest = max(PLACE.split(text_id.replace("%%", "%")), key=len).strip()
            if len(longest.split()) >= MIN_WORDS and not any(longest in text for text in forms_of(message)):
                runs.add(longest)
    return re.compile("|".join(rf"(?<!\w){re.escape(run)}(?!\w)" for run in sorted(runs, key=len, reverse=True)))


def text_of(page: str) -> str:
    """Return the page's text and the texts of its attributes."""
    page = re.sub(r"<(script|style|pre|article)\b.*?</\1>", " ", page, flags=re.DOTALL)
    read_out = re.findall(r'(?:title|aria-label|placeholder|alt|data-[\w-]+)="([^"]*)"', page)
    return " ".join(html.unescape(" \n ".join([re.sub(r"<[^>]+>", "", page), *read_out])).split())


def french_browser(actor: Actor) -> Client:
    client = Client(headers=FRENCH)
    client.force_login(actor.user)
    return client


@pytest.fixture
def world() -> World:
    return api_fixtures.create_world(make.member(), with_boards=True)


def english_texts(client: Client, paths: list[str], english: re.Pattern[str]) -> dict[str, list[str]]:
    """Return the English texts by page."""
    english_by_page = {}
    for path in paths:
        response = client.get(path, follow=True)
        assert response.status_code in (200, 404), path
        assert '<html lang="fr"' in response.text, path
        if texts := english.findall(text_of(response.text)):
            english_by_page[path] = texts
    return english_by_page


@pytest.mark.slow
def test_public_pages_have_no_english_in_french(world: World, english: re.Pattern[str]):
    snapshots = [f"/leaderboard/snapshots/{public_id}/" for public_id in world.ids["snapshots"]]
    assert english_texts(Client(headers=FRENCH), [*VISITORS_PAGES, *snapshots], english) == {}


@pytest.mark.slow
def test_member_pages_have_no_english_in_french(world: World, english: re.Pattern[str]):
    sessions = [f"/s/{public_id}/" for public_id in world.ids["sessions"]]
    uploads = [f"/uploads/{public_id}/" for public_id in world.ids["uploads"]]
    deletions = [f"{path}delete/" for path in (sessions[0], uploads[0])]
    own = ["/sessions/", "/uploads/", *MEMBERS_PAGES, *sessions, *uploads, *deletions]
    assert english_texts(french_browser(world.actor), own, english) == {}


@pytest.mark.slow
def test_benchmark_pages_have_no_english_in_french(world: World, english: re.Pattern[str]):
    sample = samples.sample(world.actor.user, api_fixtures.contestants()[:2])
    template, run = f"/benchmarks/t/{sample.template.public_id}/", f"/benchmarks/r/{sample.run.public_id}/"
    item = sample.item
    later = samples.finished_run(world.actor.user, sample.run.version, api_fixtures.contestants()[1::-1])
    own = [
        "/benchmarks/import/", "/benchmarks/heatmap/?average=1", f"{template}changes/", f"{run}report/",
        f"{run}compare/?with={later.public_id}",
        "/benchmarks/", "/benchmarks/?show=runs", "/benchmarks/?search=nothing", "/benchmarks/new/",
        f"{template}?version=1", f"{template}edit/", f"{template}cases/", f"{template}start/", run, f"{run}matrix/",
        f"{run}items/{item.pk}/", f"{run}case/{item.case_id}/",
    ]  # fmt: skip
    # The sample's own words.
    shown = english_texts(french_browser(world.actor), own, english)
    assert {path: texts for path, texts in shown.items() if set(texts) - {sample.template.name}} == {}


@pytest.mark.slow
def test_admin_pages_have_no_english_in_french(world: World, english: re.Pattern[str], settings):
    settings.ARENA_STAFF_SECOND_FACTOR = False
    lists = [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in admin.site._registry
        if model._meta.app_label in APPS
    ]
    client = french_browser(make.member(is_staff=True, is_superuser=True))
    assert english_texts(client, [reverse("admin:index"), "/styleguide/", *lists], english) == {}


def test_short_admin_names_are_translated(settings):
    settings.ARENA_STAFF_SECOND_FACTOR = False
    ModerationRule.objects.create(category="harming oneself", patterns=["a phrase"])
    client = french_browser(make.member(is_staff=True, is_superuser=True))
    assert "Journal d’audit" in client.get(reverse("admin:index")).text
    assert "se faire du mal" in client.get(reverse("admin:battles_moderationrule_changelist")).text


def test_generated_form_label_is_translated():
    class NameForm(forms.Form):
        name = forms.CharField()

    with override("fr"):
        assert "Nom</label>" in render_to_string("allauth/elements/fields.html", {"attrs": {"form": NameForm()}})


@pytest.mark.slow
def test_csv_and_json_are_language_independent(world: World):
    for path in (
        "/leaderboard/?format=csv",
        "/api/v1/leaderboard/matrix/",
        f"/api/v1/models/{world.ids['models'][0]}/",
    ):
        assert Client(headers=FRENCH).get(path).content == Client().get(path).content


def test_english_run_of_words_is_found(english: re.Pattern[str]):
    assert english.findall(text_of('<p title="x">Please vote <b>first.</b></p>')) == ["Please vote first."]
