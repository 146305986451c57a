"""Ask others about a battle: they vote blind on the same answers (docs/adr/0090)."""

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import User
from accounts.teams.places import require_member_id
from battles.actions import delete_session
from battles.actions.stored_battles import StoredAnswer, StoredTurn
from battles.models import Answer, Battle, Position, Session, Side, Turn
from common.db.execution import violates
from reviews.errors import CannotAskOthers
from reviews.models import Review, ReviewItem

MAX_PEOPLE = 50
# Finish reasons of whole answers; some providers give none.
_WHOLE = ("stop", "")


def ask_others(*, actor: Actor, battle: Battle) -> Review:
    """Return the battle's second opinion, a new one unless others are asked already.

    Raises CannotAskOthers with the reason, and NotInTeam.
    """
    if actor.user is None:
        raise CannotAskOthers(_("Sign in to ask others."))
    require_member_id(actor, battle.session.team_id)
    try:  # outside atomic(): inside, the connection would be broken
        return find(battle) or _store(actor.user, battle.pk)
    except IntegrityError as error:
        if not violates(error, "a_battle_has_one_second_opinion"):
            raise
        return Review.objects.exclude(state=Review.State.WITHDRAWN).get(battle=battle)  # made in another tab meanwhile


def find(battle: Battle) -> Review | None:
    """Return the battle's second opinion that is not withdrawn."""
    kept = Review.objects.filter(battle=battle).exclude(state=Review.State.WITHDRAWN)
    return kept.select_related("battle__session", "team").first()


@transaction.atomic
def _store(owner: User, battle_id: int) -> Review:
    # The lock keeps the battle from being published or shared meanwhile.
    battle = Battle.objects.select_for_update(of=("self", "session"), no_key=True).select_related("session__team")
    asked = battle.get(pk=battle_id)
    if reason := reason_against(asked):
        raise CannotAskOthers(reason)
    sides = dict(asked.sides.values_list("position", "model"))
    team = asked.session.team
    review = Review.objects.create(
        battle=asked, owner=owner, team=team, title=asked.session.title or _("Second opinion"),
        audience=Review.Audience.EVERYONE if team is None else Review.Audience.TEAM, state=Review.State.OPEN,
        opinions_per_item=MAX_PEOPLE, item_count=1, opened_at=timezone.now(),
    )  # fmt: skip
    ReviewItem.objects.create(
        review=review, first_model_id=sides[Position.LEFT], second_model_id=sides[Position.RIGHT], cell=0
    )
    review.refresh_from_db(fields=["created_at"])
    return review


def reason_against(battle: Battle) -> str:
    """Return why others cannot be asked, "" if they can. battle: with its session."""
    if battle.mode != Battle.Mode.BLIND or battle.vote_or_none is None or battle.is_void:
        return _("Others can be asked about a blind battle after your vote.")
    if battle.is_hidden:
        return _("A moderator has hidden this battle.")
    if battle.share_or_none is not None:
        return _("This battle is published with its names. Unpublish it first: others must not know the models.")
    if battle.session.is_shared:
        return _("The team can read this session with its names. Stop sharing it first.")
    answers = list(Answer.objects.filter(turn__battle=battle, turn__after_vote=False).select_related("call"))
    if not answers or not all(_is_whole(answer) for answer in answers):
        return _("An answer failed, was stopped or was cut off. Others can be asked about whole answers only.")
    if any(answer.leaks_identity for answer in answers):
        return _("An answer names its model, so others would not vote blind.")
    return ""


def _is_whole(answer: Answer) -> bool:
    call = answer.call
    is_done = answer.state == Answer.State.DONE and bool(answer.text.strip())
    return is_done and call is not None and call.finish_reason in _WHOLE


def read_turns(battle: Battle, item: ReviewItem) -> list[StoredTurn]:
    """Return the judged turns, with answers in the order of the item's models."""
    sides = dict(Side.objects.filter(battle=battle).values_list("model", "pk"))
    order = [sides[item.first_model_id], sides[item.second_model_id]]
    turns = Turn.objects.filter(battle=battle, after_vote=False).order_by("index")
    read = []
    for turn in turns.prefetch_related("answers__call", "attachments__upload"):
        answers = {answer.side_id: _stored(answer) for answer in turn.answers.all()}
        files = sorted(turn.attachments.all(), key=lambda attachment: attachment.position)
        uploads = [attachment.upload for attachment in files]
        read.append(StoredTurn(turn.prompt, (answers[order[0]], answers[order[1]]), uploads))
    return read


def _stored(answer: Answer) -> StoredAnswer:
    if answer.call is None:
        raise ValueError(f"the answer {answer.public_id} has no call")
    return StoredAnswer(text=answer.text, call=answer.call, html=answer.html or None)


def forget_session(session: Session) -> None:
    """Withdraw the second opinions on a session that is being deleted, and delete the copies that others saw."""
    reviews = Review.objects.filter(battle__session=session)
    for review in reviews.select_for_update(no_key=True, of=("self",)).order_by("pk"):
        _withdraw(reviews.filter(pk=review.pk))
        delete_copies(review)


def _withdraw(reviews: QuerySet[Review]) -> None:
    shown = reviews.filter(state__in=[Review.State.OPEN, Review.State.CLOSED])
    shown.update(state=Review.State.WITHDRAWN, ended_at=Now())


def delete_copies(review: Review) -> None:
    """Delete the sessions in which others saw the answers; their votes stay without the person."""
    for copy in Session.objects.filter(battles__series=review.public_id).distinct().order_by("pk"):
        delete_session(copy)
