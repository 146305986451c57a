"""`python -m tests.browser.helpers.everything`: create data for every page of an arena; print Everything as JSON."""

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from allauth.account.forms import default_token_generator  # noqa: E402
from allauth.account.models import EmailAddress, EmailConfirmationHMAC  # noqa: E402
from allauth.account.utils import user_pk_to_url_str  # noqa: E402
from allauth.mfa.models import Authenticator  # noqa: E402
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes  # noqa: E402
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret  # noqa: E402
from allauth.mfa.webauthn.internal.auth import WebAuthn  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from django.apps import apps  # noqa: E402
from django.contrib.admin import site  # noqa: E402
from django.contrib.auth.models import AnonymousUser  # noqa: E402
from django.contrib.messages.storage.cookie import CookieStorage  # noqa: E402
from django.db import transaction  # noqa: E402
from django.db.models.functions import Now  # noqa: E402
from django.template.base import Template  # noqa: E402
from django.test import Client, RequestFactory  # noqa: E402
from django.test.utils import instrumented_test_render  # noqa: E402
from django.urls import resolve  # noqa: E402
from django.utils import timezone  # noqa: E402
from fido2.cose import ES256  # noqa: E402
from fido2.utils import websafe_encode  # noqa: E402
from fido2.webauthn import (  # noqa: E402
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from accounts import actions as accounts  # noqa: E402
from accounts.actor import Actor  # noqa: E402
from accounts.models import Ban, Role, Team, User, Visitor  # noqa: E402
from accounts.teams.actions import create_team, invite  # noqa: E402
from arena_site import pages  # noqa: E402
from battles import actions  # noqa: E402
from battles.models import (  # noqa: E402
    Attachment,
    Battle,
    Category,
    ModerationEndpoint,
    ModerationRule,
    RoutingDecision,
    Session,
    Vote,
)
from battles.worker import model_tests  # noqa: E402
from benchmarks.actions.grading import grade_item  # noqa: E402
from benchmarks.models import Case, Judge, Run, RunItem  # noqa: E402
from benchmarks.models import Template as BenchmarkTemplate  # noqa: E402
from common.error_pages import error_response  # noqa: E402
from common.errors import DatabaseAway, InvalidInput, NotSignedIn, TooLarge, TooManyRequests  # noqa: E402
from leaderboard.counting.vote_changes import exclude_votes  # noqa: E402
from leaderboard.models import AggregationRun, AnomalyReview  # noqa: E402
from models_registry.models import LanguageModel, Provider  # noqa: E402
from models_registry.models.catalogues import Catalogue, CatalogueChange  # noqa: E402
from models_registry.providers.catalogue import Offer  # noqa: E402
from reviews.models import DecisionReport, Review  # noqa: E402
from reviews.reports.actions import report_on_board, report_on_run  # noqa: E402
from routing.models import Rule  # noqa: E402
from site_content.actions import publish_page  # noqa: E402
from site_content.models import PageVersion  # noqa: E402
from tests import api_fixtures, make  # noqa: E402
from tests.api_fixtures import World  # noqa: E402
from tests.browser.helpers import votes  # noqa: E402
from tests.browser.helpers.judged_pages import add_judges, add_reviews  # noqa: E402
from tests.site_urls import addresses  # noqa: E402
from tests.worlds.benchmarks import samples as benchmark_samples  # noqa: E402
from tests.worlds.no_pages import is_no_page  # noqa: E402

EMAIL, PASSWORD = "everything@example.org", "a-good-password-1"
HERE = "127.0.0.1"
# URLs with several pages.
MORE = [
    "/?mode=side_by_side", "/?mode=compare", "/?mode=direct", "/?mode=auto", "/sessions/?search=nothing",
    "/benchmarks/?search=nothing",
    "/leaderboard/?search=nothing", "/leaderboard/?board=compare", "/leaderboard/?board=side_by_side", "/nowhere/",
]  # fmt: skip
MEMBERS_MORE = ["/", "/benchmarks/?show=runs", "/sessions/", "/sessions/?archived=1", "/uploads/"]
PAGE = "# A heading\n\n| a |\n|---|\n| 1 |\n\n[a link](https://example.com)"
REFUSALS = [InvalidInput(), NotSignedIn(), pages.CsrfRefused(), TooLarge(), TooManyRequests(retry_after=60)]


@dataclass
class Everything:
    """`pages`: paths by the first of visitor, superuser and newcomer who sees them. `templates`: template by path.
    `cookies`: of their sessions. `refusals`: HTML by status. `unseen`: URLs without a page for any of them that
    tests.worlds.no_pages does not list.
    """

    pages: dict[str, list[str]]
    cookies: dict[str, str]
    refusals: dict[int, str]
    templates: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)


