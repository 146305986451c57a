from collections.abc import Iterable, Sequence
from functools import partial
from statistics import fmean
from typing import Any, TypedDict

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.teams.places import require_member_id, require_place_id
from battles import feedback, series
from battles.actions.turns import refuse_unless_open
from battles.errors import AlreadyVoted, NotVotedYet, StillAnswering, TakesNoStars, TakesNoVote, UnknownTag
from battles.labels import daily_caps
from battles.labels.labelling import NO_LABELS, LabelColumns, categories_of_team, label
from battles.models import Answer, Battle, Position, Session, Side, StarRating, Turn, Vote
from battles.notify import notify_vote
from battles.queries import lock_battle_for_vote
from battles.signals import vote_cast
from battles.text.style import StyleCounts, style_counts
from common import tracing
from common.db.execution import violates
from common.errors import InvalidInput
from common.tracing import Attribute, SpanName
from common.valkey import counters
from models_registry.models import LanguageModel


class SideContext(TypedDict):
    """met: whether an earlier battle of the session revealed the model; reasoning: whether any was shown before the
    vote; first_token_ms: mean over the judged answers, None if one is unknown.
    """

    met: bool
    reasoning: bool
    first_token_ms: int | None


class VoteContext(TypedDict):
    """files: number attached to the judged prompts."""

    files: int
    left: SideContext
    right: SideContext


def cast_vote(*, actor: Actor, battle: Battle, choice: Vote.Choice, answers: Sequence[int | None] = ()) -> Vote:
    """Store the vote, which reveals the names; its battle has related rows set.

    answers: to a review's questions, as numbers of steps; none at all if the person skips them.
    Raises TakesNoVote, InvalidInput for what a review does not allow, BattleIsVoid, BattleIsHidden, StillAnswering,
    TooManyRequests, NotInTeam, and AlreadyVoted if a vote exists or another request stores one first.
    """
    with tracing.span(SpanName.CAST_VOTE, person=actor.key) as span:
        try:  # outside atomic(): inside, the connection would be broken
            with transaction.atomic():
                vote = _store_vote(actor, battle.pk, choice, answers)
        except IntegrityError as error:
            if not violates(error, "battles_vote_battle_id_key"):
                raise
            raise AlreadyVoted from error
        span.set({Attribute.MODE: vote.mode, Attribute.ORIGIN: vote.origin})
        return vote


def _store_vote(actor: Actor, battle_id: int, choice: Vote.Choice, answers: Sequence[int | None]) -> Vote:
    battle = lock_battle_for_vote(battle_id)  # the lock keeps follow-ups from starting
    if not battle.accepts_vote:
        raise TakesNoVote
    if battle.vote_or_none is not None:
        raise AlreadyVoted
    if battle.is_review and choice not in series.owner().choices(battle.series):
        raise InvalidInput(fields={"choice": [_("This review does not take that answer.")]})
    if answers and not battle.is_review:
        raise InvalidInput(fields={"answers": [_("No questions follow a vote on this battle.")]})
    require_member = require_member_id if battle.is_review else require_place_id
    require_member(actor, battle.session.team_id)  # the names are the team's
    # A class that takes part in a review shares one network.
    actor.count("vote", fail_open=True, of_network=not battle.is_review)
    turns = list(battle.turns.all())
    refuse_unless_open(battle, turns[-1])
    judged = [turn for turn in turns if turn.can_be_judged()]
    sides = {side.position: side for side in battle.sides.all()}
    left, right = sides[Position.LEFT], sides[Position.RIGHT]
    _note_first_votes([left.model, right.model])
    reason = _reason_not_to_count(battle, judged)
    if not reason and not battle.is_review and daily_caps.is_reached(actor):
        reason = Vote.ExcludedReason.OVER_DAILY_CAP
    place = _place_of_vote(battle, [left.model, right.model])
    labels = NO_LABELS if battle.is_review else _labels(battle, judged)
    of_team = None if battle.is_review else _team_categories(place["team_id"], judged, labels["language"])
    vote = Vote.objects.create(
        battle=battle, mode=battle.mode, origin=battle.origin, choice=choice, model_left_id=left.model_id,
        model_right_id=right.model_id, turn_count=len(judged), style=_style(battle, judged), voter=actor.key,
        excluded_reason=reason, team_categories=of_team, **place, **labels,
    )  # fmt: skip
    vote_cast.send(sender=Vote, vote=vote, answers=answers)
    if not battle.is_review:
        daily_caps.record_network(vote, actor)
        if vote.on_site_boards:
            transaction.on_commit(partial(counters.add, "votes", "no" if reason else "yes"))
        transaction.on_commit(notify_vote)
    return vote


def _note_first_votes(models: list[LanguageModel]) -> None:
    """Lock one row after the other in their order: first votes of many people at once would wait for each other."""
    for model in sorted(models, key=lambda model: model.pk):
        if not model.has_votes:
            LanguageModel.of_every_owner.filter(pk=model.pk, has_votes=False).update(has_votes=True)


class PlaceOfEvidence(TypedDict):
    team_id: int | None
    on_site_boards: bool


class PlaceOfVote(PlaceOfEvidence):
    series: str


def _place_of_vote(battle: Battle, models: Iterable[LanguageModel]) -> PlaceOfVote:
    place = _place_of_evidence(battle.session, models)
    return {**place, "on_site_boards": place["on_site_boards"] and not battle.series, "series": battle.series}


