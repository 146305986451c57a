"""Access to reviews: who is asked, who manages, who knows the answers. All others get 404."""

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404

from accounts.actor import Actor, actor_keys
from accounts.teams.roles import Right, teams_with
from battles.models import Vote
from benchmarks.models import Run
from common.errors import NotAllowed
from common.prepared import PreparedQuery
from reviews.errors import OwnVotesFirst, ResultsHidden
from reviews.models import Review, ReviewBattle, Reviewer, ReviewGrade, RunReader

_SHOWN = (Review.State.OPEN, Review.State.CLOSED)
_readers = PreparedQuery(lambda run, person: RunReader.objects.filter(run=run, person=person), int, str)


def _own(actor: Actor) -> Q:
    """Filter to personal reviews of the member, and those of teams whose things the member sees."""
    own = Q(team__in=list(teams_with(actor.memberships, Right.SEE)))
    if actor.user is not None and not actor.is_limited_from(None):
        own |= Q(owner=actor.user, team=None)
    return own


def _asked(actor: Actor) -> Q:
    """Filter to reviews whose audience the person belongs to."""
    asked = Q(audience=Review.Audience.TEAM, team__in=list(actor.memberships))
    if actor.user is not None:
        asked |= Q(audience=Review.Audience.OWNER, owner=actor.user, team__in=list(actor.memberships))
    if not actor.is_limited_from(None):
        audiences = [Review.Audience.EVERYONE]
        if actor.user is not None:
            audiences.append(Review.Audience.MEMBERS)
            asked |= Q(audience=Review.Audience.OWNER, owner=actor.user, team=None)
        asked |= Q(audience__in=audiences)
        if actor.is_known:
            asked |= Q(Exists(_joined(actor).filter(review=OuterRef("pk"))), audience__in=Review.JOINED)
    return asked


def _listed(actor: Actor) -> Q:
    """Filter out the second opinions of others: their address is what invites to them."""
    return Q(battle=None) if actor.user is None else Q(battle=None) | Q(owner=actor.user)


def owned_reviews(actor: Actor) -> QuerySet[Review]:
    return Review.objects.filter(_own(actor), _listed(actor))


def asked_reviews(actor: Actor) -> QuerySet[Review]:
    """Return open reviews that ask the person, without second opinions."""
    return Review.objects.open().filter(_asked(actor), battle=None)


def listed_reviews(actor: Actor) -> QuerySet[Review]:
    return readable_reviews(actor).filter(_listed(actor))


def readable_reviews(actor: Actor) -> QuerySet[Review]:
    """Return reviews that the person may read, also those for which the address is needed."""
    of_battle = Q(battle__session__discarded_at=None, battle__hidden_at=None)
    is_shown = Q(state__in=_SHOWN) & (Q(battle=None) | of_battle)
    reviews = Review.objects.filter(_own(actor) | (_asked(actor) & is_shown))
    return reviews.annotate(has_joined=Exists(_joined(actor).filter(review=OuterRef("pk"))))


def _joined(actor: Actor) -> QuerySet[Reviewer]:
    return Reviewer.objects.filter(person=actor.key) if actor.is_known else Reviewer.objects.none()


def get_review_or_404(actor: Actor, public_id: str, *, to_change: bool = False) -> Review:
    related = ("run__version__template", "team", "battle")
    found = readable_reviews(actor).select_related(*related).filter(public_id=public_id)
    review = found.first()
    if review is None:
        raise Http404
    if to_change and not may_manage(actor, review):
        if Review.objects.filter(_own(actor), pk=review.pk).exists():
            raise NotAllowed  # a team's, which the member only reads
        raise Http404
    return review


def is_maker(actor: Actor, review: Review) -> bool:
    return actor.user is not None and review.owner_id == actor.user.pk


def may_manage(actor: Actor, review: Review) -> bool:
    """Members of a team manage what they made, others by their right."""
    if review.team_id is None:
        return is_maker(actor, review) and not actor.is_limited_from(None)
    return review.team_id in teams_with(actor.memberships, Right.USE if is_maker(actor, review) else Right.EDIT)