def with_address(user: User) -> User:
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def passkey() -> dict[str, Any]:
    """Return the data of a registered passkey; its private key is not kept."""
    of_laptop = b"a laptop"
    public = ES256.from_cryptography_key(ec.generate_private_key(ec.SECP256R1()).public_key())
    credential = AttestedCredentialData.create(Aaguid.NONE, of_laptop, public)
    flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.AT
    made = AttestationObject.create("none", AuthenticatorData.create(bytes(32), flags, 0, credential), {})
    client = CollectedClientData.create(CollectedClientData.TYPE.CREATE, b"challenge", f"http://{HERE}")
    encoded = {"attestationObject": websafe_encode(made), "clientDataJSON": websafe_encode(client)}
    key = websafe_encode(of_laptop)
    return {"id": key, "rawId": key, "type": "public-key", "clientExtensionResults": {}, "response": encoded}


@transaction.atomic
def create_staff_world() -> World:
    """Create the data in one transaction, so that no worker answers the turns first."""
    user = User.objects.create_superuser(EMAIL, PASSWORD)
    Provider.objects.update(is_answering=True)  # the made-up provider, too, which probes found unreachable
    world = api_fixtures.create_world(Actor(user=user, network=HERE))
    actions.publish(battle=world.voted)
    actions.list_in_gallery(battle=world.voted)
    actions.report(actor=world.actor, battle=world.voted, reason="It is rude.")
    TOTP.activate(user, generate_totp_secret())
    RecoveryCodes.activate(user)
    WebAuthn.add(user, "A laptop", passkey())
    accounts.invite(by=user, expires_at=timezone.now() + timedelta(days=1))
    Ban.objects.create(visitor=Visitor.objects.create(), reason="Advertising.")
    publish_page(page=PageVersion.Page.PRIVACY, texts={"en": PAGE}, must_be_accepted=False, by=user)
    model = LanguageModel.objects.get(slug="gold")
    ModerationRule.objects.create(category="weapons", action="block", patterns=["bomb"])
    ModerationEndpoint.objects.create(provider=model.provider, is_active=False)
    CatalogueChange.objects.create(model=model, kind=CatalogueChange.Kind.GONE)
    benchmark_samples.sample(user, LanguageModel.objects.configured()[:2])
    order = Vote.objects.exclude(order=None).latest("order").order
    AnomalyReview.objects.create(
        voter="visitor:1", orders=[order], last_order=order, log_e=12.3, crossed=2,
        evidence={"kind": "model", "model": "gold", "tilt": 1.5, "votes": 3, "observed": 3.0, "expected": 1.4},
        effect=[{"model": "gold", "score": [1612.4, 1498.2], "rank": [1, 2]}],
    )  # fmt: skip
    return world


@transaction.atomic  # a worker of the arena would prepare and answer the runs meanwhile
def add_states(user: User, world: World) -> list[str]:
    """Add rows that fill parts of pages; return paths of further pages."""
    turn = world.voted.turns.earliest("pk")
    Attachment.objects.create(turn=turn, upload=world.document, position=0)
    Battle.objects.filter(pk=world.voted.pk).update(consent="1")
    RoutingDecision.objects.filter(pk=world.decision.pk).update(battle=world.voted, session=world.voted.session)
    link = add_team(user)
    run = Run.objects.filter(owner=user).earliest("pk")
    sample = benchmark_samples.Sample(run.version.template, run)
    benchmark_samples.change_draft(sample)
    grade_item(grader=user, item=sample.item, kind="stars", value=4, comment="Short.")
    of_reviews = add_reviews(user, run)
    models = [entrant.model for entrant in run.entrants.select_related("model") if entrant.model is not None]
    later = benchmark_samples.finished_run(user, run.version, models[::-1])
    paused = benchmark_samples.live_run(user, run.version, models)
    Run.objects.filter(pk=paused.pk).update(state="paused", reason="person")
    return [
        f"/benchmarks/r/{later.public_id}/compare/?with={run.public_id}",
        f"/benchmarks/r/{paused.public_id}/",
        *add_judges(run, models),
        *add_team_runs(user, models),
        *of_reviews,
        link,
    ]


def add_reports(user: User) -> list[str]:
    """Add reports on a run and on a published board; return the path of the latter."""
    run = Run.objects.filter(owner=user, team=None, state="done").earliest("pk")
    report_on_run(owner=user, run=run, question="Which model knows capitals?")
    on_board = report_on_board(owner=user, board="overall", team=None, question="Which model leads?")
    return [f"/reports/{on_board.public_id}/"]


