"""Fill a running arena with payloads in every field that a browser shows; Arena.shell runs these functions."""

from accounts.models import User
from battles.models import Battle, Category, Session, Vote
from models_registry.models import LanguageModel
from tests import make
from tests.browser.helpers.payloads import PAYLOADS, ROUNDS
from tests.browser.helpers.votes import publish
from tests.leaderboard.vote_factory import cast
from uploads.models import Upload


def add_rows_named_by_payloads(user: User) -> None:
    """Create a session, a file and a model named by each payload."""
    Session.objects.bulk_create(Session(owner_user=user, title=payload[:120]) for payload in PAYLOADS)
    Upload.objects.bulk_create(
        Upload(
            owner_user=user, name=payload[:120], size=1, sha256=f"{number:064x}", stored_as="gone", kind="document",
            state="ready", pages=1, characters=1,
        )
        for number, payload in enumerate(PAYLOADS)
    )  # fmt: skip
    provider = LanguageModel.objects.get(slug="left-one").provider
    for number, payload in enumerate(PAYLOADS):
        LanguageModel.objects.create(
            provider=provider, upstream_name="steady", slug=f"payload-{number}", name=payload[:120],
            organization=payload[:120], license=payload[:120], status="active",
        )  # fmt: skip


def add_votes_with_payloads(user: User) -> None:
    """Create a session whose votes have every payload as comment and as tags."""
    gold, silver = (LanguageModel.objects.get(slug=slug) for slug in ("gold", "silver"))
    session = Session.objects.create(owner_user=user, title="alert(1) in comments")
    for start in range(0, len(PAYLOADS), 12):
        payloads = PAYLOADS[start : start + 12]
        battle = make.answered_battle(gold, silver)
        Battle.objects.filter(pk=battle.pk).update(session=session)
        Vote.objects.create(
            battle=battle, choice=Vote.Choice.LEFT, model_left=gold, model_right=silver, turn_count=1,
            comment="\n".join(payloads)[:2000], tags={"left": payloads, "right": payloads},
        )  # fmt: skip


def add_boards_named_by_payloads() -> None:
    """Create a board per payload as its category's name, and boards with payloads as descriptions."""
    gold, silver = (LanguageModel.objects.get(slug=slug) for slug in ("gold", "silver"))
    Category.objects.bulk_create(
        Category(
            slug=f"payload-{number}", name=payload[:80], phrases=["sky"],
            description="\n".join(PAYLOADS[number : number + 8])[:500],
        )
        for number, payload in enumerate(PAYLOADS)
    )  # fmt: skip
    for _ in range(6):
        cast(gold, silver, "left", categories=[f"payload-{number}" for number in range(len(PAYLOADS))])
    publish()


def rename_models(part: int) -> None:
    """Name the models that have battled by a quarter of the payloads."""
    payloads = PAYLOADS[part::ROUNDS]
    models = list(LanguageModel.objects.exclude(slug__startswith="payload-"))
    names = [(model, field) for model in models for field in ("name", "organization", "license")]
    filled = dict.fromkeys(names, "")
    for number, payload in enumerate(payloads):
        model, field = place = names[number % len(names)]
        filled[place] = (filled[place] + payload)[:120]
        setattr(model, field, filled[place])
    for model in models:
        model.save()


def fill(email: str) -> None:
    """Create all of these for the member with this e-mail address."""
    user = User.objects.get(email=email)
    add_rows_named_by_payloads(user)
    add_votes_with_payloads(user)
    add_boards_named_by_payloads()
