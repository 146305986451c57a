"""Words of one team appear in nothing that people outside of it can read."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import ApiToken, Role, Scope, Team, User
from accounts.teams import actions as team_actions
from battles import actions
from battles.auto.port import Routed, RoutingRequest
from battles.auto.store import store_decision
from battles.models import (
    Answer,
    Attachment,
    Battle,
    Call,
    Category,
    ModerationRule,
    PromptSuggestion,
    RoutingDecision,
    Session,
    Vote,
)
from benchmarks.models import Run, Template
from common.text.markdown import render
from gateway.models import Exchange
from leaderboard.models import AggregationRun
from models_registry.models import Charge, LanguageModel, SpendingDay
from models_registry.models.ledger import this_month, today
from models_registry.versions import set_price
from routing.models import Rule
from tests import api_fixtures, make
from tests.arena_site.security.read_requests import Arena, paths
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in
from tests.site_urls import addresses
from tests.worlds.benchmarks import samples as benchmark_samples
from uploads.actions import keep_upload
from uploads.models import Upload

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MARKER = "zyxomma"
COST, PRICE = "31415.92", "2.71828183"
# What only the team's people may read.
TEXTS = ["prompt", "answer", "thought", "comment", "title", "file", "filetext"]
NAMES = ["model", "maker", "upstream", "provider", "host", "keyend", "rule", "teamname", "teamslug", "member", "token",
         "topic", "topicslug", "phrase", "pattern", "suggestion", "template", "run"]  # fmt: skip
MORE = [
    "/?mode=direct", "/?mode=compare", "/?mode=side_by_side", "/?mode=auto", "/votes/", "/models/?search=model",
    "/models/choices/?picker=one&find=zyx", "/sessions/?search=prompt", "/leaderboard/?search=model",
    "/leaderboard/?format=csv", "/leaderboard/?format=json", "/leaderboard/?board=compare", "/benchmarks/?show=runs",
    "/api/v1/leaderboard/?as=csv", "/api/v1/boards/", "/api/v1/exports/votes.csv", "/api/v1/exports/votes.jsonl",
    "/api/v1/exports/stars.jsonl", "/api/v1/exports/interactions.jsonl", "/api/v1/route/snapshots/", "/robots.txt",
    "/sitemap.xml", "/v1/models", "/api/v1/releases/", "/api/v1/me/export/", "/accounts/data/export/", "/metrics",
]  # fmt: skip


def word(kind: str) -> str:
    return f"{MARKER}{kind}"


@pytest.fixture
def team() -> Team:
    """Team with one of everything, each with a word of its own."""
    owner = make.user("owner@a.example")
    member = make.user(f"{word('member')}@a.example", first_name=word("member"))
    team = make.team(owner, slug=word("teamslug"), name=word("teamname"), members={Role.MEMBER: [member]})
    model = _model(team)
    _battle(team, member, model)
    _money(team, member, model)
    Rule.objects.create(team=team, target="model", model=model, note=word("rule"), is_active=True, order=1)
    _questions(team)
    _benchmark(team, member)
    token, _ = ApiToken.issue(user=member, name=word("token"), scopes=[Scope.GATEWAY], team=team)
    Exchange.objects.create(
        user=member, token=token, team=team, asked_model=word("model"), cost=Decimal(PRICE), texts={"a": word("prompt")}
    )
    soon, email = timezone.now() + timedelta(days=1), f"{word('member')}@b.example"
    team_actions.invite(by=owner, team=team, role=Role.MEMBER, uses=1, expires_at=soon, email=email)
    return team


def _model(team: Team) -> LanguageModel:
    model = make.team_model(
        team, word("upstream"), at=f"https://{word('host')}.example/v1", slug=word("model"), name=word("model"),
        organization=word("maker"), has_votes=True,
    )  # fmt: skip
    model.provider.name = word("provider")
    model.provider.store_key(f"sk-0123456789-{word('keyend')}")
    model.provider.save()
    set_price(model, Decimal(PRICE), Decimal(PRICE))
    return model


def _battle(team: Team, member: User, model: LanguageModel) -> None:
    actor, other = Actor(user=member), LanguageModel.objects.get(slug="ada")
    battle = make.answered_battle(model, other, actor=actor, place=team)
    Session.objects.filter(pk=battle.session_id).update(title=word("title"), is_shared=True)
    battle.turns.update(prompt=word("prompt"))
    Answer.objects.filter(turn__battle=battle).update(
        text=word("answer"), html=render(word("answer")), reasoning=word("thought")
    )
    upload = keep_upload(actor=actor, content=word("filetext").encode(), name=f"{word('file')}.txt")
    Attachment.objects.create(turn=battle.turns.get(), upload=upload, position=0)
    voted = actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    actions.give_feedback(battle=Battle.objects.get(pk=battle.pk), tags={}, comment=word("comment"))
    assert not voted.on_site_boards
    routed = Routed(RoutingDecision.Target.MODEL, (model,), "coding", 0.5, 0.9, "best", "learned 1")
    request = RoutingRequest((word("prompt"),), team_id=team.pk)
    store_decision(actor=actor, request=request, routed=routed, session=battle.session, battle=battle)


def _questions(team: Team) -> None:
    Category.of_every_owner.create(
        team=team, slug=word("topicslug"), name=word("topic"), description=word("topic"), phrases=[word("phrase")]
    )
    ModerationRule.of_every_owner.create(team=team, category=word("rule"), patterns=[word("pattern")], action="warn")
    PromptSuggestion.of_every_owner.create(team=team, texts={"en": word("suggestion")})


def _benchmark(team: Team, member: User) -> None:
    sample = benchmark_samples.sample(member, [LanguageModel.objects.get(slug="ada")], team)
    Template.objects.filter(pk=sample.template.pk).update(name=word("template"), description=word("template"))
    Run.objects.filter(pk=sample.run.pk).update(name=word("run"))


def _money(team: Team, member: User, model: LanguageModel) -> None:
    answer = Answer.objects.filter(side__model=model).earliest("pk")
    charge = Charge.objects.create(
        day=today(), model=model, provider=model.provider, price=model.price, team=team, month=this_month(),
        most=Decimal(COST), cost=Decimal(COST), site_pays=False,
    )  # fmt: skip
    call = Call.objects.create(
        answer=answer, model=model, attempt=1, fence=1, state=Call.State.DONE, charge=charge, cost=Decimal(COST),
        request={"model": word("upstream")},
    )  # fmt: skip
    Answer.objects.filter(pk=answer.pk).update(call=call)
    for account in (f"team:{team.pk}", f"team:{team.pk}/month", f"team:{team.pk}/user:{member.pk}"):
        SpendingDay.objects.create(account=account, day=this_month(), spent=Decimal(COST))
    Team.objects.filter(pk=team.pk).update(month_budget=Decimal(COST), member_month_budget=Decimal(COST))


@pytest.fixture
def arena(settings: Any) -> Arena:
    """Site with boards of its own beside the team."""
    settings.ARENA_LIMITS, settings.ARENA_METRICS_TOKEN = dict.fromkeys(settings.ARENA_LIMITS, "off"), ""
    settings.ARENA_PUBLISH_VOTES = True
    runs = api_fixtures.publish()
    battle = make.answered_battle(*api_fixtures.contestants()[:2], actor=(actor := make.visitor()))
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    share = actions.publish(battle=Battle.objects.get(pk=battle.pk)).public_id
    return Arena(["ada", "bob"], [["ada", "bob"]], runs[0].public_id, share)


def boards(team: Team) -> None:
    """Let the team's votes be fitted, also in the place of a site that has votes of its own."""
    pair = [LanguageModel.of_every_owner.get(team=team), LanguageModel.objects.get(slug="ada")]
    cast_in(team, pair, left=6, right=3)
    aggregate()
    assert AggregationRun.objects.filter(team=team).exists()