def add_team_runs(user: User, models: Sequence[LanguageModel]) -> list[str]:
    """Add a template of the team with a finished run, and one that waits for the team's budget; return their paths."""
    team = Team.objects.get(slug="physics")
    own = LanguageModel.of_every_owner.get(team=team)
    sample = benchmark_samples.sample(user, [own, *models[:1]], team)
    waiting = benchmark_samples.live_run(user, sample.run.version, [own])
    Run.objects.filter(pk=waiting.pk).update(state="paused", reason="team_day", budget=1)
    run, template = sample.run.public_id, sample.template.public_id
    return [
        f"/benchmarks/r/{waiting.public_id}/", f"/benchmarks/r/{run}/report/", f"/benchmarks/t/{template}/?version=1",
        f"/benchmarks/t/{template}/start/", "/benchmarks/new/?team=physics", "/benchmarks/?show=runs&team=physics",
    ]  # fmt: skip


def add_team(user: User) -> str:
    """Add a team with a shared session, and one that invites the person; return the path of the link."""
    team = make.team(user, slug="physics", name="Physics")
    own = make.team_model(team, name="Bert", slug="bert")
    Category.of_every_owner.create(team=team, slug="optics", name="Optics", phrases=["lens"])
    Rule.objects.create(team=team, target="model", model=own, note="Optics")
    Catalogue.objects.create(provider=own.provider, fetched_at=Now(), listed=[Offer("honest").to_json()])
    gold, silver = (LanguageModel.objects.get(slug=slug) for slug in ("gold", "silver"))
    shared = Session.objects.create(owner_user=user, team=team, title="Light", is_shared=True)
    battle = Battle.objects.create(session=shared, mode=Battle.Mode.SIDE_BY_SIDE, propensity=1.0)
    for position, model in (("left", gold), ("right", silver)):
        battle.sides.create(position=position, model=model)
    make.turn(battle, prompt="What is light?")
    make.complete_answers(battle)
    owner = User.objects.create_user("owner@example.org", PASSWORD)
    other, soon = create_team(by=owner, owner=owner, name="History", slug="history"), timezone.now() + timedelta(days=1)
    invite(by=user, team=team, role=Role.MEMBER, uses=40, expires_at=soon)
    return f"/teams/join/?invitation={invite(by=owner, team=other, role=Role.MEMBER, uses=40, expires_at=soon)[1]}"


def sign_in(user: User) -> Client:
    """Return a client that has just reauthenticated, as pages of second factors require."""
    client = Client(SERVER_NAME=HERE)
    client.force_login(user)
    assert client.post("/accounts/reauthenticate/", {"password": PASSWORD}).status_code == 302
    return client


def fill_in(address: str, world: World) -> list[str]:
    """Return the URL with ids filled in; none where this arena has no such row."""
    user, ids = world.actor.user, world.ids
    assert user is not None
    item = RunItem.objects.filter(run__owner=user).select_related("run").earliest("pk")
    benchmark = BenchmarkTemplate.objects.filter(owner_user=user).earliest("pk")
    drafted = Case.objects.filter(version__template=benchmark, version__state="draft")
    judge = Judge.objects.filter(owner_user=user).earliest("pk")
    own = LanguageModel.of_every_owner.get(team__slug="physics")
    passkey = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN)
    by_beginning: dict[str, dict[str, Any]] = {
        "/s/": {"public_id": ids["sessions"][0]},
        "/battles/": {"public_id": world.voted.public_id},
        "/b/": {"share_id": world.voted.share.public_id},
        "/uploads/": {"public_id": world.document.public_id},
        "/leaderboard/snapshots/": {"public_id": AggregationRun.objects.published("overall")[0].public_id},
        "/leaderboard/": {"a": "gold", "b": "silver", "slug": "gold"},
        "/accounts/confirm-email/": {"key": EmailConfirmationHMAC(EmailAddress.objects.get(user=user)).key},
        "/accounts/password/reset/": {
            "uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user),
        },
        "/accounts/2fa/webauthn/keys/": {"pk": passkey.pk},
        "/site/": {"page": "privacy"},
        "/teams/{slug}/": {
            "slug": "physics", "public_id": Session.objects.get(is_shared=True).public_id,
            "provider_id": own.provider_id, "model_id": own.pk, "kind": "categories",
            "row_id": Category.of_every_owner.get(team__slug="physics").pk,
            "rule_id": Rule.objects.get(team__slug="physics").pk, "test_id": "none",
            "change_id": 1,
        },
        "/benchmarks/t/": {"public_id": benchmark.public_id, "case_id": drafted.earliest("pk").pk},
        "/benchmarks/r/": {
            "public_id": item.run.public_id, "item_id": item.pk, "case_id": item.case_id, "move": "pause",
            "judge_id": judge.public_id,
        },
        "/benchmarks/judges/": {"public_id": judge.public_id},
        "/review/{public_id}/agreement/": {
            "public_id": Review.objects.get(title="Capitals").public_id, "judge_id": judge.public_id,
        },
        "/review/{public_id}/codes/": {"public_id": Review.objects.get(title="With codes").public_id},
        "/review/{public_id}/grade/": {"public_id": Review.objects.get(title="Right or wrong?").public_id},
        "/review/": {
            "public_id": Review.objects.get(title="Which capital?").public_id, "move": "close", "number": 1
        },
        "/reports/{public_id}/": {"public_id": DecisionReport.objects.filter(owner=user).earliest("pk").public_id},
        "/admin/{app_label}/": {"app_label": "battles"},
    }  # fmt: skip
    if address == "/reviews/new/":
        return [f"{address}?run={item.run.public_id}"]
    if address == "/reports/new/":
        closed = Review.objects.get(title="Capitals")
        sources = ("board=overall", f"run={item.run.public_id}", f"review={closed.public_id}")
        return [f"/reports/new/?{source}" for source in sources]
    if address == "/s/{public_id}/":
        return [address.format(public_id=public_id) for public_id in ids["sessions"]]
    for beginning, values in by_beginning.items():
        if address.startswith(beginning):
            return [address.format(**values)]
    if address.startswith("/admin/") and "{" in address:
        return fill_in_first_row(address, user)
    return [address]


