"""A few days of an arena's rows, drawn by a seed."""

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from accounts.models import Team
from battles.models import Answer, Battle, Call, RoutingDecision, Session, Side, Turn, Vote
from models_registry.models import LanguageModel, SpendingDay
from tests import make

FIRST = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
DAYS = 5
CHOICES = ["left", "right", "tie", "both_bad"]
MODES = ["blind", "blind", "blind", "side_by_side", "direct"]


def seed(battles: int = 40, *, number: int = 7, first: datetime = FIRST, days: int = DAYS) -> Team:
    """Store the rows; return the team in which some of them are."""
    draw = random.Random(number)
    team = make.team()
    models = [make.model() for _ in range(3)] + [make.team_model(team)]
    people = [make.member() for _ in range(4)] + [make.visitor() for _ in range(4)]
    sessions = []
    for _ in range(battles // 2):
        person = draw.choice(people)
        place = team if person.user and draw.random() < 0.4 else None
        owner = {"owner_user": person.user, "owner_visitor": person.visitor}
        sessions.append(Session.objects.create(**owner, team=place))
    for _ in range(battles):
        at = first + timedelta(seconds=draw.randrange(days * 86_400))
        _battle(draw, at, draw.choice(sessions), models)
    for _ in range(20):
        at = first + timedelta(seconds=draw.randrange(days * 86_400))
        _decision(draw, at, draw.choice([None, team]), models[0])
    _spending(team, first.date())
    return team


def _battle(draw: random.Random, at: datetime, session: Session, models: list[LanguageModel]) -> None:
    mode = draw.choice(MODES)
    is_void = draw.random() < 0.1
    battle = Battle.objects.create(
        session=session, mode=mode, propensity=1, language=draw.choice(["en", "fr"]), created_at=at,
        categories=draw.choice([[], ["coding"], ["coding", "maths"]]),
        voided_at=at + timedelta(minutes=1) if is_void else None,
    )  # fmt: skip
    pair = draw.sample(models if session.team_id else models[:3], 1 if mode == "direct" else 2)
    sides = [
        Side.objects.create(battle=battle, position=position, model=model)
        for position, model in zip(["left", "right"], pair, strict=False)
    ]
    ended = at + timedelta(seconds=draw.randrange(5, 60))
    turn = Turn.objects.create(
        battle=battle, index=0, prompt="one", state="done", created_at=at, finished_at=ended,
        stop_requested_at=ended if draw.random() < 0.1 else None,
    )  # fmt: skip
    for side in sides:
        _answer(draw, turn, side, at)
    if mode != "direct" and not is_void and draw.random() < 0.7:
        Vote.objects.create(
            battle=battle, mode=mode, choice=draw.choice(CHOICES), model_left=pair[0], model_right=pair[1],
            turn_count=1, voter=session.person, created_at=ended + timedelta(seconds=draw.choice([3, 40, 90_000])),
            team=session.team, on_site_boards=session.team is None, language=battle.language,
            excluded_reason=draw.choice(["", "", "", "duplicate_prompt"]), tags=draw.choice([{}, {"left": ["clear"]}]),
        )  # fmt: skip


def _answer(draw: random.Random, turn: Turn, side: Side, at: datetime) -> None:
    failed = draw.random() < 0.15
    answer = Answer.objects.create(
        turn=turn, side=side, state="failed" if failed else "done", error="timeout" if failed else ""
    )
    first = draw.randrange(1, 4_000)
    Call.objects.create(
        answer=answer, model=side.model, attempt=1, fence=1, state="failed" if failed else "done", started_at=at,
        first_token_ms=first, total_ms=first + draw.randrange(0, 9_000), prompt_tokens=10,
        completion_tokens=draw.randrange(0, 900), cost=draw.choice([None, Decimal("0.00012345")]),
        error="timeout" if failed else "", finish_reason=draw.choice(["stop", "length"]),
    )  # fmt: skip


def _spending(team: Team, day: date) -> None:
    month = f"team:{team.pk}/month"
    for number, account in enumerate(("site", "visitor:7", f"team:{team.pk}", month, f"team:{team.pk}/user:3"), 1):
        SpendingDay.objects.create(
            day=day, account=account, spent=Decimal(number) / 7, reserved=Decimal(number * 3 % 2) / 9
        )


def _decision(draw: random.Random, at: datetime, place: Team | None, model: LanguageModel) -> None:
    target = draw.choice(["model", "arena", "stay", "fallback", "refused"])
    is_priced = draw.random() < 0.7
    RoutingDecision.objects.create(
        created_at=at, query_type=draw.choice(["code", "chat"]),
        type_confidence=1, policy=draw.choice(["rule 3", "stay", "learned 1"]), target=target, dial=0.5, propensity=1,
        model=model if target in ("model", "stay", "fallback") else None, explored=draw.random() < 0.5,
        cost_expected=Decimal("0.001") if is_priced else None, cost_best=Decimal("0.003") if is_priced else None,
        reason="best", team=place,
    )  # fmt: skip
