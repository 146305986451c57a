"""Joining by link and by personal codes."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.models import Visitor
from accounts.personal_data import collect_personal_data
from arena_site.retention import purge
from common.client_ip import lasting_hash
from common.valkey import limits
from reviews import actions
from reviews.actions.joining import networks_forgotten
from reviews.codes import ALPHABET, LENGTH, new_code, parse_code, shown_code
from reviews.errors import NoSuchCode, PersonalCodeUsed, ReviewFull
from reviews.evidence import read_networks
from reviews.models import PersonalCode, Review, Reviewer
from reviews.publishing import publish
from reviews.queries import joined_sentence
from reviews.reports.actions import report_on_review
from tests import make
from tests.concurrency import race
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db
EXPECTED = 3


@pytest.fixture
def by_link(owner: Actor, sample: Sample) -> Review:
    made = actions.create_review(owner=owner.user, run=sample.run, audience="link", expected_people=EXPECTED)
    return actions.open_review(made)


@pytest.fixture
def by_codes(owner: Actor, sample: Sample) -> Review:
    made = actions.create_review(owner=owner.user, run=sample.run, audience="codes", expected_people=EXPECTED)
    return actions.open_review(made)


def join(review: Review, actor: Actor | None = None) -> Reviewer:
    return actions.join_review(actor or make.visitor(), review, code=review.code)


def test_codes_have_no_letters_that_look_alike():
    codes = {new_code() for _n in range(1_000)}
    assert len(codes) == 1_000
    assert all(len(code) == LENGTH == 8 and set(code) <= set(ALPHABET) for code in codes)
    assert not set("AEIOULJ") & set(ALPHABET)
    assert parse_code(" bcdf-ghkm ") == "BCDFGHKM"
    assert [parse_code(typed) for typed in ("", "BCDF", "ABCDEFGH", "BCDFGHKMN", "BCDF\0HKM")] == [""] * 5
    assert parse_code(shown_code("BCDFGHKM")) == "BCDFGHKM"


def test_visitor_joins_without_account_and_votes(by_link: Review, client: Client):
    assert client.get(by_link.get_absolute_url()).status_code == 404
    page = client.get(f"/join/?code={by_link.code}").content.decode()
    assert f'value="{by_link.code}"' in page
    assert not Visitor.objects.exists()

    joined = client.post("/join/", {"code": shown_code(by_link.code).lower(), "nickname": "Ada"})
    assert (joined.status_code, joined["Location"]) == (303, by_link.get_absolute_url())
    assert client.get(by_link.get_absolute_url()).status_code == 200
    begun = client.post(f"/review/{by_link.public_id}/next/")
    assert client.get(begun["Location"].partition("#")[0]).status_code == 200
    reviewer = Reviewer.objects.get()
    assert (reviewer.nickname, reviewer.network) == ("Ada", lasting_hash("127.0.0.1", f"review:{by_link.public_id}"))


def test_wrong_code_is_refused_without_a_visitor(by_link: Review, client: Client):
    refused = client.post("/join/", {"code": "BCDFGHKM"})
    assert refused.status_code == 404
    assert "No open review has this code" in refused.content.decode()
    assert not Visitor.objects.exists()


def test_ten_wrong_codes_a_minute_stop_a_network(by_link: Review, client: Client):
    statuses = [client.post("/join/", {"code": "BCDFGHKM"}).status_code for _n in range(11)]
    assert statuses == [404] * 10 + [429]
    assert client.post("/join/", {"code": by_link.code}).status_code == 429
    assert client.post("/join/", {"code": by_link.code}, REMOTE_ADDR="192.0.2.7").status_code == 303


def test_right_codes_of_a_class_are_not_counted(owner: Actor, sample: Sample):
    made = actions.create_review(owner=owner.user, run=sample.run, audience="link", expected_people=40)
    review = actions.open_review(made)
    statuses = [Client().post("/join/", {"code": review.code}).status_code for _n in range(40)]
    assert statuses == [303] * 40
    full = Client().post("/join/", {"code": review.code})
    assert (full.status_code, review.reviewers.count()) == (409, 40)


def test_a_class_behind_one_network_joins_at_once(by_link: Review, monkeypatch: pytest.MonkeyPatch):
    together = Barrier(15)

    def find(_code: str) -> Review:
        together.wait(30)  # all are under way
        return by_link

    monkeypatch.setattr("reviews.actions.joining._review_of", find)
    keys = {"network": limits.Key("network:192.0.2.7")}
    assert race(lambda _n: actions.find_by_code(by_link.code, keys), range(15)) == [by_link] * 15


def test_no_more_than_the_expected_people_join(by_link: Review):
    first = make.visitor()
    for person in (first, *(make.visitor() for _n in range(EXPECTED - 1))):
        join(by_link, person)
    with pytest.raises(ReviewFull):
        join(by_link)
    join(by_link, first)
    assert by_link.reviewers.count() == EXPECTED


def test_new_code_stops_the_old_one(by_link: Review):
    person, old = make.visitor(), by_link.code
    join(by_link, person)
    renewed = actions.renew_code(by_link)
    assert renewed.code not in ("", old)
    with pytest.raises(NoSuchCode):
        actions.join_review(make.visitor(), by_link, code=old)
    assert actions.next_battle(person, renewed) is not None

    closed = actions.close_link(by_link)
    for code in ("", old, renewed.code):
        with pytest.raises(NoSuchCode):
            actions.join_review(make.visitor(), closed, code=code)
    assert join(actions.renew_code(by_link)).pk


def test_closed_review_lets_nobody_in(by_link: Review):
    code = by_link.code
    closed = actions.close_review(by_link)
    assert closed.code == ""
    assert Client().post("/join/", {"code": code}).status_code == 404


def test_personal_code_lets_one_person_in(by_codes: Review):
    codes = list(PersonalCode.objects.filter(review=by_codes).values_list("code", flat=True))
    assert len(set(codes)) == EXPECTED
    person = make.visitor()
    actions.join_review(person, by_codes, code=codes[0])
    actions.join_review(person, by_codes, code=codes[0])
    with pytest.raises(PersonalCodeUsed):
        actions.join_review(make.visitor(), by_codes, code=codes[0])
    for wrong in ("", "BCDFGHKM"):
        with pytest.raises(NoSuchCode):
            actions.join_review(make.visitor(), by_codes, code=wrong)
    assert by_codes.reviewers.get().personal_code.code == codes[0]


def test_owner_prints_personal_codes(by_codes: Review, owner: Actor):
    address = f"/review/{by_codes.public_id}/codes/"
    page = make.browser(owner).get(address).content.decode()
    assert len(re.findall(r"<code>[A-Z]{4}-[A-Z]{4}</code>", page)) == EXPECTED
    assert make.browser(make.member()).get(address).status_code == 404


def test_expected_people_are_required(owner: Actor, sample: Sample):
    body = {"run": sample.run.public_id, "audience": "link"}
    refused = make.api(owner.user).post("/api/v1/reviews/", body, "application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["expected_people"])


def test_program_joins_by_code(by_link: Review, owner: Actor):
    api, body = make.api(make.user()), {"code": by_link.code, "nickname": "Bob"}
    assert api.get(f"/api/v1/reviews/{by_link.public_id}/").status_code == 404
    joined = api.post("/api/v1/reviews/join/", body, "application/json")
    assert (joined.status_code, joined.json()["id"], joined.json()["asks_you"]) == (200, by_link.public_id, True)
    assert "code" not in joined.json()
    assert make.api(owner.user).get(f"/api/v1/reviews/{by_link.public_id}/").json()["code"] == by_link.code


def test_owner_sees_people_per_network(by_link: Review, owner: Actor):
    for network in ("a", "a", "b"):
        Reviewer.objects.create(review=by_link, person=f"visitor:{make.visitor().visitor.pk}", network=network)
    page = " ".join(make.browser(owner).get(by_link.settings_url).content.decode().split())
    assert f"3 of {EXPECTED} expected people have joined" in page
    assert "2 people from network 1" in page
    assert "1 person from network 2" in page
    assert shown_code(by_link.code) in page


def test_result_says_how_people_came(by_link: Review, owner: Actor):
    for _n in range(2):
        person = make.visitor()
        join(by_link, person)
        battle = actions.next_battle(person, by_link)
        assert battle is not None
        make.browser(person).post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    closed = actions.close_review(by_link)
    page = make.browser(owner).get(f"/review/{closed.public_id}/results/").content.decode()
    assert "2 people by link, 2 from one network, not verified." in page


def test_people_of_a_network_are_counted_over_months(by_link: Review, monkeypatch: pytest.MonkeyPatch):
    for month in ("2026-11", "2026-12"):
        monkeypatch.setattr("common.client_ip.keyed_hash", lambda network, _month="", now=month: f"{now}:{network}")
        assert Client().post("/join/", {"code": by_link.code}).status_code == 303
    assert [row.people for row in read_networks(by_link)] == [2]
    other = actions.open_review(
        actions.create_review(owner=by_link.owner, run=by_link.run, audience="link", expected_people=9)
    )
    Client().post("/join/", {"code": other.code})
    assert len(set(Reviewer.objects.values_list("network", flat=True))) == 2  # a hash tells nothing in another review


@pytest.mark.parametrize("is_closed", [True, False])
def test_forgotten_networks_make_the_number_a_least(by_link: Review, owner: Actor, *, is_closed: bool):
    people = [make.visitor() for _n in range(EXPECTED)]
    for person in people:
        join(by_link, person)
        battle = actions.next_battle(person, by_link)
        make.browser(person).post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    long_ago = timezone.now() - timedelta(days=61)
    Reviewer.objects.filter(person=people[0].key).update(joined_at=long_ago)
    purge()
    if is_closed:
        actions.close_review(by_link)
    by_link.refresh_from_db()
    assert networks_forgotten(by_link) == 1
    sentence = "3 people by link, at least 2 from one network, not verified."
    assert joined_sentence(by_link, 3) == sentence
    page = " ".join(make.browser(owner).get(by_link.settings_url).content.decode().split())
    assert "2 people from network 1 · 1 person from a network that is not known any more" in page
    if is_closed:
        results = make.browser(owner).get(f"/review/{by_link.public_id}/results/").content.decode()
        assert sentence in results
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # votes are numbered at COMMIT
        publish(by_link)
        report = report_on_review(owner=owner.user, review=by_link, question="Which?")
        assert sentence in make.browser(owner).get(f"/reports/{report.public_id}/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_people_at_once_take_no_place_twice(by_link: Review):
    people = [make.visitor() for _n in range(2 * EXPECTED)]

    def attempt(person: Actor) -> bool:
        try:
            return bool(join(by_link, person))
        except ReviewFull:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as threads:
        assert sum(threads.map(attempt, people)) == EXPECTED
    assert by_link.reviewers.count() == EXPECTED


def test_place_follows_a_visitor_into_the_account(by_link: Review):
    visitor, member = make.visitor(), make.member()
    join(by_link, visitor)
    visitor_claimed.send(sender=Visitor, visitor=visitor.visitor, user=member.user)
    assert by_link.reviewers.get().person == member.key
    assert make.browser(member).get(by_link.get_absolute_url()).status_code == 200
    [joined] = collect_personal_data(member.user)["joined_reviews"]
    assert (joined["id"], joined["nickname"]) == (by_link.public_id, "")


def test_deleted_account_leaves_no_name_or_network(by_link: Review):
    member = make.member()
    actions.join_review(member, by_link, code=by_link.code, nickname="Ada")
    delete_account(member.user)
    reviewer = by_link.reviewers.get()
    assert reviewer.person.startswith("deleted:")
    assert (reviewer.nickname, reviewer.network) == ("", "")


def test_networks_are_deleted_after_sixty_days(by_link: Review):
    old, new = join(by_link), join(by_link)
    Reviewer.objects.filter(pk=old.pk).update(joined_at=timezone.now() - timedelta(days=61))
    purge()
    assert set(Reviewer.objects.exclude(network="")) == {new}


def test_lists_ask_once_who_joined(owner: Actor, sample: Sample):
    person = make.user()
    actor, api = Actor(user=person, network="127.0.0.1"), make.api(person)
    counts = []
    api.get("/api/v1/reviews/")  # fills caches
    for n in (1, 4):
        for _n in range(n):
            made = actions.create_review(owner=owner.user, run=sample.run, audience="link", expected_people=9)
            join(actions.open_review(made), actor)
        with CaptureQueriesContext(connection) as queries:
            assert all(review["asks_you"] for review in api.get("/api/v1/reviews/").json()["results"])
        counts.append(len(queries))
    assert counts[0] == counts[1]