def fill_in_first_row(address: str, user: User) -> list[str]:
    """Fill in the id of the first row that the administration shows this person."""
    app, model = address.split("/")[2:4]
    request = RequestFactory().get(address)
    request.user = user
    row = site.get_model_admin(apps.get_model(app, model)).get_queryset(request).first()
    if row is None:
        return []
    values = dict.fromkeys(re.findall(r"\{(\w+)\}", address), row.pk)
    if isinstance(row, LanguageModel):
        together, [test_id] = model_tests.store_requests([row], "Hello")
        values |= {"test_id": test_id, "together": together}
    return [address.format(**values)]


def template_of(client: Client, path: str) -> str | None:
    """Return the name of a page's template; "" where this person is redirected.

    None where there is no page: no GET, part of a page, or forbidden even to superusers.
    """
    response, route = client.get(path), resolve(urlsplit(path).path).route
    if response.status_code == 302 and resolve(urlsplit(response.url).path).route == route:
        response = client.get(response.url)
    if response.status_code in (403, 405):
        return None
    if response.status_code != 200:
        return ""
    return str(response.templates[0].name) if b"<html" in response.content else None


def first_viewer(path: str, people: dict[str, Client]) -> tuple[str, str] | None:
    """Return the first person who sees a page and its template, ("", "") where none does.

    None where it is no page. The others do not request it: some pages sign people out. Visitors see no administration.
    """
    looks = []
    for who, client in people.items():
        if who == "visitor" and path.startswith("/admin/"):
            continue
        looks.append(template_of(client, path))
        if looks[-1]:
            return who, looks[-1]
    return None if None in looks else ("", "")


def refusals_by_status() -> dict[int, str]:
    request = RequestFactory(SERVER_NAME=HERE).get("/")
    request.user, request._messages = AnonymousUser(), CookieStorage(request)
    answers = [error_response(request, error) for error in [*REFUSALS, DatabaseAway()]] + [pages.server_error(request)]
    return {answer.status_code: answer.text for answer in answers}


def visit_every_page() -> Everything:
    Template._render = instrumented_test_render  # responses then record their templates
    world = create_staff_world()
    assert world.actor.user is not None
    people = {"visitor": Client(SERVER_NAME=HERE), "member": sign_in(world.actor.user)}
    people["newcomer"] = sign_in(with_address(User.objects.create_user("newcomer@example.org", PASSWORD)))
    cookies = {who: client.cookies["sessionid"].value for who, client in people.items() if who != "visitor"}
    members_more = MEMBERS_MORE + add_states(world.actor.user, world)
    exclude_votes(Vote.objects.filter(order=1), reason=Vote.ExcludedReason.OPERATOR)
    votes.publish()
    members_more += add_reports(world.actor.user)
    seen = Everything({"visitor": [*MORE], "member": members_more, "newcomer": []}, cookies, refusals_by_status())
    seen.templates = {path: path for path in (*MORE, *members_more)}
    for address in addresses():
        for path in [] if is_no_page(address) else fill_in(address, world):
            match first_viewer(path, people):
                case None:
                    pass
                case "", _:
                    seen.unseen.append(f"{address} ({path})")
                case who, template:
                    seen.pages[who].append(path)
                    seen.templates.setdefault(path, template)
    return seen


def print_json() -> None:
    sys.stdout.write(json.dumps(asdict(visit_every_page())))


if __name__ == "__main__":
    print_json()
