"""Refusals of requests that exclude every model."""

from django.utils.translation import gettext_lazy as _

from battles.errors import BudgetReached, NoModelAvailable, NoModelFits
from battles.prompting.lineup import RETRY_AFTER_S
from common.errors import ArenaError
from models_registry.models.ledger import seconds_until_tomorrow
from routing.deciding.candidates import Candidates

# The request's field and the sentence, by the reason that excluded the last models; in the order of the checks.
_SENTENCES = {
    "cost": ("max_cost", _("No model answers for so little. Raise the limit of cost.")),
    "first_token": ("max_first_token_ms", _("No model is known to be that fast. Raise the limit of time.")),
    "not_fast": ("model", _("A rule of this arena names a model that is not among the fastest. Use the model “auto”.")),
    "context": ("prompt", _("The conversation is too long for every model that fits otherwise.")),
    "tools": (
        "tools",
        _("No model for this request calls tools. Send none, or choose other models."),
    ),
    "images": ("prompt", _("No model that fits otherwise accepts images.")),
    "pool": ("models", _("A rule of this arena leaves none of these models.")),
}


def unavailable() -> NoModelAvailable:
    return NoModelAvailable(retry_after=RETRY_AFTER_S)


def no_model(candidates: Candidates) -> ArenaError:
    reasons = set(candidates.reasons_out.values())
    if not reasons:
        return unavailable()
    if "budget" in reasons and not reasons & {"cost", "first_token", "not_fast"}:
        return BudgetReached(retry_after=seconds_until_tomorrow())
    field, sentence = next(_SENTENCES[reason] for reason in _SENTENCES if reason in reasons)
    return NoModelFits(sentence, fields={field: [str(sentence)]})
