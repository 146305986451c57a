import pytest
from django.test import Client

from accounts.models import AuditEntry, User
from battles import actions
from battles.models import FeedbackTag, PromptSuggestion, Vote
from tests import make

pytestmark = pytest.mark.django_db
TAGS, PROMPTS = "/admin/battles/feedbacktag/", "/admin/battles/promptsuggestion/"


@pytest.fixture
def admin(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    FeedbackTag.objects.all().delete()
    PromptSuggestion.objects.all().delete()
    return client


def tag_form(slug: str, **fields: object) -> dict[str, object]:
    return {"slug": slug, "labels_en": slug.title(), "labels_fr": "", "is_good": "on", "position": 1, **fields}


def test_suggestions_are_shown_in_their_languages(admin: Client):
    make.model()
    make.model()
    form = {"texts_en": "<i>Rivers</i>", "texts_fr": "", "position": 2, "is_shown": "on"}
    assert admin.post(f"{PROMPTS}add/", form).status_code == 302
    assert admin.post(f"{PROMPTS}add/", {**form, "texts_en": "", "texts_fr": "Les lacs"}).status_code == 302
    assert admin.post(f"{PROMPTS}add/", {**form, "texts_en": "Hidden", "is_shown": ""}).status_code == 302
    page, french = Client().get("/").text, Client(headers={"Accept-Language": "fr"})
    assert 'dir="auto">&lt;i&gt;Rivers&lt;/i&gt;</button>' in page
    assert page.count("data-fills") == 1
    assert french.get("/api/v1/suggestions/").json()["results"] == [{"prompt": "Les lacs"}]
    refused = admin.post(f"{PROMPTS}add/", {**form, "texts_en": "x" * 501, "texts_fr": "Les mers"}).text
    assert "English: 501 characters are too many; at most 500." in refused
    assert "Les mers</textarea>" in refused


def test_tag_with_votes_is_retired_others_are_deleted(admin: Client, administrator: User):
    for slug in ("funny", "unused"):
        assert admin.post(f"{TAGS}add/", tag_form(slug)).status_code == 302
    member = make.member()
    battle = make.answered_battle(make.model(), make.model(), actor=member)
    actions.cast_vote(actor=member, battle=battle, choice=Vote.Choice.LEFT)
    reader, feedback = make.browser(member), f"/api/v1/battles/{battle.public_id}/feedback/"
    funny = {"tags": {"left": ["funny"]}}
    assert reader.post(feedback, funny, "application/json").status_code == 200
    for tag in FeedbackTag.objects.all():
        admin.post(f"{TAGS}{tag.pk}/delete/", {"post": "yes"})
    assert list(FeedbackTag.objects.values_list("slug", "is_retired")) == [("funny", True)]
    assert (
        reader.post(feedback, {**funny, "comment": "Still."}, "application/json").status_code == 200
    )  # it keeps its tag
    assert "Funny</span>" in reader.get(battle.session.get_absolute_url()).text
    refused = reader.post(feedback, {"tags": {"right": ["funny"]}}, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_tag")
    assert reader.get("/api/v1/feedback-tags/").json()["results"] == []
    acts = [("add", "funny"), ("add", "unused"), ("retire", "funny"), ("delete", "unused")]
    entries = AuditEntry.objects.order_by("pk").values_list("user", "action", "subject")
    assert list(entries) == [(administrator.pk, f"{verb} feedback tag", slug) for verb, slug in acts]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"slug": "Not good"}, "Use small letters, digits and “_” only."),
        ({"labels_en": "", "labels_fr": ""}, "Write a label in at least one language."),
        ({"labels_fr": "x" * 41}, "Français: 41 characters are too many; at most 40."),
    ],
)
def test_invalid_tag_is_refused_and_shown_again(admin: Client, fields: dict, sentence: str):
    page = admin.post(f"{TAGS}add/", {**tag_form("funny", labels_fr="drôle"), **fields}).text
    assert sentence in page
    assert 'value="drôle"' in page or "labels_fr" in fields
    assert not FeedbackTag.objects.exists()
