"""Sentences for people about failed calls. Texts from upstream are never shown."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from models_registry.providers import FailureCode

FAILURE_MESSAGES: dict[str, Promise] = {
    FailureCode.UNREACHABLE: _("The model's provider could not be reached."),
    FailureCode.ADDRESS_REFUSED: _("This arena does not allow calls to the provider's address."),
    FailureCode.NO_KEY: _("The key for the model's provider is missing or cannot be read."),
    FailureCode.REFUSED_KEY: _("The provider did not accept this arena's key."),
    FailureCode.ACCOUNT: _("This arena's account at the provider has no credit or quota left."),
    FailureCode.FORBIDDEN: _("The provider does not permit this request."),
    FailureCode.UNKNOWN_MODEL: _("The provider does not serve this model."),
    FailureCode.UNKNOWN_ADDRESS: _("There is no model at the provider's address."),
    FailureCode.UNSUPPORTED: _("The model does not accept a part of this request."),
    FailureCode.REJECTED: _("The provider rejected the request."),
    FailureCode.PROMPT_TOO_LONG: _("The conversation is too long for this model."),
    FailureCode.RATE_LIMITED: _("The provider's rate limit is reached."),
    FailureCode.PROVIDER_ERROR: _("The provider reported an error."),
    FailureCode.REDIRECTED: _("The provider's address has moved."),
    FailureCode.NOT_A_STREAM: _("The provider's response was not an answer."),
    FailureCode.MALFORMED: _("The provider's answer could not be read."),
    FailureCode.ANOTHER_API: _("The provider's server speaks another API."),
    FailureCode.CUT: _("The connection broke before the answer was complete."),
    FailureCode.EMPTY: _("The model returned an empty answer."),
    FailureCode.ONLY_REASONING: _("The model returned its reasoning without an answer."),
    FailureCode.NO_ROOM: _("The model reached its limit of tokens before it answered."),
    FailureCode.TOOL_CALLS: _("The model tried to call a tool instead of answering."),
    FailureCode.FILTERED: _("The provider's content filter blocked the answer."),
    FailureCode.TOO_LONG: _("The answer was longer than this arena allows."),
    FailureCode.FIRST_TIMEOUT: _("The model did not begin to answer in time."),
    FailureCode.IDLE_TIMEOUT: _("The model stopped sending before its answer was complete."),
    FailureCode.TOTAL_TIMEOUT: _("The model did not finish its answer in time."),
    FailureCode.INTERRUPTED: _("The arena was interrupted while the model answered."),
    FailureCode.OVER_BUDGET: _("The budget for this model is used up."),
}


def failure_message(code: str) -> str:
    return str(FAILURE_MESSAGES[code]) if code else ""
