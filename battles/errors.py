import json
from typing import TYPE_CHECKING

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Role, Team
from accounts.teams.roles import Right, has_right
from common.errors import ArenaError, InvalidInput, ServiceAway
from common.payload_types import ErrorPayload, JsonObject
from models_registry.models.ledger import (
    member_account,
    seconds_until_next_month,
    seconds_until_tomorrow,
    team_account,
)
from models_registry.payers import Payer

if TYPE_CHECKING:
    from models_registry.spending import OverBudget


# People that a refusal names.
MAX_NAMED = 3


class TooFewModels(ArenaError):
    code = "too_few_models"
    message = _("Fewer than two models can be drawn at the moment. An administrator has to add or activate a model.")
    http_status = 503


class NoModelFits(InvalidInput):
    code = "no_model_fits"
    message = _("No model fits this request.")


class NoModelAvailable(ArenaError):
    code = "no_model_available"
    message = _("No model that fits is available at the moment. Please try again.")
    http_status = 503


class BudgetReached(ArenaError):
    code = "budget_reached"
    message = _("You have reached your budget for today. It resets at midnight UTC.")
    http_status = 429


class TeamBudgetReached(BudgetReached):
    """A team's budget or a member's quota; names people who can raise it."""

    SENTENCES = {
        "day": _("%(team)s has reached its budget for today. It resets at midnight UTC."),
        "month": _("%(team)s has reached its budget for this month."),
        "quota": _("You have used up your quota in %(team)s for this month."),
        "requests": _("You have made all the requests that you have in %(team)s this month."),
    }

    def __init__(self, limit: str, team: Team, *, retry_after: float) -> None:
        sentence = self.SENTENCES[limit] % {"team": team.name}
        super().__init__(" ".join(filter(None, [sentence, raised_by(team)])), retry_after=retry_after)


def raised_by(team: Team) -> str:
    """Return a sentence that names people who can raise a budget, or ""."""
    allowed = [role for role in Role if has_right(role, Right.MANAGE)]
    managers = team.members.filter(role__in=allowed).select_related("user").order_by("-role", "joined_at", "pk")
    people = ", ".join(str(member.user) for member in managers[:MAX_NAMED])
    return gettext("It can be raised by %(people)s.") % {"people": people} if people else ""


def budget_reached(payer: Payer, account: str) -> BudgetReached:
    """Return the refusal by one of the payer's accounts."""
    team = payer.team
    if team is None or not account.startswith(team_account(team.pk)):
        return BudgetReached(retry_after=seconds_until_tomorrow())
    if account == team_account(team.pk):
        return TeamBudgetReached("day", team, retry_after=seconds_until_tomorrow())
    limits = {f"{team_account(team.pk)}/month": "month", member_account(team.pk, payer.person): "quota"}
    return TeamBudgetReached(limits.get(account, "requests"), team, retry_after=seconds_until_next_month())


ARENA_OVER_BUDGET = _("The arena has reached its budget for today. It resets at midnight UTC.")


class ModelsOverBudget(ArenaError):
    code = "models_over_budget"
    message = _(
        "The models of this battle have reached their budget for today. Vote on their answers, or choose other models."
    )
    http_status = 503

    def __init__(
        self, message: str | Promise = "", *, retry_after: float, reservation_error: "OverBudget | None" = None
    ) -> None:
        super().__init__(message, retry_after=retry_after)
        self.reservation_error = reservation_error


class ProofRequired(ArenaError):
    """Carries the challenge to solve; after `retry_after` seconds no proof is required."""

    code = "proof_required"
    message = _("Too many battles from your network. Enable JavaScript over HTTPS to continue, or sign in.")
    http_status = 429

    def __init__(self, challenge: JsonObject, *, retry_after: float) -> None:
        super().__init__(retry_after=retry_after)
        self.challenge = challenge

    @property
    def challenge_for_the_page(self) -> str:
        return json.dumps(self.challenge)

    def as_json(self) -> ErrorPayload:
        return {**super().as_json(), "challenge": self.challenge}


class StillAnswering(ArenaError):
    code = "still_answering"
    message = _("The answers are not complete yet. Please wait for them.")
    http_status = 409


class AlreadyVoted(ArenaError):
    code = "already_voted"
    message = _("You have already voted on this battle. A vote cannot be changed.")
    http_status = 409


class BattleIsVoid(ArenaError):
    code = "battle_void"
    message = _("One model failed, so this battle does not count. Please start a new one.")
    http_status = 409


class InATeam(ArenaError):
    code = "in_a_team"
    message = _("A team's battles are not published. Share the session with the team.")
    http_status = 409


class InAReview(ArenaError):
    code = "in_a_review"
    message = _("The answers of a review are stored: they take a vote, and nothing else.")
    http_status = 409


class BattleIsHidden(ArenaError):
    code = "battle_hidden"
    message = _("A moderator has hidden this battle.")
    http_status = 409


class NotPublished(ArenaError):
    code = "not_published"
    message = _("Publish the battle first.")
    http_status = 409


class NoLongerPublished(ArenaError):
    code = "no_longer_published"
    message = _("This battle was withdrawn. It is no longer published.")
    http_status = 410


class TakesNoVote(ArenaError):
    code = "takes_no_vote"
    message = _("Votes are for battles of two models. In a comparison, give the answers stars.")
    http_status = 409


class TakesNoStars(ArenaError):
    code = "takes_no_stars"
    message = _("Stars are for complete answers in a comparison.")
    http_status = 409


class NotVotedYet(ArenaError):
    code = "not_voted_yet"
    message = _("Please vote first.")
    http_status = 409


class UnknownTag(InvalidInput):
    code = "unknown_tag"
    message = _("This arena does not offer the tag.")

    def __init__(self, tag: str = "") -> None:
        sentence = gettext("This arena does not offer the tag “%(tag)s”.") % {"tag": tag}
        super().__init__(fields={"tags": [sentence]})


class TooManyTurns(ArenaError):
    code = "too_many_turns"
    message = _("This battle has reached the maximum number of turns. Please start a new one.")
    http_status = 409


class ImagesNotSeen(ArenaError):
    code = "images_not_seen"
    message = _("The models of this battle may not accept images. Start a new battle with the image.")
    http_status = 409


class NothingToRegenerate(ArenaError):
    code = "nothing_to_regenerate"
    message = _("Only a failed follow-up can be retried.")
    http_status = 409


class AlreadyRegenerated(ArenaError):
    code = "already_regenerated"
    message = _("This follow-up was already retried. Vote on the earlier turns, or ask something else.")
    http_status = 409


class NothingToStop(ArenaError):
    code = "nothing_to_stop"
    message = _("No answer is in progress.")
    http_status = 409


class PromptRefused(InvalidInput):
    code = "prompt_refused"
    message = _("Your prompt was not sent: this arena does not allow its topic.")
    keeps_stored_rows = True  # the verdict


class NotExamined(ServiceAway):
    code = "moderation_away"
    message = _("Moderation is unavailable. Please try again shortly.")


class TooLateToRestore(ArenaError):
    code = "too_late"
    message = _("The session is already deleted.")
    http_status = 404


class TooManyRowsOfTeam(ArenaError):
    code = "too_many_rows"
    message = _("The team has the maximum number of these. Remove one first.")
    http_status = 409


class CategoryHasVotes(ArenaError):
    code = "category_has_votes"
    message = _("Votes are filed under this category, so it stays. Switch it off: no new ones are filed.")
    http_status = 409
