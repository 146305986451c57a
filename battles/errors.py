"""Refusals a person can cause in a battle."""

import json

from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError, InvalidInput, ServiceAway
from common.payload_types import ErrorPayload, JsonObject


class TooFewModels(ArenaError):
    code = "too_few_models"
    message = _("Fewer than two models can be drawn at the moment. An administrator has to add or wake one.")
    http_status = 503


class BudgetReached(ArenaError):
    code = "budget_reached"
    message = _("You have used up what you may spend here today. It begins anew at midnight UTC.")
    http_status = 429


class ModelsOverBudget(ArenaError):
    code = "models_over_budget"
    message = _(
        "The arena's budget for the models of this battle is used up for today. Please vote on what they said, or take "
        "others."
    )
    http_status = 503


class ProofRequired(ArenaError):
    """`challenge` is to be solved; after `retry_after` seconds battles begin without."""

    code = "proof_required"
    message = _(
        "Many battles began from your network within an hour, so browsers have to show that they are no robots, which "
        "takes JavaScript and a secure connection. Sign in, or come back later."
    )
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
    message = _("This battle has its vote already; it cannot be changed.")
    http_status = 409


class BattleIsVoid(ArenaError):
    code = "battle_void"
    message = _("A side could not answer, so this battle does not count. Please start a new one.")
    http_status = 409


class BattleIsHidden(ArenaError):
    code = "battle_hidden"
    message = _("A moderator has hidden this battle.")
    http_status = 409


class TakesNoVote(ArenaError):
    code = "takes_no_vote"
    message = _("Only a battle of two takes a vote. Where many are compared, give the answers stars.")
    http_status = 409


class TakesNoStars(ArenaError):
    code = "takes_no_stars"
    message = _("Only complete answers take stars, where many models are compared.")
    http_status = 409


class NotVotedYet(ArenaError):
    code = "not_voted_yet"
    message = _("Please vote first.")
    http_status = 409


class TooManyTurns(ArenaError):
    code = "too_many_turns"
    message = _("This battle has as many turns as a battle can have. Please start a new one.")
    http_status = 409


class ImagesNotSeen(ArenaError):
    code = "images_not_seen"
    message = _("The models of this battle were not chosen to see pictures. Start a new battle with the picture.")
    http_status = 409


class NothingToRegenerate(ArenaError):
    code = "nothing_to_regenerate"
    message = _("Only a follow-up in which a side failed can be asked again, not a finished or a stopped one.")
    http_status = 409


class AlreadyRegenerated(ArenaError):
    code = "already_regenerated"
    message = _("This follow-up was asked again already. Vote on the turns before it, or ask something else.")
    http_status = 409


class NothingToStop(ArenaError):
    code = "nothing_to_stop"
    message = _("Nothing is being answered.")
    http_status = 409


class PromptRefused(InvalidInput):
    code = "prompt_refused"
    message = _("Your prompt was not sent: this arena does not take what it is about.")
    keeps_what_was_stored = True  # the verdict


class NotExamined(ServiceAway):
    code = "moderation_away"
    message = _("Prompts cannot be looked at for a moment, so no new ones are taken. Please try again.")


class TooLateToRestore(ArenaError):
    code = "too_late"
    message = _("It is too late: the session is deleted.")
    http_status = 404