def found(client: Client, asked: Iterator[str] | list[str], kinds: list[str]) -> dict[str, list[str]]:
    """Return the kinds of words that a page has, by path."""
    seen = {}
    for path in asked:
        response = client.get(path)
        body = b"".join(response) if response.streaming else response.content  # type: ignore[arg-type]
        text = f"{body.decode(errors='replace')} {dict(response.headers)}".lower()
        words = [kind for kind in kinds if word(kind) in text]
        words += ["cost"] if any(amount in text for amount in (COST, "31,415.92", PRICE)) else []
        if words:
            seen[path] = words
    return seen


def readers() -> dict[str, Client]:
    other = make.user("owner@b.example")
    elsewhere = make.team(other, slug="history", name="History")
    make.team_model(elsewhere, slug="clio")
    token = make.token(other, team=elsewhere)
    return {
        "owner of another team": make.browser(Actor(user=other)),
        "member of no team": make.browser(make.member()),
        "visitor": Client(),
        "token of another team": Client(headers={"Authorization": f"Bearer {token}"}),
        "personal token": make.api(),
    }


OUTSIDERS = ["owner of another team", "member of no team", "visitor", "token of another team", "personal token"]


@pytest.mark.parametrize("who", OUTSIDERS)
def test_no_page_outside_shows_words_of_a_team(arena: Arena, team: Team, who: str):
    boards(team)
    client = readers()[who]
    of_site = [path for path in paths(arena) if not path.startswith("/accounts/logout")]
    if "token" in who:
        of_site = [path for path in of_site if path.startswith(("/api/", "/v1/"))]
    assert found(client, [*of_site, *MORE], TEXTS + NAMES) == {}
    assert len(of_site) > 40


