"""A person with data for every operation of the API, and its ids."""

from dataclasses import dataclass, field

from django.utils import timezone

from accounts.actor import Actor
from accounts.models import ApiToken, Scope, Team
from battles import actions
from battles.auto.port import Routed, RoutingRequest
from battles.auto.store import store_decision
from battles.models import Answer, Battle, RoutingDecision, Turn, Vote
from battles.prompting.lineup import BattleRequest
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard import vote_factory
from tests.leaderboard.tally_checks import aggregate
from tests.uploads import pictures
from tests.worlds.benchmarks import samples as benchmark_samples
from uploads.actions import keep_upload
from uploads.models import Upload

NAMES = ("ada", "bob", "cyd")


@dataclass
class World:
    """`ids`: by kind, e.g. {"battles": [id…], "models": [slug…]}."""

    actor: Actor
    waiting: Battle
    voted: Battle
    void: Battle
    live: Battle
    unanswered: Battle
    compared: Battle
    discarded: Battle
    document: Upload
    picture: Upload
    decision: RoutingDecision
    ids: dict[str, list[str]] = field(default_factory=dict)

    @property
    def to_rate(self) -> str:
        """Id of an answer that can be rated."""
        return Answer.objects.filter(turn__battle=self.compared).earliest("pk").public_id


def contestants() -> list[LanguageModel]:
    return list(LanguageModel.objects.filter(slug__in=NAMES).order_by("slug")) or vote_factory.contestants(*NAMES)


def publish() -> list[AggregationRun]:
    """Vote on the contestants and publish their boards."""
    ada, bob, cyd = contestants()
    vote_factory.cast_many(ada, bob, left=6, right=3, tie=1)
    vote_factory.cast_many(bob, cyd, left=4, right=3, both_bad=1)
    aggregate()
    return list(AggregationRun.objects.filter(state=AggregationRun.State.DONE))


def create_world(actor: Actor, *, with_boards: bool = False, place: Team | None = None) -> World:
    """Create the data. place: where its sessions are; a team's battles are not published."""
    models, snapshots = contestants(), publish() if with_boards else []
    left, right = models[:2]
    waiting, voted, void, live = (make.answered_battle(left, right, actor=actor, place=place) for _ in range(4))
    actions.cast_vote(actor=actor, battle=voted, choice=Vote.Choice.LEFT)
    actions.give_feedback(battle=voted, tags={"left": ["clear"]}, comment="Short.")
    Battle.objects.filter(pk=void.pk).update(voided_at=timezone.now())
    Answer.objects.filter(turn__battle=void, side__position="left").update(state=Answer.State.FAILED, error="cut")
    make.turn(live, prompt="And then?")
    unanswered = make.answered_battle(left, right, actor=actor, place=place)
    again = make.turn(unanswered, prompt="And then?")
    again.answers.update(state=Answer.State.FAILED, error="cut")
    Turn.objects.filter(pk=again.pk).update(state=Turn.State.DONE)
    compared = _compared(actor, models, place)
    discarded = make.answered_battle(left, right, actor=actor, place=place)
    actions.discard_session(discarded.session)
    document = keep_upload(actor=actor, content=b"A lighthouse by the sea.", name="notes.txt")
    picture = keep_upload(actor=actor, content=pictures.picture(), name="red.png")
    battles = [waiting, voted, void, live, unanswered, compared]
    shares = [actions.publish(battle=voted).public_id] if place is None else []
    tokens = []
    if actor.user is not None:
        tokens = [ApiToken.issue(user=actor.user, name="t", scopes=[Scope.READ])[0].public_id]
    answers = Answer.objects.filter(turn__battle__in=[voted, compared])
    sample = None if actor.user is None else benchmark_samples.sample(actor.user, models[:2])
    decision = _decided(actor, models)
    return World(
        actor, waiting, voted, void, live, unanswered, compared, discarded, document, picture, decision,
        {
            "decisions": [decision.public_id],
            "battles": [battle.public_id for battle in battles],
            "sessions": [battle.session.public_id for battle in battles],
            "answers": list(answers.values_list("public_id", flat=True)),
            "models": [model.slug for model in models],
            "snapshots": [run.public_id for run in snapshots],
            "boards": sorted({run.scope for run in snapshots}),
            "tokens": tokens,
            "shares": shares,
            "uploads": [
                document.public_id, picture.public_id,
                *([] if sample is None else [benchmark_samples.document(sample.template.owner_user).public_id]),
            ],
            "templates": [sample.template.public_id] if sample else [],
            "runs": [sample.run.public_id] if sample else [],
            "items": [f"{sample.run.public_id}-{sample.item.pk}"] if sample else [],
        },
    )  # fmt: skip


def _decided(actor: Actor, models: list[LanguageModel]) -> RoutingDecision:
    routed = Routed(
        RoutingDecision.Target.MODEL, (models[0],), "coding", 0.5, 0.9, "best", "learned 1",
        details={"win_chance": 0.6, "price_share": 0.1}, runner_up=models[1], win_chance=0.6,
    )  # fmt: skip
    return store_decision(actor=actor, request=RoutingRequest(("Hello",)), routed=routed)


def _compared(actor: Actor, models: list[LanguageModel], place: Team | None) -> Battle:
    battle_request = BattleRequest(Battle.Mode.COMPARE, tuple(model.slug for model in models))
    battle = actions.start_session(actor=actor, prompt="one two three", battle_request=battle_request, place=place)
    make.complete_answers(battle)
    actions.give_stars(actor=actor, answer=Answer.objects.filter(turn__battle=battle)[0], stars=4)
    return battle
