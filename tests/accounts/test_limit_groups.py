"""Networks and groups of members with wider limits, in the administration and over HTTP."""

from collections import Counter

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.db import connection
from django.test import Client, RequestFactory

from accounts.actor import Actor, browser_actor, ensure_known_actor
from accounts.limiting import groups
from accounts.models import AuditEntry, LimitGroup, Visitor
from battles.models import Answer, Battle, Turn, Vote
from common.errors import TooManyRequests
from common.valkey import limits
from tests import make

pytestmark = pytest.mark.django_db
PAGE = "/admin/accounts/limitgroup/add/"
ADDRESS = "203.0.113.7"


@pytest.fixture
def admin(client: Client, administrator: object) -> Client:
    client.force_login(administrator)
    return client


def name_network(network: str = "203.0.113.0/24", *, times: int = 4) -> LimitGroup:
    return LimitGroup.objects.create(name="class", networks=[network], times=times)


def start_battle(person: Client) -> tuple[int, str]:
    response = person.post("/api/v1/sessions/", {"prompt": "hello"}, "application/json")
    body = response.json()
    return response.status_code, body["battles"][0]["id"] if response.status_code == 201 else body["detail"]


def vote(person: Client, battle: str) -> int:
    Turn.objects.filter(battle__public_id=battle).update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle__public_id=battle).update(state=Answer.State.DONE, text="an answer")
    return person.post(f"/api/v1/battles/{battle}/vote/", {"choice": "tie"}, "application/json").status_code


@pytest.mark.slow
def test_class_of_forty_battles_and_votes_for_an_hour():
    # Each pupil's first and last of twenty battles are over HTTP, the others are only counted.
    name_network()
    make.model(), make.model()
    pupils = [Client(REMOTE_ADDR=ADDRESS) for _ in range(40)]
    first = [start_battle(pupil) for pupil in pupils]
    for visitor in Visitor.objects.all():
        actor = Actor(visitor=visitor, network=visitor.network, address=ADDRESS)
        for action in ("battle", "vote") * 18:
            actor.count(action, fail_open=False)
    last = [start_battle(pupil) for pupil in pupils]
    statuses = [vote(pupil, battle) for pupil, (_, battle) in zip(pupils, last, strict=True)]
    assert Counter(status for status, _ in (*first, *last)) == {201: 80}
    assert statuses == [201] * 40
    assert not Vote.objects.exclude(excluded_reason="").exists()
    assert limits.limits_of("battle", "network")[0].amount < 40 * 20


@pytest.mark.slow
def test_forty_cookies_get_what_their_network_may_have(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("battle", "visitor"): "2/hour", ("battle", "network"): "9/hour"}
    make.model(), make.model()
    alone = Client(REMOTE_ADDR="203.0.113.8")
    assert [start_battle(alone)[0] for _ in range(3)] == [201, 201, 429]
    cookies = [Client(REMOTE_ADDR=ADDRESS) for _ in range(40)]
    answers = [start_battle(cookie) for cookie in cookies for _ in range(2)]
    assert Counter(status for status, _ in answers) == {201: 9, 429: 71}
    refusals = {sentence.replace("\xa0", " ") for status, sentence in answers if status == 429}
    assert refusals == {"Your network has reached the limit of 9 in 1 hour. Please wait."}
    assert Battle.objects.count() == 11


def allowed(*addresses: str) -> int:
    """Return how many new visitors of these addresses may start a battle."""
    for number in range(50):
        request = RequestFactory().get("/", REMOTE_ADDR=addresses[number % len(addresses)])
        request.user = AnonymousUser()
        request.actor = browser_actor(request)
        try:
            ensure_known_actor(request).count("battle", fail_open=False)
        except TooManyRequests:
            return number
    raise AssertionError


@pytest.mark.parametrize(
    ("named", "inside", "outside"),
    [
        ("203.0.113.0/24", ["203.0.113.7"], ["203.0.114.7"]),
        ("2001:db8:1:7::/64", ["2001:db8:1:7::1", "2001:db8:1:7::2"], ["2001:db8:1:8::1"]),
        ("2001:db8:1::/48", ["2001:db8:1:7::1"], ["2001:db8:2:7::1"]),
    ],
)
def test_named_network_is_wider_and_takes_none_from_others(settings, named, inside, outside):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("battle", "network"): "3/hour", ("battle", "network48"): "3/hour"}
    name_network(named)
    assert (allowed(*inside), allowed(*outside)) == (12, 3)


def test_group_of_members_has_wider_limits(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("battle", "member"): "2/hour"}
    researchers = Group.objects.create(name="researchers")
    LimitGroup.objects.create(name="research", members=researchers, times=3)

    def counted(actor: Actor) -> int:
        for number in range(9):
            try:
                actor.count("battle", fail_open=False)
            except TooManyRequests:
                return number
        raise AssertionError

    member = make.member()
    member.user.groups.add(researchers)
    assert (counted(member), counted(make.member())) == (6, 2)


REFUSED = [
    ("0.0.0.0/0", "“0.0.0.0/0” is every address. Change the limit of a network instead."),
    ("::/0", "“::/0” is every address."),
    ("64.0.0.0/2", "“64.0.0.0/2” is too wide. Write networks of /8 or smaller."),
    ("192.0.2.7/24", "“192.0.2.7/24” is an address in 192.0.2.0/24."),
    ("2001:db8::7", "Write 2001:db8::/64 instead of “2001:db8::7”."),
    ("::ffff:192.0.2.7", "“::ffff:192.0.2.7” is no network."),
    ("fe80::%eth0/64", "“fe80::%eth0/64” is no network."),
    ("room twelve", "“room” is no network."),
]


@pytest.mark.parametrize(("typed", "sentence"), REFUSED)
def test_network_is_refused_with_a_sentence(admin: Client, typed: str, sentence: str):
    page = admin.post(PAGE, {"name": "class", "networks": f"192.0.2.0/24\n{typed}", "times": 4})
    assert sentence in page.text
    assert f"192.0.2.0/24\n{typed}</textarea>" in page.text
    assert not LimitGroup.objects.exists()


def test_group_of_nothing_and_wrong_factors_are_refused(admin: Client):
    assert "Name a network, or a group of members." in admin.post(PAGE, {"name": "class", "times": 4}).text
    for times in (1, 101, "many"):
        admin.post(PAGE, {"name": "class", "networks": "192.0.2.7", "times": times})
    assert not LimitGroup.objects.exists()


def test_named_network_is_stored_audited_and_listed(admin: Client):
    admin.post(PAGE, {"name": "class", "networks": "192.0.2.7, 2001:db8::/48\n192.0.2.7", "times": 4})
    networks = ["192.0.2.7/32", "2001:db8::/48"]
    assert LimitGroup.objects.get().networks == networks
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject, entry.details["networks"]) == ("add limit group", "class", networks)
    page = admin.get("/admin/accounts/limit/").text
    assert "4 times as wide" in page
    assert ", ".join(networks) in page
    assert "600/hour,3000/day" in page


def test_limits_are_counted_before_the_groups_table_exists():
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE accounts_limitgroup")
    groups.in_force.invalidate()
    make.visitor().count("vote", fail_open=False)