def administration(client: Client) -> Iterator[str]:
    """Yield the lists of the administration, and the pages of their rows."""
    for address in addresses():
        if not address.startswith("/admin/") or "{" in address or address.startswith(("/admin/logout", "/admin/r/")):
            continue
        yield address
        response = client.get(address)
        listed = getattr(response, "context_data", None) or {}
        for row in list(listed["cl"].result_list)[:8] if "cl" in listed else ():
            yield f"{address}{row.pk}/change/"
            yield f"{address}{row.pk}/history/"


def test_moderators_read_nothing_that_was_not_reported(arena: Arena, team: Team, at_work: Client):
    boards(team)
    # They manage accounts, members' among them.
    kinds = [kind for kind in TEXTS + NAMES if kind != "member"]
    assert found(at_work, [*administration(at_work), *MORE], kinds) == {}


def test_administrators_read_no_texts_of_a_team(arena: Arena, team: Team, administrator: User):
    boards(team)
    client = make.browser(Actor(user=administrator))
    asked = list(administration(client))
    read = found(client, [*asked, *MORE], TEXTS)
    assert {path: words for path, words in read.items() if words != ["cost"]} == {}
    assert len(asked) > 100


def test_members_read_the_words(arena: Arena, team: Team):
    """Else the tests above would look for words that no page has."""
    boards(team)
    client = make.browser(Actor(user=team.members.get(role=Role.MEMBER).user))
    session = Session.objects.get(is_shared=True)
    owner = make.browser(Actor(user=team.members.get(role=Role.OWNER).user))
    model = LanguageModel.of_every_owner.get(team=team)
    begin = f"/teams/{team.slug}/"
    file = Upload.objects.get(name__contains=word("file")).public_id
    read_by_member = [f"/s/{session.public_id}/", "/uploads/", f"/uploads/{file}/text/", "/accounts/tokens/", begin]
    of_member = found(client, read_by_member, TEXTS + NAMES)
    of_owner = found(
        owner,
        [
            begin,
            f"{begin}members/",
            f"{begin}spending/",
            f"{begin}models/",
            f"{begin}models/{model.pk}/",
            f"{begin}models/providers/{model.provider_id}/",
            f"{begin}invitations/",
            f"{begin}questions/",
            f"/?team={team.slug}",
            f"/benchmarks/?team={team.slug}",
            f"/benchmarks/?show=runs&team={team.slug}",
        ],
        TEXTS + NAMES,
    )
    read = {kind for words in [*of_member.values(), *of_owner.values()] for kind in words}
    assert {*TEXTS, *NAMES, "cost"} - read == {"keyend", "phrase", "pattern"}