def reads_opinions(actor: Actor, review: Review) -> bool:
    """Return whether the person may read opinions on pairs one by one, and disagreements."""
    sees = review.team_id in teams_with(actor.memberships, Right.SEE) or may_manage(actor, review)
    return sees and not review.is_graded


def belongs_to_audience(actor: Actor, review: Review) -> bool:
    """Return whether the person may vote while the review takes votes; no query for one of readable_reviews."""
    if actor.is_limited_from(review.team_id):
        return False
    match Review.Audience(review.audience):
        case Review.Audience.TEAM:
            return review.team_id in actor.memberships
        case Review.Audience.OWNER:
            return is_maker(actor, review) and (review.team_id is None or review.team_id in actor.memberships)
        case Review.Audience.MEMBERS:
            return actor.user is not None
        case Review.Audience.LINK | Review.Audience.CODES:
            has_joined: bool | None = vars(review).get("has_joined")  # of readable_reviews
            return _joined(actor).filter(review=review).exists() if has_joined is None else has_joined
    return True


def keys_in(review: Review, actor: Actor) -> list[str]:
    """Return the person's keys. With a stop rule, some opinions stay with the visitor that a member was."""
    return [actor.key] if actor.user is None or not review.has_stop_rule else actor_keys(actor.user)


def knows_answers(actor: Actor, review: Review) -> bool:
    """Return whether the person owns the answers or has read them with names."""
    if actor.user is not None and actor.user.pk in _owners(review):
        return True
    if review.battle_id is not None:
        return has_voted_before(actor, review)
    return actor.is_known and review.run_id is not None and bool(_readers(review.run_id, actor.key))


def has_voted_before(actor: Actor, review: Review) -> bool:
    """Return whether the person voted on the same battle by an earlier link."""
    earlier = ReviewBattle.objects.filter(review__battle=review.battle_id, person=actor.key, ended_at__isnull=False)
    return earlier.exclude(review=review).exists()


def shows_results(actor: Actor, review: Review) -> bool:
    """Return whether the person reads the results, which must change none of their votes."""
    if review.state != Review.State.OPEN:
        return review.shows_results
    if review.battle_id is not None:
        # A manager of the team who did not make it votes as others do.
        return is_maker(actor, review) or review.battles.filter(person=actor.key, battle__vote__isnull=False).exists()
    if review.hides_results:
        return False
    has_no_vote = not belongs_to_audience(actor, review) or knows_answers(actor, review)
    return has_no_vote or ended_votes(actor, review).count() >= review.most_votes_of_a_person


def require_results(actor: Actor, review: Review) -> None:
    """Raises ResultsHidden."""
    if shows_results(actor, review):
        return
    is_own_turn = review.battle_id is not None or not review.hides_results
    raise OwnVotesFirst if review.state == Review.State.OPEN and is_own_turn else ResultsHidden


def ended_votes(actor: Actor, review: Review) -> QuerySet[ReviewBattle] | QuerySet[ReviewGrade]:
    """Return the person's battles, repeats left out, or grades."""
    battles = review.battles.filter(repeats=None)
    if review.has_stop_rule:  # a pair voted on before and after a sign-in is one
        battles = battles.exclude(battle__vote__excluded_reason=Vote.ExcludedReason.REPEATED)
    mine: QuerySet[ReviewBattle] | QuerySet[ReviewGrade] = review.grades.all() if review.is_graded else battles
    return mine.filter(person__in=keys_in(review, actor), ended_at__isnull=False)


def _owners(review: Review) -> set[int | None]:
    return {review.owner_id, None if review.run is None else review.run.owner_id}


def hides_answers(actor: Actor, run: Run) -> bool:
    """Return whether an open review, perhaps of another run with the same answers, hides them from the person."""
    reviews = Review.objects.open()
    if actor.user is not None:
        reviews = reviews.exclude(owner=actor.user).exclude(run__owner=actor.user)
    others = reviews.filter(run__in=Run.objects.sharing_answers(run))
    if actor.user is not None and run.owner_id == actor.user.pk:
        others = others.exclude(run__readers__person=actor.key)  # who asked for the answers before the review
    return reviews.filter(run=run).exists() or others.exists()
