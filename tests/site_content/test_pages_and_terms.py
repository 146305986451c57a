import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from accounts.models import AuditEntry, User
from battles.models import Battle
from site_content.actions import accept_terms, publish_page
from site_content.models import PageVersion, TermsAcceptance
from tests import make
from tests.pages import compact

pytestmark = pytest.mark.django_db
Page = PageVersion.Page
ADD = "/admin/site_content/pageversion/add/"
START = {"prompt": "Name three rivers."}


@pytest.fixture
def models() -> None:
    make.model()
    make.model()


def terms(**fields: object) -> PageVersion:
    return publish_page(
        **{"page": Page.TERMS, "texts": {"en": "Be kind."}, "must_be_accepted": True, "by": None, **fields}
    )


def test_page_is_shown_in_languages_with_its_versions(admin: Client, administrator: User):
    form = {"page": "privacy", "texts_en": "# We\n\n<script>x</script> [no](javascript:x)", "texts_fr": "# Nous"}
    assert admin.post(ADD, form).status_code == 302
    assert 'href="/site/privacy/"' in Client().get("/").text
    english = Client().get("/site/privacy/").text
    assert "<h2>We</h2>" in english
    assert "<script>x" not in english
    assert 'href="javascript' not in english
    french = Client(headers={"Accept-Language": "fr"}).get("/site/privacy/").text
    assert "<h2>Nous</h2>" in french
    assert "Version 1, publiée le" in french
    assert "# We" in admin.get(f"{ADD}?page=privacy").text  # the next version begins with this one
    assert admin.post(ADD, {"page": "privacy", "texts_fr": "# Vous"}).status_code == 302
    newest = Client().get("/site/privacy/").text
    assert "This page is not available in your language." in newest
    assert "<h2>We</h2>" in Client().get("/site/privacy/?version=1").text
    api = Client().get("/api/v1/site/pages/privacy/").json()
    assert (api["version"], api["language"], api["markdown"]) == (2, "fr", "# Vous")
    assert admin.post(ADD, {"page": "privacy"}).status_code == 302  # withdrawn
    assert 'href="/site/privacy/"' not in Client().get("/").text
    assert Client().get("/site/privacy/").status_code == 404
    entries = AuditEntry.objects.order_by("pk").values_list("user", "action", "subject")
    assert list(entries) == [(administrator.pk, "add page version", f"privacy {number}") for number in (1, 2, 3)]


def test_private_site_shows_its_pages_to_anyone(settings):
    settings.ARENA_ACCESS = "private"
    publish_page(page=Page.LEGAL, texts={"en": "Us"}, must_be_accepted=False, by=None)
    assert Client().get("/site/legal/").status_code == 200
    assert Client().get("/").status_code == 302
    assert Client().post("/terms/accept/", {"version": "1"}).status_code == 401


def test_long_page_is_refused_with_its_text(admin: Client):
    page = admin.post(ADD, {"page": "legal", "texts_en": "x" * 100_001, "texts_fr": "Mentions"})
    assert "English: 100001 characters are too many; at most 100000." in page.text
    assert "x" * 100_001 in page.text
    assert "Mentions</textarea>" in page.text
    book = admin.post(ADD, {"page": "legal", "texts_en": "x" * 2_000_000})
    assert (book.status_code, "The request is too large." in book.text) == (413, True)
    wrong = admin.post(ADD, {"page": "legal", "texts_en": "x", "must_be_accepted": "on"})
    assert "Only terms of use can be accepted." in wrong.text
    assert not PageVersion.objects.exists()


def test_published_page_never_changes():
    version = terms()
    for change in (version.delete, lambda: PageVersion.objects.update(texts={"en": "Pay."})):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


