import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User
from battles.models import Battle, RoutingDecision
from gateway.models import Exchange
from routing.models import DecisionOutcome, RouterSnapshot
from tests import make
from tests.routing.rows import decision

pytestmark = pytest.mark.django_db
DECISIONS = "/admin/battles/routingdecision/"
CANDIDATES = [
    {
        "model": "ada", "name": "Ada", "theta": 0.5, "sd": 0.25, "win_chance": 0.62, "good_enough": 0.7,
        "cost": "0.00010000", "first_token_ms": 210, "reason_out": "",
    },
    {"model": "bob", "name": "<b>Bob", "win_chance": None, "reason_out": "tools"},
    {"model": "cyd", "name": "Cyd", "win_chance": 0.4, "good_enough": 0.5, "cost": "0.00000000"},
]  # fmt: skip


@pytest.fixture
def client(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client


def test_decision_shows_candidates_as_table(client: Client):
    row = decision(make.model(name="Ada"), candidates=CANDIDATES, details={"win_chance": 0.62})
    page = client.get(f"{DECISIONS}{row.pk}/change/").text
    assert "Chosen because it wins 62 % of such questions here." in page
    assert '<tr><th scope="row">Ada</th><td>62 %</td><td>70 %</td><td>$0.00010</td><td>210 ms</td>' in page
    assert '<tr><th scope="row">&lt;b&gt;Bob</th><td>–</td>' in page
    assert '<tr><th scope="row">Cyd</th><td>40 %</td><td>50 %</td><td>$0</td>' in page
    assert "<caption>Candidates, the best first</caption>" in page
    assert 'name="_save"' not in page


@pytest.mark.slow
def test_decisions_are_filtered_and_found(client: Client):
    model = make.model()
    first = decision(model, query_type="coding", person="user:7")
    decision(model, query_type="maths", target="stay", reason="stay")

    def listed(query: str) -> list[int]:
        return [row.pk for row in client.get(f"{DECISIONS}?{query}").context["cl"].result_list]

    assert listed("query_type=coding") == listed("reason=best") == listed("target__exact=model") == [first.pk]
    assert listed("q=user:7") == listed(f"q={first.public_id}") == [first.pk]
    assert listed("query_type=unknown") == []


def test_own_open_battle_hides_its_decision(client: Client, administrator: User):
    """Staff votes blindly, too."""
    ada, bob = make.model(name="Ada"), make.model(name="Bob")
    battle = make.answered_battle(ada, bob, actor=make.member())
    Battle.objects.filter(pk=battle.pk).update(origin="router")
    row = decision(ada, target="arena", battle=battle, runner_up=bob, candidates=CANDIDATES)
    Exchange.objects.create(asked_model="battle", battle=battle, decision=row)
    outcome = DecisionOutcome.objects.create(decision=row, good=True)
    pages = (
        f"{DECISIONS}{row.pk}/change/",
        f"/admin/gateway/exchange/{Exchange.objects.get().pk}/change/",
        f"/admin/routing/decisionoutcome/{outcome.pk}/change/",
    )
    assert [client.get(page).status_code for page in pages] == [200, 200, 200]
    type(battle.session).objects.filter(pk=battle.session_id).update(owner_user=administrator)
    assert [client.get(page).status_code for page in pages] == [302, 302, 302]


def test_snapshot_shows_its_parts_and_prices(client: Client):
    heads = [{"name": "labels", "passed": True, "gain": 0.0123, "lower_bound": 0.004, "scale": 0.7}]
    snapshot = RouterSnapshot.objects.create(
        slot="1", state="published", heads=heads, prices=[9.5, 4, 0], parameters=b"\x00secret", votes=40
    )
    shown = client.get("/admin/routing/routersnapshot/").text
    assert "labels" in shown
    page = client.get(f"/admin/routing/routersnapshot/{snapshot.pk}/change/").text
    assert '<tr><th scope="row">labels</th><td>yes</td><td>0.0123</td><td>0.0040</td><td>0.7</td></tr>' in page
    assert '<tr><th scope="row">0.50</th><td>4.00</td></tr>' in page
    assert "secret" not in page
    refused = client.get("/admin/routing/routersnapshot/?parameters__startswith=a")
    assert refused.status_code == 400


def test_only_administrators_see_kept_texts(client: Client):
    exchange = Exchange.objects.create(asked_model="auto", texts={"messages": ["a canary"]}, session_digest="d1gest")
    path = f"/admin/gateway/exchange/{exchange.pk}/change/"
    assert "canary" in client.get(path).text
    staff = make.user("staff@example.org", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_exchange"))
    client.force_login(staff)
    page = client.get(path)
    assert (page.status_code, "canary" in page.text, "d1gest" in page.text) == (200, False, False)
    assert client.get("/admin/gateway/exchange/?texts__icontains=canary").status_code == 400


def test_decisions_cannot_be_changed(client: Client):
    row = decision(make.model())
    client.post(f"{DECISIONS}{row.pk}/change/", {"reason": "weights"})
    client.post(f"{DECISIONS}{row.pk}/delete/", {"post": "yes"})
    assert RoutingDecision.objects.get().reason == "best"