def _place_of_evidence(session: Session, models: Iterable[LanguageModel]) -> PlaceOfEvidence:
    """Return whose boards count votes and stars of the session."""
    team = session.team  # no query without a team
    if team is None:
        return {"team_id": None, "on_site_boards": True}
    counts = team.counts_on_site_boards and all(model.team_id is None for model in models)
    return {"team_id": team.pk, "on_site_boards": counts}


def _reason_not_to_count(battle: Any, judged: list[Turn]) -> str:
    """A leaked name counts in any turn, a stop only in judged ones.

    battle: from lock_battle_for_vote; its has_overused_prompt is about the first prompt only.
    """
    if battle.is_blind and any(answer.leaks_identity for turn in battle.turns.all() for answer in turn.answers.all()):
        return Vote.ExcludedReason.IDENTITY_LEAK
    if any(answer.state == Answer.State.STOPPED for turn in judged for answer in turn.answers.all()):
        return Vote.ExcludedReason.INCOMPLETE
    repeated = battle.is_blind and battle.has_overused_prompt and len(judged) == 1
    return Vote.ExcludedReason.DUPLICATE_PROMPT if repeated else ""


def _labels(battle: Battle, judged: list[Turn]) -> LabelColumns:
    """Use the stored labels for the first prompt alone, else label all judged prompts."""
    if battle.labelled_by and len(judged) == 1:
        return {
            "categories": battle.categories, "language": battle.language, "labelled_by": battle.labelled_by,
            "prompt_digest": battle.prompt_digest,
        }  # fmt: skip
    return label([turn.prompt for turn in judged], files=[file for turn in judged for file in turn.attached])


def _team_categories(team_id: int | None, judged: list[Turn], language: str) -> list[str] | None:
    return None if team_id is None else categories_of_team(team_id, [turn.prompt for turn in judged], language)


def _style(battle: Battle, judged: list[Turn]) -> dict[str, StyleCounts | VoteContext]:
    sides = {side.position: _side_style(side, judged) for side in battle.sides.all()}
    return {**sides, "context": _context(battle, judged)}


def _side_style(side: Side, turns: list[Turn]) -> StyleCounts:
    answers = _answers_of(side, turns)
    tokens = sum(answer.call.answer_tokens for answer in answers if answer.call)
    return style_counts("\n\n".join(answer.text for answer in answers), tokens)


def _context(battle: Battle, judged: list[Turn]) -> VoteContext:
    """battle: from lock_battle_for_vote."""
    sides = {side.position: side for side in battle.sides.all()}
    return {
        "files": sum(len(turn.attached) for turn in judged),
        "left": _side_context(battle, sides[Position.LEFT], judged),
        "right": _side_context(battle, sides[Position.RIGHT], judged),
    }


def _side_context(battle: Battle, side: Side, judged: list[Turn]) -> SideContext:
    answers, met = _answers_of(side, judged), vars(battle)["met_models"]
    return {
        "met": side.model_id in met,
        "reasoning": _shows_reasoning(battle, answers),
        # Stored answers appear at once.
        "first_token_ms": None if battle.is_review else _mean_first_token_ms(answers),
    }


def _answers_of(side: Side, turns: list[Turn]) -> list[Answer]:
    return [answer for turn in turns for answer in turn.answers.all() if answer.side_id == side.pk]


def _shows_reasoning(battle: Battle, answers: list[Answer]) -> bool:
    # A blind battle hides it until the vote.
    return not battle.is_blind and any(answer.reasoning for answer in answers)


def _mean_first_token_ms(answers: list[Answer]) -> int | None:
    waits = [answer.call.first_token_ms if answer.call else None for answer in answers]
    known = [wait for wait in waits if wait is not None]
    return round(fmean(known)) if known and len(known) == len(waits) else None


def give_feedback(*, battle: Battle, tags: dict[str, list[str]], comment: str) -> None:
    """Store tags by side and a comment, replacing earlier ones. Raises NotVotedYet and UnknownTag."""
    vote = Vote.objects.filter(battle=battle).only("tags").first()
    if vote is None:
        raise NotVotedYet
    for side, slugs in tags.items():
        _check_tags(slugs, stored=vote.tags.get(side, []))
    Vote.objects.filter(pk=vote.pk).update(tags=tags, comment=comment)


def _check_tags(slugs: list[str], *, stored: list[str]) -> None:
    """Raise UnknownTag for a tag that does not exist, or is retired and not on the vote."""
    known = feedback.tags()
    for slug in slugs:
        if slug not in stored and (slug not in known or known[slug].is_retired):
            raise UnknownTag(slug)


@transaction.atomic
def give_stars(*, actor: Actor, answer: Answer, stars: int) -> StarRating:
    """The latest rating (1 to 5) counts; earlier ones are kept.

    Raises TakesNoStars, StillAnswering, TooManyRequests and NotInTeam.
    """
    answers = Answer.objects.select_for_update(of=("self",)).select_related("turn__battle__session", "side__model")
    answer = answers.get(pk=answer.pk)
    if answer.turn.battle.mode != Battle.Mode.COMPARE:
        raise TakesNoStars
    if answer.turn.is_live:
        raise StillAnswering
    if answer.state != Answer.State.DONE:
        raise TakesNoStars
    require_place_id(actor, answer.turn.battle.session.team_id)
    actor.count("star", fail_open=True)
    place = _place_of_evidence(answer.turn.battle.session, [answer.side.model])
    LanguageModel.of_every_owner.filter(pk=answer.side.model_id, has_votes=False).update(has_votes=True)
    Answer.objects.filter(pk=answer.pk).update(stars=stars)
    # Last, because numbering the row blocks all other ratings until COMMIT.
    return StarRating.objects.create(answer=answer, stars=stars, voter=actor.key, **place)