@pytest.mark.usefixtures("models")
def test_api_refuses_battles_until_terms_are_accepted(client: Client):
    terms()
    key = {"Idempotency-Key": "once"}
    refusal = client.post("/api/v1/sessions/", START, "application/json", headers=key)
    assert refusal.status_code == 428
    assert (refusal.json()["code"], refusal.json()["page"]) == ("terms_not_accepted", "/site/terms/")
    assert not Battle.objects.exists()
    assert client.post("/api/v1/me/terms/", {"version": 2}, "application/json").json()["code"] == "terms_changed"
    accepted = client.post("/api/v1/me/terms/", {"version": 1}, "application/json").json()
    assert (accepted["is_accepted"], accepted["accepted_version"]) == (True, 1)
    session = client.post("/api/v1/sessions/", START, "application/json", headers=key)
    assert session.status_code == 201
    terms(must_be_accepted=False, texts={"en": "Be kind!"})  # a correction
    again = f"/api/v1/sessions/{session.json()['id']}/battles/"
    assert client.post(again, START, "application/json").status_code == 201
    terms()
    assert client.post(again, START, "application/json").status_code == 428
    terms(texts={})  # withdrawn
    assert client.post(again, START, "application/json").status_code == 201


@pytest.mark.usefixtures("models")
def test_page_asks_for_terms_and_keeps_the_prompt():
    assert "accept_terms" not in Client().get("/").text
    terms()
    visitor = make.visitor()
    known, newcomer = make.browser(visitor), Client()
    assert 'name="accept_terms" value="1"' in newcomer.get("/").text
    assert 'name="accept_terms" value="1" required' in compact(known.get("/").text)
    refused = known.post("/", {"prompt": "Kept words"}, headers={"HX-Request": "true"})
    assert (refused.status_code, Battle.objects.count()) == (422, 0)
    assert "Please accept the terms of use first." in refused.text
    assert "Kept words</textarea>" in refused.text
    assert 'name="accept_terms" value="1"' in refused.text
    terms()
    old = known.post("/", {"prompt": "Kept words", "accept_terms": "1"})
    assert "The terms of use have changed meanwhile." in old.text
    assert not TermsAcceptance.objects.exists()
    assert known.post("/", {"prompt": "Kept words", "accept_terms": "2"}).status_code == 303
    battle = Battle.objects.get()
    terms()
    page = known.post(f"/s/{battle.session.public_id}/battles/", {"prompt": "More words"}).text
    assert "More words</textarea>" in page
    known.post("/terms/accept/", {"version": "3"})
    assert "You accepted this version on" in known.get("/site/terms/").text


@pytest.mark.slow
@pytest.mark.usefixtures("models")
def test_member_sees_terms_first_and_keeps_the_tick():
    terms()
    member = make.browser(make.member())
    assert 'name="accept_terms" value="1"' in member.get("/").text
    newcomer = Client()
    too_long = {"prompt": "x" * 20_001, "accept_terms": "1"}
    refused = compact(newcomer.post("/", too_long).text)
    assert 'name="accept_terms" value="1" required checked' in refused
    terms()
    assert 'name="accept_terms" value="2" required>' in compact(Client().post("/", {**too_long, "mode": "none"}).text)
    assert member.post("/", {"prompt": "Some words", "accept_terms": "2"}).status_code == 303
    assert "accept_terms" not in member.get("/").text
    session = Battle.objects.get().session
    terms()
    page = compact(member.get(f"/s/{session.public_id}/").text)
    assert 'name="accept_terms" value="3">' in page  # not required: follow-ups need no new acceptance


def test_visitors_acceptance_stays_with_the_member():
    terms()
    visitor, member = make.visitor(), make.member()
    accept_terms(actor=visitor, number=1)
    visitor.visitor.claimed_by = member.user
    visitor.visitor.save()
    browser = make.browser(member)
    assert browser.get("/api/v1/me/terms/").json()["is_accepted"]
    assert [each["version"] for each in browser.get("/api/v1/me/export/").json()["terms"]] == [1]
    assert not make.browser(Actor(user=make.user())).get("/api/v1/me/terms/").json()["is_accepted"]


@pytest.mark.usefixtures("models")
def test_start_page_costs_a_query_only_for_required_terms(django_assert_num_queries):
    browser = make.browser(make.member())
    browser.get("/")
    with CaptureQueriesContext(connection) as before:
        browser.get("/")
        count = len(before)
    terms(must_be_accepted=False)
    publish_page(page=Page.LEGAL, texts={"en": "Us"}, must_be_accepted=False, by=None)
    browser.get("/")
    with django_assert_num_queries(count):
        page = browser.get("/").text
    terms()
    browser.get("/")
    with django_assert_num_queries(count + 1):
        browser.get("/")
    assert [f'href="/site/{name}/"' in page for name in ("legal", "privacy", "terms")] == [True, False, True]
